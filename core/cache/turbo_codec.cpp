// SPDX-License-Identifier: GPL-3.0-or-later
// TurboQuant's Q_mse (arXiv 2504.19874): the norm of a turned vector, and its direction on a Lloyd-Max grid. The grid
// depends on head_dim and bits only.
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

    bool is_affine() const override { return false; }
    kernels::AffineForm form() const override { return {}; }

    bool needs_whole_tensor() const override { return false; }

 private:
    const Codebook& book_;
};

}  // namespace

std::unique_ptr<GroupCodec> make_turbo_codec(const SideSpec& side) {
    return std::make_unique<TurboCodec>(side);
}

}  // namespace kvasir
