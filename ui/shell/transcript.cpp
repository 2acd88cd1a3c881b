// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/transcript.h"

#include "core/model/tokenizer.h"
#include "core/session/lane_figures.h"
#include "ui/shell/format.h"

namespace kvasir::ui {

QString transcriptText(const RunModel& run) {
    if (run.empty()) return {};
    const RunInfo& info = run.info();
    QString text = provenance(run) + QLatin1Char('\n');
    if (const QString note = unequalNote(run); !note.isEmpty()) text += note + QLatin1Char('\n');
    std::string prompt;
    for (const int id : info.prompt_ids)
        prompt += run.piece_of(id);
    text += QStringLiteral("\n[prompt, %1 tokens]\n%2\n")
                .arg(info.prompt_ids.size())
                .arg(QString::fromStdString(valid_utf8(prompt)));
    const FigureWords words{.inside = "inside the noise floor: "};
    const auto inWords = [&words](const Figure& figure, QString (*write)(double)) {
        return QString::fromStdString(figure_text(
            figure, [write](double value) { return write(value).toStdString(); }, words));
    };
    for (int lane = 0; lane < run.n_lanes(); ++lane) {
        if (!info.experiment.lanes[size_t(lane)].enabled) continue;
        text += QStringLiteral("\n[%1 %2: %3]\n")
                    .arg(QString::fromLatin1(laneLetter(run, lane)), laneName(run, lane),
                         QString::fromStdString(info.lanes[size_t(lane)].active));
        if (const std::string& why = run.failure(lane); !why.empty())
            text += QStringLiteral("no figures: %1\n").arg(QString::fromStdString(why));
        if (run.lane(lane).empty()) continue;
        const LaneFigures f = lane_figures(run, lane);
        if (run.failure(lane).empty()) {
            text +=
                QStringLiteral("bits per value %1, effective %2; %3 MiB; mean KL %4 nats over %5 tokens")
                    .arg(fixedText(info.lanes[size_t(lane)].nominal_bits, 1), fixedText(f.summary.effective_bits, 2),
                         mibText(f.summary.bytes.total()), inWords(f.kl, errorText))
                    .arg(f.kl.n);
            if (f.kl.floor > 0) text += QStringLiteral(" (noise floor %1)").arg(errorText(f.kl.floor));
            text +=
                QStringLiteral("; same top-1 %1; tokens %2").arg(inWords(f.top1, percentText)).arg(f.summary.n_scored);
            if (f.summary.first_flip >= 0)
                text += QStringLiteral("; first flip at token %1, margin %2")
                            .arg(run.lane(lane)[size_t(f.summary.first_flip)].position)
                            .arg(fixedText(double(f.summary.first_flip_margin), 2));
            text += QLatin1Char('\n');
        }
        std::string bytes;
        for (const StepRecord& r : run.lane(lane))
            bytes += run.piece_of(r.token_id);
        text += QString::fromStdString(valid_utf8(bytes)) + QLatin1Char('\n');
    }
    text += QLatin1Char('\n') + captionNotes(run) + QLatin1Char('\n');
    return text;
}

}  // namespace kvasir::ui
