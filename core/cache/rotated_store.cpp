// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cache/rotated_store.h"

#include <algorithm>

#include "core/cache/rotated_reader.h"

namespace kvasir {

RotatedStore::RotatedStore(const SideSpec& side, const StoreShape& shape)
    : Store(shape.head_dim),
      side_(side),
      n_kv_heads_(shape.n_kv_heads),
      rotation_(side, shape.which, shape.head_dim),
      tokens_(make_exact_store(side.codec, shape.which, shape.n_kv_heads, shape.head_dim)) {
    tokens_->set_capacity(shape.max_tokens);
}

Status RotatedStore::append(const TokenReader& source, int n) {
    const int first = tokens_->size();
    tokens_->extend(n);
    std::vector<float> row(static_cast<size_t>(head_dim_));
    for (int h = 0; h < n_kv_heads_; ++h)
        for (int t = 0; t < n; ++t) {
            read_for_codec(source, side_, rotation_, head_dim_, h, t, t + 1, row.data());
            tokens_->put(h, first + t, row.data());
        }
    return {};
}

void RotatedStore::codes_at(int, int, KvCache::GroupView& out) const {
    std::fill(out.codes.begin(), out.codes.end(), uint8_t{0});
    std::fill(out.scale.begin(), out.scale.end(), 0.0f);
    std::fill(out.offset.begin(), out.offset.end(), 0.0f);
}

}  // namespace kvasir
