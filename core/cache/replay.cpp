// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cache/replay.h"

#include <fmt/format.h>

#include "core/base/sha256.h"
#include "core/cache/feed.h"
#include "kernels/codec/half.h"

namespace kvasir {
namespace {

constexpr size_t kHashDigits = 32;

void put_token(KvCache& cache, const Recording& recording, int t) {
    std::vector<float> k(size_t(recording.head_dim)), v(k.size());
    for (int h = 0; h < recording.n_kv_heads; ++h) {
        const size_t first = (size_t(h) * recording.n_tokens + t) * recording.head_dim;
        for (size_t d = 0; d < k.size(); ++d) {
            k[d] = kernels::half_to_float(recording.k[first + d]);
            v[d] = kernels::half_to_float(recording.v[first + d]);
        }
        cache.put(0, h, t, k.data(), v.data());
    }
}

std::string hash_of(const KvCache& cache, Side side) {
    const int n = cache.n_tokens(0);
    std::vector<float> values(size_t(n) * cache.shape().head_dim);
    std::vector<uint8_t> bytes(2 * values.size());
    Sha256 sum;
    for (int h = 0; h < cache.shape().n_kv_heads; ++h) {
        cache.read(0, h, side, 0, n, values.data());
        for (size_t i = 0; i < values.size(); ++i) {
            const uint16_t half = kernels::float_to_half(values[i]);
            bytes[2 * i] = uint8_t(half & 255);
            bytes[2 * i + 1] = uint8_t(half >> 8);
        }
        sum.add(bytes.data(), bytes.size());
    }
    return sum.hex().substr(0, kHashDigits);
}

}  // namespace

Result<std::vector<ReplayStep>> replay(KvCache& cache, const Recording& recording, int t0,
                                       const std::function<void(int step)>& attending, bool hashes,
                                       const CancelCheck& cancelled) {
    if (t0 < 1 || t0 > recording.n_tokens)
        return Error{ErrorCode::usage, "cannot replay", "prefill", fmt::format("{} tokens of prompt", t0),
                     fmt::format("Use a prompt of 1 to {} tokens.", recording.n_tokens)};
    const PutToken put = [&](int t) { put_token(cache, recording, t); };
    if (Status ok = feed_prompt(cache, t0, put); !ok) return ok.error();

    std::vector<ReplayStep> steps;
    for (int t = t0; t < recording.n_tokens && !(cancelled && cancelled()); ++t) {
        ReplayStep step;
        step.step = t - t0 + 1;
        const Status fed = feed_token(cache, put, [&] {
            step.k_quantized_seen = cache.n_quantized(0, Side::k);
            step.v_quantized_seen = cache.n_quantized(0, Side::v);
            if (hashes) {
                step.sha256_k = hash_of(cache, Side::k);
                step.sha256_v = hash_of(cache, Side::v);
            }
            if (attending) attending(step.step);
        });
        if (!fed) return fed.error();
        step.k_quantized_after = cache.n_quantized(0, Side::k);
        step.v_quantized_after = cache.n_quantized(0, Side::v);
        step.k_residual_after = cache.n_tokens(0) - step.k_quantized_after;
        step.v_residual_after = cache.n_tokens(0) - step.v_quantized_after;
        steps.push_back(std::move(step));
    }
    return steps;
}

}  // namespace kvasir
