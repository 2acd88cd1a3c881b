// SPDX-License-Identifier: GPL-3.0-or-later
// The figures of a lane's header as words: what they are called, what they are, which of them must not give way.
#pragma once

#include <QString>
#include <QVector>
#include <optional>

#include "core/session/lane_figures.h"
#include "ui/shell/theme.h"

namespace kvasir::ui {

/// What a lane's header tells.
struct LaneHeaderContent {
    LaneLook look;
    QString name, spec;
    bool reference = false, exact = false, reference_path = false;
    QString trouble;  ///< why the lane has no figures, one sentence; "" when it has
    double nominal_bits = 0;
    std::optional<LaneFigures> figures;  ///< none before the first record
    bool measures_floor = false;         ///< the figure below comes, if later than the others
    double noise_floor = 0;  ///< mean KL of the reference in the noise floor's pass, nats; 0: not measured yet
};

struct LaneMetric {
    QString key, value;
    QString widest;  ///< keeps the place that the longest value takes, so that nothing moves while figures grow
    bool dim = false;
    QString beside = QString();  ///< in grey after the value
    int rank = 0;                ///< what is last gives way first
    QString text() const { return beside.isEmpty() ? value : value + QLatin1Char(' ') + beside; }
};

/// In the order they are printed.
QVector<LaneMetric> laneMetrics(const LaneHeaderContent& content);

/// "KL 0.024, n 10": the one figure a header of one line has.
LaneMetric shortMetric(const LaneHeaderContent& content);

/// All of it in sentences: for the tooltip and for those who do not see it.
QString metricsInWords(const LaneHeaderContent& content);
QString headerToolTip(const LaneHeaderContent& content);

}  // namespace kvasir::ui
