// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/run_csv.h"

#include <cmath>

#include "core/model/tokenizer.h"
#include "core/report/run_conditions.h"
#include "core/session/lane_figures.h"
#include "ui/plots/time_parts.h"

namespace kvasir::ui {

namespace {

QVector<QByteArray> header(const QVector<QByteArray>& columns) {
    return QVector<QByteArray>{"lane", "spec"} + columns +
           QVector<QByteArray>{"why_no_figures", "n_scored",    "n_compared",   "n_unread",    "read_k",
                               "read_v",         "mode",        "first_scored", "kernels",     "simd",
                               "threads",        "temperature", "top_k",        "top_p",       "seed",
                               "not_equal",      "model",       "model_sha256", "text_sha256", "program"};
}

/// What every lane was measured with and on.
QVector<QByteArray> conditionsOf(const RunModel& run) {
    const RunConditions c = run_conditions(run);
    QVector<QByteArray> cells{QByteArray::fromStdString(c.mode), QByteArray::number(c.first_scored),
                              QByteArray::fromStdString(c.kernels), QByteArray::fromStdString(c.simd),
                              c.n_threads > 0 ? QByteArray::number(c.n_threads) : QByteArray()};
    if (c.sampled)
        cells << exactText(c.sampling.temperature) << QByteArray::number(c.sampling.top_k)
              << exactText(c.sampling.top_p) << QByteArray::number(qulonglong(c.sampling.seed));
    else
        cells.resize(cells.size() + 4);
    return cells << unequalTerms(run).toUtf8() << QByteArray::fromStdString(c.model)
                 << QByteArray::fromStdString(c.model_sha256) << QByteArray::fromStdString(c.text_sha256)
                 << QByteArray::fromStdString(c.program);
}

/// A figure that may be written as one; empty otherwise.
QByteArray cell(const Figure& figure) {
    return figure.is_number() ? exactText(figure.value) : QByteArray();
}

}  // namespace

RunCsv::RunCsv(const RunModel& run, const QVector<QByteArray>& columns)
    : run_(run), n_columns_(columns.size()), csv_(header(columns)) {
    if (run.empty()) return;
    const QVector<QByteArray> all = conditionsOf(run);
    for (int lane = 0; lane < run.n_lanes(); ++lane) {
        const LaneConditions one = lane_conditions(run, lane);
        before_ << QVector<QByteArray>{laneLetter(run, lane), laneSpec(run, lane)};
        const auto share = [&](double value) { return one.coverage_known ? exactText(value) : QByteArray(); };
        after_ << QVector<QByteArray>{QByteArray::fromStdString(one.failure),
                                      QByteArray::number(one.n_scored),
                                      QByteArray::number(one.n_compared),
                                      QByteArray::number(one.n_unread),
                                      share(one.coverage_k),
                                      share(one.coverage_v)} +
                      all;
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

/// Perplexities of different texts say nothing beside each other: what stands in one column is of the reference's text,
/// over the tokens that the lane has of it; what it made of its own text stands apart.
QByteArray lanesCsv(const RunModel& run) {
    const QVector<QByteArray> columns{
        "title",    "bits_nominal",    "bits_effective", "bytes",        "tokens_per_second",   "n_timed",
        "nll",      "perplexity",      "n_perplexity",   "own_text_nll", "own_text_perplexity", "kl",
        "kl_floor", "kl_inside_floor", "dnll",           "top1",         "first_flip"};
    RunCsv csv(run, columns);
    for (int lane = 0; lane < run.n_lanes(); ++lane) {
        const LaneFigures f = lane_figures(run, lane);
        const QByteArray title = QByteArray::fromStdString(run.info().lanes[size_t(lane)].title);
        if (f.summary.n_scored == 0) {
            csv.row(lane, QVector<QByteArray>{title} + QVector<QByteArray>(columns.size() - 1));
            continue;
        }
        int n_timed = 0, n_same = 0;
        double nll = 0;
        for (const StepRecord& r : run.lane(lane)) {
            n_timed += isTimed(r);
            if (r.comparable) nll += double(r.nll), ++n_same;
        }
        nll /= n_same;  // none: not a number
        const bool own = n_same < f.summary.n_scored;
        const auto finite = [](double value) { return std::isfinite(value) ? exactText(value) : QByteArray(); };
        csv.row(lane, {title, exactText(run.info().lanes[size_t(lane)].nominal_bits),
                       exactText(f.summary.effective_bits), QByteArray::number(qulonglong(f.summary.bytes.total())),
                       cell(f.tokens_per_second), QByteArray::number(n_timed), finite(nll), finite(std::exp(nll)),
                       QByteArray::number(n_same), own ? cell(f.nll) : QByteArray(), own ? cell(f.ppl) : QByteArray(),
                       cell(f.kl), f.kl.floor > 0 ? exactText(f.kl.floor) : QByteArray(),
                       f.kl.state == Figure::State::inside_floor ? "1" : "0", cell(f.dnll), cell(f.top1),
                       f.summary.first_flip < 0 ? QByteArray() : QByteArray::number(f.summary.first_flip)});
    }
    return csv.bytes();
}

QByteArray tokensCsv(const RunModel& run) {
    RunCsv csv(run, {"step", "position", "token_id", "text", "comparable", "nll", "kl", "delta_logprob", "top1_id",
                     "top1_agrees", "rank_from_1"});
    csv.rowsOfRecords([&](int lane, const StepRecord& r) {
        const bool compares = showsError(run, lane, r);
        csv.row(lane,
                {QByteArray::number(r.step), QByteArray::number(r.position), QByteArray::number(r.token_id),
                 QByteArray::fromStdString(valid_utf8(run.piece_of(r.token_id))), r.comparable ? "1" : "0",
                 exactText(r.nll), compares ? exactText(r.kl) : QByteArray(),
                 compares ? exactText(r.delta_logprob) : QByteArray(), QByteArray::number(r.top1_id),
                 compares ? QByteArray(r.top1_agrees ? "1" : "0") : QByteArray(), QByteArray::number(r.rank + 1)});
    });
    return csv.bytes();
}

}  // namespace kvasir::ui
