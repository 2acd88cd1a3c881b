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
constexpr std::array<Word<SideSpec::Form>, 5> kForms{{{SideSpec::Form::shift, "shift"},
                                                      {SideSpec::Form::minimum, "minimum"},
                                                      {SideSpec::Form::minimum_f32, "minimum_f32"},
                                                      {SideSpec::Form::quarot, "quarot"},
                                                      {SideSpec::Form::integer, "integer"}}};
constexpr std::array<Word<FlushRule>, 5> kRules{{{FlushRule::none, "none"},
                                                 {FlushRule::write, "write"},
                                                 {FlushRule::whole, "whole"},
                                                 {FlushRule::block, "block"},
                                                 {FlushRule::slide, "slide"}}};
constexpr std::array<Word<bool>, 2> kSwitch{{{true, "on"}, {false, "off"}}};
constexpr std::array<Word<bool>, 2> kOrder{{{true, "pairs"}, {false, "halves"}}};
constexpr std::array<Word<bool>, 2> kRope{{{true, "before"}, {false, "after"}}};
constexpr std::array<Word<bool>, 2> kScore{{{true, "after_flush"}, {false, "before_flush"}}};

/// Codecs whose word says everything; the others are a name and a number of bits.
struct WholeWord {
    const char* text;
    SideSpec::Codec codec;
    int bits, group;
    SideSpec::Form form;
};
constexpr WholeWord kWholeWords[] = {
    {"fp32", SideSpec::Codec::fp32, 32, 0, SideSpec::Form::shift},
    {"fp16", SideSpec::Codec::fp16, 16, 0, SideSpec::Form::shift},
    {"ternary", SideSpec::Codec::ternary, 2, 32, SideSpec::Form::shift},
    {"fp8", SideSpec::Codec::fp8, 8, 0, SideSpec::Form::shift},
    {"q8_0", SideSpec::Codec::ggml, 8, 32, SideSpec::Form::symmetric},
    {"q5_1", SideSpec::Codec::ggml, 5, 32, SideSpec::Form::minimum_f32},
    {"q5_0", SideSpec::Codec::ggml, 5, 32, SideSpec::Form::symmetric},
    {"q4_1", SideSpec::Codec::ggml, 4, 32, SideSpec::Form::minimum_f32},
    {"q4_0", SideSpec::Codec::ggml, 4, 32, SideSpec::Form::symmetric},
};
struct SizedWord {
    const char* text;
    SideSpec::Codec codec;
    int group;
    const char* most;  ///< bits
};
constexpr SizedWord kSizedWords[] = {
    {"affine", SideSpec::Codec::affine, 64, "8"},
    {"hqq", SideSpec::Codec::hqq, 64, "8"},
    {"turbo", SideSpec::Codec::turbo, 0, "6"},
    {"exl", SideSpec::Codec::exl3, 32, "8"},
};

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
    std::vector<std::string> words;
    for (const WholeWord& w : kWholeWords) {
        words.push_back(w.text);
        if (word != w.text) continue;
        side.codec = w.codec, side.bits = w.bits, side.group = w.group, side.form = w.form;
        return {};
    }
    const size_t digits = word.find_first_of("0123456789");
    const auto bits = digits == std::string_view::npos ? std::nullopt : to_int(word.substr(digits));
    for (const SizedWord& w : kSizedWords) {
        for (const char* size : {"2", "4", w.most})
            words.push_back(w.text + std::string(size));
        if (word.substr(0, digits) != w.text || !bits) continue;
        side.codec = w.codec, side.bits = *bits, side.group = w.group;
        side.optimize = w.codec == SideSpec::Codec::hqq;
        if (w.codec == SideSpec::Codec::exl3) side.rotation_block = 32;
        return {};
    }
    return refuse(spec, fmt::format("there is no codec '{}', only {}", word, list(words)),
                  fmt::format("Nearest: {}.", nearest(word, words)));
}

/// `rotate`: on or head (the whole head), off, llama, or the size of the blocks.
Status read_rotation_block(std::string_view spec, std::string_view word, int& block) {
    if (word == "on" || word == "head") return block = SideSpec::kWholeHead, Status{};
    if (word == "off") return block = SideSpec::kNoRotation, Status{};
    if (word == "llama") return block = SideSpec::kLlamaBlocks, Status{};
    if (!to_int(word))
        return refuse(spec, fmt::format("rotate cannot be '{}', only on, off, llama or the size of a block", word),
                      "Write rotate=on for the whole head.");
    return read_number(spec, "rotate", word, 2, 1024, block);
}

