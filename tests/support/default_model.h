// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <string>

#include "core/base/default_model.h"

namespace kvasir::test {

/// Path of the default model, "" when it is not on this machine. The test command fetches it first.
inline std::string default_model() {
    std::string path = default_model_path();
    return std::filesystem::exists(path) ? path : "";
}

}  // namespace kvasir::test

/// Skips a test that needs the default model where it is absent.
#define KVASIR_NEEDS_MODEL(path)                            \
    const std::string path = kvasir::test::default_model(); \
    if (path.empty()) QSKIP("the default model is not here: run tools/fetch-model first")

/// Skips a long evaluation under a sanitizer, which would take a quarter of an hour: its numbers are checked in the
/// release build, and shorter tests run the same code. Where the length is not the point a test takes fewer tokens.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define KVASIR_RELEASE_ONLY() QSKIP("a long evaluation: checked in the release build")
constexpr bool kSanitized = true;
#else
#define KVASIR_RELEASE_ONLY() static_cast<void>(0)
constexpr bool kSanitized = false;
#endif
