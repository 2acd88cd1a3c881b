// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/perplexity_block.h"

#include <fmt/format.h>

#include <cmath>

#include "core/measure/statistics.h"

namespace kvasir {
namespace {

/// Covariance of the means of pairs: their covariance over the tokens / (n - 1). With a == b: the squared standard
/// error of the mean. llama-perplexity's divisors.
double covariance_of_means(const std::vector<double>& a, const std::vector<double>& b) {
    if (a.size() < 2) return 0;
    const double mean_a = mean(a), mean_b = mean(b);
    double sum = 0;
    for (size_t i = 0; i < a.size(); ++i)
        sum += (a[i] - mean_a) * (b[i] - mean_b);
    const double n = double(a.size());
    return sum / n / (n - 1);
}

Estimate mean_of(const std::vector<double>& x) {
    return {mean(x), std::sqrt(covariance_of_means(x, x))};
}

/// Rounding can leave a variance of equal figures a little below 0.
double root(double variance) {
    return std::sqrt(std::max(0.0, variance));
}

struct Quantile {
    const char* name;
    double q;
};

std::string quantile_lines(const std::vector<double>& x, const std::vector<Quantile>& wanted, const char* unit,
                           double factor, int width, int decimals, const char* sign) {
    std::string out;
    for (const auto& [name, q] : wanted)
        out += fmt::format("{:<7} {}: {:{}.{}f}{}\n", name, unit, factor * quantile(x, q), width, decimals, sign);
    return out;
}

std::string block(const PerplexityStatistics& s) {
    const auto line = [](const char* name, const Estimate& e) {
        return fmt::format("{:<30}: {:10.6f} ± {:10.6f}\n", name, e.value, e.uncertainty);
    };
    const auto percent = [](const char* name, const Estimate& e) {
        return fmt::format("{}: {:6.3f} ± {:5.3f} %\n", name, 100 * e.value, 100 * e.uncertainty);
    };
    std::string out = "====== Perplexity statistics ======\n";
    out += line("Mean PPL(Q)", s.ppl) + line("Mean PPL(base)", s.ppl_base);
    out += fmt::format("Cor(ln(PPL(Q)), ln(PPL(base))): {:6.2f}%\n", 100 * s.correlation);
    out += line("Mean ln(PPL(Q)/PPL(base))", s.ln_ratio) + line("Mean PPL(Q)/PPL(base)", s.ratio) +
           line("Mean PPL(Q)-PPL(base)", s.difference);

    out += "\n====== KL divergence statistics ======\n";
    out += fmt::format("Mean    KLD: {:10.6f} ± {:10.6f}\n", s.kld.value, s.kld.uncertainty);
    out += quantile_lines(s.klds,
                          {{"Maximum", 1},
                           {"99.9%", 0.999},
                           {"99.0%", 0.99},
                           {"95.0%", 0.95},
                           {"90.0%", 0.9},
                           {"Median", 0.5},
                           {"10.0%", 0.1},
                           {" 5.0%", 0.05},
                           {" 1.0%", 0.01},
                           {" 0.1%", 0.001},
                           {"Minimum", 0}},
                          "KLD", 1, 10, 6, "");

    out += "\n====== Token probability statistics ======\n";
    out += percent("Mean    Δp", s.dp);
    out += quantile_lines(s.dps,
                          {{"Maximum", 1},
                           {"99.9%", 0.999},
                           {"99.0%", 0.99},
                           {"95.0%", 0.95},
                           {"90.0%", 0.9},
                           {"75.0%", 0.75},
                           {"Median", 0.5},
                           {"25.0%", 0.25},
                           {"10.0%", 0.1},
                           {" 5.0%", 0.05},
                           {" 1.0%", 0.01},
                           {" 0.1%", 0.001},
                           {"Minimum", 0}},
                          "Δp", 100, 6, 3, "%");
    return out + percent("RMS Δp    ", s.rms_dp) + percent("Same top p", s.same_top);
}

}  // namespace

PerplexityStatistics perplexity_statistics(const RunModel& run, int lane) {
    PerplexityStatistics s;
    std::vector<double> nll, base, dp2;
    int same_top = 0;
    for (const StepRecord& r : run.lane(lane)) {
        if (!r.comparable) continue;
        nll.push_back(r.nll);
        base.push_back(double(r.nll) + r.delta_logprob);
        s.klds.push_back(r.kl);
        s.dps.push_back(double(r.probability) - r.reference_probability);
        dp2.push_back(s.dps.back() * s.dps.back());
        same_top += r.top1_agrees;
    }
    s.n = int(nll.size());
    if (s.n == 0) return s;
    const Estimate ln = mean_of(nll), ln_base = mean_of(base);
    const double covariance = covariance_of_means(nll, base);
    s.ppl = {std::exp(ln.value), std::exp(ln.value) * ln.uncertainty};
    s.ppl_base = {std::exp(ln_base.value), std::exp(ln_base.value) * ln_base.uncertainty};
    s.correlation = covariance / (ln.uncertainty * ln_base.uncertainty);
    s.ln_ratio = {ln.value - ln_base.value,
                  root(ln.uncertainty * ln.uncertainty + ln_base.uncertainty * ln_base.uncertainty - 2 * covariance)};
    s.ratio = {std::exp(s.ln_ratio.value), std::exp(s.ln_ratio.value) * s.ln_ratio.uncertainty};
    s.difference = {s.ppl.value - s.ppl_base.value,
                    root(s.ppl.uncertainty * s.ppl.uncertainty + s.ppl_base.uncertainty * s.ppl_base.uncertainty -
                         2 * s.ppl.value * s.ppl_base.value * covariance)};
    s.kld = mean_of(s.klds);
    s.dp = mean_of(s.dps);
    const Estimate square = mean_of(dp2);
    s.rms_dp.value = std::sqrt(square.value);
    if (s.rms_dp.value > 0) s.rms_dp.uncertainty = 0.5 / s.rms_dp.value * square.uncertainty;
    s.same_top.value = double(same_top) / s.n;
    if (s.n > 1) s.same_top.uncertainty = std::sqrt(s.same_top.value * (1 - s.same_top.value) / (s.n - 1));
    return s;
}

std::string perplexity_blocks(const RunModel& run) {
    const RunInfo& info = run.info();
    const int reference = info.experiment.reference;
    std::string out = fmt::format(
        "Kvasir scores every token after the prompt of {} tokens and keeps logits in full precision (llama-perplexity "
        "scores the second half of each window and stores the base logits in 16 bits).\n",
        info.prompt_ids.size());
    for (int i = 0; i < run.n_lanes(); ++i) {
        const RunInfo::LaneInfo& lane = info.lanes[size_t(i)];
        if (i == reference) continue;
        if (lane.failed) {
            out += fmt::format("\n{} does not run: {}\n", lane.requested, lane.why);
            continue;
        }
        const PerplexityStatistics s = perplexity_statistics(run, i);
        out += fmt::format("\nQ = {}, base = {}, {} tokens scored\n\n{}", lane.requested,
                           info.lanes[size_t(reference)].requested, s.n, block(s));
    }
    return out;
}

}  // namespace kvasir
