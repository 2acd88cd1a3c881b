// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/read_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/base/guard_memory.h"

namespace kvasir {

namespace {

Error refuse(const std::string& path, std::string why, std::string hint) {
    return {ErrorCode::input, "cannot read", path, std::move(why), std::move(hint)};
}

Error too_long(const std::string& path, const std::string& length, size_t max_bytes) {
    return refuse(path, fmt::format("{} bytes, at most {} are read", length, max_bytes), "Use a smaller file.");
}

class Descriptor {
 public:
    explicit Descriptor(int fd) : fd_(fd) {}
    ~Descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    operator int() const { return fd_; }

 private:
    int fd_;
};

Result<std::string> read_regular(const Descriptor& fd, size_t size, const std::string& path) {
    std::string bytes(size, '\0');
    size_t at = 0;
    while (at < bytes.size()) {
        const ssize_t n = ::read(fd, bytes.data() + at, bytes.size() - at);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        at += size_t(n);
    }
    if (at < bytes.size()) return refuse(path, "it ended early", "Try again.");
    return bytes;
}

/// To the end of the stream. `fd` does not block: what is not there yet is waited for in short turns.
Result<std::string> read_stream(const Descriptor& fd, size_t max_bytes, const std::string& path,
                                const CancelCheck& cancelled) {
    constexpr int kTurnMs = 50;
    std::string bytes;
    char chunk[1 << 16];
    for (;;) {
        pollfd wait{fd, POLLIN, 0};
        const int ready = ::poll(&wait, 1, kTurnMs);
        if (cancelled && cancelled()) return Error{ErrorCode::interrupted, "stopped", path, "", ""};
        if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
        const ssize_t n = ::read(fd, chunk, sizeof chunk);
        if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (n < 0) return refuse(path, std::strerror(errno), "Name a file.");
        if (n == 0) return bytes;
        if (bytes.size() + size_t(n) > max_bytes) return too_long(path, "more", max_bytes);
        bytes.append(chunk, size_t(n));
    }
}

Result<std::string> read_or_throw(const std::string& path, size_t max_bytes, bool streams,
                                  const CancelCheck& cancelled) {
    const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (fd < 0) return refuse(path, std::strerror(errno), "Check the path.");
    struct stat info {};
    if (::fstat(fd, &info) != 0) return refuse(path, std::strerror(errno), "Check the path.");
    if (S_ISREG(info.st_mode)) {
        if (size_t(info.st_size) > max_bytes) return too_long(path, std::to_string(info.st_size), max_bytes);
        return read_regular(fd, size_t(info.st_size), path);
    }
    if (S_ISDIR(info.st_mode)) return refuse(path, "it is a folder", "Name a file.");
    if (!streams || !(S_ISFIFO(info.st_mode) || S_ISCHR(info.st_mode)))
        return refuse(path, "not a regular file", "Name a file.");
    return read_stream(fd, max_bytes, path, cancelled);
}

Result<std::string> read(const std::string& path, size_t max_bytes, bool streams, const CancelCheck& cancelled) {
    return guard_memory([&] { return read_or_throw(path, max_bytes, streams, cancelled); },
                        [&] {
                            return Error{ErrorCode::memory, "cannot read", path, "it does not fit into memory",
                                         "Close other programs or use a smaller file."};
                        });
}

}  // namespace

Result<std::string> read_file(const std::string& path, size_t max_bytes) {
    return read(path, max_bytes, false, {});
}

Result<std::string> read_file_or_pipe(const std::string& path, size_t max_bytes, const CancelCheck& cancelled) {
    return read(path, max_bytes, true, cancelled);
}

}  // namespace kvasir
