// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/read_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace kvasir {

Result<std::string> read_file(const std::string& path, size_t max_bytes) {
    const auto refuse = [&](std::string why, std::string hint) {
        return Error{ErrorCode::input, "cannot read", path, std::move(why), std::move(hint)};
    };
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return refuse(std::strerror(errno), "Check the path.");
    struct stat info {};
    if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        ::close(fd);
        return refuse("not a regular file", "Name a file.");
    }
    if (size_t(info.st_size) > max_bytes) {
        ::close(fd);
        return refuse(fmt::format("{} bytes, at most {} are read", info.st_size, max_bytes), "Use a smaller file.");
    }
    std::string bytes(size_t(info.st_size), '\0');
    size_t at = 0;
    while (at < bytes.size()) {
        const ssize_t n = ::read(fd, bytes.data() + at, bytes.size() - at);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        at += size_t(n);
    }
    ::close(fd);
    if (at < bytes.size()) return refuse("it ended early", "Try again.");
    return bytes;
}

}  // namespace kvasir
