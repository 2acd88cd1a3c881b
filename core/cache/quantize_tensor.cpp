// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cache/quantize_tensor.h"

#include <fmt/format.h>

#include "core/cache/original_packing.h"
#include "kernels/codec/half.h"

namespace kvasir {
namespace {

class TensorReader final : public TokenReader {
 public:
    TensorReader(const uint16_t* x, int n_tokens, int head_dim) : x_(x), n_tokens_(n_tokens), head_dim_(head_dim) {}
    int size() const override { return n_tokens_; }
    void read(int kv_head, int begin, int end, float* out) const override {
        const uint16_t* from = x_ + (size_t(kv_head) * n_tokens_ + begin) * head_dim_;
        for (size_t i = 0; i < size_t(end - begin) * head_dim_; ++i)
            out[i] = kernels::half_to_float(from[i]);
    }

 private:
    const uint16_t* x_;
    int n_tokens_, head_dim_;
};

}  // namespace

bool dequantizes_to_fp32(const SideSpec& side) {
    return side.codec == SideSpec::Codec::ggml || side.codec == SideSpec::Codec::turbo;
}

Result<QuantizedTensor> quantize_tensor(const CacheSpec& spec, Side side, const uint16_t* x, int n_kv_heads,
                                        int n_tokens, int head_dim) {
    const SideSpec scheme = group_at(spec.side(side), head_dim);
    if (scheme.exact())
        return Error{ErrorCode::usage, "cannot quantize the tensor", fmt::format("'{}'", spec.text),
                     fmt::format("it stores {} exactly", side == Side::k ? "keys" : "values"),
                     "Choose another preset."};
    if (Status ok = check_geometry(spec, n_kv_heads, head_dim); !ok) return ok.error();
    const auto store = make_store(scheme, {n_kv_heads, head_dim, n_tokens, side});
    if (Status ok = store->append(TensorReader(x, n_tokens, head_dim), n_tokens); !ok) return ok.error();

    QuantizedTensor out;
    out.stored = store->stored();
    auto packed = pack_as_original(scheme, out.stored, n_kv_heads, n_tokens, head_dim);
    if (!packed) return packed.error();
    out.packed = std::move(*packed);
    const size_t per_head = size_t(n_tokens) * head_dim;
    out.values.resize(per_head * size_t(n_kv_heads));
    for (int h = 0; h < n_kv_heads; ++h)
        store->read(h, 0, n_tokens, out.values.data() + per_head * size_t(h));
    for (const float value : out.values)
        out.dequantized.push_back(kernels::float_to_half(value));
    return out;
}

}  // namespace kvasir
