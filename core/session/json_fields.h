// SPDX-License-Identifier: GPL-3.0-or-later
// Values of a JSON document that anybody may have edited, each with its bounds. What is refused is named by its key.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace kvasir {

/// Thrown inside the readers of core/session, which turn it into an Error.
struct RefusedField {
    std::string where;  ///< e.g. "experiment.lanes[1].spec"
    std::string why;
    std::string hint = "The file is damaged or was edited.";
};

/// Bounds of what a session may hold: far beyond any run, and small enough that no sum or size overflows.
namespace session_limits {
constexpr int kTokens = 10'000'000;  ///< tokens, steps, positions
constexpr int kIds = 1 << 28;        ///< token ids
constexpr int kLanes = 32;
constexpr int kMarks = 1000;  ///< letters of lanes
constexpr int kLayers = 4096, kHeads = 65536;
constexpr double kBytes = 1e18, kNanoseconds = 1e18;
constexpr double kNats = 1e9;                                           ///< any logarithm
constexpr size_t kPrompt = size_t(64) << 20, kWords = size_t(8) << 10;  ///< bytes of texts
}  // namespace session_limits

[[noreturn]] void refuse_field(std::string where, std::string why);
/// "5", "\"abc\"", "an array": what stands there, short.
std::string shown_value(const nlohmann::json& j);

/// `where` is called only for a refusal: rows are many.
template <class Where>
int64_t whole_number(const nlohmann::json& j, int64_t low, int64_t high, Where&& where) {
    if (!j.is_number_integer()) refuse_field(where(), shown_value(j) + " is not a whole number");
    const bool over = j.is_number_unsigned() && j.get<uint64_t>() > uint64_t(std::numeric_limits<int64_t>::max());
    const int64_t value = over ? std::numeric_limits<int64_t>::max() : j.get<int64_t>();
    if (over || value < low || value > high)
        refuse_field(where(),
                     shown_value(j) + " is not between " + std::to_string(low) + " and " + std::to_string(high));
    return value;
}

/// JSON has no NaN or infinity: they are written as null and read back as NaN, "missing".
template <class Where>
double real_number(const nlohmann::json& j, double low, double high, Where&& where) {
    if (j.is_null()) return std::numeric_limits<double>::quiet_NaN();
    if (!j.is_number()) refuse_field(where(), shown_value(j) + " is not a number");
    const double value = j.get<double>();
    if (!(value >= low && value <= high))
        refuse_field(where(), shown_value(j) + " is not between " + shown_value(low) + " and " + shown_value(high));
    return value;
}

template <class Where>
bool yes_or_no(const nlohmann::json& j, Where&& where) {
    if (!j.is_boolean()) refuse_field(where(), shown_value(j) + " is neither true nor false");
    return j.get<bool>();
}

/// An object whose keys are read by name. Keys that nobody reads are left alone.
class Fields {
 public:
    Fields(const nlohmann::json& j, std::string path);

    bool has(const char* key) const { return j_.contains(key); }
    const nlohmann::json& at(const char* key) const;
    std::string path(const char* key) const { return path_.empty() ? key : path_ + "." + key; }

    int whole(const char* key, int low, int high) const;
    int whole(const char* key, int low, int high, int absent) const;
    uint64_t unsigned64(const char* key, uint64_t absent) const;
    double real(const char* key, double low, double high, double absent) const;  ///< null is refused
    bool flag(const char* key) const;
    bool flag(const char* key, bool absent) const;
    std::string text(const char* key, size_t most_bytes) const;
    std::string text(const char* key, size_t most_bytes, const char* absent) const;
    bool second_of(const char* key, const char* first, const char* second) const;  ///< absent: the first
    const nlohmann::json& list(const char* key, size_t most) const;
    std::vector<int> ids(const char* key) const;  ///< token ids

 private:
    const nlohmann::json& j_;
    std::string path_;
};

}  // namespace kvasir
