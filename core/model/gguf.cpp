// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/gguf.h"
#include "core/base/guard_memory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "core/base/sha256.h"
#include "core/base/utf8.h"
#include "core/model/gguf_impl.h"

namespace kvasir {

namespace {

constexpr const char* kDamagedHint = "Download the file again, or open another GGUF file.";
constexpr const char* kShortened = "the file became shorter while it was read";
constexpr const char* kAgainHint = "Open it again when nothing writes to it.";
constexpr uint64_t kFirstHead = uint64_t(8) << 20;  ///< most files keep their keys and tokens in less
constexpr size_t kPiece = size_t(4) << 20;          ///< bytes read between two cancel points

Error refusal_of(const std::string& path, std::string why, std::string hint) {
    if (hint.empty()) hint = kDamagedHint;
    return {ErrorCode::input, "cannot read model", printable(path, 1000), std::move(why), std::move(hint)};
}

}  // namespace

GgufFile::Impl::~Impl() {
    if (file >= 0) ::close(file);
}

GgufFile::GgufFile(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
GgufFile::~GgufFile() = default;

namespace {

/// Reads up to n bytes from `at` on; fewer only at the end of the file, -1 with errno.
ssize_t read_at(int file, uint64_t at, size_t n, uint8_t* out) {
    size_t done = 0;
    while (done < n) {
        const ssize_t got = ::pread(file, out + done, std::min(n - done, kPiece), off_t(at + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return -1;
        if (got == 0) break;
        done += size_t(got);
    }
    return ssize_t(done);
}

}  // namespace

Result<std::shared_ptr<const GgufFile>> GgufFile::open(const std::string& path) {
    return guard_memory([&] { return open_or_throw(path); },
                        [&] {
                            return Error{ErrorCode::memory, "cannot read model", printable(path, 1000),
                                         "not enough memory for its keys and tokens",
                                         "Close other programs or open a smaller model."};
                        });
}

Result<std::shared_ptr<const GgufFile>> GgufFile::open_or_throw(const std::string& path) {
    auto impl = std::make_unique<Impl>();
    impl->path = path;
    // O_NONBLOCK: a FIFO must not hang the program.
    const int fd = impl->file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return refusal_of(path, std::strerror(errno), "Check the path and that the file may be read.");
    if (fstat(fd, &impl->opened) != 0 || !S_ISREG(impl->opened.st_mode))
        return refusal_of(path, S_ISDIR(impl->opened.st_mode) ? "this is a folder" : "this is not a regular file",
                          "Name a .gguf file.");
    const uint64_t file_bytes = uint64_t(impl->opened.st_size);
    bool more = true;
    for (uint64_t n = kFirstHead; more; n *= 4) {
        impl->contents = {};
        impl->head.resize(size_t(std::min(n, file_bytes)));
        const ssize_t got = read_at(fd, 0, impl->head.size(), impl->head.data());
        if (got < 0) return refusal_of(path, std::strerror(errno), "Copy the file to a local disk.");
        if (size_t(got) < impl->head.size()) return refusal_of(path, kShortened, kAgainHint);
        if (std::string why = parse_gguf(impl->head, file_bytes, impl->contents, more); !more && !why.empty())
            return refusal_of(path, std::move(why), {});
    }
    impl->entry_of.reserve(impl->contents.entries.size());
    for (size_t i = 0; i < impl->contents.entries.size(); ++i)
        impl->entry_of[impl->contents.entries[i].key] = i;
    impl->tensor_of.reserve(impl->contents.tensors.size());
    for (size_t i = 0; i < impl->contents.tensors.size(); ++i)
        impl->tensor_of[impl->contents.tensors[i].name] = i;
    return std::shared_ptr<const GgufFile>(new GgufFile(std::move(impl)));
}

const std::string& GgufFile::path() const {
    return impl_->path;
}
uint32_t GgufFile::version() const {
    return impl_->contents.version;
}
uint64_t GgufFile::file_bytes() const {
    return uint64_t(impl_->opened.st_size);
}
const std::vector<GgufTensor>& GgufFile::tensors() const {
    return impl_->contents.tensors;
}
const std::vector<std::string>& GgufFile::warnings() const {
    return impl_->contents.warnings;
}

const GgufTensor* GgufFile::tensor(std::string_view name) const {
    const auto it = impl_->tensor_of.find(name);
    return it == impl_->tensor_of.end() ? nullptr : &impl_->contents.tensors[it->second];
}

Status GgufFile::read(const GgufTensor& tensor, uint64_t first, size_t n, uint8_t* out) const {
    const ssize_t got = read_at(impl_->file, tensor.at + first, n, out);
    if (got < 0) return refusal(std::strerror(errno), "Copy the file to a local disk.");
    if (size_t(got) < n) return refusal(kShortened, kAgainHint);
    return {};
}

Result<std::string> GgufFile::sha256(const CancelCheck& cancelled) const {
    Sha256 sum;
    std::vector<uint8_t> piece(kPiece);
    for (uint64_t at = 0;; at += kPiece) {
        if (cancelled && cancelled())
            return Error{ErrorCode::interrupted, "loading stopped", impl_->path, "cancelled", ""};
        const ssize_t got = read_at(impl_->file, at, kPiece, piece.data());
        if (got < 0) return refusal(std::strerror(errno), "Copy the file to a local disk.");
        sum.add(piece.data(), size_t(got));
        if (size_t(got) < kPiece) return sum.hex();
    }
}

Status GgufFile::unchanged() const {
    const auto same = [&](const struct stat& now) {
        const struct stat& then = impl_->opened;
        return now.st_dev == then.st_dev && now.st_ino == then.st_ino && now.st_size == then.st_size &&
               now.st_mtim.tv_sec == then.st_mtim.tv_sec && now.st_mtim.tv_nsec == then.st_mtim.tv_nsec &&
               now.st_ctim.tv_sec == then.st_ctim.tv_sec && now.st_ctim.tv_nsec == then.st_ctim.tv_nsec;
    };
    struct stat opened {
    }, named{};
    if (fstat(impl_->file, &opened) == 0 && same(opened) && stat(impl_->path.c_str(), &named) == 0 && same(named))
        return {};
    return refusal("the file was changed, replaced or removed by another program while it was in use", kAgainHint);
}

Error GgufFile::refusal(std::string why, std::string hint) const {
    return refusal_of(impl_->path, std::move(why), std::move(hint));
}

}  // namespace kvasir
