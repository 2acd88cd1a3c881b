// SPDX-License-Identifier: GPL-3.0-or-later
// The long form: k=affine4:group=64:axis=token:form=shift; v=...; residual=128; flush=whole
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "core/cache/spec_text.h"

namespace kvasir {
namespace {

using namespace spec_text;

template <class T>
struct Word {
    T value;
    const char* text;
};

constexpr std::array<Word<SideSpec::Axis>, 4> kAxes{{{SideSpec::Axis::token, "token"},
                                                     {SideSpec::Axis::channel, "channel"},
                                                     {SideSpec::Axis::rows, "rows"},
                                                     {SideSpec::Axis::strided, "strided"}}};
constexpr std::array<Word<SideSpec::Form>, 3> kForms{{{SideSpec::Form::shift, "shift"},
                                                      {SideSpec::Form::minimum, "minimum"},
                                                      {SideSpec::Form::minimum_f32, "minimum_f32"}}};
constexpr std::array<Word<FlushRule>, 4> kRules{
    {{FlushRule::none, "none"}, {FlushRule::whole, "whole"}, {FlushRule::block, "block"}, {FlushRule::slide, "slide"}}};
constexpr std::array<Word<bool>, 2> kSwitch{{{true, "on"}, {false, "off"}}};

template <class Table, class T>
const char* word_of(const Table& table, T value) {
    for (const auto& row : table)
        if (row.value == value) return row.text;
    return "";
}

template <class T, size_t n>
Status read_word(std::string_view spec, std::string_view key, std::string_view word,
                 const std::array<Word<T>, n>& table, T& out) {
    std::vector<std::string> words;
    for (const auto& row : table) {
        words.push_back(row.text);
        if (word != row.text) continue;
        out = row.value;
        return {};
    }
    return refuse(spec, fmt::format("{} cannot be '{}', only {}", key, word, list(words)),
                  fmt::format("Nearest: {}={}.", key, nearest(word, words)));
}

Status read_number(std::string_view spec, std::string_view key, std::string_view word, int minimum, int maximum,
                   int& out) {
    const auto number = to_int(word);
    if (!number || *number < minimum || *number > maximum)
        return refuse(spec, fmt::format("{} cannot be '{}', it is a number from {} to {}", key, word, minimum, maximum),
                      fmt::format("Nearest: {}={}.", key, number ? std::clamp(*number, minimum, maximum) : minimum));
    out = *number;
    return {};
}

Status read_codec(std::string_view spec, std::string_view word, SideSpec& side) {
    static const std::map<std::string_view, SideSpec::Codec> kGroups{{"affine", SideSpec::Codec::affine},
                                                                     {"hqq", SideSpec::Codec::hqq}};
    if (word == "fp32" || word == "fp16") {
        side.codec = word == "fp32" ? SideSpec::Codec::fp32 : SideSpec::Codec::fp16;
        side.bits = word == "fp32" ? 32 : 16;
        return {};
    }
    const size_t digits = word.find_first_of("0123456789");
    const auto codec = kGroups.find(word.substr(0, digits));
    const auto bits = digits == std::string_view::npos ? std::nullopt : to_int(word.substr(digits));
    if (codec == kGroups.end() || !bits) {
        const std::vector<std::string> words{"fp32", "fp16", "affine1", "affine2", "affine4", "affine8",
                                             "hqq1", "hqq2", "hqq3",    "hqq4",    "hqq8"};
        return refuse(spec, fmt::format("there is no codec '{}', only {}", word, list(words)),
                      fmt::format("Nearest: {}.", nearest(word, words)));
    }
    side.codec = codec->second;
    side.bits = *bits;
    side.group = 64;
    side.optimize = side.codec == SideSpec::Codec::hqq;
    return {};
}

Status read_side(std::string_view spec, std::string_view text, SideSpec& side) {
    const auto parts = split(text, ':');
    side = {};
    if (Status ok = read_codec(spec, parts[0], side); !ok) return ok;
    for (size_t i = 1; i < parts.size(); ++i) {
        const size_t equals = parts[i].find('=');
        const std::string_view key = trim(parts[i].substr(0, equals));
        const std::string_view value = equals == std::string_view::npos ? "on" : trim(parts[i].substr(equals + 1));
        Status ok;
        if (key == "group") {
            ok = read_number(spec, key, value, 1, 1024, side.group);
        } else if (key == "axis") {
            ok = read_word(spec, key, value, kAxes, side.axis);
        } else if (key == "form") {
            ok = read_word(spec, key, value, kForms, side.form);
        } else if (key == "rotate") {
            ok = read_word(spec, key, value, kSwitch, side.rotate);
        } else if (key == "optimize") {
            ok = read_word(spec, key, value, kSwitch, side.optimize);
        } else {
            const std::vector<std::string> keys{"group", "axis", "form", "rotate", "optimize"};
            ok = refuse(spec, fmt::format("a side has no option '{}', only {}", key, list(keys)),
                        fmt::format("Nearest: {}.", nearest(key, keys)));
        }
        if (!ok) return ok;
    }
    return {};
}

/// Exact sides have no groups and never flush, whatever stands beside them.
void simplify_exact(SideSpec& side, FlushRule& rule, int& residual) {
    if (!side.exact()) return;
    SideSpec plain;
    plain.codec = side.codec;
    plain.bits = side.bits;
    side = plain;
    rule = FlushRule::none;
    residual = 0;
}

std::string side_text(const SideSpec& side) {
    if (side.exact()) return side.codec == SideSpec::Codec::fp32 ? "fp32" : "fp16";
    const bool hqq = side.codec == SideSpec::Codec::hqq;
    std::string text =
        fmt::format("{}{}:group={}:axis={}", hqq ? "hqq" : "affine", side.bits, side.group, word_of(kAxes, side.axis));
    text += hqq ? fmt::format(":optimize={}", word_of(kSwitch, side.optimize))
                : fmt::format(":form={}", word_of(kForms, side.form));
    if (side.rotate) text += ":rotate";
    return text;
}

}  // namespace

namespace spec_text {

Result<CacheSpec> parse_long(std::string_view text) {
    CacheSpec spec;
    spec.flush_k = spec.flush_v = FlushRule::whole;
    spec.residual_k = spec.residual_v = 128;
    const auto rule = [&](std::string_view key, std::string_view word, FlushRule& out) {
        return read_word(text, key, word, kRules, out);
    };
    const auto residual = [&](std::string_view key, std::string_view word, int& out) {
        return read_number(text, key, word, 0, 65536, out);
    };
    std::vector<std::string_view> seen;
    for (const std::string_view part : split(text, ';')) {
        if (part.empty()) continue;
        const size_t equals = part.find('=');
        const std::string_view key = trim(part.substr(0, equals));
        const std::string_view value = equals == std::string_view::npos ? "" : trim(part.substr(equals + 1));
        if (std::find(seen.begin(), seen.end(), key) != seen.end())
            return refuse(text, fmt::format("{} is given twice", key), "Give it once.");
        seen.push_back(key);
        Status ok;
        if (key == "k") {
            ok = read_side(text, value, spec.k);
        } else if (key == "v") {
            ok = read_side(text, value, spec.v);
        } else if (key == "residual") {
            ok = residual(key, value, spec.residual_k);
            spec.residual_v = spec.residual_k;
        } else if (key == "residual_k") {
            ok = residual(key, value, spec.residual_k);
        } else if (key == "residual_v") {
            ok = residual(key, value, spec.residual_v);
        } else if (key == "flush" && value == "kivi") {
            spec.flush_k = FlushRule::block;
            spec.flush_v = FlushRule::slide;
        } else if (key == "flush") {
            ok = rule(key, value, spec.flush_k);
            spec.flush_v = spec.flush_k;
        } else if (key == "flush_k") {
            ok = rule(key, value, spec.flush_k);
        } else if (key == "flush_v") {
            ok = rule(key, value, spec.flush_v);
        } else {
            const std::vector<std::string> keys{"k",          "v",     "residual", "residual_k",
                                                "residual_v", "flush", "flush_k",  "flush_v"};
            ok = refuse(text, fmt::format("the long form has no key '{}', only {}", key, list(keys)),
                        fmt::format("Nearest: {}.", nearest(key, keys)));
        }
        if (!ok) return ok.error();
    }
    for (const char* side : {"k", "v"})
        if (std::find(seen.begin(), seen.end(), side) == seen.end())
            return refuse(text, fmt::format("the long form needs {}=", side),
                          fmt::format("Add for example {}=fp16.", side));
    simplify_exact(spec.k, spec.flush_k, spec.residual_k);
    simplify_exact(spec.v, spec.flush_v, spec.residual_v);
    return spec;
}

}  // namespace spec_text

std::string long_spec(const CacheSpec& spec) {
    std::string text = fmt::format("k={}; v={}", side_text(spec.k), side_text(spec.v));
    if (spec.exact()) return text;
    const bool only_k = spec.v.exact(), only_v = spec.k.exact();
    if (only_k || only_v || spec.residual_k == spec.residual_v) {
        text += fmt::format("; residual={}", only_v ? spec.residual_v : spec.residual_k);
    } else {
        text += fmt::format("; residual_k={}; residual_v={}", spec.residual_k, spec.residual_v);
    }
    if (only_k || only_v || spec.flush_k == spec.flush_v)
        return text + fmt::format("; flush={}", word_of(kRules, only_v ? spec.flush_v : spec.flush_k));
    if (spec.flush_k == FlushRule::block && spec.flush_v == FlushRule::slide) return text + "; flush=kivi";
    return text + fmt::format("; flush_k={}; flush_v={}", word_of(kRules, spec.flush_k), word_of(kRules, spec.flush_v));
}

}  // namespace kvasir
