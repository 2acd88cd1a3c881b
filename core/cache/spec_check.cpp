// SPDX-License-Identifier: GPL-3.0-or-later
// Which schemes can be stored at all, and which in a given geometry.
#include <fmt/format.h>

#include <algorithm>

#include "core/cache/registry.h"
#include "core/cache/rotation.h"
#include "core/cache/spec_text.h"
#include "core/cache/store.h"
#include "kernels/cpu/attention.h"

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

/// Which numbers of bits a codec has: first and last.
std::pair<int, int> bits_of(const SideSpec& side) {
    if (side.codec == Codec::turbo) return {1, 6};  // Lloyd-Max grids: see lloyd_max.h
    return {side.codec == Codec::exl3 ? 2 : 1, 8};
}

/// Groups whose codes do not depend on other groups, so that tokens can be coded one after another.
bool codes_groups_alone(const SideSpec& side) {
    return side.codec != Codec::hqq || !side.optimize;
}

/// Values whose groups lie inside one token and mean nothing else.
bool is_token_codec(const SideSpec& side) {
    return side.codec == Codec::ggml || side.codec == Codec::turbo || side.codec == Codec::exl3 ||
           side.codec == Codec::fp8 || side.exact();
}

Status check_side(std::string_view text, Side which, const SideSpec& side, FlushRule rule, int residual) {
    const char* name = which == Side::k ? "keys" : "values";
    if (side.plain() && (side.signs || side.pairs || side.axis != Axis::token))
        return spec_text::refuse(text, fmt::format("{}: signs, order and axis say nothing about exact values", name),
                                 "Leave them out, or add rotate.");
    if (side.plain()) return {};
    const auto no = [&](std::string why, std::string hint) {
        return spec_text::refuse(text, fmt::format("{}: {}", name, why), std::move(hint));
    };
    const auto [fewest, most] = bits_of(side);
    if (!side.exact() && (side.bits < fewest || side.bits > most))
        return no(fmt::format("there are no codes of {} bits", side.bits),
                  fmt::format("Use {} to {} bits.", fewest, most));
    if (which == Side::v && side.centre)
        return no("only keys can be centred: softmax does not see a constant in every score, a sum of values does",
                  "Leave centre out.");
    if (which == Side::v && side.pre_rope) return no("values have no RoPE", "Leave rope=before out.");
    if (!(side.fp8_scale > 0)) return no("the scale must be above 0", "Use scale=1.");
    if (side.signs && !side.rotates()) return no("random signs do nothing without a rotation", "Add rotate.");
    if (side.codec == Codec::affine && side.form == SideSpec::Form::integer && side.bits == 8)
        return no("the integer zero point is an int8, in which those of 8 bits do not fit; Quanto had it for 2 and 4",
                  "Use form=shift.");
    if (side.codec == Codec::exl3 && (side.group != 32 || side.rotation_block != 32 || side.signs || side.pairs))
        return no("exllamav3 rotates its groups of 32 and nothing else", "Use group=32:rotate=32.");
    if (side.codec == Codec::ggml && side.group != 32) return no("ggml's blocks have 32 values", "Use group=32.");
    if (is_token_codec(side) && side.axis != Axis::token) return no("its groups lie inside a token", "Use axis=token.");
    if (side.codec == Codec::hqq && (side.axis == Axis::channel || side.axis == Axis::rows))
        return no("hqq groups lie on axis token or strided", "Use axis=token.");
    if (side.codec == Codec::ternary && side.axis != Axis::token && side.axis != Axis::channel)
        return no("ternary groups lie on axis token or channel", "Use axis=token.");
    if (side.codec != Codec::hqq && side.axis == Axis::strided)
        return no("only hqq groups are strided, others lie on axis token, channel or rows", "Use axis=token.");
    if (rule == FlushRule::none)
        return no("a quantized side needs a flush rule", "Use flush=write, whole, block or slide.");
    if ((side.axis == Axis::rows || side.axis == Axis::strided) && rule != FlushRule::whole)
        return no("groups that reach through the whole tensor can only be flushed whole", "Use flush=whole.");
    if (rule == FlushRule::write && !codes_groups_alone(side))
        return no("hqq's optimizer looks at a whole tensor, and flush=write has one token", "Use optimize=off.");
    if (rule == FlushRule::write && side.centre)
        return no("the mean is taken of the first tokens stored together, and flush=write stores one",
                  "Use flush=block, slide or whole.");
    if (side.axis == Axis::channel && rule != FlushRule::block)
        return no("channel groups hold whole blocks of tokens", "Use flush=block.");
    if (side.axis == Axis::channel && side.group % 8 != 0)
        return no(fmt::format("a channel group of {} tokens is not a multiple of 8", side.group),
                  fmt::format("Nearest: group={}.", std::max(8, (side.group + 4) / 8 * 8)));
    if (side.axis == Axis::channel && side.group == 0)
        return no("a channel group needs a number of tokens", "Use group=32.");
    if (rule == FlushRule::block && residual < 1) return no("blocks need a residual of at least 1", "Use residual=32.");
    if (side.axis == Axis::channel && residual % side.group != 0)
        return no(
            fmt::format("the residual {} is not a multiple of the group {}", residual, side.group),
            fmt::format("Nearest: residual={}.", std::max(1, (residual + side.group / 2) / side.group) * side.group));
    return {};
}

