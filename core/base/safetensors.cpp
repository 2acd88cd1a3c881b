// SPDX-License-Identifier: GPL-3.0-or-later
// Format: u64 little-endian header length, JSON header {name: {dtype, shape, data_offsets}}, data.
#include "core/base/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/read_file.h"

namespace kvasir {
namespace {

using nlohmann::json;

constexpr uint64_t kMaxHeader = 100'000'000;
constexpr int kMaxJsonDepth = 4;  // the header has 3 levels

struct TypeName {
    TensorType type;
    const char* name;
    size_t bytes;
};
constexpr TypeName kTypes[] = {
    {TensorType::u8, "U8", 1}, {TensorType::f16, "F16", 2}, {TensorType::f32, "F32", 4}, {TensorType::i32, "I32", 4}};

const TypeName& type_row(TensorType type) {
    return *std::find_if(std::begin(kTypes), std::end(kTypes), [&](const TypeName& t) { return t.type == type; });
}

/// Parses the header; `problem` says why it was refused.
json parse_header(std::string_view text, std::string& problem) {
    std::set<std::string> names;
    const auto watch = [&](int depth, json::parse_event_t event, json& value) {
        if (depth > kMaxJsonDepth) problem = "the header is nested too deeply";
        if (event == json::parse_event_t::key && depth == 1 && !names.insert(value.get<std::string>()).second)
            problem = fmt::format("the name '{}' stands there twice", value.get<std::string>());
        return problem.empty();
    };
    json header = json::parse(text, watch, /*allow_exceptions=*/false);
    if (problem.empty() && !header.is_object()) problem = "the header is not a JSON object";
    return header;
}

struct Span {
    uint64_t begin, end;
    bool operator<(const Span& o) const { return begin != o.begin ? begin < o.begin : end < o.end; }
};

/// Reads one header entry against the size of the data; "" or the reason for refusing it.
std::string read_entry(const json& entry, uint64_t data_bytes, TensorView& view, Span& span) {
    if (!entry.is_object() || !entry.contains("dtype") || !entry.contains("shape") || !entry.contains("data_offsets"))
        return "it needs dtype, shape and data_offsets";
    const json &dtype = entry["dtype"], &shape = entry["shape"], &offsets = entry["data_offsets"];
    if (!dtype.is_string() || !shape.is_array() || !offsets.is_array() || offsets.size() != 2 ||
        !offsets[0].is_number_unsigned() || !offsets[1].is_number_unsigned())
        return "dtype, shape or data_offsets has the wrong form";
    const auto type = std::find_if(std::begin(kTypes), std::end(kTypes),
                                   [&](const TypeName& t) { return dtype.get_ref<const std::string&>() == t.name; });
    if (type == std::end(kTypes)) return fmt::format("the type {} is not one of U8, F16, F32, I32", dtype.dump());
    view.type = type->type;
    uint64_t n = 1;
    for (const json& size : shape) {
        if (!size.is_number_unsigned()) return "a size in its shape is not a whole number";
        const uint64_t s = size.get<uint64_t>();
        if (s > uint64_t(INT64_MAX) || __builtin_mul_overflow(n, s, &n)) return "its shape is too large";
        view.shape.push_back(int64_t(s));
    }
    span = {offsets[0].get<uint64_t>(), offsets[1].get<uint64_t>()};
    if (span.begin > span.end || span.end > data_bytes)
        return fmt::format("its data_offsets [{}, {}) lie outside the {} data bytes", span.begin, span.end, data_bytes);
    uint64_t bytes = 0;
    if (__builtin_mul_overflow(n, uint64_t(type->bytes), &bytes) || bytes != span.end - span.begin)
        return fmt::format("its shape does not take {} bytes", span.end - span.begin);
    view.n_elements = size_t(n);
    return "";
}

}  // namespace

size_t bytes_per_element(TensorType type) {
    return type_row(type).bytes;
}

void TensorView::copy_to(void* out, size_t element_size) const {
    if (element_size != bytes_per_element(type)) {
        std::fprintf(stderr, "kvasir: tensor read with the wrong element size\n");
        std::abort();
    }
    if (n_elements > 0) std::memcpy(out, data, n_elements * element_size);
}

Result<SafetensorsFile> SafetensorsFile::open(const std::string& path) {
    auto bytes = read_file(path);
    if (!bytes) return bytes.error();
    return parse(std::move(*bytes), path);
}

Result<SafetensorsFile> SafetensorsFile::parse(std::string bytes, const std::string& name) {
    const auto refuse = [&](std::string why) {
        return Error{ErrorCode::input, "cannot read tensors", name, std::move(why),
                     "Make the file anew with the record command or the safetensors package."};
    };
    SafetensorsFile file;
    file.name_ = name;
    file.bytes_ = std::make_shared<const std::string>(std::move(bytes));
    const std::string& all = *file.bytes_;
    if (all.size() < 8) return refuse("the file is shorter than the length of its header");
    uint64_t header_bytes = 0;
    for (int i = 7; i >= 0; --i)
        header_bytes = header_bytes << 8 | uint8_t(all[size_t(i)]);
    if (header_bytes > kMaxHeader || header_bytes > all.size() - 8)
        return refuse(fmt::format("the header claims {} bytes", header_bytes));

    std::string problem;
    const json header = parse_header(std::string_view(all).substr(8, header_bytes), problem);
    if (!problem.empty()) return refuse(problem);
    const uint64_t data_bytes = all.size() - 8 - header_bytes;
    const auto* data = reinterpret_cast<const uint8_t*>(all.data()) + 8 + header_bytes;
    std::vector<Span> spans;
    for (const auto& [key, entry] : header.items()) {
        if (key == "__metadata__") {
            if (!entry.is_object()) return refuse("__metadata__ is not an object");
            for (const auto& [k, v] : entry.items()) {
                if (!v.is_string()) return refuse("__metadata__ holds something else than text");
                file.metadata_[k] = v.get<std::string>();
            }
            continue;
        }
        TensorView view;
        Span span{};
        const std::string why = read_entry(entry, data_bytes, view, span);
        if (!why.empty()) return refuse(fmt::format("tensor '{}': {}", key, why));
        view.data = data + span.begin;
        spans.push_back(span);
        file.tensors_.emplace(key, std::move(view));
    }
    std::sort(spans.begin(), spans.end());
    uint64_t covered = 0;
    for (const Span& span : spans) {
        if (span.begin != covered)
            return refuse(fmt::format("the tensors leave a gap or overlap at data byte {}", covered));
        covered = span.end;
    }
    if (covered != data_bytes) return refuse(fmt::format("{} bytes behind the last tensor", data_bytes - covered));
    return file;
}

Result<TensorView> SafetensorsFile::tensor(const std::string& name) const {
    const auto found = tensors_.find(name);
    if (found != tensors_.end()) return found->second;
    std::string names;
    int shown = 0;
    for (const auto& entry : tensors_) {
        if (++shown > 8) break;
        names += (names.empty() ? "" : ", ") + entry.first;
    }
    return Error{ErrorCode::input, fmt::format("cannot read tensor '{}'", name), name_, "the file does not hold it",
                 fmt::format("It holds {} tensors: {}{}.", tensors_.size(), names, shown > 8 ? ", ..." : "")};
}

std::string safetensors_bytes(const std::vector<TensorOut>& tensors,
                              const std::map<std::string, std::string>& metadata) {
    nlohmann::ordered_json header = nlohmann::ordered_json::object();
    if (!metadata.empty()) header["__metadata__"] = metadata;
    std::string data;
    for (const TensorOut& tensor : tensors) {
        size_t n = bytes_per_element(tensor.type);
        for (const int64_t size : tensor.shape)
            n *= size_t(size);
        header[tensor.name] = {{"dtype", type_row(tensor.type).name},
                               {"shape", tensor.shape},
                               {"data_offsets", {data.size(), data.size() + n}}};
        data.append(static_cast<const char*>(tensor.data), n);
    }
    std::string text = header.dump();
    text.resize((text.size() + 7) / 8 * 8, ' ');
    std::string out;
    for (int i = 0; i < 8; ++i)
        out += char(uint64_t(text.size()) >> (8 * i) & 255);
    return out + text + data;
}

}  // namespace kvasir
