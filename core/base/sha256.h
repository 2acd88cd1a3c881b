// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "core/base/cancel.h"
#include "core/base/result.h"

namespace kvasir {

/// Incremental SHA-256 (OpenSSL's libcrypto).
class Sha256 {
 public:
    Sha256();
    ~Sha256();
    void add(const void* data, size_t n);
    std::string hex();  ///< 64 lower-case hex digits; ends the sum

 private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

std::string sha256_hex(const void* data, size_t n);
Result<std::string> sha256_of_file(const std::string& path, const CancelCheck& cancelled = {});

}  // namespace kvasir
