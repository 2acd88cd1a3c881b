// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/output_file.h"

namespace kvasir {
namespace {

using output::Target;

/// A full disk is found by writing as much as a small file takes.
constexpr size_t kProbeBytes = 4096;

Status probe(const Target& target, const std::string& path) {
    if (target.exists && ::access(target.path.c_str(), W_OK) != 0) return output::disk_error(path, errno);
    output::Temporary temporary(target.folder, 0600);
    if (!temporary.ok()) {
        // A file may be writable in a folder that is not.
        if (target.exists && output::closed_folder(errno)) return {};
        return output::disk_error(path, errno);
    }
    if (!output::write_all(temporary.fd(), std::string(kProbeBytes, '\0'))) return output::disk_error(path, errno);
    return {};
}

}  // namespace

Status write_output(const std::string& path, std::string_view bytes, const CancelCheck& cancelled) {
    const auto target = output::find_target(path);
    if (!target) return target.error();
    switch (target->kind) {
        case Target::Kind::descriptor:
            return output::write_descriptor(*target, path, bytes);
        case Target::Kind::stream:
            return output::write_stream(*target, path, bytes, cancelled);
        case Target::Kind::regular:
            break;
    }
    return output::write_regular(*target, path, bytes);
}

void OutputPlan::reads(const std::string& path, const std::string& what) {
    struct stat info {};
    if (path.empty() || ::stat(path.c_str(), &info) != 0) return;  // whoever reads it will say so
    if (S_ISREG(info.st_mode) || S_ISFIFO(info.st_mode)) files_.push_back({what, false, info.st_dev, info.st_ino, ""});
}

Status OutputPlan::writes(const std::string& path, const std::string& what) {
    const auto refuse = [&](std::string why, std::string hint) {
        return Error{ErrorCode::usage, fmt::format("cannot write {}", what), path, std::move(why), std::move(hint)};
    };
    const auto target = output::find_target(path);
    if (!target) return target.error();
    if (!stdout_.empty() && target->fd == STDOUT_FILENO)
        return refuse(fmt::format("standard output carries {}", stdout_), "Name another file.");
    // Replacing the file that standard output goes to would throw away what is printed.
    for (const auto& [fd, name] : {std::pair{STDOUT_FILENO, "standard output"}, {STDERR_FILENO, "standard error"}}) {
        struct stat out {};
        if (target->exists && !target->shared && ::fstat(fd, &out) == 0 && out.st_dev == target->device &&
            out.st_ino == target->inode)
            return refuse(fmt::format("{} goes to the same file", name), "Name another file.");
    }
    Named mine{what, true, target->device, target->inode, target->name};
    if (!target->shared)
        for (const Named& other : files_)
            if (other.device == mine.device && other.inode == mine.inode && other.name == mine.name)
                return refuse(other.output ? fmt::format("{} is written to the same file", other.what)
                                           : fmt::format("it is {}, which is read", other.what),
                              "Name another file.");
    if (target->kind == Target::Kind::regular)
        if (Status writable = probe(*target, path); !writable) return writable;
    files_.push_back(std::move(mine));
    return {};
}

void OutputPlan::writes_stdout(const std::string& what) {
    stdout_ = what;
}

}  // namespace kvasir
