// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/json_fields.h"

#include <fmt/format.h>

namespace kvasir {

using nlohmann::json;

void refuse_field(std::string where, std::string why) {
    RefusedField field;
    field.where = std::move(where), field.why = std::move(why);
    throw field;
}

std::string shown_value(const json& j) {
    if (j.is_array()) return "an array";
    if (j.is_object()) return "an object";
    const std::string text = j.dump(-1, ' ', true, json::error_handler_t::replace);
    return text.size() <= 40 ? text : text.substr(0, 37) + "...";
}

Fields::Fields(const json& j, std::string path) : j_(j), path_(std::move(path)) {
    if (!j.is_object()) refuse_field(path_, shown_value(j) + " is not an object");
}

const json& Fields::at(const char* key) const {
    const auto found = j_.find(key);
    if (found == j_.end()) refuse_field(path(key), "it is missing");
    return *found;
}

int Fields::whole(const char* key, int low, int high) const {
    return int(whole_number(at(key), low, high, [&] { return path(key); }));
}
int Fields::whole(const char* key, int low, int high, int absent) const {
    return has(key) ? whole(key, low, high) : absent;
}

uint64_t Fields::unsigned64(const char* key, uint64_t absent) const {
    if (!has(key)) return absent;
    const json& j = at(key);
    if (!j.is_number_integer() || (!j.is_number_unsigned() && j.get<int64_t>() < 0))
        refuse_field(path(key), shown_value(j) + " is not a whole number of 64 bits");
    return j.get<uint64_t>();
}

double Fields::real(const char* key, double low, double high, double absent) const {
    if (!has(key)) return absent;
    if (at(key).is_null()) refuse_field(path(key), "null is not a number");
    return real_number(at(key), low, high, [&] { return path(key); });
}

bool Fields::flag(const char* key) const {
    return yes_or_no(at(key), [&] { return path(key); });
}
bool Fields::flag(const char* key, bool absent) const {
    return has(key) ? flag(key) : absent;
}

std::string Fields::text(const char* key, size_t most_bytes) const {
    const json& j = at(key);
    if (!j.is_string()) refuse_field(path(key), shown_value(j) + " is not a text");
    const std::string& text = j.get_ref<const std::string&>();
    if (text.size() > most_bytes)
        refuse_field(path(key), fmt::format("it has {} bytes, at most {} are read", text.size(), most_bytes));
    if (text.find('\0') != std::string::npos) refuse_field(path(key), "it holds zero bytes, so it is no text");
    return text;
}
std::string Fields::text(const char* key, size_t most_bytes, const char* absent) const {
    return has(key) ? text(key, most_bytes) : absent;
}

bool Fields::second_of(const char* key, const char* first, const char* second) const {
    if (!has(key)) return false;
    const json& j = at(key);
    if (j != first && j != second)
        refuse_field(path(key), fmt::format("{} is neither \"{}\" nor \"{}\"", shown_value(j), first, second));
    return j == second;
}

const json& Fields::list(const char* key, size_t most) const {
    const json& j = at(key);
    if (!j.is_array()) refuse_field(path(key), shown_value(j) + " is not an array");
    if (j.size() > most) refuse_field(path(key), fmt::format("{} entries, at most {} are read", j.size(), most));
    return j;
}

std::vector<int> Fields::ids(const char* key) const {
    std::vector<int> ids;
    for (const json& j : list(key, session_limits::kTokens))
        ids.push_back(int(
            whole_number(j, 0, session_limits::kIds, [&] { return fmt::format("{}[{}]", path(key), ids.size()); })));
    return ids;
}

}  // namespace kvasir
