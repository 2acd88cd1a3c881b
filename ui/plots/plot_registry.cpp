// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/controller_feed.h"
#include "ui/plots/distributions.h"
#include "ui/plots/error_by_layer.h"
#include "ui/plots/error_per_token.h"
#include "ui/plots/memory_plot.h"
#include "ui/plots/tokens_per_second.h"
#include "ui/shell/run_controller.h"

namespace kvasir::ui {

namespace {

template <class Plot>
PlotEntry entry(const PlotTexts& texts, const QString& icon, bool shown_in_explore) {
    return {texts.id,
            texts.title,
            icon,
            texts.question,
            shown_in_explore,
            [texts](RunController& controller, ViewState& view, QWidget* parent) -> PlotView* {
                return new Plot(ControllerFeed::of(controller), view, texts, parent);
            }};
}

}  // namespace

const std::vector<PlotEntry>& plotRegistry() {
    static const std::vector<PlotEntry> entries{
        entry<ErrorPerToken>({QStringLiteral("error-per-token"), QStringLiteral("Error per token"),
                              QStringLiteral("Run fills this with KL against fp16 for every token.")},
                             QStringLiteral("chart"), true),
        entry<MemoryPlot>({QStringLiteral("memory"), QStringLiteral("Memory"),
                           QStringLiteral("Run fills this with the bytes each cache holds.")},
                          QStringLiteral("memory"), true),
        entry<TokensPerSecond>({QStringLiteral("tokens-per-second"), QStringLiteral("Tokens per second"),
                                QStringLiteral("Run fills this with the measured rate of each lane.")},
                               QStringLiteral("speed"), true),
        entry<ErrorByLayer>({QStringLiteral("error-by-layer"), QStringLiteral("Error by layer"),
                             QStringLiteral("Run fills this with the attention error of every layer and token.")},
                            QStringLiteral("layout"), false),
        entry<Distributions>(
            {QStringLiteral("distributions"), QStringLiteral("Distributions"),
             QStringLiteral("Run shows how rotation changes keys and values before they are quantized.")},
            QStringLiteral("rotate"), false),
    };
    return entries;
}

}  // namespace kvasir::ui
