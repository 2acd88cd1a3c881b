// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cache/kv_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <mutex>
#include <new>
#include <tuple>

#include "core/base/guard_memory.h"
#include "core/cache/group_codec.h"
#include "core/cache/side_cache.h"

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
    std::vector<SideCache> sides;               ///< [n_layers][k, v]
    std::vector<bool> pre_rope;                 ///< [n_layers]: keys are stored before RoPE
    std::vector<std::array<float, 2>> largest;  ///< [n_layers][k, v]: magnitudes below are finite where they are kept
    std::unique_ptr<RopeTable> rope;            ///< where some layer needs it
    std::vector<Coverage> layer_reads;          ///< [n_layers]: layers may count at the same time
    std::mutex non_finite_mutex;
    std::optional<NonFinite> non_finite;

    const SideCache& at(int layer, Side side) const { return sides[size_t(2 * layer) + (side == Side::v)]; }
    SideCache& at(int layer, Side side) { return sides[size_t(2 * layer) + (side == Side::v)]; }

    /// Floats of the second part of a prepared query: what the layer's key store wants, or the plain query in its
    /// space.
    size_t store_query_floats(int layer, int n_queries) const {
        const Store* store = at(layer, Side::k).store();
        if (!store || pre_rope[size_t(layer)]) return 0;
        return fused ? store->query_floats(n_queries) : padded_query_floats(shape.head_dim, n_queries);
    }

    void note_non_finite(const NonFinite& found) {
        const std::lock_guard lock(non_finite_mutex);
        const auto order = [](const NonFinite& f) { return std::tuple(f.position, f.layer, f.side, f.kv_head); };
        if (!non_finite || order(found) < order(*non_finite)) non_finite = found;
    }
};

namespace {

/// The largest magnitude that rounds to a finite fp16 number: half a unit above its largest, 65504.
constexpr float kLargestForHalf = 65520;

/// Stays every value a number when it is stored? `largest` is the first magnitude that does not.
bool all_finite(const float* x, int n, float largest) {
    int bad = 0;
    for (int i = 0; i < n; ++i)
        bad |= !(std::abs(x[i]) < largest);  // NaN is not smaller than anything
    return bad == 0;
}

/// Keys of one layer as attention sees them when they are stored before RoPE: back in plain space, then RoPE.
class RopedKeys final : public TokenReader {
 public:
    RopedKeys(const SideCache& side, const RopeTable& rope, int head_dim)
        : side_(side), rope_(rope), head_dim_(head_dim) {}
    int size() const override { return side_.size(); }
    void read(int kv_head, int begin, int end, float* out) const override {
        side_.read(kv_head, begin, end, out);
        const int first = side_.n_sink(), last = first + side_.n_quantized();
        for (int t = begin; t < end; ++t, out += head_dim_) {
            if (t >= first && t < last && !side_.rotation().identity()) side_.rotation().inverse(out);
            rope_.apply(out, t);
        }
    }

 private:
    const SideCache& side_;
    const RopeTable& rope_;
    int head_dim_;
};

/// Calls part(reader, is_store, first token in it, last, index of the first in [begin, end)) for each kind of storage.
template <class F>
void each_part(const SideCache& side, int begin, int end, F&& part) {
    const int first = side.n_sink(), last = first + side.n_quantized();
    const int a = std::clamp(first, begin, end), b = std::clamp(last, begin, end);
    if (begin < a) part(*side.sink(), false, begin, a, 0);
    if (a < b) part(*side.store(), true, a - first, b - first, a - begin);
    if (b < end) part(side.tail(), false, b - last, end - last, b - begin);
}

}  // namespace

void KvCache::GroupView::set_levels(const GroupCodec& codec, int bits, uint16_t group_scale, uint16_t group_offset) {
    levels.clear();
    for (int code = 0; code < 1 << bits; ++code)
        levels.push_back(codec.value(uint8_t(code), group_scale, group_offset));
}

namespace {

template <class F>
Status guarded(F&& flush) {
    return guard_memory("cannot quantize the cache", "Shorten the text or run fewer lanes.", flush);
}

}  // namespace

KvCache::KvCache() = default;
KvCache::~KvCache() = default;

