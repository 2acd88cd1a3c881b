// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cache/registry.h"

#include <fmt/format.h>

#include <algorithm>

namespace kvasir {
namespace {

using Axis = SideSpec::Axis;

constexpr int kMaxGroup = 1024, kMaxResidual = 65536;

PresetOption number(std::string key, int value, int minimum, int maximum, std::string help) {
    return {std::move(key), std::to_string(value), {}, minimum, maximum, std::move(help)};
}

PresetOption choice(std::string key, std::string value, std::vector<std::string> choices, std::string help) {
    return {std::move(key), std::move(value), std::move(choices), 0, 0, std::move(help)};
}

void set_group(CacheSpec& spec, int value) {
    spec.k.group = spec.v.group = value;
}
void set_residual(CacheSpec& spec, int value) {
    spec.residual_k = spec.residual_v = value;
}

SideSpec quantized(SideSpec::Codec codec, int bits, int group) {
    SideSpec side;
    side.codec = codec;
    side.bits = bits;
    side.group = group;
    return side;
}

SchemeRow exact(std::string name, std::string title, std::string origin, SideSpec::Codec codec, int bits) {
    SchemeRow row{std::move(name), std::move(title), std::move(origin), {}, {}, ""};
    row.scheme.k.codec = row.scheme.v.codec = codec;
    row.scheme.k.bits = row.scheme.v.bits = bits;
    return row;
}

/// Both sides with one codec, flushed as Transformers' quantized caches are.
SchemeRow transformers(std::string name, std::string title, std::string origin, SideSpec side) {
    SchemeRow row{std::move(name), std::move(title), std::move(origin), {}, {}, ""};
    row.scheme.k = row.scheme.v = side;
    row.scheme.flush_k = row.scheme.flush_v = FlushRule::whole;
    set_residual(row.scheme, 128);
    row.options = {
        {number("group", 64, 8, kMaxGroup, "Values that share a scale and an offset."), set_group},
        {number("residual", 128, 0, kMaxResidual,
                "Exact tokens are quantized, together with the whole cache, when one more would make this many; 0, 1 "
                "and 2 mean every second token."),
         set_residual},
    };
    return row;
}

SchemeRow quanto(int bits) {
    SchemeRow row = transformers(fmt::format("quanto:{}", bits), fmt::format("Quanto int{}", bits),
                                 "Transformers 4.57 QuantizedCache with optimum-quanto 0.2.7",
                                 quantized(SideSpec::Codec::affine, bits, 64));
    const std::string help = "0: groups inside a token; -1: groups along each channel, through tokens and heads.";
    static constexpr auto to_axis = [](int value) { return value == 0 ? Axis::token : Axis::rows; };
    row.options.push_back(
        {choice("axis_key", "0", {"0", "-1"}, help), [](CacheSpec& spec, int value) { spec.k.axis = to_axis(value); }});
    row.options.push_back({choice("axis_value", "0", {"0", "-1"}, help),
                           [](CacheSpec& spec, int value) { spec.v.axis = to_axis(value); }});
    return row;
}

/// Prompts that hqq itself refuses (a number of groups its packing cannot halve) are stored here all the same: the
/// layout of the codes has no such limit.
SchemeRow hqq(int bits) {
    SideSpec side = quantized(SideSpec::Codec::hqq, bits, 64);
    side.optimize = true;
    SchemeRow row = transformers(fmt::format("hqq:{}", bits), fmt::format("HQQ int{}", bits),
                                 "Transformers 4.57 QuantizedCache with hqq 0.2.8 (fp32 path)", side);
    const std::string help = "1: groups inside a token; 0: groups strided through the whole tensor.";
    static constexpr auto to_axis = [](int value) { return value == 1 ? Axis::token : Axis::strided; };
    row.options.push_back(
        {choice("axis_key", "1", {"1", "0"}, help), [](CacheSpec& spec, int value) { spec.k.axis = to_axis(value); }});
    row.options.push_back({choice("axis_value", "1", {"1", "0"}, help),
                           [](CacheSpec& spec, int value) { spec.v.axis = to_axis(value); }});
    row.options.push_back({choice("optimize", "on", {"on", "off"}, "hqq's proximal optimizer of the zero points."),
                           [](CacheSpec& spec, int value) { spec.k.optimize = spec.v.optimize = value != 0; }});
    return row;
}

CacheSpec kivi_scheme(int bits) {
    CacheSpec spec;
    spec.k = spec.v = quantized(SideSpec::Codec::affine, bits, 32);
    spec.k.form = spec.v.form = SideSpec::Form::minimum;
    spec.k.axis = Axis::channel;
    spec.flush_k = FlushRule::block;
    spec.flush_v = FlushRule::slide;
    set_residual(spec, 32);
    return spec;
}

SchemeRow kivi(int bits) {
    SchemeRow row{fmt::format("kivi:{}", bits),
                  fmt::format("KIVI int{}", bits),
                  "KIVI (arXiv 2402.02750), code of November 2025",
                  kivi_scheme(bits),
                  {},
                  ""};
    row.options = {
        {number("group", 32, 8, kMaxGroup, "Tokens (keys) or channels (values) that share a scale and a minimum."),
         set_group},
        {number(
             "residual", 32, 8, kMaxResidual,
             "Exact tokens: keys are quantized in blocks of this many, values one by one behind this many; a multiple "
             "of the group."),
         set_residual},
    };
    return row;
}

SchemeRow hadamard2() {
    SchemeRow row{"hadamard:2",
                  "Hadamard 2-bit",
                  "kv-hadamard (July 2026): rotated 2-bit values, KIVI 4-bit keys",
                  kivi_scheme(4),
                  {},
                  "kivi:4"};
    SideSpec& v = row.scheme.v;
    v.bits = 2;
    v.form = SideSpec::Form::minimum_f32;
    v.rotate = true;
    row.options = {
        {number("v_residual", 32, 0, kMaxResidual, "Exact values behind the quantized ones; 0 quantizes every token."),
         [](CacheSpec& spec, int value) { spec.residual_v = value; }},
    };
    return row;
}

std::vector<SchemeRow> make_rows() {
    return {
        exact("fp32", "fp32", "Exact storage without the rounding to fp16", SideSpec::Codec::fp32, 32),
        exact("fp16", "fp16", "Exact storage of fp16 keys and values: the reference", SideSpec::Codec::fp16, 16),
        quanto(4),
        quanto(2),
        hqq(8),
        hqq(4),
        hqq(3),
        hqq(2),
        hqq(1),
        kivi(4),
        kivi(2),
        hadamard2(),
    };
}

}  // namespace

const std::vector<SchemeRow>& scheme_rows() {
    static const std::vector<SchemeRow> rows = make_rows();
    return rows;
}

const SchemeRow* find_scheme(std::string_view name) {
    for (const SchemeRow& row : scheme_rows())
        if (row.name == name) return &row;
    return nullptr;
}

void take_side(CacheSpec& to, const CacheSpec& from, Side side) {
    if (side == Side::k) {
        to.k = from.k;
        to.flush_k = from.flush_k;
        to.residual_k = from.residual_k;
    } else {
        to.v = from.v;
        to.flush_v = from.flush_v;
        to.residual_v = from.residual_v;
    }
}

bool is_known_elsewhere(std::string_view preset) {
    static constexpr std::string_view kNames[] = {"ternary", "hadamard-ternary", "ggml", "tq", "fp8", "quarot", "exl3"};
    const std::string_view name = preset.substr(0, preset.find(':'));
    return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

const std::vector<Preset>& presets() {
    static const std::vector<Preset> list = [] {
        std::vector<std::string> names;
        for (const SchemeRow& row : scheme_rows())
            names.push_back(row.name);
        std::vector<Preset> presets;
        for (const SchemeRow& row : scheme_rows()) {
            Preset preset{row.name, row.title, row.origin, {}};
            for (const SchemeOption& option : row.options)
                preset.options.push_back(option.shown);
            if (!row.keys_from.empty())
                preset.options.push_back(choice("k", row.keys_from, names, "The preset that the keys are taken from."));
            presets.push_back(std::move(preset));
        }
        return presets;
    }();
    return list;
}

}  // namespace kvasir
