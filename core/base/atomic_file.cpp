// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace kvasir {
namespace {

Error disk_error(const std::string& path, int number) {
    return {ErrorCode::disk, "cannot write", path, std::strerror(number),
            number == ENOSPC ? "Free some space or choose another place." : "Choose another place."};
}

bool write_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t n = ::write(fd, bytes.data(), bytes.size());
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        bytes.remove_prefix(size_t(n));
    }
    return true;
}

}  // namespace

Status write_file_atomically(const std::string& path, std::string_view bytes) {
    std::string temporary = path + ".XXXXXX";
    const int fd = ::mkstemp(temporary.data());
    if (fd < 0) return disk_error(path, errno);
    ::fchmod(fd, 0644);
    const bool written = write_all(fd, bytes) && ::fsync(fd) == 0;
    int why = errno;
    if (::close(fd) != 0 && written) {
        why = errno;
        ::unlink(temporary.c_str());
        return disk_error(path, why);
    }
    if (!written || ::rename(temporary.c_str(), path.c_str()) != 0) {
        if (written) why = errno;
        ::unlink(temporary.c_str());
        return disk_error(path, why);
    }
    return {};
}

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
