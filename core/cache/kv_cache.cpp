// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cache/kv_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "core/cache/side_cache.h"
#include "kernels/cpu/ops.h"

namespace kvasir {

ByteLedger& ByteLedger::operator+=(const ByteLedger& o) {
    codes += o.codes;
    scales += o.scales;
    zeros += o.zeros;
    residual += o.residual;
    padding += o.padding;
    return *this;
}

struct KvCache::Impl {
    CacheSpec spec;
    CacheShape shape;
    bool fused = true;
    std::vector<SideCache> sides;       ///< [n_layers][k, v]
    std::vector<Coverage> layer_reads;  ///< [n_layers]: layers may count at the same time

    const SideCache& at(int layer, Side side) const { return sides[size_t(2 * layer) + (side == Side::v)]; }
    SideCache& at(int layer, Side side) { return sides[size_t(2 * layer) + (side == Side::v)]; }

    /// Floats of the second part of a prepared query: what the key store wants, or the plain query in its space.
    size_t store_query_floats(int n_queries) const {
        const Store* store = sides[0].store();
        if (!store) return 0;
        return fused ? store->query_floats(n_queries) : size_t(n_queries) * shape.head_dim;
    }
};

namespace {

/// Runs a flush; memory that is not there comes back as an error.
template <class F>
Status guard_memory(F&& flush) {
    try {
        return flush();
    } catch (const std::bad_alloc&) {
        return Error{ErrorCode::memory, "cannot quantize the cache", "", "there is not enough memory",
                     "Shorten the text or run fewer lanes."};
    }
}

}  // namespace

KvCache::KvCache() = default;
KvCache::~KvCache() = default;

Result<std::unique_ptr<KvCache>> KvCache::create(const CacheSpec& spec, const CacheShape& shape, KernelPath path) {
    if (Status ok = check_geometry(spec, shape.n_kv_heads, shape.head_dim); !ok) return ok.error();
    try {
        std::unique_ptr<KvCache> cache(new KvCache);
        cache->impl_ = std::make_unique<Impl>();
        Impl& impl = *cache->impl_;
        impl.spec = spec;
        impl.shape = shape;
        impl.fused = path == KernelPath::fused;
        impl.layer_reads.resize(size_t(shape.n_layers));
        impl.sides.reserve(size_t(2 * shape.n_layers));
        for (int layer = 0; layer < shape.n_layers; ++layer)
            for (const Side side : {Side::k, Side::v})
                impl.sides.emplace_back(spec, side, shape);
        return cache;
    } catch (const std::bad_alloc&) {
        return Error{ErrorCode::memory, "cannot make the cache", spec.text,
                     fmt::format("there is not enough memory for {} tokens", shape.max_tokens),
                     "Ask for fewer tokens or fewer lanes."};
    }
}

const CacheSpec& KvCache::spec() const {
    return impl_->spec;
}
const CacheShape& KvCache::shape() const {
    return impl_->shape;
}

void KvCache::begin_prompt(int n_tokens) {
    for (SideCache& side : impl_->sides)
        side.begin_prompt(n_tokens);
    std::fill(impl_->layer_reads.begin(), impl_->layer_reads.end(), Coverage{});
}

Status KvCache::finish_prompt(int layer, Side side) {
    return guard_memory([&] { return impl_->at(layer, side).finish_prompt(); });
}

void KvCache::extend(int layer, int n_tokens) {
    impl_->at(layer, Side::k).extend(n_tokens);
    impl_->at(layer, Side::v).extend(n_tokens);
}

void KvCache::put(int layer, int kv_head, int position, const float* k, const float* v) {
    impl_->at(layer, Side::k).put(kv_head, position, k);
    impl_->at(layer, Side::v).put(kv_head, position, v);
}

Status KvCache::settle(int layer, Side side) {
    return guard_memory([&] { return impl_->at(layer, side).settle(); });
}

int KvCache::n_tokens(int layer) const {
    return impl_->at(layer, Side::k).size();
}

int KvCache::n_quantized(int layer, Side side) const {
    return impl_->at(layer, side).n_quantized();
}

size_t KvCache::query_floats(int n_queries) const {
    return size_t(n_queries) * impl_->shape.head_dim + impl_->store_query_floats(n_queries);
}

void KvCache::prepare_query(const float* q, int n_queries, float* prepared) const {
    const int head_dim = impl_->shape.head_dim;
    const size_t n = size_t(n_queries) * head_dim;
    std::copy_n(q, n, prepared);
    const Store* store = impl_->sides[0].store();
    if (!store) return;
    const float* in_store_space = q;
    thread_local std::vector<float> rotated;
    if (impl_->spec.k.rotate) {
        rotated.assign(q, q + n);
        for (int h = 0; h < n_queries; ++h)
            kernels::hadamard(rotated.data() + size_t(h) * head_dim, head_dim);
        in_store_space = rotated.data();
    }
    if (impl_->fused) {
        store->prepare_query(in_store_space, n_queries, prepared + n);
    } else {
        std::copy_n(in_store_space, n, prepared + n);
    }
}

void KvCache::scores(int layer, int kv_head, const float* prepared, int n_queries, int begin, int end, float* out,
                     size_t out_stride) const {
    const SideCache& side = impl_->at(layer, Side::k);
    const int head_dim = impl_->shape.head_dim;
    const int quantized = side.n_quantized(), split = std::clamp(quantized, begin, end);
    if (begin < split) {
        const float* q = prepared + size_t(n_queries) * head_dim;
        if (impl_->fused) {
            side.store()->scores(kv_head, q, n_queries, begin, split, out, out_stride);
        } else {
            scores_by_read(*side.store(), head_dim, kv_head, q, n_queries, begin, split, out, out_stride);
        }
    }
    if (split < end) {
        float* to = out + (split - begin);
        if (impl_->fused) {
            side.tail().scores(kv_head, prepared, n_queries, split - quantized, end - quantized, to, out_stride);
        } else {
            scores_by_read(side.tail(), head_dim, kv_head, prepared, n_queries, split - quantized, end - quantized, to,
                           out_stride);
        }
    }
}

void KvCache::weighted_sum(int layer, int kv_head, const float* p, size_t p_stride, int n_queries, int begin, int end,
                           float* acc) const {
    const SideCache& side = impl_->at(layer, Side::v);
    const int head_dim = impl_->shape.head_dim;
    const size_t stride = size_t(2) * head_dim;
    const int quantized = side.n_quantized(), split = std::clamp(quantized, begin, end);
    if (begin < split) {
        if (impl_->fused) {
            side.store()->weighted_sum(kv_head, p, p_stride, n_queries, begin, split, acc, stride);
        } else {
            weighted_sum_by_read(*side.store(), head_dim, kv_head, p, p_stride, n_queries, begin, split, acc, stride);
        }
    }
    if (split < end) {
        const float* weights = p + (split - begin);
        float* exact = acc + head_dim;
        if (impl_->fused) {
            side.tail().weighted_sum(kv_head, weights, p_stride, n_queries, split - quantized, end - quantized, exact,
                                     stride);
        } else {
            weighted_sum_by_read(side.tail(), head_dim, kv_head, weights, p_stride, n_queries, split - quantized,
                                 end - quantized, exact, stride);
        }
    }
}

void KvCache::finish_output(float* acc, int n_queries, float* out) const {
    const int head_dim = impl_->shape.head_dim;
    for (int h = 0; h < n_queries; ++h, acc += 2 * head_dim, out += head_dim) {
        if (impl_->spec.v.rotate) kernels::hadamard(acc, head_dim);
        for (int d = 0; d < head_dim; ++d)
            out[d] = acc[d] + acc[head_dim + d];
    }
}

void KvCache::read(int layer, int kv_head, Side side, int begin, int end, float* out) const {
    impl_->at(layer, side).read(kv_head, begin, end, out);
}

void KvCache::read_unrotated(int layer, int kv_head, Side side, int begin, int end, float* out) const {
    const SideCache& cache = impl_->at(layer, side);
    cache.read(kv_head, begin, end, out);
    if (!impl_->spec.side(side).rotate) return;
    const int head_dim = impl_->shape.head_dim;
    for (int t = begin; t < std::min(end, cache.n_quantized()); ++t)
        kernels::hadamard(out + size_t(t - begin) * head_dim, head_dim);
}

bool KvCache::codes_at(int layer, int kv_head, Side side, int token, GroupView* out) const {
    const SideCache& cache = impl_->at(layer, side);
    if (token >= cache.n_quantized()) return false;
    const size_t n = size_t(impl_->shape.head_dim);
    out->codes.resize(n);
    out->scale.resize(n);
    out->offset.resize(n);
    cache.store()->codes_at(kv_head, token, *out);
    return true;
}

ByteLedger KvCache::ledger() const {
    ByteLedger sum;
    for (const SideCache& side : impl_->sides)
        sum += side.ledger();
    return sum;
}

ByteLedger KvCache::ledger(int layer) const {
    ByteLedger sum = impl_->at(layer, Side::k).ledger();
    sum += impl_->at(layer, Side::v).ledger();
    return sum;
}

void KvCache::count_read(int layer) {
    Coverage& reads = impl_->layer_reads[size_t(layer)];
    const uint64_t heads = uint64_t(impl_->shape.n_kv_heads);
    const uint64_t total = heads * uint64_t(n_tokens(layer));
    reads.k_quantized += heads * uint64_t(n_quantized(layer, Side::k));
    reads.v_quantized += heads * uint64_t(n_quantized(layer, Side::v));
    reads.k_total += total;
    reads.v_total += total;
}

Coverage KvCache::coverage() const {
    Coverage sum;
    for (const Coverage& c : impl_->layer_reads) {
        sum.k_quantized += c.k_quantized;
        sum.k_total += c.k_total;
        sum.v_quantized += c.v_quantized;
        sum.v_total += c.v_total;
    }
    return sum;
}

}  // namespace kvasir
