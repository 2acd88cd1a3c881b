// SPDX-License-Identifier: GPL-3.0-or-later
#include <cstdio>
#include <cstdlib>

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

std::unique_ptr<GroupCodec> make_codec(const SideSpec& side) {
    for (const CodecRow& row : kCodecs)
        if (row.codec == side.codec) return row.make(side);
    std::fprintf(stderr, "kvasir: an exact side has no group codec\n");
    std::abort();
}

}  // namespace kvasir
