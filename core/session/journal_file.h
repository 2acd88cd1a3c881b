// SPDX-License-Identifier: GPL-3.0-or-later
// Journals as files: named by time and process, locked while somebody has them, kept in one folder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/session/run_model.h"

namespace kvasir {

/// What can be said of a journal without reading its records.
struct JournalSummary {
    std::string path;
    int64_t started = 0;             ///< seconds since 1970
    std::string model;               ///< name and weights
    std::vector<std::string> specs;  ///< as asked for, one per lane
    int n_done = 0, n_planned = 0;   ///< tokens
    bool closed = false;             ///< somebody saved it, quit, or ran something else: nothing was lost
    bool in_use = false;             ///< a living window has it
    bool torn = false;               ///< bytes at its end are no whole line
    std::string damage;              ///< why it cannot be restored; "" when it can
};

struct JournalLimits {
    size_t most_runs = 20;
    uint64_t most_bytes = uint64_t(512) << 20;
};

/// All journals of the folder, newest first. A missing folder has none.
std::vector<JournalSummary> list_journals(const std::string& folder);

/// Deletes the oldest journals that nobody has until the others are within the limits; closed ones go first.
void prune_journals(const std::string& folder, const JournalLimits& limits = {});

struct RecoveredRun {
    JournalSummary summary;
    Experiment experiment;
    RunModel run;
    std::string note;  ///< what was left out ("" when nothing)
};

/// What is whole of a journal: everything before the first line that is not.
Result<RecoveredRun> read_journal(const std::string& path);

/// How much of the file that is, and how many tokens it holds.
struct WholeLines {
    size_t n_bytes = 0;
    int n_done = 0;
};
Result<WholeLines> whole_lines(const std::string& path);

Status discard_journal(const std::string& path);  ///< refuses while somebody has it

/// An open journal with its lock: -1 and errno when another has it.
int open_locked_journal(const std::string& path);

constexpr int kJournalVersion = 1;

}  // namespace kvasir
