// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/utf8.h"
#include "core/model/tokenizer.h"

namespace kvasir {

std::string valid_utf8(std::string_view bytes, size_t* replaced) {
    std::string out;
    out.reserve(bytes.size());
    size_t bad = 0;
    while (!bytes.empty()) {
        const Utf8Step step = utf8_step(bytes);
        if (step.kind == Utf8Step::Kind::valid) {
            out += bytes.substr(0, step.length);
        } else {
            out += kReplacement;
            bad += step.length;
        }
        bytes.remove_prefix(step.length);
    }
    if (replaced) *replaced = bad;
    return out;
}

std::string Utf8Stream::push(std::string_view bytes) {
    pending_ += bytes;
    std::string out;
    std::string_view rest = pending_;
    while (!rest.empty()) {
        const Utf8Step step = utf8_step(rest);
        if (step.kind == Utf8Step::Kind::incomplete) break;
        if (step.kind == Utf8Step::Kind::valid)
            out += rest.substr(0, step.length);
        else
            out += kReplacement;
        rest.remove_prefix(step.length);
    }
    pending_ = std::string(rest);
    return out;
}

std::string Utf8Stream::finish() {
    const bool tail = !pending_.empty();
    pending_.clear();
    return tail ? std::string(kReplacement) : std::string();
}

}  // namespace kvasir
