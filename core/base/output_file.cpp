// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>
#include <utility>

namespace kvasir::output {
namespace {

constexpr int kMostLinks = 40;  // as the kernel

/// Keeps SIGPIPE and SIGXFSZ from this thread; what a write raised is taken away with it.
class NoWriteSignals {
 public:
    NoWriteSignals() {
        sigemptyset(&set_);
        sigaddset(&set_, SIGPIPE);
        sigaddset(&set_, SIGXFSZ);
        sigpending(&pending_);
        pthread_sigmask(SIG_BLOCK, &set_, &before_);
    }
    ~NoWriteSignals() {
        const int number = errno;
        for (const int signal : {SIGPIPE, SIGXFSZ}) {
            if (sigismember(&pending_, signal)) continue;  // was there before
            sigset_t one;
            sigemptyset(&one);
            sigaddset(&one, signal);
            const timespec now{0, 0};
            while (sigtimedwait(&one, nullptr, &now) < 0 && errno == EINTR) {
            }
        }
        pthread_sigmask(SIG_SETMASK, &before_, nullptr);
        errno = number;
    }
    NoWriteSignals(const NoWriteSignals&) = delete;
    NoWriteSignals& operator=(const NoWriteSignals&) = delete;

 private:
    sigset_t set_{}, pending_{}, before_{};
};

std::string folder_of(const std::string& path) {
    const size_t slash = path.find_last_of('/');
    return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

std::string name_of(const std::string& path) {
    return path.substr(path.find_last_of('/') + 1);
}

/// N of /dev/fd/N, /proc/self/fd/N and of links to them such as /dev/stdout; -1 when the path leads elsewhere.
int descriptor_of(const std::string& path) {
    for (const char* prefix : {"/dev/fd/", "/proc/self/fd/"}) {
        const std::string_view view(prefix);
        if (path.compare(0, view.size(), view) != 0 || path.size() == view.size()) continue;
        const std::string digits = path.substr(view.size());
        if (digits.find_first_not_of("0123456789") == std::string::npos && digits.size() < 8)
            return std::atoi(digits.c_str());
    }
    return -1;
}

/// The path with symbolic links of its last part followed, also where they lead to nothing; stops at a descriptor.
Result<std::string> follow_links(std::string path) {
    const std::string asked = path;
    for (int i = 0; i < kMostLinks; ++i) {
        struct stat info {};
        if (descriptor_of(path) >= 0 || ::lstat(path.c_str(), &info) != 0 || !S_ISLNK(info.st_mode)) return path;
        std::error_code failed;
        const std::string to = std::filesystem::read_symlink(path, failed).string();
        if (failed) return disk_error(asked, failed.value());
        path = to.front() == '/' ? to : folder_of(path) + "/" + to;
    }
    return disk_error(asked, ELOOP);
}

Error no_file(const std::string& path, std::string why, std::string hint) {
    return {ErrorCode::disk, "cannot write", path, std::move(why), std::move(hint)};
}

std::string temporary_name() {
    static std::atomic<unsigned> count{0};
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    return fmt::format(".kvasir-{:x}-{:x}-{:x}", ::getpid(), now, ++count);
}

/// Sends a folder's entries to the disk: without it, a power loss may forget a rename. Some file systems cannot.
void sync_folder(const std::string& folder) {
    const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    ::fsync(fd);
    ::close(fd);
}

Status overwrite(const Target& target, const std::string& path, std::string_view bytes) {
    const int fd = ::open(target.path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (fd < 0) return disk_error(path, errno);
    const bool written = write_all(fd, bytes) && ::fsync(fd) == 0;
    const int why = errno;
    if (::close(fd) != 0 && written) return disk_error(path, errno);
    return written ? Status() : disk_error(path, why);
}

}  // namespace

Error disk_error(const std::string& path, int number) {
    switch (number) {
        case ENOSPC:
        case EDQUOT:
            return no_file(path, "the disk is full", "Free some space or choose another place.");
        case EFBIG:
            return no_file(path, "the file would be longer than a file may be here (ulimit -f)",
                           "Raise the limit or choose another place.");
        case EPIPE:
            return no_file(path, "its reader has gone", "Choose another place.");
    }
    return no_file(path, std::strerror(number), "Choose another place.");
}

bool closed_folder(int number) {
    return number == EACCES || number == EPERM || number == EROFS;
}

bool write_all(int fd, std::string_view bytes) {
    const NoWriteSignals quiet;
    while (!bytes.empty()) {
        const ssize_t n = ::write(fd, bytes.data(), bytes.size());
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        bytes.remove_prefix(size_t(n));
    }
    return true;
}

Result<Target> find_target(const std::string& path) {
    if (path.empty())
        return Error{ErrorCode::usage, "cannot write", "", "the name of the file is empty", "Name a file."};
    auto followed = follow_links(path);
    if (!followed) return followed.error();
    Target t;
    t.path = std::move(*followed);
    t.folder = folder_of(t.path);
    struct stat info {};
    t.fd = descriptor_of(t.path);
    if (t.fd >= 0) {
        t.kind = Target::Kind::descriptor;
        t.device = ~0ull, t.inode = static_cast<unsigned long long>(t.fd);
        const int flags = ::fcntl(t.fd, F_GETFL);
        if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY) return disk_error(path, EBADF);
        return t;
    }
    if (::stat(t.path.c_str(), &info) != 0) {
        if (errno != ENOENT) return disk_error(path, errno);
        t.name = name_of(t.path);
        if (::stat(t.folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || t.name.empty())
            return no_file(path, fmt::format("there is no folder {}", t.folder),
                           "Make the folder or choose another place.");
        t.device = info.st_dev, t.inode = info.st_ino;
        return t;
    }
    t.exists = true;
    t.device = info.st_dev, t.inode = info.st_ino;
    t.mode = info.st_mode & 07777, t.owner = info.st_uid, t.group = info.st_gid;
    t.many_names = info.st_nlink > 1;
    switch (info.st_mode & S_IFMT) {
        case S_IFREG:
            return t;
        case S_IFCHR:
            t.shared = true;
            [[fallthrough]];
        case S_IFIFO:
            t.kind = Target::Kind::stream;
            return t;
        case S_IFDIR:
            return no_file(path, "it is a folder", "Name a file in it.");
        case S_IFBLK:
            return no_file(path, "it is a disk, and what it holds would be lost", "Name a file.");
        default:
            return no_file(path, "it is no file", "Name a file.");
    }
}

Temporary::Temporary(const std::string& folder, mode_t mode) {
    for (int i = 0; i < 100; ++i) {
        path_ = (folder == "/" ? "" : folder) + "/" + temporary_name();
        fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (fd_ >= 0 || errno != EEXIST) break;
    }
    if (fd_ < 0) path_.clear();
}

Temporary::~Temporary() {
    const int number = errno;
    close();
    if (!path_.empty()) ::unlink(path_.c_str());
    errno = number;
}

bool Temporary::close() {
    const int fd = std::exchange(fd_, -1);
    return fd < 0 || ::close(fd) == 0;
}

bool Temporary::rename_to(const std::string& path) {
    if (::rename(path_.c_str(), path.c_str()) != 0) return false;
    path_.clear();
    return true;
}

Status write_regular(const Target& target, const std::string& path, std::string_view bytes) {
    if (target.exists && ::access(target.path.c_str(), W_OK) != 0) return disk_error(path, errno);
    // Nobody else may read the new bytes before the file has its old mode.
    Temporary temporary(target.folder, target.exists ? 0600 : 0666);
    if (!temporary.ok()) {
        if (target.exists && closed_folder(errno)) return overwrite(target, path, bytes);
        return disk_error(path, errno);
    }
    bool in_place = target.many_names;
    if (target.exists) {
        struct stat mine {};
        if (::fstat(temporary.fd(), &mine) != 0) return disk_error(path, errno);
        if (mine.st_uid != target.owner || mine.st_gid != target.group)
            in_place |= ::fchown(temporary.fd(), target.owner, target.group) != 0;
        in_place |= ::fchmod(temporary.fd(), target.mode) != 0;
    }
    if (!write_all(temporary.fd(), bytes) || ::fsync(temporary.fd()) != 0 || !temporary.close())
        return disk_error(path, errno);
    if (in_place) {
        const Status written = overwrite(target, path, bytes);
        if (written) return written;
        Error error = written.error();
        error.hint = fmt::format("The whole of it lies in {}.", temporary.path());
        temporary.keep();
        return error;
    }
    if (!temporary.rename_to(target.path)) return disk_error(path, errno);
    sync_folder(target.folder);
    return {};
}

Status write_stream(const Target& target, const std::string& path, std::string_view bytes,
                    const CancelCheck& cancelled) {
    int fd = -1;
    while ((fd = ::open(target.path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)) < 0) {
        if (errno == EINTR) continue;
        if (errno != ENXIO) return disk_error(path, errno);
        if (!cancelled || cancelled()) return no_file(path, "nobody reads this pipe", "Start its reader first.");
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    const bool written = write_all(fd, bytes);
    const int why = errno;
    if (::close(fd) != 0 && written) return disk_error(path, errno);
    return written ? Status() : disk_error(path, why);
}

Status write_descriptor(const Target& target, const std::string& path, std::string_view bytes) {
    // What was printed before stands before it.
    if (target.fd == STDOUT_FILENO && std::fflush(stdout) != 0) return disk_error(path, errno);
    return write_all(target.fd, bytes) ? Status() : disk_error(path, errno);
}

}  // namespace kvasir::output
