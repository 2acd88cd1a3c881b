// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/bench_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "app/cli/common.h"
#include "core/cache/cache_bytes.h"
#include "core/measure/statistics.h"
#include "core/model/prompt_pass.h"
#include "core/model/sampler.h"
#include "kernels/cpu/machine.h"

namespace kvasir::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kWarmUp = 2;  // steps before the measured ones

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

uint64_t available_memory() {
    return uint64_t(::sysconf(_SC_AVPHYS_PAGES)) * uint64_t(::sysconf(_SC_PAGESIZE));
}

int n_quantized(const KvCache& cache) {
    return cache.n_quantized(0, Side::k) + cache.n_quantized(0, Side::v);
}

std::vector<int> first_tokens(const std::vector<int>& text, int n) {
    std::vector<int> out;
    for (int i = 0; i < n; ++i)
        out.push_back(text[size_t(i) % text.size()]);
    return out;
}

}  // namespace

double BenchRow::memory_limit(const Machine& machine) const {
    return machine.bandwidth_gbps * 1e9 / (double(weight_bytes) + double(cache_bytes));
}

double BenchRow::roofline(const Machine& machine) const {
    return std::min(memory_limit(machine), machine.fma_gflops * 1e9 / (2 * double(multiply_adds)));
}

/// Caches decoded in one step, and what was measured of them.
struct Bench::Group {
    std::vector<KvCache*> caches;
    BenchRow row;
    Sampler sampler{Sampling{}};
    std::vector<double> seconds, appends;
    std::vector<float> logits;
    bool measured = false;  ///< false: warming up
};

Bench::Bench(std::shared_ptr<const Model> model, int n_threads, KernelPath path)
    : model_(model), path_(path), forward_(std::move(model), n_threads) {}

const Machine& Bench::measure_machine() {
    machine_.bandwidth_gbps = std::max(machine_.bandwidth_gbps, kernels::measure_read_bandwidth(forward_.pool()));
    machine_.fma_gflops = std::max(machine_.fma_gflops, kernels::measure_fma_rate(forward_.pool()));
    return machine_;
}

uint64_t Bench::layer_multiply_adds() const {
    const ModelConfig& c = model_->config();
    const uint64_t embd = uint64_t(c.n_embd), width = uint64_t(c.n_heads) * uint64_t(c.head_dim),
                   kv_width = uint64_t(c.n_kv_heads) * uint64_t(c.head_dim);
    return uint64_t(c.n_layers) * (embd * (2 * width + 2 * kv_width) + 3 * embd * uint64_t(c.n_ff));
}

uint64_t Bench::attention_multiply_adds(double n_attended) const {
    const ModelConfig& c = model_->config();
    return uint64_t(2.0 * c.n_layers * c.n_heads * c.head_dim * n_attended);
}

Status Bench::check(const std::vector<CacheSpec>& specs, const std::vector<int>& depths, const std::vector<int>& lanes,
                    int n_tokens) const {
    const ModelConfig& c = model_->config();
    for (const int depth : depths) {
        const int end = std::max(depth, 1) + n_tokens + kWarmUp, deepest = c.context_length - n_tokens - kWarmUp;
        if (end > c.context_length)
            return Error{ErrorCode::usage, "cannot measure", fmt::format("--depth {}", depth),
                         fmt::format("the model's context is {} tokens", c.context_length),
                         deepest > 0 ? fmt::format("Use --depth {} or less.", deepest)
                                     : fmt::format("Use --tokens {} or less.", c.context_length - kWarmUp - 1)};
        for (const int n : lanes) {
            // A prompt is held exactly until it has been read, so each cache needs both sizes.
            const CacheShape shape = model_->cache_shape(end);
            const size_t count = n_caches(specs.size(), n);
            uint64_t need = 0;
            for (size_t i = 0; i < count; ++i)
                need += cache_bytes(specs[i % specs.size()], shape, depth, end).total() +
                        4ull * uint64_t(c.n_layers) * uint64_t(c.n_kv_heads * c.head_dim) * uint64_t(end);
            if (need > available_memory())
                return Error{ErrorCode::memory, "cannot measure", fmt::format("--depth {} --lanes {}", depth, n),
                             fmt::format("{} caches need about {} MiB, {} MiB are free", count, need >> 20,
                                         available_memory() >> 20),
                             "Use fewer caches or a smaller depth."};
        }
    }
    return {};
}

/// Prompt tokens per second, all passes together, quantizing included. `stored` says for each cache what came of it.
Result<double> Bench::fill(const std::vector<KvCache*>& caches, std::span<const int> prompt, const Progress& progress,
                           std::vector<Status>& stored) {
    const Clock::time_point start = Clock::now();
    constexpr int kChunk = 128;
    const auto pass = read_prompt(forward_, caches, prompt, kChunk, progress, interrupted_by_user());
    if (!pass) return pass.error();
    stored = forward_.finish_prompt(caches);
    return double(pass->n_groups) * double(prompt.size()) / seconds_since(start);
}

Result<PromptRow> Bench::prompt(const CacheSpec& spec, int n_tokens, const std::vector<int>& text) {
    PromptRow row;
    row.spec = spec.text;
    row.tokens = n_tokens;
    row.multiply_adds = uint64_t(n_tokens) * (layer_multiply_adds() + attention_multiply_adds((n_tokens + 1) / 2.0)) +
                        uint64_t(model_->config().n_embd) * uint64_t(model_->config().n_vocab);
    const std::vector<int> prompt = first_tokens(text, n_tokens);
    for (int i = 0; i < 3 && row.why.empty(); ++i) {
        auto cache = KvCache::create(spec, model_->cache_shape(n_tokens), path_);
        if (!cache && cache.error().code != ErrorCode::input) return cache.error();
        if (!cache) {
            row.why = cache.error().message();
            break;
        }
        std::vector<Status> stored;
        const auto rate = fill({cache->get()}, prompt, {}, stored);
        if (!rate) return rate.error();
        if (!stored[0]) row.why = stored[0].error().message();
        row.rate = std::max(row.rate, *rate);
    }
    return row;
}

