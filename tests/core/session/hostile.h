// SPDX-License-Identifier: GPL-3.0-or-later
// Variants of a session in which one value at a time is hostile.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace kvasir::test {

/// What may stand in the place of any value.
inline const std::vector<nlohmann::json>& hostile_values() {
    using nlohmann::json;
    static const std::vector<json> values = {
        nullptr,
        true,
        -1,
        0,
        2'000'000'000,
        5'000'000'000,
        -9'000'000'000'000'000'000,
        18'000'000'000'000'000'000u,
        0.5,
        1e308,
        -1e300,
        "",
        "x",
        "12",
        std::string("a\0b", 3),
        std::string(70000, 'a'),
        json::array(),
        json::array({json::array({1, 2}), nullptr, "x"}),
        json::array({1, 1, 1, 1, 1, 1, 1, 1}),
        json::object(),
        json::object({{"step", json::array({1})}}),
    };
    return values;
}

/// Calls see(path, document) for every place of `document` (of arrays the first, second and last entry) and every
/// hostile value in it, and with the place left out. `path` is a JSON pointer.
inline void each_hostile(const nlohmann::json& document,
                         const std::function<void(const std::string&, const nlohmann::json&)>& see) {
    using nlohmann::json;
    json changed = document;
    const std::function<void(const json::json_pointer&)> visit = [&](const json::json_pointer& at) {
        const json here = document.at(at);
        if (!at.empty()) {
            for (const json& value : hostile_values()) {
                if (value == here) continue;
                changed[at] = value;
                see(at.to_string(), changed);
            }
            json& parent = changed.at(at.parent_pointer());
            if (parent.is_object())
                parent.erase(at.back());
            else
                parent.erase(parent.size() - 1);
            see(at.to_string() + " left out", changed);
            parent = document.at(at.parent_pointer());
        }
        if (here.is_object()) {
            for (const auto& [key, value] : here.items())
                visit(at / key);
        } else if (here.is_array()) {
            for (size_t i = 0; i < here.size(); ++i)
                if (i < 2 || i + 1 == here.size()) visit(at / i);
        }
    };
    visit(json::json_pointer());
}

}  // namespace kvasir::test
