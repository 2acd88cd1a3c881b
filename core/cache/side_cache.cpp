// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cache/side_cache.h"

#include <algorithm>

#include "core/cache/length_check.h"
#include "core/cache/rotated_reader.h"

namespace kvasir {
namespace {

/// Exact tokens that can be there at once while decoding, with room to slide.
int decode_capacity(FlushRule rule, int residual, int max_tokens) {
    switch (rule) {
        case FlushRule::none:
            return max_tokens;
        case FlushRule::write:
            return 1;
        case FlushRule::whole:
            return std::max(residual, 2) + 1;
        case FlushRule::block:
            return residual + 1;
        case FlushRule::slide:
            return 2 * (residual + 1);
    }
    return max_tokens;
}

}  // namespace

SideCache::SideCache(const CacheSpec& spec, Side side, const CacheShape& shape)
    : rule_(side == Side::k ? spec.flush_k : spec.flush_v),
      flush_first_(spec.flush_first),
      residual_(side == Side::k ? spec.residual_k : spec.residual_v),
      tail_capacity_(decode_capacity(rule_, residual_, shape.max_tokens)),
      sink_limit_(spec.side(side).plain() ? 0 : spec.sink),
      head_dim_(shape.head_dim) {
    const SideSpec scheme = group_at(spec.side(side), shape.head_dim);
    lossless_single_group_ = stores_one_group_exactly(scheme);
    elements_per_token_ = shape.n_kv_heads * shape.head_dim;
    group_ = scheme.group;
    if (!scheme.plain()) {
        store_ = make_store(spec.side(side), {shape.n_kv_heads, shape.head_dim, shape.max_tokens, side});
        if (rule_ == FlushRule::whole) store_->expect_requantize();
        if (!reads_back_plain(scheme)) rotation_ = Rotation(scheme, side, shape.head_dim);
    }
    tail_ = make_exact_store(scheme.codec, side, shape.n_kv_heads, shape.head_dim);
    tail_->set_capacity(tail_capacity_);
    if (sink_limit_ > 0) {
        sink_ = make_exact_store(scheme.codec, side, shape.n_kv_heads, shape.head_dim);
        sink_->set_capacity(std::min(sink_limit_, shape.max_tokens));
    }
}

void SideCache::begin_prompt(int n_tokens) {
    if (store_) store_->clear();
    if (sink_) sink_->clear();
    tail_->clear();
    tail_->set_capacity(rule_ == FlushRule::write ? tail_capacity_ : std::max(n_tokens, tail_capacity_));
    tail_before_ = 0;
    in_prompt_ = true;
}

void SideCache::extend(int n) {
    const int to_sink = std::min(n, sink_limit_ - n_sink());
    if (to_sink > 0) sink_->extend(to_sink);
    tail_->extend(n - std::max(to_sink, 0));
}

void SideCache::put(int kv_head, int position, const float* x) {
    if (position < sink_limit_)
        sink_->put(kv_head, position, x);
    else
        tail_->put(kv_head, position - sink_limit_ - n_quantized(), x);
}

Status SideCache::finish_prompt() {
    const int n = tail_->size();
    Status status;
    switch (rule_) {
        case FlushRule::none:
            break;
        case FlushRule::write:
            status = quantize_front(n);
            break;
        case FlushRule::whole:
            if (lossless_single_group_ && n * elements_per_token_ == group_)
                return Error{ErrorCode::input, "cannot quantize the prompt", "a cache of one single group",
                             "Quanto stores a tensor of one group element by element, without loss",
                             "Use a prompt of at least 2 tokens, longer for a large group."};
            status = quantize_front(n);
            break;
        case FlushRule::block:
            status = quantize_front(n - n % residual_);
            break;
        case FlushRule::slide:
            status = quantize_front(std::max(n - residual_, 0));
            break;
    }
    tail_->set_capacity(tail_capacity_);
    tail_before_ = tail_->size();
    in_prompt_ = false;
    return status;
}

Status SideCache::commit() {
    if (rule_ == FlushRule::write) return quantize_front(tail_->size());
    return flush_first_ && !in_prompt_ ? flush() : Status();
}

Status SideCache::end_step() {
    return flush_first_ ? Status() : flush();
}

Status SideCache::flush() {
    Status status;
    switch (rule_) {
        case FlushRule::none:
        case FlushRule::write:
            break;
        case FlushRule::whole:
            // Transformers looks at the tail of before this step; an empty one is never flushed.
            if (tail_before_ > 0 && tail_before_ + 1 >= residual_) status = requantize_all();
            break;
        case FlushRule::block:
            status = quantize_front(tail_->size() - tail_->size() % residual_);
            break;
        case FlushRule::slide:
            status = quantize_front(std::max(tail_->size() - residual_, 0));
            break;
    }
    tail_before_ = tail_->size();
    return status;
}

Status SideCache::quantize_front(int n) {
    if (n == 0) return {};
    Status status = store_->append(*tail_, n);
    if (status) tail_->drop_front(n);
    return status;
}

Status SideCache::requantize_all() {
    const int n = tail_->size();
    Status status = store_->requantize(*tail_, n);
    if (status) tail_->drop_front(n);
    return status;
}

void SideCache::read(int kv_head, int begin, int end, float* out) const {
    const int first = n_sink(), last = first + n_quantized();
    const int a = std::clamp(first, begin, end), b = std::clamp(last, begin, end);
    if (begin < a) sink_->read(kv_head, begin, a, out);
    if (a < b) store_->read(kv_head, a - first, b - first, out + size_t(a - begin) * size_t(head_dim_));
    if (b < end) tail_->read(kv_head, b - last, end - last, out + size_t(b - begin) * size_t(head_dim_));
}

ByteLedger SideCache::ledger() const {
    ByteLedger bytes = tail_->ledger();
    if (sink_) bytes += sink_->ledger();
    if (store_) bytes += store_->ledger();
    return bytes;
}

}  // namespace kvasir
