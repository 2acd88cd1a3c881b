// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/sha256.h"

#include <openssl/evp.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <vector>

namespace kvasir {

namespace {

constexpr size_t kChunk = 4u << 20;  // bytes hashed between two cancel points

struct CloseFile {
    void operator()(std::FILE* f) const { std::fclose(f); }
};

}  // namespace

struct Sha256::Impl {
    EVP_MD_CTX* context = EVP_MD_CTX_new();
    Impl() {
        if (!context || EVP_DigestInit_ex(context, EVP_sha256(), nullptr) != 1) throw std::bad_alloc();
    }
    ~Impl() { EVP_MD_CTX_free(context); }
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;
};

Sha256::Sha256() : impl_(std::make_unique<Impl>()) {}
Sha256::~Sha256() = default;

void Sha256::add(const void* data, size_t n) {
    EVP_DigestUpdate(impl_->context, data, n);
}

std::string Sha256::hex() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned length = 0;
    EVP_DigestFinal_ex(impl_->context, digest.data(), &length);
    constexpr char digits[] = "0123456789abcdef";
    std::string text;
    text.reserve(2 * length);
    for (unsigned i = 0; i < length; ++i) {
        text += digits[digest[i] >> 4];
        text += digits[digest[i] & 15];
    }
    return text;
}

std::string sha256_hex(const void* data, size_t n) {
    Sha256 sum;
    sum.add(data, n);
    return sum.hex();
}

Result<std::string> sha256_of_file(const std::string& path, const CancelCheck& cancelled) {
    const auto refuse = [&](ErrorCode code, std::string why, std::string hint) {
        return Error{code, "cannot compute the SHA-256", path, std::move(why), std::move(hint)};
    };
    const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rbe"));
    if (!file) return refuse(ErrorCode::input, std::strerror(errno), "Check the path and that the file may be read.");
    Sha256 sum;
    std::vector<char> buffer(kChunk);
    for (;;) {
        if (cancelled && cancelled()) return refuse(ErrorCode::interrupted, "stopped by the user", "");
        const size_t n = std::fread(buffer.data(), 1, buffer.size(), file.get());
        sum.add(buffer.data(), n);
        if (n == buffer.size()) continue;
        if (std::ferror(file.get())) return refuse(ErrorCode::input, "reading failed", "Check the disk and try again.");
        return sum.hex();
    }
}

}  // namespace kvasir
