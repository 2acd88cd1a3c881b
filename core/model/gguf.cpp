// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/gguf.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/model/gguf_impl.h"
#include "core/model/utf8.h"

namespace kvasir {

namespace {

constexpr const char* kDamagedHint = "Download the file again, or open another GGUF file.";

Error refusal_of(const std::string& path, std::string why, std::string hint) {
    if (hint.empty()) hint = kDamagedHint;
    return {ErrorCode::input, "cannot read model", printable(path, 1000), std::move(why), std::move(hint)};
}

}  // namespace

GgufFile::Impl::~Impl() {
    if (mapping) munmap(mapping, size_t(opened.st_size));
}

GgufFile::GgufFile(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
GgufFile::~GgufFile() = default;

Result<std::shared_ptr<const GgufFile>> GgufFile::open(const std::string& path) {
    auto impl = std::make_unique<Impl>();
    impl->path = path;
    // O_NONBLOCK: a FIFO must not hang the program.
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return refusal_of(path, std::strerror(errno), "Check the path and that the file may be read.");
    const bool known = fstat(fd, &impl->opened) == 0;
    if (!known || !S_ISREG(impl->opened.st_mode)) {
        ::close(fd);
        return refusal_of(path, "this is not a regular file", "Name a .gguf file.");
    }
    if (impl->opened.st_size > 0) {
        void* mapping = mmap(nullptr, size_t(impl->opened.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
        const int why = errno;
        ::close(fd);
        if (mapping == MAP_FAILED) return refusal_of(path, std::strerror(why), "Copy the file to a local disk.");
        impl->mapping = mapping;
        madvise(mapping, size_t(impl->opened.st_size), MADV_WILLNEED);
    } else {
        ::close(fd);
    }

    const std::span<const uint8_t> bytes(static_cast<const uint8_t*>(impl->mapping), size_t(impl->opened.st_size));
    if (std::string why = parse_gguf(bytes, impl->contents); !why.empty()) return refusal_of(path, std::move(why), {});
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

Status GgufFile::unchanged() const {
    struct stat now {};
    const struct stat& then = impl_->opened;
    const bool same = stat(impl_->path.c_str(), &now) == 0 && now.st_dev == then.st_dev && now.st_ino == then.st_ino &&
                      now.st_size == then.st_size && now.st_mtim.tv_sec == then.st_mtim.tv_sec &&
                      now.st_mtim.tv_nsec == then.st_mtim.tv_nsec;
    if (same) return {};
    return refusal("the file was changed, replaced or removed by another program while it was in use",
                   "Open it again when nothing writes to it.");
}

Error GgufFile::refusal(std::string why, std::string hint) const {
    return refusal_of(impl_->path, std::move(why), std::move(hint));
}

}  // namespace kvasir
