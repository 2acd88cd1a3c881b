// SPDX-License-Identifier: GPL-3.0-or-later
#include <QCoreApplication>

#include "ui/plots/controller_feed.h"
#include "ui/plots/distributions.h"
#include "ui/plots/error_by_layer.h"
#include "ui/plots/error_per_token.h"
#include "ui/plots/memory_plot.h"
#include "ui/plots/tokens_per_second.h"
#include "ui/shell/run_controller.h"

namespace kvasir::ui {

namespace {

QString words(const char* english) {
    return QCoreApplication::translate("PlotRegistry", english);
}

template <class Plot>
PlotEntry entry(const PlotTexts& texts, const char* tab, const QString& icon, bool needs_height) {
    return {texts.id,
            texts.title,
            words(tab),
            icon,
            texts.question,
            needs_height,
            [texts](RunController& controller, ViewState& view, QWidget* parent) -> PlotView* {
                return new Plot(ControllerFeed::of(controller), view, texts, parent);
            }};
}

}  // namespace

std::vector<PlotEntry> plotRegistry() {
    return {
        entry<ErrorPerToken>(
            {QStringLiteral("error-per-token"), words(QT_TRANSLATE_NOOP("PlotRegistry", "Error per token")),
             words(QT_TRANSLATE_NOOP("PlotRegistry", "Run fills this with KL against fp16 for every token."))},
            QT_TRANSLATE_NOOP("PlotRegistry", "Errors"), QStringLiteral("chart"), false),
        entry<MemoryPlot>({QStringLiteral("memory"), words(QT_TRANSLATE_NOOP("PlotRegistry", "Memory")),
                           words(QT_TRANSLATE_NOOP("PlotRegistry", "Run fills this with the bytes each cache holds."))},
                          QT_TRANSLATE_NOOP("PlotRegistry", "Memory"), QStringLiteral("memory"), false),
        entry<TokensPerSecond>(
            {QStringLiteral("tokens-per-second"), words(QT_TRANSLATE_NOOP("PlotRegistry", "Tokens per second")),
             words(QT_TRANSLATE_NOOP("PlotRegistry", "Run fills this with the measured rate of each lane."))},
            QT_TRANSLATE_NOOP("PlotRegistry", "Speed"), QStringLiteral("speed"), false),
        entry<ErrorByLayer>(
            {QStringLiteral("error-by-layer"), words(QT_TRANSLATE_NOOP("PlotRegistry", "Error by layer")),
             words(QT_TRANSLATE_NOOP("PlotRegistry",
                                     "Run fills this with the attention error of every layer and token."))},
            QT_TRANSLATE_NOOP("PlotRegistry", "Layers"), QStringLiteral("layout"), true),
        entry<Distributions>(
            {QStringLiteral("distributions"), words(QT_TRANSLATE_NOOP("PlotRegistry", "Distributions")),
             words(QT_TRANSLATE_NOOP("PlotRegistry",
                                     "Run shows how rotation changes keys and values before they are quantized."))},
            QT_TRANSLATE_NOOP("PlotRegistry", "Values"), QStringLiteral("rotate"), true),
    };
}

}  // namespace kvasir::ui
