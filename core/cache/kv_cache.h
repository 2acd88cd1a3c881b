// SPDX-License-Identifier: GPL-3.0-or-later
// One lane's cache, all layers. Each (layer, side) holds leading tokens in the scheme's packed storage and the rest
// exactly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/result.h"
#include "core/cache/cache_spec.h"
#include "core/cache/rope_table.h"

namespace kvasir {

class GroupCodec;

struct CacheShape {
    int n_layers = 0, n_kv_heads = 0, head_dim = 0;
    int max_tokens = 0;  ///< capacity: nothing is reallocated while tokens are appended one at a time
    RopeAt rope = {};    ///< for keys stored before RoPE; such a scheme is refused without it
};

/// The earliest key or value that is NaN or infinite as it is stored: rounded to fp16, except by `fp32`.
struct NonFinite {
    int position = 0, layer = 0, kv_head = 0;
    Side side = Side::k;
};

/// fused: kernels read the codes. reference: everything goes through the dequantized values of read().
enum class KernelPath { fused, reference };

/// Bytes in use, by kind.
struct ByteLedger {
    uint64_t codes = 0, scales = 0, zeros = 0;
    uint64_t residual = 0;  ///< exact tokens
    uint64_t padding = 0;   ///< unused slots of the last block
    uint64_t total() const { return codes + scales + zeros + residual + padding; }
    ByteLedger& operator+=(const ByteLedger& o);
    friend bool operator==(const ByteLedger&, const ByteLedger&) = default;
};

/// Of all K/V vectors that attention read while decoding (prompt excluded), how many came from quantized storage.
struct Coverage {
    uint64_t k_quantized = 0, k_total = 0, v_quantized = 0, v_total = 0;
    double k() const { return k_total ? double(k_quantized) / double(k_total) : 0; }
    double v() const { return v_total ? double(v_quantized) / double(v_total) : 0; }
};

/// Life of a step, layer by layer:
///   extend(layer, n)            one thread: room for n more tokens
///   put(layer, head, pos, k, v) any threads, different (head, pos): K after RoPE and V, rounded to fp16 at the door
///                               (kept fp32 by the `fp32` scheme)
///   commit(layer, side)         before the attention of this layer: schemes that quantize as they write (llama.cpp)
///   scores / weighted_sum       any threads, read-only
///   flush(layer, side)          after the attention of this layer: the flush rule. Sides and layers may run in
///   parallel.
/// A prompt is any number of such chunks without flush, then finish_prompt for each layer and side: attention over
/// the prompt reads exact values, as in every preset's origin that does not quantize as it writes.
class KvCache {
 public:
    static Result<std::unique_ptr<KvCache>> create(const CacheSpec& spec, const CacheShape& shape,
                                                   KernelPath path = KernelPath::fused);
    ~KvCache();

    const CacheSpec& spec() const;
    const CacheShape& shape() const;

    /// Empties the cache and announces a prompt of n_tokens (>= 1).
    void begin_prompt(int n_tokens);
    Status finish_prompt(int layer, Side side);

    void extend(int layer, int n_tokens);
    void put(int layer, int kv_head, int position, const float* k, const float* v);  // (head_dim) each
    /// Quantizes what must be quantized before attention reads it.
    Status commit(int layer, Side side);
    Status flush(int layer, Side side);

    int n_tokens(int layer) const;
    int n_quantized(int layer, Side side) const;
    /// Exact tokens before the quantized ones: the attention sink.
    int n_sink(int layer, Side side) const;

    /// Floats that prepare_query writes.
    size_t query_floats(int n_queries) const;
    /// q (n_queries, head_dim), already scaled by 1/sqrt(head_dim), all of one KV head.
    void prepare_query(int layer, const float* q, int n_queries, float* prepared) const;

    /// out[h * out_stride + (t - begin)] = q_h . K_t for tokens [begin, end), end <= n_tokens.
    void scores(int layer, int kv_head, const float* prepared, int n_queries, int begin, int end, float* out,
                size_t out_stride) const;

    /// Asks for the memory that weighted_sum() over the same tokens begins with, to be called a little before.
    void fetch_values(int layer, int kv_head, int begin, int end) const;

    /// Floats of the sums that weighted_sum adds to.
    size_t sum_floats(int n_queries) const;
    /// acc (n_queries, 2, padded_channels(head_dim)) += sum_t p[h * p_stride + (t - begin)] * V_t; [h][0] collects
    /// quantized tokens in the space they are stored in (rotated or not), [h][1] exact ones.
    void weighted_sum(int layer, int kv_head, const float* p, size_t p_stride, int n_queries, int begin, int end,
                      float* acc) const;

    /// out (n_queries, head_dim) = un-rotated acc[h][0] + acc[h][1].
    void finish_output(int layer, float* acc, int n_queries, float* out) const;

    /// What attention sees for tokens [begin, end): exactly what the original library dequantizes (rotated sides stay
    /// rotated), out (end - begin, head_dim).
    void read(int layer, int kv_head, Side side, int begin, int end, float* out) const;
    /// As read, but every value in the unrotated space.
    void read_unrotated(int layer, int kv_head, Side side, int begin, int end, float* out) const;

    /// Unpacked codes with the constants of one token, for the pictures: false when the token is exact.
    struct GroupView {
        std::vector<uint8_t> codes;        // (head_dim)
        std::vector<float> scale, offset;  // per channel (head_dim): value = scale * code + offset, where on_a_line
        bool on_a_line = true;             // false: TurboQuant, fp8, exllamav3
        std::vector<float> levels;         // value of every code in the group of the middle channel; empty: no codes
        void set_levels(const GroupCodec& codec, int bits, uint16_t group_scale, uint16_t group_offset);
    };
    bool codes_at(int layer, int kv_head, Side side, int token, GroupView* out) const;

    /// Since begin_prompt: such a value spoils its whole group, and a rotated one its whole vector.
    std::optional<NonFinite> non_finite() const;

    ByteLedger ledger() const;  ///< all layers
    ByteLedger ledger(int layer) const;

    /// Counts one decoding read of everything in `layer` by one query token; see Coverage.
    void count_read(int layer);
    Coverage coverage() const;

 private:
    KvCache();
    static Result<std::unique_ptr<KvCache>> create_or_throw(const CacheSpec& spec, const CacheShape& shape,
                                                            KernelPath path);
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace kvasir