Status read_scale(std::string_view spec, std::string_view word, float& scale) {
    const auto number = to_real(word);
    if (!number || *number > 1000)
        return refuse(spec, fmt::format("scale cannot be '{}', it is a number up to 1000", word),
                      "Write for example scale=1.");
    scale = float(*number);
    return {};
}

Status read_side(std::string_view spec, std::string_view text, SideSpec& side) {
    const auto parts = split(text, ':');
    side = {};
    std::vector<std::string_view> seen;
    if (Status ok = read_codec(spec, parts[0], side); !ok) return ok;
    for (size_t i = 1; i < parts.size(); ++i) {
        const size_t equals = parts[i].find('=');
        const std::string_view key = trim(parts[i].substr(0, equals));
        const std::string_view value = equals == std::string_view::npos ? "on" : trim(parts[i].substr(equals + 1));
        Status ok;
        if (std::find(seen.begin(), seen.end(), key) != seen.end())
            return refuse(spec, fmt::format("{} is given twice for one side", key), "Give it once.");
        seen.push_back(key);
        if (key == "group" && (side.exact() || side.codec == SideSpec::Codec::fp8))
            return refuse(spec, fmt::format("{} has no groups", parts[0]), "Leave group out.");
        const auto only_for = [&](SideSpec::Codec codec, const char* name) {
            if (side.codec == codec || !ok) return;
            ok = refuse(spec, fmt::format("{} says nothing about {}, only about {}", key, parts[0], name),
                        fmt::format("Leave {} out.", key));
        };
        if (key == "group" && value == "head") {
            side.group = 0;
        } else if (key == "group") {
            ok = read_number(spec, key, value, 1, 1024, side.group);
        } else if (key == "axis") {
            ok = read_word(spec, key, value, kAxes, side.axis);
        } else if (key == "form") {
            ok = read_word(spec, key, value, kForms, side.form);
            only_for(SideSpec::Codec::affine, "affine codes");
        } else if (key == "rotate") {
            ok = read_rotation_block(spec, value, side.rotation_block);
        } else if (key == "signs") {
            ok = read_word(spec, key, value, kSwitch, side.signs);
        } else if (key == "order") {
            ok = read_word(spec, key, value, kOrder, side.pairs);
        } else if (key == "centre") {
            ok = read_word(spec, key, value, kSwitch, side.centre);
        } else if (key == "rope") {
            ok = read_word(spec, key, value, kRope, side.pre_rope);
        } else if (key == "scale") {
            ok = read_scale(spec, value, side.fp8_scale);
            only_for(SideSpec::Codec::fp8, "fp8");
        } else if (key == "optimize") {
            ok = read_word(spec, key, value, kSwitch, side.optimize);
            only_for(SideSpec::Codec::hqq, "hqq codes");
        } else {
            const std::vector<std::string> keys{"group", "axis",   "form", "rotate", "signs",
                                                "order", "centre", "rope", "scale",  "optimize"};
            ok = refuse(spec, fmt::format("a side has no option '{}', only {}", key, list(keys)),
                        fmt::format("Nearest: {}.", nearest(key, keys)));
        }
        if (!ok) return ok;
    }
    return {};
}

/// Sides stored as they come have no groups and never flush, whatever stands beside them.
void simplify_plain(SideSpec& side, FlushRule& rule, int& residual) {
    if (side.plain() && !side.signs && !side.pairs && side.axis == SideSpec::Axis::token) {
        SideSpec plain;
        plain.codec = side.codec;
        plain.bits = side.bits;
        side = plain;
        rule = FlushRule::none;
    }
    if (rule == FlushRule::none || rule == FlushRule::write) residual = 0;
}

std::string codec_text(const SideSpec& side) {
    for (const WholeWord& w : kWholeWords)
        if (w.codec == side.codec && w.bits == side.bits &&
            (side.codec != SideSpec::Codec::ggml || w.form == side.form))
            return w.text;
    for (const SizedWord& w : kSizedWords)
        if (w.codec == side.codec) return fmt::format("{}{}", w.text, side.bits);
    return "";
}

