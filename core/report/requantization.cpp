// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/requantization.h"

#include <random>
#include <vector>

#include "core/cache/feed.h"
#include "kernels/codec/half.h"

namespace kvasir {

Result<double> requantization_growth(const std::string& text) {
    constexpr int kHeads = 2, kDim = 64, kPrompt = 64, kFlushes = 6;
    const auto spec = parse_cache_spec(text);
    if (!spec) return spec.error();
    const int n_tokens = kPrompt + kFlushes * spec->residual_k;
    auto made = KvCache::create(*spec, {1, kHeads, kDim, n_tokens});
    if (!made) return made.error();
    KvCache* cache = made->get();
    std::mt19937 random(5);
    std::normal_distribution<float> normal;
    std::vector<float> x(size_t(n_tokens) * kHeads * kDim);
    for (size_t i = 0; i < x.size(); ++i)
        x[i] = kernels::round_to_half(normal(random) * (i % kDim == 11 ? 12.0f : 1.0f));
    const PutToken put = [&](int t) {
        for (int h = 0; h < kHeads; ++h) {
            const float* row = x.data() + (size_t(t) * kHeads + size_t(h)) * kDim;
            cache->put(0, h, t, row, row);
        }
    };
    const auto error = [&] {
        double sum = 0;
        std::vector<float> row(kDim);
        for (int h = 0; h < kHeads; ++h)
            for (int t = 0; t < kPrompt; ++t) {
                cache->read(0, h, Side::k, t, t + 1, row.data());
                for (size_t d = 0; d < kDim; ++d) {
                    const double e = double(row[d]) - x[(size_t(t) * kHeads + size_t(h)) * kDim + d];
                    sum += e * e;
                }
            }
        return sum;
    };
    if (Status ok = feed_prompt(*cache, kPrompt, put); !ok) return ok.error();
    const double first = error();
    for (int t = kPrompt; t < n_tokens; ++t)
        if (Status ok = feed_token(*cache, put); !ok) return ok.error();
    return error() / first;
}

}  // namespace kvasir
