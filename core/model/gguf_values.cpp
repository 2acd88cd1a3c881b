// SPDX-License-Identifier: GPL-3.0-or-later
// Typed access to GGUF metadata: a value of another type is refused at the point of use, never reinterpreted.
#include <fmt/format.h>

#include <cstring>

#include "core/base/utf8.h"
#include "core/model/gguf_impl.h"

namespace kvasir {

namespace {

/// Calls use(value) with the value of an integer entry as int64_t or uint64_t.
template <class Use>
auto with_integer(GgufType type, const uint8_t* p, Use&& use) {
    switch (type) {
        case GgufType::u8:
            return use(uint64_t(*p));
        case GgufType::i8:
            return use(int64_t(read_le<int8_t>(p)));
        case GgufType::u16:
            return use(uint64_t(read_le<uint16_t>(p)));
        case GgufType::i16:
            return use(int64_t(read_le<int16_t>(p)));
        case GgufType::u32:
            return use(uint64_t(read_le<uint32_t>(p)));
        case GgufType::i32:
            return use(int64_t(read_le<int32_t>(p)));
        case GgufType::u64:
            return use(read_le<uint64_t>(p));
        default:
            return use(read_le<int64_t>(p));
    }
}

std::string describe(const GgufEntry& entry) {
    if (entry.type == GgufType::array) return fmt::format("{}[{}]", gguf_type_name(entry.element), entry.count);
    if (entry.type == GgufType::string) return printable(gguf_string_at(entry.value));
    if (entry.type == GgufType::boolean) return *entry.value ? "true" : "false";
    if (entry.type == GgufType::f32) return fmt::format("{}", read_le<float>(entry.value));
    if (entry.type == GgufType::f64) return fmt::format("{}", read_le<double>(entry.value));
    return with_integer(entry.type, entry.value, [](auto v) { return fmt::format("{}", v); });
}

std::string missing(std::string_view key) {
    return fmt::format("required key {} is missing", key);
}

std::string wrong_type(std::string_view key, const GgufEntry& entry, const char* expected) {
    return fmt::format("{} has type {}, {} was expected", key, gguf_type_name(entry.type), expected);
}

std::string wrong_element(std::string_view key) {
    return fmt::format("{} has the wrong element type", key);
}

}  // namespace

bool GgufFile::has(std::string_view key) const {
    return impl_->find(key) != nullptr;
}

Result<std::string_view> GgufFile::string(std::string_view key) const {
    const GgufEntry* entry = impl_->find(key);
    if (!entry) return refusal(missing(key));
    if (entry->type != GgufType::string) return refusal(wrong_type(key, *entry, "a string"));
    return gguf_string_at(entry->value);
}

Result<int64_t> GgufFile::integer(std::string_view key, int64_t lo, int64_t hi) const {
    const GgufEntry* entry = impl_->find(key);
    if (!entry) return refusal(missing(key));
    if (!is_integer(entry->type)) return refusal(wrong_type(key, *entry, "an integer"));
    return with_integer(entry->type, entry->value, [&](auto v) -> Result<int64_t> {
        if (std::cmp_less(v, lo) || std::cmp_greater(v, hi))
            return refusal(fmt::format("{} = {} is outside {}..{}", key, v, lo, hi));
        return int64_t(v);
    });
}

Result<double> GgufFile::real(std::string_view key) const {
    const GgufEntry* entry = impl_->find(key);
    if (!entry) return refusal(missing(key));
    if (entry->type == GgufType::f32) return double(read_le<float>(entry->value));
    if (entry->type == GgufType::f64) return read_le<double>(entry->value);
    return refusal(wrong_type(key, *entry, "a floating-point number"));
}

std::optional<bool> GgufFile::boolean(std::string_view key) const {
    const GgufEntry* entry = impl_->find(key);
    if (!entry || entry->type != GgufType::boolean) return std::nullopt;
    return *entry->value != 0;
}

uint64_t GgufFile::string_count(std::string_view key) const {
    const GgufEntry* entry = impl_->find(key);
    const bool list = entry && entry->type == GgufType::array && entry->element == GgufType::string;
    return list ? entry->count : 0;
}

Result<std::vector<std::string_view>> GgufFile::strings(std::string_view key) const {
    const GgufEntry* entry = impl_->find(key);
    if (!entry) return refusal(missing(key));
    if (entry->type != GgufType::array || entry->element != GgufType::string)
        return refusal(fmt::format("{} is missing or not a list of strings", key));
    std::vector<std::string_view> list;
    list.reserve(entry->count);
    const uint8_t* p = entry->value;
    for (uint64_t i = 0; i < entry->count; ++i) {
        list.push_back(gguf_string_at(p));
        p += 8 + list.back().size();
    }
    return list;
}

Result<std::vector<int32_t>> GgufFile::integers(std::string_view key) const {
    const GgufEntry* entry = impl_->find(key);
    if (!entry) return refusal(missing(key));
    const bool list = entry->type == GgufType::array;
    if (!list || (entry->element != GgufType::i32 && entry->element != GgufType::u32))
        return refusal(wrong_element(key));
    std::vector<int32_t> values(entry->count);
    if (!values.empty()) std::memcpy(values.data(), entry->value, values.size() * sizeof(int32_t));
    if (entry->element == GgufType::u32)
        for (const int32_t v : values)
            if (v < 0) return refusal(fmt::format("{} holds {}, which is too large", key, uint32_t(v)));
    return values;
}

Result<std::vector<float>> GgufFile::reals(std::string_view key) const {
    const GgufEntry* entry = impl_->find(key);
    if (!entry) return refusal(missing(key));
    const bool list = entry->type == GgufType::array;
    if (!list || (entry->element != GgufType::f32 && entry->element != GgufType::i32))
        return refusal(wrong_element(key));
    std::vector<float> values(entry->count);
    for (size_t i = 0; i < values.size(); ++i) {
        const uint8_t* p = entry->value + 4 * i;
        values[i] = entry->element == GgufType::f32 ? read_le<float>(p) : float(read_le<int32_t>(p));
    }
    return values;
}

std::vector<std::pair<std::string, std::string>> GgufFile::describe_metadata() const {
    std::vector<std::pair<std::string, std::string>> rows;
    rows.reserve(impl_->contents.entries.size());
    for (const GgufEntry& entry : impl_->contents.entries)
        rows.emplace_back(printable(entry.key), describe(entry));
    return rows;
}

}  // namespace kvasir
