// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/gguf_parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <unordered_set>

#include "core/base/utf8.h"

namespace kvasir {

static_assert(std::endian::native == std::endian::little, "GGUF values are read as they lie in the file");

namespace {

constexpr uint64_t kLargest = (uint64_t(1) << 63) - 1;
constexpr uint64_t kMaxString = uint64_t(1) << 30;
constexpr uint64_t kMaxKey = 65535, kMaxTensorName = 63;
constexpr uint64_t kSmallestEntry = 14, kSmallestTensor = 33;  // bytes on disk
constexpr uint64_t kMaxAlignment = 65536, kDefaultAlignment = 32;

uint64_t align_up(uint64_t n, uint64_t alignment) {
    return (n + alignment - 1) / alignment * alignment;
}

class Parser {
 public:
    Parser(std::span<const uint8_t> head, uint64_t file_bytes, GgufContents& out)
        : head_(head), file_bytes_(file_bytes), out_(out) {}

    std::string run() {
        if (!header() || !metadata() || !tensor_table() || !layout()) return why_;
        return {};
    }
    bool more() const { return more_; }

 private:
    uint64_t left() const { return file_bytes_ - at_; }
    /// Are the next n bytes, which the file has, in the head?
    bool here(uint64_t n) {
        more_ = more_ || n > head_.size() - at_;
        return !more_;
    }
    bool refuse(std::string why) {
        why_ = std::move(why);
        return false;
    }

    // `name` is called only on failure: it says what was being read.
    template <class T, class Name>
    bool number(T& value, Name&& name) {
        if (left() < sizeof(T))
            return refuse(
                fmt::format("truncated: {} needs {} bytes at offset {}, {} left", name(), sizeof(T), at_, left()));
        if (!here(sizeof(T))) return false;
        value = read_le<T>(head_.data() + at_);
        at_ += sizeof(T);
        return true;
    }

    template <class Name>
    bool string(std::string_view& value, uint64_t max, Name&& name) {
        uint64_t length = 0;
        if (!number(length, [&] { return name() + " length"; })) return false;
        if (length > left())
            return refuse(fmt::format("{}: length {} exceeds what is left of the file ({})", name(), length, left()));
        if (length > max) return refuse(fmt::format("{}: length {} exceeds the limit of {}", name(), length, max));
        if (!here(length)) return false;
        value = {reinterpret_cast<const char*>(head_.data()) + at_, size_t(length)};
        at_ += length;
        return true;
    }

    bool header() {
        if (head_.size() < 4 || !std::equal(head_.begin(), head_.begin() + 4, "GGUF")) {
            std::string bytes;
            for (size_t i = 0; i < std::min<size_t>(4, head_.size()); ++i)
                bytes += fmt::format("{}{:02x}", i ? " " : "", head_[i]);
            return refuse(head_.empty() ? "not a GGUF file (it is empty)"
                                        : fmt::format("not a GGUF file (first bytes {})", bytes));
        }
        at_ = 4;
        uint32_t version = 0;
        if (!number(version, [] { return std::string("version"); })) return false;
        if (version != 2 && version != 3) {
            const bool swapped = version != 0 && (version & 0xFFFF) == 0;
            return refuse(fmt::format("GGUF version {}{} is not supported", version,
                                      swapped ? " (byte order of another machine?)" : ""));
        }
        out_.version = version;
        if (!number(n_tensors_, [] { return std::string("tensor count"); })) return false;
        if (!number(n_entries_, [] { return std::string("key count"); })) return false;
        if (n_entries_ > left() / kSmallestEntry)
            return refuse(fmt::format("key count {} cannot fit in the file", n_entries_));
        if (n_tensors_ > left() / kSmallestTensor)
            return refuse(fmt::format("tensor count {} cannot fit in the file", n_tensors_));
        return true;
    }

