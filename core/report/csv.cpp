// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/csv.h"

#include <fmt/format.h>

namespace kvasir {

std::string csv_text(std::string_view text) {
    std::string out(text);
    if (!out.empty() && std::string_view("=+-@").find(out.front()) != std::string_view::npos)
        out.insert(out.begin(), '\'');
    if (out.find_first_of(",\"\r\n") == std::string::npos) return out;
    std::string quoted = "\"";
    for (const char c : out) {
        if (c == '"') quoted += '"';
        quoted += c;
    }
    return quoted + '"';
}

std::string per_token_csv(const RunModel& run, const Repeats* repeats) {
    std::string out = "lane,position,token_id,nll,kl,delta_logprob,top1_id,top1_agrees,rank";
    out += repeats ? ",nll_min,nll_max\r\n" : "\r\n";
    for (int i = 0; i < run.n_lanes(); ++i) {
        if (!run.failure(i).empty()) continue;  // what it measured until it stopped is no figure of its scheme
        const std::string lane = csv_text(run.info().lanes[size_t(i)].requested);
        for (const StepRecord& r : run.lane(i)) {
            out += fmt::format("{},{},{},{},", lane, r.position, r.token_id, r.nll);
            if (r.comparable)
                out += fmt::format("{},{},{},{},{}", r.kl, r.delta_logprob, r.top1_id, int(r.top1_agrees), r.rank);
            else
                out += fmt::format(",,{},,{}", r.top1_id, r.rank);
            if (repeats) {
                const auto [low, high] = repeats->nll_range(i, r.step);
                out += fmt::format(",{},{}", low, high);
            }
            out += "\r\n";
        }
    }
    return out;
}

}  // namespace kvasir