/// One decode step of a group: forward pass, storing, and the choice of a token (which the text then overrules).
Status Bench::step(Group& group, int token) {
    std::vector<Sequence> sequences(group.caches.size());
    int before = 0, after = 0;
    for (size_t i = 0; i < sequences.size(); ++i) {
        sequences[i].tokens = {token};
        sequences[i].caches = {group.caches[i]};
        before += n_quantized(*group.caches[i]);
    }
    const Clock::time_point start = Clock::now();
    if (Status st = forward_.run(sequences, {}, group.logits, interrupted_by_user()); !st) return st;
    for (size_t i = 0; i < sequences.size(); ++i)
        group.sampler.pick({group.logits.data() + i * forward_.logits_stride(), size_t(model_->config().n_vocab)});
    const double seconds = seconds_since(start);
    for (size_t i = 0; i < sequences.size(); ++i) {
        if (sequences[i].failed) {
            group.row.why = sequences[i].error.message();
            return {};
        }
        after += n_quantized(*group.caches[i]);
    }
    if (!group.measured) return {};
    group.seconds.push_back(seconds);
    double quantize = 0;
    for (const TimeSplit& t : forward_.times()) {
        group.row.split += t;
        quantize += t.quantize;
    }
    // More than one token of each side: a block went to quantized storage at once.
    const bool flushed = after - before > 2 * int(sequences.size());
    group.row.n_flushes += flushed;
    if (flushed)
        group.row.flush = std::max(group.row.flush, quantize);
    else
        group.appends.push_back(quantize);
    return {};
}

Result<std::vector<BenchRow>> Bench::at_depth(const std::vector<CacheSpec>& specs, int depth, int lanes, int n_tokens,
                                              const std::vector<int>& text, const Progress& progress) {
    const bool lock_step = lanes > 1;
    const std::vector<int> prompt = first_tokens(text, std::max(depth, 1));
    std::vector<std::unique_ptr<KvCache>> caches;
    std::vector<KvCache*> all;
    std::vector<size_t> group_of;  // of each of `all`
    std::vector<Group> groups(lock_step ? 1 : specs.size());
    for (size_t i = 0; i < n_caches(specs.size(), lanes); ++i) {
        const CacheSpec& spec = specs[i % specs.size()];
        Group& group = groups[lock_step ? 0 : i];
        group.row.spec += (group.row.spec.empty() ? "" : " | ") + spec.text;
        group.row.depth = depth, group.row.lanes = lanes, group.row.n_tokens = n_tokens;
        auto cache = KvCache::create(spec, model_->cache_shape(int(prompt.size()) + n_tokens + kWarmUp), path_);
        if (!cache && cache.error().code != ErrorCode::input) return cache.error();
        if (!cache) {
            group.row.why = cache.error().message();
            continue;
        }
        all.push_back(cache->get());
        group_of.push_back(lock_step ? 0 : i);
        caches.push_back(std::move(*cache));
        group.caches.push_back(all.back());
    }
    double prefill_rate = 0;
    if (!all.empty()) {
        std::vector<Status> stored;
        const auto prefill = fill(all, prompt, progress, stored);
        if (!prefill) return prefill.error();
        prefill_rate = *prefill;
        for (size_t i = 0; i < all.size(); ++i)
            if (!stored[i]) groups[group_of[i]].row.why = stored[i].error().message();
    }
    for (int i = 0; i < n_tokens + kWarmUp; ++i)
        for (Group& group : groups) {
            if (!group.row.why.empty()) continue;
            group.measured = i >= kWarmUp;
            if (Status st = step(group, text[(prompt.size() + size_t(i)) % text.size()]); !st) return st.error();
        }
    std::vector<BenchRow> rows;
    for (Group& group : groups) {
        BenchRow& row = group.row;
        if (!row.why.empty()) {
            rows.push_back(std::move(row));
            continue;
        }
        row.prefill_rate = prefill_rate;
        const auto [fastest, slowest] = std::minmax_element(group.seconds.begin(), group.seconds.end());
        row.median = 1 / quantile(group.seconds, 0.5), row.min = 1 / *slowest, row.max = 1 / *fastest;
        row.append = quantile(group.appends, 0.5);
        for (double* part : {&row.split.matmul, &row.split.quantize, &row.split.scores, &row.split.softmax,
                             &row.split.weighted_sum, &row.split.rotate, &row.split.other})
            *part /= n_tokens;
        row.weight_bytes = model_->weight_bytes_per_step();
        for (const KvCache* cache : group.caches)
            row.cache_bytes += cache->ledger().total();
        row.n_cached = group.caches.front()->n_tokens(0);
        const ModelConfig& c = model_->config();
        row.multiply_adds = uint64_t(row.lanes) * (layer_multiply_adds() + uint64_t(c.n_embd) * uint64_t(c.n_vocab) +
                                                   attention_multiply_adds(depth + n_tokens / 2.0));
        rows.push_back(std::move(row));
    }
    return rows;
}

}  // namespace kvasir::cli
