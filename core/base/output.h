// SPDX-License-Identifier: GPL-3.0-or-later
// The one place that opens files for writing: outputs of the command line, exports of the window, sessions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/cancel.h"
#include "core/base/result.h"

namespace kvasir {

/// Writes all of `bytes` to what `path` names.
/// - A regular file is replaced in one step, after the new bytes have reached the disk: a crash or a full disk leaves
/// the
///   old file whole. It keeps its mode and owner; a new one gets 0666 less the umask. Symbolic links are followed. A
///   file with more than one name (hard links) is overwritten in place, so that all of its names keep showing it.
/// - A device or a named pipe is written to as it is. A pipe that nobody reads is waited for until `cancelled`; without
///   `cancelled` that is an error.
/// - An open descriptor of this program (/dev/stdout, /dev/fd/3) is written to where it stands.
Status write_output(const std::string& path, std::string_view bytes, const CancelCheck& cancelled = {});

/// The files of one job, looked at before its work starts.
class OutputPlan {
 public:
    /// A file that the job reads: no output may replace it. "" is none. `what` is what people call it, e.g. "the
    /// model".
    void reads(const std::string& path, const std::string& what);

    /// A file that the job will write, `what` is its option or title. Refuses an empty name, a folder, a missing
    /// folder, a place where nothing can be written or that is full, and a file that the job reads or writes already,
    /// by whatever name.
    Status writes(const std::string& path, const std::string& what);

    /// Standard output carries a document of its own: no output may go there as well.
    void writes_stdout(const std::string& what);

 private:
    struct Named {
        std::string what;
        bool output = false;
        unsigned long long device = 0, inode = 0;  ///< of the file, or of its folder while it does not exist
        std::string name;                          ///< in that folder; "" when the file exists
    };
    std::vector<Named> files_;
    std::string stdout_;  ///< what it carries; "": nothing of its own
};

}  // namespace kvasir
