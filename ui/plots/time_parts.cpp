// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/time_parts.h"

#include "ui/plots/running_mean.h"

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

bool isTimed(const StepRecord& record) {
    return record.time.total() > 0;
}

MeanTime meanTime(const std::vector<StepRecord>& records, size_t index) {
    MeanTime mean;
    for (size_t i = index + 1; i > 0 && mean.n < RunningMean::kWindow; --i) {
        const StepRecord& record = records[i - 1];
        if (!isTimed(record)) continue;
        const std::vector<double> parts = timeParts(record.time);
        mean.parts.resize(parts.size());
        for (size_t part = 0; part < parts.size(); ++part)
            mean.parts[part] += parts[part];
        ++mean.n;
    }
    for (double& part : mean.parts)
        part /= mean.n;
    return mean;
}

}  // namespace kvasir::ui
