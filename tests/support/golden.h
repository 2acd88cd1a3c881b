// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace kvasir::test {

inline std::string source_path(const std::string& name) {
    return std::string(KVASIR_SOURCE_DIR) + "/" + name;
}

inline std::string golden_path(const std::string& name) {
    return source_path("tests/golden/" + name);
}

inline nlohmann::json golden_json(const std::string& name) {
    std::ifstream file(golden_path(name));
    return nlohmann::json::parse(file);
}

}  // namespace kvasir::test
