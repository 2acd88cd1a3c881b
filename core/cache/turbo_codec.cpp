// SPDX-License-Identifier: GPL-3.0-or-later
// TurboQuant's Q_mse (arXiv 2504.19874): the norm of a rotated vector, and its direction on a Lloyd-Max grid. The grid
// depends on head_dim and bits only.
//
// Worked example, 2 bits, the rotated vector of core/cache/rotation.cpp (0.777843 -0.813147 -1.272784 -0.035347
// -2.085974 0.212123 0.106040 -0.424290): norm 2.734049, stored as 2.734375. The grid for 8 dimensions is +-0.1579221,
// +-0.5048246 with thresholds 0, +-0.3313734. The direction 0.284502 -0.297415 -0.465531 -0.012928 -0.762961 0.077586
// 0.038785 -0.155187 has the codes 2 1 0 1 0 2 2 1. Values, still rotated: code 0 is -1.3803799, 1 is -0.4318182, 2 is
// 0.4318182.
#include <algorithm>
#include <cmath>

#include "core/cache/group_codec.h"
#include "core/cache/lloyd_max.h"
#include "kernels/codec/half.h"

namespace kvasir {
namespace {

class TurboCodec final : public GroupCodec {
 public:
    explicit TurboCodec(const SideSpec& side) : book_(lloyd_max(side.bits, side.group)) {}

    void encode(const float* x, size_t n_groups, int group, uint8_t* codes, uint16_t* scale,
                uint16_t* /*offset*/) const override {
        for (size_t g = 0; g < n_groups; ++g) {
            const float* v = x + g * group;
            double squares = 0;
            for (int i = 0; i < group; ++i)
                squares += double(v[i]) * v[i];
            const float norm = float(std::sqrt(squares)), divisor = norm == 0 ? 1.0f : norm;
            for (int i = 0; i < group; ++i)
                codes[g * group + i] =
                    uint8_t(std::upper_bound(book_.thresholds.begin(), book_.thresholds.end(), v[i] / divisor) -
                            book_.thresholds.begin());
            scale[g] = kernels::float_to_half(norm);
        }
    }

    float value(uint8_t code, uint16_t scale, uint16_t /*offset*/) const override {
        return book_.centroids[code] * kernels::half_to_float(scale);
    }

    std::optional<kernels::AffineForm> form() const override { return {}; }

    bool needs_whole_tensor() const override { return false; }

 private:
    const Codebook& book_;
};

}  // namespace

std::unique_ptr<GroupCodec> make_turbo_codec(const SideSpec& side) {
    return std::make_unique<TurboCodec>(side);
}

}  // namespace kvasir
