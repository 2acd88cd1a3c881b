// SPDX-License-Identifier: GPL-3.0-or-later
// The recorded numbers of the original libraries (tests/golden/README.md).
#pragma once

#include <QtTest>

#include "core/base/safetensors.h"
#include "core/cache/kv_cache.h"
#include "core/cache/replay.h"
#include "kernels/codec/half.h"
#include "support/golden.h"

namespace kvasir::test {

inline SafetensorsFile golden_tensors(const std::string& name) {
    return SafetensorsFile::open(golden_path(name)).value();
}

/// Some tokens of one recorded tensor [n_kv_heads, tokens, head_dim].
struct HalfTensor {
    int n_kv_heads = 0, n_tokens = 0, head_dim = 0;
    std::vector<uint16_t> x;

    HalfTensor first_tokens(int n) const {
        HalfTensor out{n_kv_heads, n, head_dim, {}};
        for (int h = 0; h < n_kv_heads; ++h) {
            const auto from = x.begin() + long(h) * n_tokens * head_dim;
            out.x.insert(out.x.end(), from, from + long(n) * head_dim);
        }
        return out;
    }
};

inline HalfTensor half_tensor(const SafetensorsFile& file, const std::string& name) {
    const TensorView view = file.tensor(name).value();
    return {int(view.shape[0]), int(view.shape[1]), int(view.shape[2]), view.values<uint16_t>()};
}

inline CacheSpec spec_of(const std::string& text) {
    return parse_cache_spec(text).value();
}

inline std::unique_ptr<KvCache> make_cache(const std::string& spec, const CacheShape& shape,
                                           KernelPath path = KernelPath::fused) {
    return std::move(KvCache::create(spec_of(spec), shape, path).value());
}

/// Equal as numbers (so +0 and -0 agree), or both NaN.
inline bool same_half(uint16_t a, uint16_t b) {
    const float x = kernels::half_to_float(a), y = kernels::half_to_float(b);
    return x == y || (x != x && y != y);
}

}  // namespace kvasir::test
