// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/second_draw.h"

#include "core/model/prompt_pass.h"

namespace kvasir {

SecondDraw::SecondDraw(std::shared_ptr<const Model> model, std::unique_ptr<KvCache> cache, int n_threads, int sum_order)
    : cache_(std::move(cache)), forward_(model, n_threads, sum_order), n_vocab_(size_t(model->config().n_vocab)) {}

Result<std::unique_ptr<SecondDraw>> SecondDraw::create(std::shared_ptr<const Model> model, const CacheSpec& reference,
                                                       const CacheShape& shape, KernelPath path, int n_threads,
                                                       int sum_order) {
    auto cache = KvCache::create(reference, shape, path);
    if (!cache) return cache.error();
    return std::unique_ptr<SecondDraw>(new SecondDraw(std::move(model), std::move(*cache), n_threads, sum_order));
}

Status SecondDraw::read_prompt(const std::vector<int>& tokens, int chunk, const CancelCheck& cancelled) {
    KvCache* cache = cache_.get();
    auto pass = kvasir::read_prompt(forward_, {&cache, 1}, tokens, chunk, {}, cancelled);
    if (!pass) return pass.error();
    logits_ = std::move(pass->logits.front());
    return forward_.finish_prompt({&cache, 1}).front();
}

Status SecondDraw::step(int token, const CancelCheck& cancelled) {
    Sequence s;
    s.tokens = {token};
    s.caches = {cache_.get()};
    if (Status done = forward_.run({&s, 1}, {}, logits_, cancelled); !done) return done;
    if (s.failed) return s.error;
    return {};
}

}  // namespace kvasir
