// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "core/base/output_file.h"

namespace kvasir::cli {

void open_standard_streams() {
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            (void)!::open("/dev/null", O_RDONLY);  // takes the lowest free number; writing to it still fails
}

Error stdout_error(int number) {
    // 0: an earlier write met it, and its errno is gone.
    return output::disk_error("standard output", number ? number : ENOSPC);
}

Status flush_stdout() {
    errno = 0;
    if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return {};
    return stdout_error(errno);
}

}  // namespace kvasir::cli
