// SPDX-License-Identifier: GPL-3.0-or-later
// The rows of one or several speed measurements as lines: what belongs together, what it is called, how it looks.
#pragma once

#include <QStringList>
#include <algorithm>
#include <vector>

#include "core/report/bench_document.h"
#include "ui/shell/theme.h"

namespace kvasir::ui {

/// Rows of one spec measured under one condition (model, weights, threads, kernels).
struct MeasuredLine {
    int index = 0;           ///< among the specs without the reference
    bool reference = false;  ///< fp16
    int condition = 0;       ///< 0: that of the first document
    int depth = -1;          ///< of all rows; -1 where they have several
    QString name;            ///< the spec, and the condition where documents differ
    std::vector<BenchMeasurement> rows;
};

/// What a machine allows under one condition.
struct MachineLimit {
    double bandwidth_gbps = 0, fma_gflops = 0;  ///< the largest that was measured
    QString condition;                          ///< "" where all documents agree
};

class FigureData {
 public:
    explicit FigureData(std::vector<BenchDocument> documents);

    /// Of all rows, in the order the specs first appear. Of a measurement that was repeated the fastest: the others
    /// shared the machine with something else.
    std::vector<MeasuredLine> lines(bool apart_by_depth) const;
    /// Of the rows with one lane only.
    std::vector<MeasuredLine> singleLaneLines() const;
    std::vector<int> depths() const;  ///< ascending
    std::vector<MachineLimit> limits() const;
    /// The words of a condition that tell it from the others, e.g. "F16, 1 thread"; "" where there is only one.
    QString conditionText(int condition) const { return conditions_[size_t(condition)].text; }
    QString weightsText(int condition) const { return conditions_[size_t(condition)].parts[1]; }
    /// Model, weights, threads, kernels, what the machine was measured to allow, version: one line.
    QString provenance() const;

 private:
    struct Condition {
        QStringList parts;  ///< model, weights, threads, kernels
        QString text;
    };
    template <class Take>
    std::vector<MeasuredLine> collect(bool apart_by_depth, Take take) const;

    std::vector<BenchDocument> documents_;
    std::vector<Condition> conditions_;
    std::vector<int> condition_of_;  ///< by document
    QStringList specs_;
    bool repeated_ = false;
};

/// Does a line reach from one place to another? `place` gives a row's number on the x axis.
template <class Place>
bool spans(const MeasuredLine& line, Place place) {
    return std::any_of(line.rows.begin(), line.rows.end(),
                       [&](const BenchMeasurement& row) { return place(row) != place(line.rows.front()); });
}

template <class Place>
bool anySpans(const std::vector<MeasuredLine>& lines, Place place) {
    return std::any_of(lines.begin(), lines.end(), [&](const MeasuredLine& line) { return spans(line, place); });
}

template <class Place>
void sortRows(MeasuredLine& line, Place place) {
    std::stable_sort(line.rows.begin(), line.rows.end(),
                     [&](const BenchMeasurement& a, const BenchMeasurement& b) { return place(a) < place(b); });
}

/// Markers are the lane's; the second, fourth ... condition has hollow for filled, and filled for hollow.
LaneLook lookOf(const Theme& theme, int index, bool reference, int condition);

}  // namespace kvasir::ui