    bool metadata() {
        std::unordered_set<std::string_view> seen;
        for (uint64_t i = 0; i < n_entries_; ++i) {
            GgufEntry entry;
            if (!string(entry.key, kMaxKey, [&] { return fmt::format("key {}", i); })) return false;
            if (entry.key.empty()) return refuse(fmt::format("key {} is empty", i));
            if (std::any_of(entry.key.begin(), entry.key.end(), [](char c) { return (c & 0x80) != 0; }))
                return refuse(fmt::format("key {} is not ASCII", i));
            if (!seen.insert(entry.key).second) return refuse("duplicate key " + printable(entry.key));
            if (!value(entry)) return false;
            if (entry.key == "general.alignment" && !alignment(entry)) return false;
            out_.entries.push_back(entry);
        }
        return true;
    }

    bool value(GgufEntry& entry) {
        const auto name = [&] { return printable(entry.key); };
        uint32_t type = 0;
        if (!number(type, name)) return false;
        if (type >= kGgufTypes) return refuse(fmt::format("{}: unknown value type {}", name(), type));
        entry.type = GgufType(type);
        if (entry.type != GgufType::array) {
            entry.value = head_.data() + at_;
            return skip(entry.type, 1, name);
        }
        uint32_t element = 0;
        if (!number(element, name) || !number(entry.count, name)) return false;
        if (element >= kGgufTypes) return refuse(fmt::format("{}: unknown array element type {}", name(), element));
        entry.element = GgufType(element);
        if (entry.element == GgufType::array) return refuse(name() + ": nested arrays are not supported");
        if (entry.count > left() / gguf_type_bytes(entry.element))
            return refuse(
                fmt::format("{}: array of {} elements cannot fit in the rest of the file", name(), entry.count));
        entry.value = head_.data() + at_;
        return skip(entry.element, entry.count, name);
    }

    // Steps over n values of a type; strings and booleans are looked at.
    template <class Name>
    bool skip(GgufType type, uint64_t n, Name&& name) {
        if (type == GgufType::string) {
            std::string_view text;
            for (uint64_t i = 0; i < n; ++i)
                if (!string(text, kMaxString, name)) return false;
            return true;
        }
        const uint64_t bytes = n * gguf_type_bytes(type);  // arrays: n was compared with the bytes left
        if (bytes > left())
            return refuse(
                fmt::format("truncated: {} needs {} bytes at offset {}, {} left", name(), bytes, at_, left()));
        if (!here(bytes)) return false;
        if (type == GgufType::boolean)
            for (uint64_t i = 0; i < n; ++i)
                if (head_[at_ + i] > 1)
                    return refuse(fmt::format("{}: boolean is {}, not 0 or 1", name(), head_[at_ + i]));
        at_ += bytes;
        return true;
    }

    bool alignment(const GgufEntry& entry) {
        if (entry.type != GgufType::u32) return refuse("general.alignment has the wrong type");
        alignment_ = read_le<uint32_t>(entry.value);
        if (alignment_ > kMaxAlignment || !std::has_single_bit(alignment_))
            return refuse(
                fmt::format("general.alignment = {} is not a power of two up to {}", alignment_, kMaxAlignment));
        return true;
    }

    bool tensor_table() {
        std::unordered_set<std::string_view> seen;
        for (uint64_t i = 0; i < n_tensors_; ++i) {
            std::string_view name;
            if (!string(name, kMaxTensorName, [&] { return fmt::format("tensor name {}", i); })) return false;
            if (name.empty()) return refuse(fmt::format("tensor {} has no name", i));
            if (!seen.insert(name).second) return refuse("duplicate tensor " + printable(name));
            GgufTensor tensor;
            tensor.name = std::string(name);
            uint64_t offset = 0;
            if (!shape(tensor, offset)) return false;
            offsets_.push_back(offset);
            out_.tensors.push_back(std::move(tensor));
        }
        return true;
    }

