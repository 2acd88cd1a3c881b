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

void set_group(CacheSpec& spec, double value) {
    spec.k.group = spec.v.group = int(value);
}
void set_residual(CacheSpec& spec, double value) {
    spec.residual_k = spec.residual_v = int(value);
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
    static constexpr auto to_axis = [](double value) { return value == 0 ? Axis::token : Axis::rows; };
    row.options.push_back({choice("axis_key", "0", {"0", "-1"}, help),
                           [](CacheSpec& spec, double value) { spec.k.axis = to_axis(value); }});
    row.options.push_back({choice("axis_value", "0", {"0", "-1"}, help),
                           [](CacheSpec& spec, double value) { spec.v.axis = to_axis(value); }});
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
    static constexpr auto to_axis = [](double value) { return value == 1 ? Axis::token : Axis::strided; };
    row.options.push_back({choice("axis_key", "1", {"1", "0"}, help),
                           [](CacheSpec& spec, double value) { spec.k.axis = to_axis(value); }});
    row.options.push_back({choice("axis_value", "1", {"1", "0"}, help),
                           [](CacheSpec& spec, double value) { spec.v.axis = to_axis(value); }});
    row.options.push_back({choice("optimize", "on", {"on", "off"}, "hqq's proximal optimizer of the zero points."),
                           [](CacheSpec& spec, double value) { spec.k.optimize = spec.v.optimize = value != 0; }});
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
    v.rotation_block = SideSpec::kWholeHead;
    row.options = {
        {number("v_residual", 32, 0, kMaxResidual, "Exact values behind the quantized ones; 0 quantizes every token."),
         [](CacheSpec& spec, double value) { spec.residual_v = int(value); }},
    };
    return row;
}

SchemeRow ternary(std::string name, std::string title, bool rotated) {
    SchemeRow row = hadamard2();
    row.name = std::move(name);
    row.title = std::move(title);
    row.origin = "kv-hadamard (July 2026): ternary values, which failed; KIVI 4-bit keys";
    SideSpec side = quantized(SideSpec::Codec::ternary, 2, 32);
    if (rotated) side.rotation_block = SideSpec::kWholeHead;
    row.scheme.v = side;
    return row;
}

/// Both sides coded token by token as they are written: attention never sees an exact value.
SchemeRow written(std::string name, std::string title, std::string origin, SideSpec side) {
    SchemeRow row{std::move(name), std::move(title), std::move(origin), {}, {}, ""};
    row.scheme.k = row.scheme.v = side;
    row.scheme.flush_k = row.scheme.flush_v = FlushRule::write;
    return row;
}

SchemeRow ggml(const char* type, int bits, SideSpec::Form form) {
    SideSpec side = quantized(SideSpec::Codec::ggml, bits, 32);
    side.form = form;
    side.rotation_block = SideSpec::kLlamaBlocks;
    SchemeRow row = written(fmt::format("ggml:{}", type), fmt::format("llama.cpp {}", type),
                            "llama.cpp cache type (ggml at d99724f), rotated as of April 2026 (PR 21038)", side);
    row.scheme.k.pairs = true;
    row.options = {{choice("rotate", "on", {"on", "off"},
                           "llama.cpp's Hadamard rotation; it does not apply where 64 does not divide the head size."),
                    [](CacheSpec& spec, double value) {
                        spec.k.rotation_block = spec.v.rotation_block =
                            value != 0 ? SideSpec::kLlamaBlocks : SideSpec::kNoRotation;
                    }}};
    return row;
}

SchemeRow turbo(int bits) {
    SideSpec side = quantized(SideSpec::Codec::turbo, bits, 0);
    side.rotation_block = SideSpec::kWholeHead;
    return written(fmt::format("tq:{}", bits), fmt::format("TurboQuant {}-bit", bits),
                   "TurboQuant Q_mse (arXiv 2504.19874): Hadamard rotation, Lloyd-Max grid, fp16 norm", side);
}

SchemeRow fp8() {
    SchemeRow row = written("fp8", "fp8 e4m3", "vLLM's fp8 cache (e4m3fn, one scale a side)",
                            quantized(SideSpec::Codec::fp8, 8, 0));
    PresetOption scale = number("scale", 1, 0, 1000, "What a stored value is multiplied with; vLLM's default is 1.");
    scale.is_real = true;
    row.options = {{scale, [](CacheSpec& spec, double value) { spec.k.fp8_scale = spec.v.fp8_scale = float(value); }}};
    return row;
}

SchemeRow quarot() {
    SideSpec side = quantized(SideSpec::Codec::affine, 4, 0);
    side.form = SideSpec::Form::quarot;
    side.rotation_block = SideSpec::kWholeHead;
    return written("quarot:4", "QuaRot int4", "QuaRot KV4 (spcl/QuaRot at 5008669), one group per token and head",
                   side);
}

SchemeRow exl3(int bits) {
    SideSpec side = quantized(SideSpec::Codec::exl3, bits, 32);
    side.rotation_block = 32;
    return written(fmt::format("exl3:{}", bits), fmt::format("exllamav3 {}-bit", bits),
                   "exllamav3's quantized cache (July 2026, at 4f8ad01)", side);
}

std::vector<SchemeRow> make_rows() {
    using Form = SideSpec::Form;
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
        ternary("ternary", "Ternary", false),
        ternary("hadamard-ternary", "Hadamard ternary", true),
        ggml("q8_0", 8, Form::symmetric),
        ggml("q5_1", 5, Form::minimum_f32),
        ggml("q5_0", 5, Form::symmetric),
        ggml("q4_1", 4, Form::minimum_f32),
        ggml("q4_0", 4, Form::symmetric),
        turbo(4),
        turbo(3),
        turbo(2),
        fp8(),
        quarot(),
        exl3(8),
        exl3(7),
        exl3(6),
        exl3(5),
        exl3(4),
        exl3(3),
        exl3(2),
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

const std::vector<PresetOption>& policy_options() {
    static const std::vector<PresetOption> options = [] {
        const auto rules = [](std::string key, std::string help) {
            PresetOption option{std::move(key), "", {}, 0, 0, std::move(help)};
            option.is_text = true;
            return option;
        };
        return std::vector<PresetOption>{
            number("sink", 0, 0, kMaxResidual, "First tokens that stay exact."),
            rules("layers", "Other presets for some layers: 0-1:fp16+28-29:fp16."),
            rules("layers_k", "Other presets for the keys of some layers."),
            rules("layers_v", "Other presets for the values of some layers."),
        };
    }();
    return options;
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
            for (const PresetOption& policy : policy_options())
                preset.options.push_back(policy);
            presets.push_back(std::move(preset));
        }
        return presets;
    }();
    return list;
}

}  // namespace kvasir