Result<std::unique_ptr<KvCache>> KvCache::create_or_throw(const CacheSpec& spec, const CacheShape& shape,
                                                          KernelPath path) {
    if (Status ok = check_geometry(spec, shape.n_kv_heads, shape.head_dim, shape.n_layers); !ok) return ok.error();
    std::unique_ptr<KvCache> cache(new KvCache);
    cache->impl_ = std::make_unique<Impl>();
    Impl& impl = *cache->impl_;
    impl.spec = spec;
    impl.shape = shape;
    impl.fused = path == KernelPath::fused;
    impl.layer_reads.resize(size_t(shape.n_layers));
    impl.sides.reserve(size_t(2 * shape.n_layers));
    for (int layer = 0; layer < shape.n_layers; ++layer) {
        const CacheSpec here = spec.at_layer(layer);
        impl.pre_rope.push_back(here.k.pre_rope);
        const auto bound = [](const SideSpec& side) {
            return side.codec == SideSpec::Codec::fp32 ? std::numeric_limits<float>::infinity() : kLargestForHalf;
        };
        impl.largest.push_back({bound(here.k), bound(here.v)});
        for (const Side side : {Side::k, Side::v})
            impl.sides.emplace_back(here, side, shape);
        if (!here.k.pre_rope || impl.rope) continue;
        if (!shape.rope)
            return Error{ErrorCode::input, "cannot store keys before RoPE", fmt::format("'{}'", spec.text),
                         "there is no model here that says how RoPE rotates positions", "Leave rope=before out."};
        impl.rope = std::make_unique<RopeTable>(shape.rope, shape.head_dim, shape.max_tokens);
    }
    return cache;
}

Result<std::unique_ptr<KvCache>> KvCache::create(const CacheSpec& spec, const CacheShape& shape, KernelPath path) {
    return guard_memory([&] { return create_or_throw(spec, shape, path); },
                        [&] {
                            return Error{ErrorCode::memory, "cannot make the cache", spec.text,
                                         fmt::format("there is not enough memory for {} tokens", shape.max_tokens),
                                         "Ask for fewer tokens or fewer lanes."};
                        });
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
    impl_->non_finite.reset();
}

Status KvCache::finish_prompt(int layer, Side side) {
    return guarded([&] { return impl_->at(layer, side).finish_prompt(); });
}

void KvCache::extend(int layer, int n_tokens) {
    impl_->at(layer, Side::k).extend(n_tokens);
    impl_->at(layer, Side::v).extend(n_tokens);
}

void KvCache::put(int layer, int kv_head, int position, const float* k, const float* v) {
    const int head_dim = impl_->shape.head_dim;
    const std::array<float, 2>& largest = impl_->largest[size_t(layer)];
    if (!all_finite(k, head_dim, largest[0])) impl_->note_non_finite({position, layer, kv_head, Side::k});
    if (!all_finite(v, head_dim, largest[1])) impl_->note_non_finite({position, layer, kv_head, Side::v});
    if (impl_->pre_rope[size_t(layer)]) {
        thread_local std::vector<float> before;
        before.assign(k, k + head_dim);
        impl_->rope->undo(before.data(), position);
        impl_->at(layer, Side::k).put(kv_head, position, before.data());
    } else {
        impl_->at(layer, Side::k).put(kv_head, position, k);
    }
    impl_->at(layer, Side::v).put(kv_head, position, v);
}

Status KvCache::commit(int layer, Side side) {
    return guarded([&] { return impl_->at(layer, side).commit(); });
}

Status KvCache::flush(int layer, Side side) {
    return guarded([&] { return impl_->at(layer, side).end_step(); });
}

int KvCache::n_tokens(int layer) const {
    return impl_->at(layer, Side::k).size();
}

int KvCache::n_quantized(int layer, Side side) const {
    return impl_->at(layer, side).n_quantized();
}

int KvCache::n_sink(int layer, Side side) const {
    return impl_->at(layer, side).n_sink();
}

std::optional<NonFinite> KvCache::non_finite() const {
    const std::lock_guard lock(impl_->non_finite_mutex);
    return impl_->non_finite;
}

size_t KvCache::query_floats(int n_queries) const {
    size_t most = 0;
    const int n_different = impl_->spec.layers.empty() ? std::min(1, impl_->shape.n_layers) : impl_->shape.n_layers;
    for (int layer = 0; layer < n_different; ++layer)
        most = std::max(most, impl_->store_query_floats(layer, n_queries));
    return padded_query_floats(impl_->shape.head_dim, n_queries) + most;
}

void KvCache::prepare_query(int layer, const float* q, int n_queries, float* prepared) const {
    const int head_dim = impl_->shape.head_dim;
    pad_queries(q, n_queries, head_dim, prepared);
    const SideCache& side = impl_->at(layer, Side::k);
    if (!side.store() || impl_->pre_rope[size_t(layer)]) return;
    const float* in_store_space = q;
    thread_local std::vector<float> rotated;
    if (!side.rotation().identity()) {
        rotated.assign(q, q + size_t(n_queries) * size_t(head_dim));
        for (int h = 0; h < n_queries; ++h)
            side.rotation().forward(rotated.data() + size_t(h) * head_dim);
        in_store_space = rotated.data();
    }
    float* const behind = prepared + padded_query_floats(head_dim, n_queries);
    if (impl_->fused)
        side.store()->prepare_query(in_store_space, n_queries, behind);
    else
        pad_queries(in_store_space, n_queries, head_dim, behind);
}

