// SPDX-License-Identifier: GPL-3.0-or-later
// HQQ 0.2.7 and later on fp32: asymmetric groups, optionally refined by the library's proximal optimizer. The optimizer
// stops on the mean error of the whole tensor, so one call codes one tensor. Source and worked example:
// kernels/codec/hqq.h.
#include "kernels/codec/hqq.h"

#include <cmath>
#include <limits>
#include <vector>

#include "core/cache/group_codec.h"
#include "core/cache/torch_sum.h"

namespace kvasir {
namespace {

constexpr int kMaxIterations = 20;

class HqqCodec final : public GroupCodec {
 public:
    explicit HqqCodec(const SideSpec& side)
        : bits_(side.bits), optimize_(side.optimize), strided_(side.axis == SideSpec::Axis::strided) {}

    void encode(const float* x, size_t n_groups, int group, uint8_t* codes, uint16_t* scale,
                uint16_t* offset) const override {
        const float top = float((1 << bits_) - 1);
        std::vector<float> s(n_groups), z(n_groups);
        for (size_t g = 0; g < n_groups; ++g) {
            const auto range = kernels::group_range(x + g * group, group);
            s[g] = kernels::hqq_inverse_scale(range, bits_);
            z[g] = -range.lo * s[g];
        }
        if (optimize_) refine_zeros(x, group, s, z);
        for (size_t g = 0; g < n_groups; ++g) {
            for (int i = 0; i < group; ++i)
                codes[g * group + i] = uint8_t(kernels::hqq_code(x[g * group + i], s[g], z[g], top));
            scale[g] = kernels::float_to_half(1.0f / s[g]);
            offset[g] = kernels::float_to_half(z[g]);
        }
    }

    float value(uint8_t code, uint16_t scale, uint16_t offset) const override {
        return kernels::hqq_value(code, kernels::half_to_float(scale), kernels::half_to_float(offset));
    }

    std::optional<kernels::AffineForm> form() const override { return kernels::AffineForm{0, -1}; }
    bool needs_whole_tensor() const override { return optimize_; }

 private:
    /// Up to 20 rounds of: error of the current codes, its proximal shrinkage, new zeros. The zeros of the round that
    /// did not lower the mean error are kept, as in the original.
    void refine_zeros(const float* x, int group, const std::vector<float>& s, std::vector<float>& z) const {
        const float top = float((1 << bits_) - 1);
        const size_t n_groups = s.size(), n = n_groups * size_t(group);
        std::vector<float> term(static_cast<size_t>(group)), e(term.size());
        std::vector<float> error(n);  // |e| of all groups, in the element order of the tensor
        const size_t step = strided_ ? n_groups : 1;
        float best = std::numeric_limits<float>::infinity();
        for (int round = 0; round < kMaxIterations; ++round) {
            for (size_t g = 0; g < n_groups; ++g) {
                const float *w = x + g * group, scale = s[g], zero = z[g];
                float* to = error.data() + (strided_ ? g : g * group);
                for (size_t i = 0; i < e.size(); ++i) {
                    const float q = kernels::hqq_code(w[i], scale, zero, top);
                    e[i] = w[i] - (q - zero) / scale;
                    term[i] = q - w[i] * scale;  // what it is where the error shrinks to nothing
                }
                for (size_t i = 0; i < e.size(); ++i) {
                    to[i * step] = std::fabs(e[i]);
                    if (std::fabs(e[i]) < kernels::kHqqFirstShrunk) continue;
                    const float q = kernels::hqq_code(w[i], scale, zero, top);
                    term[i] = q - (w[i] - kernels::hqq_shrink(e[i])) * scale;
                }
                const float sum = strided_ ? torch_sum_of_column(term.data(), term.size())
                                           : torch_sum_of_row(term.data(), term.size());
                z[g] = sum / float(group);
            }
            const float mean_error = torch_sum_of_row(error.data(), n) / float(n);
            if (!(mean_error < best)) return;
            best = mean_error;
        }
    }

    int bits_;
    bool optimize_, strided_;
};

}  // namespace

std::unique_ptr<GroupCodec> make_hqq_codec(const SideSpec& side) {
    return std::make_unique<HqqCodec>(side);
}

}  // namespace kvasir
