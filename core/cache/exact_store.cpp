// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cache/exact_store.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "core/cache/block_range.h"
#include "core/cache/buffer.h"
#include "kernels/cpu/attention.h"
#include "kernels/cpu/ops.h"

namespace kvasir {
namespace {

inline void load(const float* x, int n, float* y) {
    std::copy_n(x, n, y);
}
inline void load(const uint16_t* x, int n, float* y) {
    kernels::half_to_float(x, n, y);
}
inline void save(const float* x, int n, float* y) {
    std::copy_n(x, n, y);
}
inline void save(const float* x, int n, uint16_t* y) {
    kernels::float_to_half(x, n, y);
}

/// Element (slot, d) of a head lies at slot*width + d (values) or in the block layout of kernels::ExactTokens
/// (keys); token t has slot start_ + t. The tokens move to the front of the memory when its end is reached, so that
/// dropping and appending cost O(1) on average.
template <class Element, Side side>
class ExactTokens final : public ExactStore {
 public:
    ExactTokens(int n_kv_heads, int head_dim)
        : n_kv_heads_(n_kv_heads), head_dim_(head_dim), width_(kernels::padded_channels(head_dim)) {}

    int size() const override { return size_; }

    void clear() override { start_ = size_ = 0; }

    void set_capacity(int n_tokens) override {
        const int capacity = blocks_of(std::max(n_tokens, size_) + (size_ ? start_ % kBlock : 0)) * kBlock;
        if (capacity == capacity_ && start_ == 0) return;
        Buffer<Element> data(size_t(n_kv_heads_) * capacity * width_);
        move_tokens(data.data(), capacity);
        data_ = std::move(data);
        capacity_ = capacity;
    }

    void extend(int n) override {
        if (start_ + size_ + n > capacity_) move_tokens(data_.data(), capacity_);
        if (start_ + size_ + n > capacity_) set_capacity(std::max(start_ + size_ + n, 2 * capacity_));
        size_ += n;
    }

    void put(int kv_head, int index, const float* x) override {
        const int slot = start_ + index;
        Element* base = head(data_.data(), capacity_, kv_head);
        if constexpr (side == Side::v) {
            save(x, head_dim_, base + size_t(slot) * width_);
        } else {
            Element* column = base + size_t(slot / kBlock) * width_ * kBlock + slot % kBlock;
            Element row[kChunk];
            for (int d0 = 0; d0 < head_dim_; d0 += kChunk) {
                const int n = std::min(kChunk, head_dim_ - d0);
                save(x + d0, n, row);
                for (int d = 0; d < n; ++d)
                    column[size_t(d0 + d) * kBlock] = row[d];
            }
        }
    }

    void drop_front(int n) override {
        start_ += n;
        size_ -= n;
        if (size_ == 0) start_ = 0;
    }

    void read(int kv_head, int begin, int end, float* out) const override {
        const Element* base = head(data_.data(), capacity_, kv_head);
        for (int t = begin; t < end; ++t, out += head_dim_) {
            const int slot = start_ + t;
            if constexpr (side == Side::v) {
                load(base + size_t(slot) * width_, head_dim_, out);
            } else {
                const Element* column = base + size_t(slot / kBlock) * width_ * kBlock + slot % kBlock;
                Element row[kChunk];
                for (int d0 = 0; d0 < head_dim_; d0 += kChunk) {
                    const int n = std::min(kChunk, head_dim_ - d0);
                    for (int d = 0; d < n; ++d)
                        row[d] = column[size_t(d0 + d) * kBlock];
                    load(row, n, out + d0);
                }
            }
        }
    }

    void scores(int kv_head, const float* q, int n_queries, int begin, int end, float* out,
                size_t out_stride) const override {
        if constexpr (side == Side::k) {
            const kernels::ExactTokens<Element> view{width_, head(data_.data(), capacity_, kv_head)};
            scores_of_blocks(n_queries, start_ + begin, start_ + end, out, out_stride,
                             [&](int b0, int b1, float* to, size_t stride) {
                                 kernels::scores(view, q, n_queries, b0, b1, to, stride);
                             });
        } else {
            scores_by_read(*this, head_dim_, kv_head, q, n_queries, begin, end, out, out_stride);
        }
    }

    void weighted_sum(int kv_head, const float* p, size_t p_stride, int n_queries, int begin, int end, float* acc,
                      size_t acc_stride) const override {
        if constexpr (side == Side::v) {
            const kernels::ExactTokens<Element> view{width_, head(data_.data(), capacity_, kv_head)};
            kernels::weighted_sum(view, p, p_stride, n_queries, start_ + begin, start_ + end, acc, acc_stride);
        } else {
            weighted_sum_by_read(*this, head_dim_, kv_head, p, p_stride, n_queries, begin, end, acc, acc_stride);
        }
    }

    void fetch(int kv_head, int token) const override {
        if constexpr (side == Side::v) {
            const kernels::ExactTokens<Element> view{width_, head(data_.data(), capacity_, kv_head)};
            kernels::fetch_values(view, start_ + token);
        }
    }

    ByteLedger ledger() const override {
        const uint64_t channel_bytes = uint64_t(n_kv_heads_) * sizeof(Element);
        ByteLedger bytes;
        bytes.residual = uint64_t(size_) * head_dim_ * channel_bytes;
        uint64_t slots = size_;
        if (side == Side::k && size_ > 0) slots = blocks_of(start_ + size_) * kBlock - start_ / kBlock * kBlock;
        bytes.padding = slots * width_ * channel_bytes - bytes.residual;
        return bytes;
    }

 private:
    static constexpr int kChunk = 128;

    template <class Pointer>
    Pointer head(Pointer data, int capacity, int kv_head) const {
        return data + size_t(kv_head) * capacity * width_;
    }

    /// Copies the tokens to the front of `to` (which may be the memory they are in) and starts counting there. Keys
    /// move by whole blocks.
    void move_tokens(Element* to, int capacity) {
        const int from = side == Side::k ? start_ / kBlock * kBlock : start_;
        const int stored = side == Side::k ? blocks_of(start_ + size_) * kBlock - from : size_;
        if (size_ > 0)
            for (int h = 0; h < n_kv_heads_; ++h)
                std::memmove(head(to, capacity, h), head(data_.data(), capacity_, h) + size_t(from) * width_,
                             size_t(stored) * width_ * sizeof(Element));
        start_ = size_ > 0 ? start_ - from : 0;
    }

    int n_kv_heads_, head_dim_;
    int width_;         ///< channels a vector takes: padded with zeros, which nothing overwrites
    int capacity_ = 0;  ///< tokens, a multiple of 8
    int start_ = 0, size_ = 0;
    Buffer<Element> data_;  ///< [n_kv_heads][capacity * width]
};

template <class Element>
std::unique_ptr<ExactStore> make(Side side, int n_kv_heads, int head_dim) {
    if (side == Side::k) return std::make_unique<ExactTokens<Element, Side::k>>(n_kv_heads, head_dim);
    return std::make_unique<ExactTokens<Element, Side::v>>(n_kv_heads, head_dim);
}

}  // namespace

std::unique_ptr<ExactStore> make_exact_store(SideSpec::Codec codec, Side side, int n_kv_heads, int head_dim) {
    if (codec == SideSpec::Codec::fp32) return make<float>(side, n_kv_heads, head_dim);
    return make<uint16_t>(side, n_kv_heads, head_dim);
}

}  // namespace kvasir