/// Has the text's form this option? The long form has all of the sides', a preset its own.
bool can_say(std::string_view text, std::string_view key) {
    const SchemeRow* row = find_scheme(spec_text::split(spec_text::trim(text), ',')[0]);
    return !row || std::any_of(row->options.begin(), row->options.end(),
                               [&](const SchemeOption& option) { return option.shown.key == key; });
}

Status check_side_geometry(std::string_view text, Side which, const SideSpec& side, FlushRule rule, int head_dim) {
    if (side.plain()) return {};
    const char* name = which == Side::k ? "keys" : "values";
    const auto no = [&](std::string why, std::string hint) {
        return Error{ErrorCode::input, "cannot store this model's cache", fmt::format("'{}'", text),
                     fmt::format("{}: {}", name, why), std::move(hint)};
    };
    const int block = rotation_block(side, which, head_dim);
    if (block > 0 && head_dim % block != 0)
        return no(fmt::format("blocks of {} do not divide a head of {} channels", block, head_dim),
                  side.codec == Codec::exl3 || !can_say(text, "rotate") ? "Use fp8, or a quanto or hqq preset."
                  : has_hadamard(head_dim)                              ? "Use rotate=on for the whole head."
                                                                        : "Use rotate=off.");
    if (block > 0 && !has_hadamard(block))
        return no(fmt::format("there is no Hadamard matrix of order {} to rotate with: 2^n, or 4k from quadratic "
                              "residues",
                              block),
                  !can_say(text, "rotate") ? "Use fp8, or another preset without rotation."
                  : head_dim % 4 == 0
                      ? "Rotate smaller blocks: rotate=4, or use a preset without rotation, such as fp8."
                      : "Use rotate=off, or a preset without rotation, such as fp8.");
    if ((side.pairs || side.pre_rope) && head_dim % 2 != 0)
        return no(fmt::format("a head of {} channels has no pairs", head_dim), "Use another model.");
    if (side.exact() || side.axis != Axis::token) return {};
    if (rule != FlushRule::whole && head_dim % group_at(side, head_dim).group == 0 &&
        layout_of(side, head_dim) == Layout::flat)
        return no(
            fmt::format("hqq's optimizer codes a whole tensor, and {} bits in groups of {} can only be flushed whole",
                        side.bits, side.group),
            "Use flush=whole or optimize=off.");
    const int group = group_at(side, head_dim).group;
    if (side.codec == Codec::turbo && (group < 4 || side.bits > 6))
        return no(fmt::format("there is no grid of {} bits for vectors of {}", side.bits, group),
                  "Use up to 6 bits and groups of 4 or more.");
    const bool across_tokens = rule == FlushRule::whole && (side.codec == Codec::affine || side.codec == Codec::hqq);
    if (head_dim % group != 0 && !across_tokens) {
        std::vector<int> fitting;
        for (int size = 8; size <= head_dim; size *= 2)
            if (head_dim % size == 0) fitting.push_back(size);
        const bool fixed = side.codec == Codec::ggml || side.codec == Codec::exl3 || !can_say(text, "group");
        return no(fmt::format("groups of {} do not divide a head of {} channels", group, head_dim),
                  fitting.empty() || fixed ? "Use fp8, or a quanto or hqq preset."
                                           : fmt::format("Use a group of {}.", numbers(fitting)));
    }
    return {};
}

}  // namespace

Status spec_text::check_scheme(const CacheSpec& spec) {
    if (Status ok = check_side(spec.text, Side::k, spec.k, spec.flush_k, spec.residual_k); !ok) return ok;
    return check_side(spec.text, Side::v, spec.v, spec.flush_v, spec.residual_v);
}

Status check_geometry(const CacheSpec& spec, int n_kv_heads, int head_dim, int n_layers) {
    if (n_kv_heads < 1 || head_dim < 1)
        return Error{ErrorCode::input, "cannot store this model's cache", fmt::format("'{}'", spec.text),
                     fmt::format("it has {} KV heads of {} channels", n_kv_heads, head_dim), "Choose another model."};
    if (head_dim > kernels::kLargestHeadDim)
        return Error{
            ErrorCode::input, "cannot store this model's cache", fmt::format("'{}'", spec.text),
            fmt::format("heads of {} channels are not supported (up to {} are)", head_dim, kernels::kLargestHeadDim),
            "Choose another model."};
    const auto check = [&](const CacheSpec& here) {
        if (Status ok = check_side_geometry(spec.text, Side::k, here.k, here.flush_k, head_dim); !ok) return ok;
        return check_side_geometry(spec.text, Side::v, here.v, here.flush_v, head_dim);
    };
    if (Status ok = check(spec); !ok) return ok;
    for (const LayerRule& rule : spec.layers) {  // each by itself: rules may cover each other
        if (n_layers > 0 && rule.last >= n_layers)
            return Error{ErrorCode::input, "cannot store this model's cache", fmt::format("'{}'", spec.text),
                         fmt::format("a rule names layer {}, the model has layers 0 to {}", rule.last, n_layers - 1),
                         "Name layers that exist."};
        CacheSpec one = spec;
        one.layers = {rule};
        if (Status ok = check(one.at_layer(rule.first)); !ok) return ok;
    }
    return {};
}

}  // namespace kvasir
