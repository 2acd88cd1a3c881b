// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "core/cache/group_codec.h"

namespace kvasir {
namespace {

struct CodecRow {
    SideSpec::Codec codec;
    std::unique_ptr<GroupCodec> (*make)(const SideSpec&);
};

/// Every codec that stores groups; registered here by hand, because the linker drops self-registering objects.
constexpr CodecRow kCodecs[] = {
    {SideSpec::Codec::affine, make_affine_codec},   {SideSpec::Codec::hqq, make_hqq_codec},
    {SideSpec::Codec::ternary, make_ternary_codec}, {SideSpec::Codec::ggml, make_ggml_codec},
    {SideSpec::Codec::turbo, make_turbo_codec},     {SideSpec::Codec::exl3, make_exl3_codec},
    {SideSpec::Codec::fp8, make_fp8_codec},
};

}  // namespace

bool GroupCodec::is_idempotent(const uint8_t* codes, size_t n_groups, int group, const uint16_t* scale,
                               const uint16_t* offset) const {
    const size_t n = n_groups * size_t(group);
    std::vector<float> values(n);
    for (size_t i = 0; i < n; ++i)
        values[i] = value(codes[i], scale[i / size_t(group)], offset[i / size_t(group)]);
    std::vector<uint8_t> codes_again(n);
    // Constants that the codec does not store are left alone, so they begin as they are.
    std::vector<uint16_t> scale_again(scale, scale + n_groups), offset_again(offset, offset + n_groups);
    encode(values.data(), n_groups, group, codes_again.data(), scale_again.data(), offset_again.data());
    return std::equal(codes_again.begin(), codes_again.end(), codes) &&
           std::equal(scale_again.begin(), scale_again.end(), scale) &&
           std::equal(offset_again.begin(), offset_again.end(), offset);
}

std::unique_ptr<GroupCodec> make_codec(const SideSpec& side) {
    for (const CodecRow& row : kCodecs)
        if (row.codec == side.codec) return row.make(side);
    std::fprintf(stderr, "kvasir: an exact side has no group codec\n");
    std::abort();
}

}  // namespace kvasir
