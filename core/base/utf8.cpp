// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/utf8.h"

namespace kvasir {

Utf8Step utf8_step(std::string_view bytes) {
    using Kind = Utf8Step::Kind;
    const auto at = [&](size_t i) { return static_cast<unsigned char>(bytes[i]); };
    const unsigned lead = at(0);
    if (lead < 0x80) return {Kind::valid, 1, char32_t(lead)};
    if (lead < 0xC2 || lead > 0xF4) return {Kind::invalid, 1, 0};
    const size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    // The second byte's range excludes overlong forms, surrogates and values above U+10FFFF.
    unsigned lo = 0x80, hi = 0xBF;
    if (lead == 0xE0) lo = 0xA0;
    if (lead == 0xED) hi = 0x9F;
    if (lead == 0xF0) lo = 0x90;
    if (lead == 0xF4) hi = 0x8F;
    char32_t code = lead & (0x7Fu >> length);
    for (size_t i = 1; i < length; ++i) {
        if (i == bytes.size()) return {Kind::incomplete, i, 0};
        if (at(i) < lo || at(i) > hi) return {Kind::invalid, i, 0};
        code = (code << 6) | (at(i) & 0x3Fu);
        lo = 0x80;
        hi = 0xBF;
    }
    return {Kind::valid, length, code};
}

void append_utf8(std::string& out, char32_t c) {
    if (c < 0x80) {
        out += char(c);
    } else if (c < 0x800) {
        out += char(0xC0 | (c >> 6));
        out += char(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
        out += char(0xE0 | (c >> 12));
        out += char(0x80 | ((c >> 6) & 0x3F));
        out += char(0x80 | (c & 0x3F));
    } else {
        out += char(0xF0 | (c >> 18));
        out += char(0x80 | ((c >> 12) & 0x3F));
        out += char(0x80 | ((c >> 6) & 0x3F));
        out += char(0x80 | (c & 0x3F));
    }
}

bool is_valid_utf8(std::string_view bytes) {
    while (!bytes.empty()) {
        const Utf8Step step = utf8_step(bytes);
        if (step.kind != Utf8Step::Kind::valid) return false;
        bytes.remove_prefix(step.length);
    }
    return true;
}

std::string printable(std::string_view bytes, size_t max_bytes) {
    std::string out;
    while (!bytes.empty()) {
        if (out.size() >= max_bytes) return out + "\xE2\x80\xA6";
        const Utf8Step step = utf8_step(bytes);
        const char32_t c = step.code_point;
        const bool control = c < 0x20 || (c >= 0x7F && c < 0xA0);
        if (step.kind == Utf8Step::Kind::valid && !control)
            out += bytes.substr(0, step.length);
        else
            out += kReplacement;
        bytes.remove_prefix(step.length);
    }
    return out;
}

}  // namespace kvasir
