// SPDX-License-Identifier: GPL-3.0-or-later
// What output.h stands on: what a path leads to, and how each kind of file is written.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "core/base/cancel.h"
#include "core/base/result.h"

namespace kvasir::output {

struct Target {
    enum class Kind {
        regular,     ///< or not there yet
        stream,      ///< a character device or a pipe
        descriptor,  ///< of this program
    };
    Kind kind = Kind::regular;
    std::string path, folder;  ///< with the symbolic links of its last part followed
    bool exists = false;
    bool shared = false;  ///< a device: several outputs may go there
    int fd = -1;          ///< descriptor
    unsigned long long device = 0, inode = 0;
    std::string name;  ///< while it does not exist: device and inode are its folder's
    mode_t mode = 0;
    uid_t owner = 0;
    gid_t group = 0;
    bool many_names = false;  ///< hard links
};

/// Refuses an empty path, folders, sockets, disks, and files whose folder is not there.
Result<Target> find_target(const std::string& path);

Status write_regular(const Target& target, const std::string& path, std::string_view bytes);
Status write_stream(const Target& target, const std::string& path, std::string_view bytes,
                    const CancelCheck& cancelled);
Status write_descriptor(const Target& target, const std::string& path, std::string_view bytes);

/// A new file with a name of its own; removed again unless renamed.
class Temporary {
 public:
    Temporary(const std::string& folder, mode_t mode);
    ~Temporary();
    Temporary(const Temporary&) = delete;
    Temporary& operator=(const Temporary&) = delete;
    bool ok() const { return fd_ >= 0; }  ///< else errno says why
    int fd() const { return fd_; }
    const std::string& path() const { return path_; }
    bool close();
    bool rename_to(const std::string& path);
    void keep() { path_.clear(); }

 private:
    int fd_ = -1;
    std::string path_;
};

/// False with errno. No signal comes of a reader that went away (SIGPIPE) or of a file that grew too long (SIGXFSZ).
bool write_all(int fd, std::string_view bytes);

/// Whether errno says that a folder takes no new files, though one in it may be writable.
bool closed_folder(int number);

Error disk_error(const std::string& path, int number);

}  // namespace kvasir::output