    bool shape(GgufTensor& tensor, uint64_t& offset) {
        const auto name = [&] { return printable(tensor.name); };
        uint32_t n_dims = 0;
        if (!number(n_dims, name)) return false;
        if (n_dims < 1 || n_dims > 4) return refuse(fmt::format("{}: {} dimensions, 1..4 expected", name(), n_dims));
        tensor.dims.resize(n_dims);
        for (uint64_t& dim : tensor.dims)
            if (!number(dim, name)) return false;
        if (!number(tensor.type, name) || !number(offset, name)) return false;
        uint64_t elements = 1;
        bool overflow = false;
        for (const uint64_t dim : tensor.dims) {
            if (dim == 0 || dim > kLargest)
                return refuse(fmt::format("{}: dimension [{}] is invalid", name(), fmt::join(tensor.dims, ", ")));
            overflow = overflow || __builtin_mul_overflow(elements, dim, &elements) || elements > kLargest;
        }
        if (overflow) return refuse(name() + ": element count overflows");
        const GgmlType* type = find_ggml_type(tensor.type);
        if (!type) return refuse(fmt::format("{}: tensor type {} is not a known type", name(), tensor.type));
        if (tensor.dims[0] % type->block != 0)
            return refuse(
                fmt::format("{}: row of {} is not a multiple of block {}", name(), tensor.dims[0], type->block));
        if (__builtin_mul_overflow(elements / type->block, uint64_t(type->bytes), &tensor.n_bytes) ||
            tensor.n_bytes > kLargest)
            return refuse(name() + ": byte size overflows");
        return true;
    }

    // Places the data: aligned, inside the file, not overlapping, nothing behind it.
    bool layout() {
        if (n_tensors_ == 0) return true;
        const uint64_t start = align_up(at_, alignment_);
        if (start > file_bytes_)
            return refuse(
                fmt::format("truncated: tensor data should start at {}, file has {} bytes", start, file_bytes_));
        const uint64_t room = file_bytes_ - start;
        std::vector<size_t> order(out_.tensors.size());
        for (size_t i = 0; i < order.size(); ++i)
            order[i] = i;
        std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
            if (offsets_[a] != offsets_[b]) return offsets_[a] < offsets_[b];
            return out_.tensors[a].n_bytes < out_.tensors[b].n_bytes;
        });
        uint64_t end = 0;
        bool running_sum = true;
        for (size_t rank = 0; rank < order.size(); ++rank) {
            GgufTensor& tensor = out_.tensors[order[rank]];
            const uint64_t offset = offsets_[order[rank]];
            const auto name = [&] { return printable(tensor.name); };
            if (offset % alignment_ != 0)
                return refuse(fmt::format("{}: offset {} is not a multiple of {}", name(), offset, alignment_));
            if (offset > room || tensor.n_bytes > room - offset)
                return refuse(
                    fmt::format("{}: data [{},+{}) is past the end of the file; the file is incomplete or "
                                "damaged",
                                name(), offset, tensor.n_bytes));
            if (offset < end) return refuse(name() + ": data overlaps another tensor");
            running_sum = running_sum && order[rank] == rank && offset == align_up(end, alignment_);
            tensor.at = start + offset;
            end = offset + tensor.n_bytes;
        }
        if (room > align_up(end, alignment_))
            return refuse(fmt::format("{} unexpected bytes after the last tensor", room - end));
        if (!running_sum)
            out_.warnings.push_back("the tensors do not lie one after another in the order of their table");
        return true;
    }

    std::span<const uint8_t> head_;
    const uint64_t file_bytes_;
    GgufContents& out_;
    bool more_ = false;
    uint64_t at_ = 0;
    uint64_t n_tensors_ = 0, n_entries_ = 0;
    uint64_t alignment_ = kDefaultAlignment;
    std::vector<uint64_t> offsets_;
    std::string why_;
};

}  // namespace

std::string parse_gguf(std::span<const uint8_t> head, uint64_t file_bytes, GgufContents& out, bool& more) {
    Parser parser(head, file_bytes, out);
    std::string why = parser.run();
    more = parser.more();
    return why;
}

std::string parse_gguf(std::span<const uint8_t> file, GgufContents& out) {
    bool more = false;
    return parse_gguf(file, file.size(), out, more);
}

}  // namespace kvasir