std::string side_text(const SideSpec& side) {
    std::string text = codec_text(side);
    if (!side.exact() && side.codec != SideSpec::Codec::fp8) {
        text += side.group > 0 ? fmt::format(":group={}", side.group) : ":group=head";
        text += fmt::format(":axis={}", word_of(kAxes, side.axis));
    }
    if (side.codec == SideSpec::Codec::hqq) text += fmt::format(":optimize={}", word_of(kSwitch, side.optimize));
    if (side.codec == SideSpec::Codec::affine) text += fmt::format(":form={}", word_of(kForms, side.form));
    if (side.codec == SideSpec::Codec::fp8 && side.fp8_scale != 1) text += fmt::format(":scale={}", side.fp8_scale);
    if (side.pairs) text += ":order=pairs";
    if (side.rotation_block == SideSpec::kWholeHead) text += ":rotate";
    if (side.rotation_block == SideSpec::kLlamaBlocks) text += ":rotate=llama";
    if (side.rotation_block > 0) text += fmt::format(":rotate={}", side.rotation_block);
    if (side.signs) text += ":signs";
    if (side.centre) text += ":centre";
    if (side.pre_rope) text += ":rope=before";
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
        if (std::find(seen.begin(), seen.end(), key) != seen.end() && !key.starts_with("layers"))
            return refuse(text, fmt::format("{} is given twice", key), "Give it once.");
        // What concerns both sides does not take back what was said of one.
        for (const char* side : {"_k", "_v"})
            if (const std::string one = std::string(key) + side;
                !key.starts_with("layers") && std::find(seen.begin(), seen.end(), one) != seen.end())
                return refuse(text, fmt::format("{} of both sides stands behind {}, which it would undo", key, one),
                              fmt::format("Write {}_k and {}_v, or {} first.", key, key, key));
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
        } else if (key == "sink") {
            ok = read_number(text, key, value, 0, 65536, spec.sink);
        } else if (key == "score") {
            ok = read_word(text, key, value, kScore, spec.flush_first);
        } else if (key == "layers" || key == "layers_k" || key == "layers_v") {
            ok = parse_layer_rules(text, key, value, spec.layers);
        } else {
            const std::vector<std::string> keys{"k",      "v",        "residual", "residual_k", "residual_v",
                                                "flush",  "flush_k",  "flush_v",  "sink",       "score",
                                                "layers", "layers_k", "layers_v"};
            ok = refuse(text, fmt::format("the long form has no key '{}', only {}", key, list(keys)),
                        fmt::format("Nearest: {}.", nearest(key, keys)));
        }
        if (!ok) return ok.error();
    }
    for (const char* side : {"k", "v"})
        if (std::find(seen.begin(), seen.end(), side) == seen.end())
            return refuse(text, fmt::format("the long form needs {}=", side),
                          fmt::format("Add for example {}=fp16.", side));
    simplify_plain(spec.k, spec.flush_k, spec.residual_k);
    simplify_plain(spec.v, spec.flush_v, spec.residual_v);
    return spec;
}

}  // namespace spec_text

namespace {

/// "residual=..." and "flush=...", with _k and _v where the sides differ; nothing for sides that have neither.
std::string policy_text(const CacheSpec& spec) {
    const bool only_k = spec.v.plain(), only_v = spec.k.plain();
    if (only_k && only_v) return "";
    std::string text;
    const auto waits = [](FlushRule rule) { return rule != FlushRule::none && rule != FlushRule::write; };
    const bool k = !only_v && waits(spec.flush_k), v = !only_k && waits(spec.flush_v);
    if (k && v && spec.residual_k != spec.residual_v) {
        text += fmt::format("; residual_k={}; residual_v={}", spec.residual_k, spec.residual_v);
    } else if (k || v) {
        text += fmt::format("; residual={}", k ? spec.residual_k : spec.residual_v);
    }
    if (only_k || only_v || spec.flush_k == spec.flush_v)
        return text + fmt::format("; flush={}", word_of(kRules, only_v ? spec.flush_v : spec.flush_k));
    if (spec.flush_k == FlushRule::block && spec.flush_v == FlushRule::slide) return text + "; flush=kivi";
    return text + fmt::format("; flush_k={}; flush_v={}", word_of(kRules, spec.flush_k), word_of(kRules, spec.flush_v));
}

}  // namespace

std::string long_spec(const CacheSpec& spec) {
    std::string text = fmt::format("k={}; v={}", side_text(spec.k), side_text(spec.v)) + policy_text(spec);
    if (spec.sink > 0) text += fmt::format("; sink={}", spec.sink);
    if (spec.flush_first) text += "; score=after_flush";
    return text + layer_rules_text(spec.layers, "; ");
}

}  // namespace kvasir
