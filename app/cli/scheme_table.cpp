// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/scheme_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "core/report/provenance.h"
#include "core/report/run_table.h"

namespace kvasir::cli {

void ScoredText::add_to(CLI::App& sub) {
    common.add_engine_to(sub);
    sub.add_option("--text", text_file, "Text file (default: the built-in lighthouse text)");
    sub.add_option("--prefill", prefill, "Tokens read as the prompt")->check(CLI::Range(1, 10000000));
    sub.add_option("--tokens", tokens, "Tokens in all, prompt included (default: the whole text)")
        ->check(CLI::Range(2, 10000000));
}

Result<ScoredText::Outcome> ScoredText::evaluate(const std::shared_ptr<const Model>& model,
                                                 const std::vector<CacheSpec>& specs, Job& job) const {
    auto e = scored_text(text_file, prefill, tokens, common);
    if (!e) return e.error();
    ProgressLine progress(common);
    constexpr int kLanes = 8;
    auto batches = evaluate_schemes(
        model, *e, specs, kLanes, [&](double share, const char* what) { progress.show(share, what); },
        interrupted_by_user());
    if (!batches) return batches.error();
    if (batches->error)
        job.stop(*batches->error);
    else if (!batches->complete)
        job.interrupted();
    else if (batches->any_failed())
        job.missing();
    progress.note("");
    Outcome out{std::move(*batches), {}};
    if (common.json) {
        out.head = provenance(model.get(), common.kernel_path());
        out.head["text"] = text_head(text_file, e->prompt, size_t(out.batches.n_text_tokens));
        out.head["protocol"] = protocol_json(*model, prefill, out.batches.n_scored);
        out.head["reference"] = "fp16";
        out.head["noise_floor"] = noise_floor_json(out.batches.noise_floor);
    }
    return out;
}

}  // namespace kvasir::cli