void KvCache::scores(int layer, int kv_head, const float* prepared, int n_queries, int begin, int end, float* out,
                     size_t out_stride) const {
    const SideCache& side = impl_->at(layer, Side::k);
    const int head_dim = impl_->shape.head_dim;
    if (impl_->pre_rope[size_t(layer)])
        return scores_by_read(RopedKeys(side, *impl_->rope, head_dim), head_dim, kv_head, prepared, n_queries, begin,
                              end, out, out_stride);
    const float* in_store_space = prepared + padded_query_floats(head_dim, n_queries);
    each_part(side, begin, end, [&](const auto& part, bool is_store, int first, int last, int at) {
        const float* q = is_store ? in_store_space : prepared;
        if (impl_->fused)
            part.scores(kv_head, q, n_queries, first, last, out + at, out_stride);
        else
            scores_by_read(part, head_dim, kv_head, q, n_queries, first, last, out + at, out_stride);
    });
}

void KvCache::fetch_values(int layer, int kv_head, int begin, int end) const {
    each_part(impl_->at(layer, Side::v), begin, end,
              [&](const auto& part, bool, int first, int, int) { part.fetch(kv_head, first); });
}

size_t KvCache::sum_floats(int n_queries) const {
    return 2 * padded_query_floats(impl_->shape.head_dim, n_queries);
}

void KvCache::weighted_sum(int layer, int kv_head, const float* p, size_t p_stride, int n_queries, int begin, int end,
                           float* acc) const {
    const SideCache& side = impl_->at(layer, Side::v);
    const int head_dim = impl_->shape.head_dim;
    const size_t width = size_t(kernels::padded_channels(head_dim)), stride = 2 * width;
    each_part(side, begin, end, [&](const auto& part, bool is_store, int first, int last, int at) {
        float* to = is_store ? acc : acc + width;
        if (impl_->fused)
            part.weighted_sum(kv_head, p + at, p_stride, n_queries, first, last, to, stride);
        else
            weighted_sum_by_read(part, head_dim, kv_head, p + at, p_stride, n_queries, first, last, to, stride);
    });
}

void KvCache::finish_output(int layer, float* acc, int n_queries, float* out) const {
    const int head_dim = impl_->shape.head_dim;
    const Rotation& rotation = impl_->at(layer, Side::v).rotation();
    const int width = kernels::padded_channels(head_dim);
    for (int h = 0; h < n_queries; ++h, acc += 2 * width, out += head_dim) {
        if (!rotation.identity()) rotation.inverse(acc);
        for (int d = 0; d < head_dim; ++d)
            out[d] = acc[d] + acc[width + d];
    }
}

void KvCache::read(int layer, int kv_head, Side side, int begin, int end, float* out) const {
    const SideCache& cache = impl_->at(layer, side);
    if (side == Side::k && impl_->pre_rope[size_t(layer)])
        return RopedKeys(cache, *impl_->rope, impl_->shape.head_dim).read(kv_head, begin, end, out);
    cache.read(kv_head, begin, end, out);
}

void KvCache::read_unrotated(int layer, int kv_head, Side side, int begin, int end, float* out) const {
    const SideCache& cache = impl_->at(layer, side);
    read(layer, kv_head, side, begin, end, out);
    if (cache.rotation().identity() || (side == Side::k && impl_->pre_rope[size_t(layer)])) return;
    const int head_dim = impl_->shape.head_dim, first = cache.n_sink(), last = first + cache.n_quantized();
    for (int t = std::max(begin, first); t < std::min(end, last); ++t)
        cache.rotation().inverse(out + size_t(t - begin) * head_dim);
}

bool KvCache::codes_at(int layer, int kv_head, Side side, int token, GroupView* out) const {
    const SideCache& cache = impl_->at(layer, side);
    const int index = token - cache.n_sink();
    if (index < 0 || index >= cache.n_quantized() || impl_->spec.at_layer(layer).side(side).exact()) return false;
    const size_t n = size_t(impl_->shape.head_dim);
    out->codes.resize(n);
    out->scale.resize(n);
    out->offset.resize(n);
    out->on_a_line = true;
    out->levels.clear();
    cache.store()->codes_at(kv_head, index, *out);
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
