// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/bench_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "app/cli/common.h"
#include "core/model/prompt_pass.h"
#include "kernels/cpu/machine.h"

namespace kvasir::cli {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

uint64_t available_memory() {
    return uint64_t(::sysconf(_SC_AVPHYS_PAGES)) * uint64_t(::sysconf(_SC_PAGESIZE));
}

}  // namespace

Bench::Bench(std::shared_ptr<const Model> model, int n_threads, KernelPath path)
    : model_(model), path_(path), forward_(std::move(model), n_threads) {}

Machine Bench::measure_machine() {
    return {kernels::measure_read_bandwidth(forward_.pool()), kernels::measure_fma_rate(forward_.pool())};
}

/// Prompt tokens per second, all passes together.
Result<double> Bench::fill(const std::vector<KvCache*>& caches, const std::vector<int>& prompt,
                           const Progress& progress) {
    const Clock::time_point start = Clock::now();
    constexpr int kChunk = 128;
    const auto pass = read_prompt(forward_, caches, prompt, kChunk, progress, interrupted_by_user());
    if (!pass) return pass.error();
    const double rate = double(pass->n_groups) * double(prompt.size()) / seconds_since(start);
    for (const Status& s : forward_.finish_prompt(caches))
        if (!s) return s.error();
    return rate;
}

Result<BenchRow> Bench::decode(const std::vector<KvCache*>& caches, int n_tokens, const std::vector<int>& text,
                               int at) {
    BenchRow row;
    std::vector<double> rates;
    std::vector<float> logits;
    for (int i = -2; i < n_tokens; ++i) {  // two steps to warm up
        std::vector<Sequence> sequences(caches.size());
        for (size_t s = 0; s < caches.size(); ++s) {
            sequences[s].tokens = {text[size_t(at + i + 2) % text.size()]};
            sequences[s].caches = {caches[s]};
        }
        const Clock::time_point start = Clock::now();
        if (Status st = forward_.run(sequences, {}, logits, interrupted_by_user()); !st) return st.error();
        const double seconds = seconds_since(start);
        for (const Sequence& s : sequences)
            if (s.failed) return s.error;
        if (i < 0) continue;
        rates.push_back(1 / seconds);
        for (const TimeSplit& t : forward_.times())
            row.split += t;
    }
    std::sort(rates.begin(), rates.end());
    row.median = rates[rates.size() / 2], row.min = rates.front(), row.max = rates.back();
    for (double* part : {&row.split.matmul, &row.split.quantize, &row.split.scores, &row.split.softmax,
                         &row.split.weighted_sum, &row.split.rotate, &row.split.other})
        *part /= n_tokens;
    row.weight_bytes = model_->weight_bytes_per_step();
    for (const KvCache* cache : caches)
        row.cache_bytes += cache->ledger().total();
    row.lanes = int(caches.size());
    row.n_tokens = n_tokens;
    row.n_cached = caches.front()->n_tokens(0);
    return row;
}

/// Roofline: the larger of bytes / bandwidth and multiply-adds / FMA rate (two FLOP per multiply-add).
void Bench::add_limits(BenchRow& row, const Machine& machine) const {
    const ModelConfig& c = model_->config();
    const double bytes = double(row.weight_bytes) + double(row.cache_bytes);
    const double width = double(c.n_heads) * c.head_dim, kv_width = double(c.n_kv_heads) * c.head_dim;
    const double layer = c.n_embd * (2 * width + 2 * kv_width) + 3.0 * c.n_embd * c.n_ff;
    const double attention = 2.0 * width * (row.depth + row.n_tokens / 2.0);
    const double macs = row.lanes * (c.n_layers * (layer + attention) + double(c.n_embd) * c.n_vocab);
    const double memory_s = bytes / (machine.bandwidth_gbps * 1e9), fma_s = 2 * macs / (machine.fma_gflops * 1e9);
    row.multiply_adds = uint64_t(macs);
    row.memory_limit = 1 / memory_s;
    row.roofline = 1 / std::max(memory_s, fma_s);
}

Result<std::vector<BenchRow>> Bench::at_depth(const std::vector<CacheSpec>& specs, int depth, int lanes, int n_tokens,
                                              const std::vector<int>& text, const Machine& machine,
                                              const Progress& progress) {
    const ModelConfig& c = model_->config();
    if (depth + n_tokens + 3 > c.context_length)
        return Error{ErrorCode::usage, "cannot measure", fmt::format("--depth {}", depth),
                     fmt::format("the model's context is {} tokens", c.context_length),
                     fmt::format("Use {} or less.", c.context_length - n_tokens - 3)};
    const bool lock_step = lanes > 1;
    const size_t n_caches = lock_step ? size_t(lanes) : specs.size();
    const uint64_t need =
        n_caches * 4ull * size_t(c.n_layers) * size_t(c.n_kv_heads * c.head_dim) * size_t(depth + n_tokens + 3);
    if (need > available_memory())
        return Error{
            ErrorCode::memory, "cannot measure", fmt::format("--depth {}", depth),
            fmt::format("{} caches need about {} MiB, {} MiB are free", n_caches, need >> 20, available_memory() >> 20),
            "Use fewer caches or a smaller depth."};

    std::vector<std::unique_ptr<KvCache>> caches;
    std::vector<KvCache*> all;
    std::string names;
    for (size_t i = 0; i < n_caches; ++i) {
        const CacheSpec& spec = specs[i % specs.size()];
        auto cache = KvCache::create(spec, model_->cache_shape(depth + n_tokens + 3), path_);
        if (!cache) return cache.error();
        caches.push_back(std::move(*cache));
        names += (names.empty() ? "" : " | ") + spec.text;
        all.push_back(caches.back().get());
    }
    std::vector<int> prompt;
    for (int i = 0; i < std::max(depth, 1); ++i)
        prompt.push_back(text[size_t(i) % text.size()]);
    const auto prefill = fill(all, prompt, progress);
    if (!prefill) return prefill.error();
    std::vector<BenchRow> rows;
    for (size_t i = 0; i < (lock_step ? 1 : caches.size()); ++i) {
        const std::vector<KvCache*> step = lock_step ? all : std::vector<KvCache*>{all[i]};
        auto row = decode(step, n_tokens, text, int(prompt.size()));
        if (!row) return row.error();
        row->spec = lock_step ? names : specs[i].text;
        row->depth = depth;
        row->prefill_rate = *prefill;
        add_limits(*row, machine);
        rows.push_back(std::move(*row));
    }
    return rows;
}

}  // namespace kvasir::cli
