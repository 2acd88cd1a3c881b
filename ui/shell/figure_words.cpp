// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/figure_words.h"

#include <QCoreApplication>

#include "core/session/lane_figures.h"
#include "ui/shell/format.h"

namespace kvasir::ui {

QString figureText(const Figure& figure, const std::function<QString(double)>& write) {
    const auto word = [](const char* text) { return QCoreApplication::translate("FigureWords", text).toStdString(); };
    const FigureWords words{"–", word("0 % read"), word("not a number"), word("failed"), ""};
    return QString::fromStdString(figure_text(
        figure, [&](double value) { return write(value).toStdString(); }, words));
}

QString tokenErrorText(const RunModel& run, int lane, const StepRecord& record) {
    const auto tr = [](const char* text) { return QCoreApplication::translate("FigureWords", text); };
    if (lane == run.info().experiment.reference) return {};
    if (!record.comparable) return tr("contexts differ");
    const Figure kl = token_kl(run, lane, record);
    if (!kl.is_number()) return tr("KL: %1").arg(figureText(kl, errorText));
    return kl.floor > 0 ? tr("KL %1 / floor here %2").arg(errorText(kl.value), errorText(kl.floor))
                        : tr("KL %1 nats").arg(errorText(kl.value));
}

}  // namespace kvasir::ui
