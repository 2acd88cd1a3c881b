// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/perplexity_block.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "core/measure/statistics.h"
#include "core/session/lane_figures.h"

namespace kvasir {
namespace {

/// Covariance of the means of pairs: their covariance over the tokens / (n - 1). With a == b: the squared standard
/// error of the mean. llama-perplexity's divisors. One token has none: NaN.
double covariance_of_means(const std::vector<double>& a, const std::vector<double>& b) {
    if (a.size() < 2) return std::numeric_limits<double>::quiet_NaN();
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
    return std::isnan(variance) ? variance : std::sqrt(std::max(0.0, variance));
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

/// What cannot be known of one token, or of tokens that are all alike, is no number.
std::string number(double x, int width, int decimals) {
    return std::isnan(x) ? fmt::format("{:>{}}", "n/a", width) : fmt::format("{:{}.{}f}", x, width, decimals);
}

std::string block(const PerplexityStatistics& s) {
    const auto line = [](const char* name, const Estimate& e) {
        return fmt::format("{:<30}: {:10.6f} ± {}\n", name, e.value, number(e.uncertainty, 10, 6));
    };
    const auto percent = [](const char* name, const Estimate& e) {
        return fmt::format("{}: {:6.3f} ± {} %\n", name, 100 * e.value, number(100 * e.uncertainty, 5, 3));
    };
    std::string out = "====== Perplexity statistics ======\n";
    out += line("Mean PPL(Q)", s.ppl) + line("Mean PPL(base)", s.ppl_base);
    out += fmt::format("Cor(ln(PPL(Q)), ln(PPL(base))): {}%\n", number(100 * s.correlation, 6, 2));
    out += line("Mean ln(PPL(Q)/PPL(base))", s.ln_ratio) + line("Mean PPL(Q)/PPL(base)", s.ratio) +
           line("Mean PPL(Q)-PPL(base)", s.difference);

    out += "\n====== KL divergence statistics ======\n";
    out += fmt::format("Mean    KLD: {:10.6f} ± {}\n", s.kld.value, number(s.kld.uncertainty, 10, 6));
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
    const double spread = ln.uncertainty * ln_base.uncertainty;
    s.correlation = spread > 0 ? covariance / spread : std::numeric_limits<double>::quiet_NaN();
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
    s.same_top.uncertainty = s.n > 1 ? std::sqrt(s.same_top.value * (1 - s.same_top.value) / (s.n - 1))
                                     : std::numeric_limits<double>::quiet_NaN();
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
        if (const std::string& why = run.failure(i); !why.empty()) {
            out += fmt::format(
                "\n{} {}: {}\n", lane.requested,
                lane.failed ? "does not run" : fmt::format("stopped after {} tokens", run.lane(i).size()), why);
            continue;
        }
        if (const Figure kl = lane_figures(run, i).kl; !kl.is_number()) {
            out += fmt::format("\n{}: {}, so there are no statistics\n", lane.requested, kl.reason);
            continue;
        }
        const PerplexityStatistics s = perplexity_statistics(run, i);
        out += fmt::format("\nQ = {}, base = {}, {} tokens scored\n\n{}", lane.requested,
                           info.lanes[size_t(reference)].requested, s.n, block(s));
    }
    return out;
}

}  // namespace kvasir
