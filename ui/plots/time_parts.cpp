// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/time_parts.h"

namespace kvasir::ui {

QStringList timePartNames() {
    return {QStringLiteral("matmul"), QStringLiteral("quantize"), QStringLiteral("K·q"),  QStringLiteral("softmax"),
            QStringLiteral("V·p"),    QStringLiteral("rotate"),   QStringLiteral("other")};
}

QVector<PartStyle> timePartStyles() {
    return {{0.3, Qt::SolidPattern},  {1.0, Qt::BDiagPattern}, {1.0, Qt::SolidPattern}, {1.0, Qt::Dense5Pattern},
            {0.65, Qt::SolidPattern}, {1.0, Qt::CrossPattern}, {0.15, Qt::SolidPattern}};
}

std::vector<double> timeParts(const TimeSplit& t) {
    return {t.matmul, t.quantize, t.scores, t.softmax, t.weighted_sum, t.rotate, t.other};
}

}  // namespace kvasir::ui
