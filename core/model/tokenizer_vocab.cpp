// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/tokenizer_vocab.h"

#include <array>
#include <bit>
#include <functional>

#include "core/base/utf8.h"

namespace kvasir {

void StringTable::reserve(size_t n, size_t bytes) {
    bytes_.reserve(bytes);
    spans_.reserve(n);
    slots_.assign(std::bit_ceil(2 * n + 16), -1);
}

int StringTable::add(std::string_view text) {
    spans_.push_back({bytes_.size(), text.size()});
    bytes_ += text;
    return size() - 1;
}

size_t StringTable::slot_of(std::string_view text) const {
    const size_t mask = slots_.size() - 1;
    size_t slot = std::hash<std::string_view>{}(text)&mask;
    while (slots_[slot] >= 0 && at(slots_[slot]) != text)
        slot = (slot + 1) & mask;
    return slot;
}

void StringTable::make_findable(int id) {
    if (2 * (used_ + 1) > slots_.size()) grow();
    int& slot = slots_[slot_of(at(id))];
    if (slot >= 0) return;
    slot = id;
    ++used_;
}

void StringTable::grow() {
    std::vector<int> old(2 * slots_.size() + 16, -1);
    old.resize(std::bit_ceil(old.size()), -1);
    old.swap(slots_);
    for (const int id : old)
        if (id >= 0) slots_[slot_of(at(id))] = id;
}

int StringTable::find(std::string_view text) const {
    return slots_.empty() ? -1 : slots_[slot_of(text)];
}

namespace {

constexpr char32_t kMapEnd = 0x100 + 68;

constexpr std::array<int, kMapEnd> character_to_byte() {
    std::array<int, kMapEnd> map{};
    for (int& byte : map)
        byte = -1;
    size_t next = 0x100;
    for (int b = 0; b < 256; ++b) {
        const bool itself = (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174;
        map[itself ? size_t(b) : next++] = b;
    }
    return map;
}

}  // namespace

void append_gpt2_bytes(std::string& out, std::string_view text) {
    static constexpr std::array<int, kMapEnd> map = character_to_byte();
    while (!text.empty()) {
        const Utf8Step step = utf8_step(text);
        const bool known = step.kind == Utf8Step::Kind::valid && step.code_point < kMapEnd && map[step.code_point] >= 0;
        if (known)
            out += char(map[step.code_point]);
        else
            out += text.substr(0, step.length);
        text.remove_prefix(step.length);
    }
}

}  // namespace kvasir
