// SPDX-License-Identifier: GPL-3.0-or-later
// Tables of a run: every row says what it was measured with and on, and a lane without figures why it has none.
#pragma once

#include <functional>

#include "ui/plots/plot_text.h"

namespace kvasir::ui {

class RunCsv {
 public:
    /// `columns` stand between lane and spec at the left and the conditions at the right.
    RunCsv(const RunModel& run, const QVector<QByteArray>& columns);

    void row(int lane, const QVector<QByteArray>& cells);
    /// Rows for every record of every lane that has figures; the others have one row without cells.
    void rowsOfRecords(const std::function<void(int lane, const StepRecord& record)>& rows);
    const QByteArray& bytes() const { return csv_.bytes(); }

 private:
    const RunModel& run_;
    qsizetype n_columns_;
    CsvWriter csv_;
    QVector<QVector<QByteArray>> before_, after_;  // per lane
};

/// The figures of every lane, one row each.
QByteArray lanesCsv(const RunModel& run);
/// What every lane said, one row per token: its text and its figures.
QByteArray tokensCsv(const RunModel& run);

}  // namespace kvasir::ui
