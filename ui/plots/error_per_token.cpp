// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/error_per_token.h"

#include <cmath>

#include "ui/plots/run_csv.h"

namespace kvasir::ui {

namespace {

std::vector<Measure> errorMeasures() {
    const QString note = QStringLiteral("thin: token, thick: mean of %1").arg(RunningMean::kWindow);
    Measure kl;
    kl.name = QStringLiteral("KL");
    kl.axis = QStringLiteral("KL, nats");
    kl.unit = QStringLiteral("nats");
    kl.note = note;
    kl.log = true;
    kl.reference = false;
    kl.smoothing = RunningMean::Kind::mean;
    kl.raw = true;
    kl.lowest = 1e-6;  // below this, differences of fp32 sums dominate; such points lie on the lower edge
    kl.compares = Compares::as_error;
    kl.value = [](const StepRecord& r) { return double(r.kl); };
    kl.text = errorText;
    kl.floor = [](const FloorRecord& f) { return double(f.kl); };

    Measure delta = kl;
    delta.name = QStringLiteral("Δ log-probability");
    delta.axis = QStringLiteral("Δ log p of the token, nats");
    delta.log = false;
    delta.value = [](const StepRecord& r) { return double(r.delta_logprob); };
    delta.floor = [](const FloorRecord& f) { return std::abs(double(f.delta_logprob)); };

    Measure rank = kl;
    rank.name = QStringLiteral("Rank");
    rank.axis = QStringLiteral("rank of the token");
    rank.unit = QStringLiteral("rank, 1 is the most likely");
    rank.reference = true;
    rank.compares = Compares::in_text;  // of another text the rank says something else
    rank.floor = nullptr;
    rank.lowest = 1;
    rank.value = [](const StepRecord& r) { return r.rank + 1.0; };
    rank.text = [](double value) { return std::isnan(value) ? fixedText(value, 0) : countText(qint64(value)); };

    Measure perplexity;
    perplexity.name = QStringLiteral("Perplexity");
    perplexity.axis = QStringLiteral("running perplexity");
    perplexity.unit = QStringLiteral("perplexity of all tokens so far");
    perplexity.log = true;
    perplexity.smoothing = RunningMean::Kind::exp_of_all;
    perplexity.compares = Compares::in_text;
    perplexity.counted = true;
    perplexity.lowest = 1;
    perplexity.value = [](const StepRecord& r) { return double(r.nll); };
    perplexity.text = [](double value) { return fixedText(value, 2); };
    return {kl, delta, rank, perplexity};
}

}  // namespace

ErrorPerToken::ErrorPerToken(PlotFeed& feed, ViewState& view, const PlotTexts& texts, QWidget* parent)
    : LaneLinesPlot(feed, view, texts, errorMeasures(), parent) {}

QByteArray ErrorPerToken::csv() const {
    RunCsv csv(run(),
               {"step", "position", "token_id", "comparable", "kl", "delta_logprob", "nll", "probability",
                "reference_probability", "rank_from_1", "top1_id", "top1_agrees", "floor_kl", "floor_delta_logprob"});
    csv.rowsOfRecords([&](int lane, const StepRecord& r) {
        const FloorRecord* floor = floorOf(run(), lane, r.step);
        const bool error = showsError(run(), lane, r);
        const auto compared = [error](const QByteArray& cell) { return error ? cell : QByteArray(); };
        csv.row(lane, {QByteArray::number(r.step), QByteArray::number(r.position), QByteArray::number(r.token_id),
                       r.comparable ? "1" : "0", compared(exactText(r.kl)), compared(exactText(r.delta_logprob)),
                       exactText(r.nll), exactText(r.probability), compared(exactText(r.reference_probability)),
                       r.comparable ? QByteArray::number(r.rank + 1) : QByteArray(), QByteArray::number(r.top1_id),
                       compared(r.top1_agrees ? "1" : "0"), floor ? exactText(floor->kl) : "",
                       floor ? exactText(floor->delta_logprob) : ""});
    });
    return csv.bytes();
}

}  // namespace kvasir::ui
