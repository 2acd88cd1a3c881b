// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/floor_pass.h"

#include <algorithm>

#include "core/measure/divergence.h"
#include "core/measure/statistics.h"
#include "core/model/prompt_pass.h"

namespace kvasir {
namespace {

/// Enough that unpacking the weights costs nothing per row; few enough that their logits take little memory (64 rows
/// over 49152 ids: 12 MiB) and that the lanes do not wait long for the pass.
constexpr size_t kRowsPerPass = 64;

}  // namespace

FloorPass::FloorPass(std::shared_ptr<const Model> model, std::unique_ptr<KvCache> cache, int n_threads, int sum_order)
    : cache_(std::move(cache)),
      forward_(model, n_threads, sum_order),
      rows_per_pass_(cache_->spec().keeps_everything() ? kRowsPerPass : 1),
      n_vocab_(size_t(model->config().n_vocab)) {}

Result<std::unique_ptr<FloorPass>> FloorPass::create(std::shared_ptr<const Model> model, const CacheSpec& reference,
                                                     const CacheShape& shape, KernelPath path, int n_threads,
                                                     int sum_order) {
    auto cache = KvCache::create(reference, shape, path);
    if (!cache) return cache.error();
    return std::unique_ptr<FloorPass>(new FloorPass(std::move(model), std::move(*cache), n_threads, sum_order));
}

void FloorPass::add(int step, int token, const std::vector<float>& logits, const std::vector<float>& outputs) {
    waiting_.push_back({step, token, {logits.begin(), logits.begin() + std::ptrdiff_t(n_vocab_)}, outputs});
}

Status FloorPass::read_prompt(const std::vector<int>& tokens, int chunk, const CancelCheck& cancelled) {
    KvCache* cache = cache_.get();
    auto pass = kvasir::read_prompt(forward_, {&cache, 1}, tokens, chunk, {}, cancelled);
    if (!pass) return pass.error();
    prompt_logits_ = std::move(pass->logits.front());
    return forward_.finish_prompt({&cache, 1}).front();
}

int FloorPass::n_passes() const {
    // The prompt has predicted the first step of all: a pass of that step alone has nothing to read.
    const bool read_already = unread_token_ < 0 && std::min(rows_per_pass_, waiting_.size()) == 1;
    return int((waiting_.size() + rows_per_pass_ - 1) / rows_per_pass_) - (read_already ? 1 : 0);
}

Status FloorPass::draw(std::vector<FloorRecord>& floors, const CancelCheck& cancelled) {
    for (size_t begin = 0; begin < waiting_.size(); begin += rows_per_pass_) {
        const size_t end = std::min(begin + rows_per_pass_, waiting_.size());
        if (Status done = pass(begin, end, floors, cancelled); !done) return done;
    }
    waiting_.clear();
    return {};
}

/// The steps [begin, end) of those that wait. A step is predicted by the token before it: what is read is the text one
/// token earlier, except that the prompt has already predicted the first step of all.
Status FloorPass::pass(size_t begin, size_t end, std::vector<FloorRecord>& floors, const CancelCheck& cancelled) {
    const size_t n = end - begin, stride = forward_.logits_stride();
    Sequence s;
    s.caches = {cache_.get()};
    if (unread_token_ >= 0) s.tokens.push_back(unread_token_);
    for (size_t i = begin; i + 1 < end; ++i)
        s.tokens.push_back(waiting_[i].token);
    const size_t n_before = n - s.tokens.size();  // 1 where the prompt predicted the first of them, else 0
    const ModelConfig& c = forward_.model().config();
    const size_t width = size_t(c.n_heads) * size_t(c.head_dim);
    std::vector<FloorRecord> drawn(n);
    std::vector<float> logits;
    if (!s.tokens.empty()) {
        ForwardOptions options;
        options.all_logits = true;
        options.flush = rows_per_pass_ == 1;
        options.output_tap = [&](int layer, const float* o) {
            for (size_t i = n_before; i < n; ++i, o += width) {
                const std::vector<float>& outputs = waiting_[begin + i].outputs;
                if (outputs.empty()) continue;
                const std::span<const float> reference(outputs.data() + size_t(layer) * width, width);
                drawn[i].attention_error.push_back(float(relative_error({o, width}, reference)));
            }
        };
        if (Status done = forward_.run({&s, 1}, options, logits, cancelled); !done) return done;
        if (s.failed) return s.error;
    }
    unread_token_ = waiting_[end - 1].token;

    forward_.pool().for_each(int(n), 1, [&](int i, int) {
        const Step& step = waiting_[begin + size_t(i)];
        const float* row =
            size_t(i) < n_before ? prompt_logits_.data() : logits.data() + (size_t(i) - n_before) * stride;
        const Prediction reference = predict(step.logits), again = predict({row, n_vocab_});
        FloorRecord& floor = drawn[size_t(i)];
        floor.step = step.step;
        floor.kl = float(kl_divergence(reference, again));
        floor.delta_logprob = float(again.log_prob(step.token) - reference.log_prob(step.token));
    });
    floors.insert(floors.end(), std::make_move_iterator(drawn.begin()), std::make_move_iterator(drawn.end()));
    return {};
}

}  // namespace kvasir
