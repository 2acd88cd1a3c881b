// SPDX-License-Identifier: GPL-3.0-or-later
// Which schemes can be stored at all, and which in a given geometry.
#include <fmt/format.h>

#include <algorithm>

#include "core/cache/spec_text.h"
#include "core/cache/store.h"

namespace kvasir {
namespace {

using Axis = SideSpec::Axis;
using Codec = SideSpec::Codec;

std::string numbers(const std::vector<int>& values) {
    std::vector<std::string> words;
    for (const int value : values)
        words.push_back(std::to_string(value));
    return spec_text::list(words);
}

Status check_side(std::string_view text, const char* name, const SideSpec& side, FlushRule rule, int residual) {
    if (side.exact()) return {};
    const auto no = [&](std::string why, std::string hint) {
        return spec_text::refuse(text, fmt::format("{}: {}", name, why), std::move(hint));
    };
    const std::vector<int> bits =
        side.codec == Codec::hqq ? std::vector<int>{1, 2, 3, 4, 8} : std::vector<int>{1, 2, 4, 8};
    if (std::find(bits.begin(), bits.end(), side.bits) == bits.end())
        return no(fmt::format("there are no codes of {} bits", side.bits), fmt::format("Use {} bits.", numbers(bits)));
    if (side.codec == Codec::hqq && (side.axis == Axis::channel || side.axis == Axis::rows))
        return no("hqq groups lie on axis token or strided", "Use axis=token.");
    if (side.codec == Codec::affine && side.axis == Axis::strided)
        return no("affine groups lie on axis token, channel or rows", "Use axis=token.");
    if (rule == FlushRule::none) return no("a quantized side needs a flush rule", "Use flush=whole, block or slide.");
    if ((side.axis == Axis::rows || side.axis == Axis::strided) && rule != FlushRule::whole)
        return no("groups that reach through the whole tensor can only be flushed whole", "Use flush=whole.");
    if (side.axis == Axis::channel && rule != FlushRule::block)
        return no("channel groups hold whole blocks of tokens", "Use flush=block.");
    if (side.axis == Axis::channel && side.group % 8 != 0)
        return no(fmt::format("a channel group of {} tokens is not a multiple of 8", side.group),
                  fmt::format("Nearest: group={}.", std::max(8, (side.group + 4) / 8 * 8)));
    if (rule == FlushRule::block && residual < 1) return no("blocks need a residual of at least 1", "Use residual=32.");
    if (side.axis == Axis::channel && residual % side.group != 0)
        return no(
            fmt::format("the residual {} is not a multiple of the group {}", residual, side.group),
            fmt::format("Nearest: residual={}.", std::max(1, (residual + side.group / 2) / side.group) * side.group));
    return {};
}

Status check_side_geometry(std::string_view text, const char* name, const SideSpec& side, FlushRule rule,
                           int head_dim) {
    if (side.exact()) return {};
    const auto no = [&](std::string why, std::string hint) {
        return Error{ErrorCode::input, "cannot store this model's cache", fmt::format("'{}'", text),
                     fmt::format("{}: {}", name, why), std::move(hint)};
    };
    if (side.rotate && (head_dim & (head_dim - 1)) != 0)
        return no(fmt::format("the rotation needs a head size that is a power of two, not {}", head_dim),
                  "Use a preset without rotation, such as kivi:2.");
    if (side.axis == Axis::channel && head_dim * side.bits % 32 != 0)
        return no(fmt::format("{} channels of {} bits do not fill whole 32-bit words", head_dim, side.bits),
                  "Use more bits or a quanto or hqq preset.");
    if (side.axis == Axis::token && rule != FlushRule::whole && !fits_token_groups(side, head_dim)) {
        std::vector<int> fitting;
        for (int group = 8; group <= head_dim; group *= 2) {
            SideSpec other = side;
            other.group = group;
            if (fits_token_groups(other, head_dim)) fitting.push_back(group);
        }
        return no(
            fmt::format("groups of {} at {} bits do not divide a head of {} channels into whole 32-bit words",
                        side.group, side.bits, head_dim),
            fitting.empty() ? "Use a quanto or hqq preset." : fmt::format("Use a group of {}.", numbers(fitting)));
    }
    return {};
}

}  // namespace

Status spec_text::check_scheme(const CacheSpec& spec) {
    if (Status ok = check_side(spec.text, "keys", spec.k, spec.flush_k, spec.residual_k); !ok) return ok;
    return check_side(spec.text, "values", spec.v, spec.flush_v, spec.residual_v);
}

Status check_geometry(const CacheSpec& spec, int n_kv_heads, int head_dim) {
    if (n_kv_heads < 1 || head_dim < 1)
        return Error{ErrorCode::input, "cannot store this model's cache", fmt::format("'{}'", spec.text),
                     fmt::format("it has {} KV heads of {} channels", n_kv_heads, head_dim), "Choose another model."};
    if (Status ok = check_side_geometry(spec.text, "keys", spec.k, spec.flush_k, head_dim); !ok) return ok;
    return check_side_geometry(spec.text, "values", spec.v, spec.flush_v, head_dim);
}

}  // namespace kvasir
