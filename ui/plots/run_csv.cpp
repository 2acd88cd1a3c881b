// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/run_csv.h"

#include "core/model/tokenizer.h"
#include "core/report/run_conditions.h"
#include "core/session/lane_figures.h"

namespace kvasir::ui {

namespace {

QVector<QByteArray> header(const QVector<QByteArray>& columns) {
    return QVector<QByteArray>{"lane", "spec"} + columns +
           QVector<QByteArray>{"why_no_figures", "n_scored", "n_compared",   "read_k",      "read_v", "mode",
                               "first_scored",   "model",    "model_sha256", "text_sha256", "program"};
}

/// A figure that may be written as one; empty otherwise.
QByteArray cell(const Figure& figure) {
    return figure.is_number() ? exactText(figure.value) : QByteArray();
}

}  // namespace

RunCsv::RunCsv(const RunModel& run, const QVector<QByteArray>& columns)
    : run_(run), n_columns_(columns.size()), csv_(header(columns)) {
    const RunConditions all = run_conditions(run);
    for (int lane = 0; lane < run.n_lanes(); ++lane) {
        const LaneConditions one = lane_conditions(run, lane);
        before_ << QVector<QByteArray>{laneLetter(run, lane), laneSpec(run, lane)};
        const auto share = [&](double value) { return one.coverage_known ? exactText(value) : QByteArray(); };
        after_ << QVector<QByteArray>{QByteArray::fromStdString(one.failure),
                                      QByteArray::number(one.n_scored),
                                      QByteArray::number(one.n_compared),
                                      share(one.coverage_k),
                                      share(one.coverage_v),
                                      QByteArray::fromStdString(all.mode),
                                      QByteArray::number(all.first_scored),
                                      QByteArray::fromStdString(all.model),
                                      QByteArray::fromStdString(all.model_sha256),
                                      QByteArray::fromStdString(all.text_sha256),
                                      QByteArray::fromStdString(all.program)};
    }
}

void RunCsv::row(int lane, const QVector<QByteArray>& cells) {
    csv_.row(before_[lane] + cells + after_[lane]);
}

void RunCsv::rowsOfRecords(const std::function<void(int, const StepRecord&)>& rows) {
    for (int lane = 0; lane < run_.n_lanes(); ++lane) {
        if (!run_.failure(lane).empty()) {
            row(lane, QVector<QByteArray>(n_columns_));
            continue;
        }
        for (const StepRecord& record : run_.lane(lane))
            rows(lane, record);
    }
}

QByteArray lanesCsv(const RunModel& run) {
    RunCsv csv(run, {"title", "bits_nominal", "bits_effective", "bytes", "tokens_per_second", "nll", "perplexity", "kl",
                     "kl_floor", "kl_inside_floor", "dnll", "top1", "first_flip"});
    for (int lane = 0; lane < run.n_lanes(); ++lane) {
        const LaneFigures f = lane_figures(run, lane);
        if (f.summary.n_scored == 0) {
            csv.row(lane, QVector<QByteArray>{QByteArray::fromStdString(run.info().lanes[size_t(lane)].title)} +
                              QVector<QByteArray>(12));
            continue;
        }
        csv.row(lane, {QByteArray::fromStdString(run.info().lanes[size_t(lane)].title),
                       exactText(run.info().lanes[size_t(lane)].nominal_bits), exactText(f.summary.effective_bits),
                       QByteArray::number(qulonglong(f.summary.bytes.total())), cell(f.tokens_per_second), cell(f.nll),
                       cell(f.ppl), cell(f.kl), f.kl.floor > 0 ? exactText(f.kl.floor) : QByteArray(),
                       f.kl.state == Figure::State::inside_floor ? "1" : "0", cell(f.dnll), cell(f.top1),
                       f.summary.first_flip < 0 ? QByteArray() : QByteArray::number(f.summary.first_flip)});
    }
    return csv.bytes();
}

QByteArray tokensCsv(const RunModel& run) {
    RunCsv csv(run, {"step", "position", "token_id", "text", "comparable", "nll", "kl", "delta_logprob", "top1_id",
                     "top1_agrees", "rank"});
    csv.rowsOfRecords([&](int lane, const StepRecord& r) {
        const bool compares = showsError(run, lane, r);
        csv.row(lane, {QByteArray::number(r.step), QByteArray::number(r.position), QByteArray::number(r.token_id),
                       QByteArray::fromStdString(valid_utf8(run.piece_of(r.token_id))), r.comparable ? "1" : "0",
                       exactText(r.nll), compares ? exactText(r.kl) : QByteArray(),
                       compares ? exactText(r.delta_logprob) : QByteArray(), QByteArray::number(r.top1_id),
                       compares ? QByteArray(r.top1_agrees ? "1" : "0") : QByteArray(), QByteArray::number(r.rank)});
    });
    return csv.bytes();
}

}  // namespace kvasir::ui
