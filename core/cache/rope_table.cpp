// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cache/rope_table.h"

#include <cstdio>
#include <cstdlib>

#include "kernels/cpu/ops.h"

namespace kvasir {

RopeTable::RopeTable(const RopeAt& rope, int head_dim, int max_tokens) : head_dim_(head_dim) {
    const size_t half = size_t(head_dim / 2);
    cos_.resize(half * size_t(max_tokens));
    sin_.resize(cos_.size());
    for (int t = 0; t < max_tokens; ++t)
        rope(t, cos_.data() + half * size_t(t), sin_.data() + half * size_t(t));
    for (const float s : sin_)
        minus_sin_.push_back(-s);
}

size_t RopeTable::first_of(int position) const {
    const size_t first = size_t(head_dim_ / 2) * size_t(position);
    if (first < cos_.size()) return first;
    std::fprintf(stderr, "kvasir: position %d is beyond the announced length of the cache\n", position);
    std::abort();
}

void RopeTable::apply(float* x, int position) const {
    const size_t first = first_of(position);
    kernels::rope_halves(x, cos_.data() + first, sin_.data() + first, head_dim_);
}

void RopeTable::undo(float* x, int position) const {
    const size_t first = first_of(position);
    kernels::rope_halves(x, cos_.data() + first, minus_sin_.data() + first, head_dim_);
}

}  // namespace kvasir
