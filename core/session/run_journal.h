// SPDX-License-Identifier: GPL-3.0-or-later
// The journal of a run, written while it runs: one file per run, one line per step. A killed program loses the step it
// was at, no more.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "core/session/journal_file.h"
#include "core/session/run_observer.h"

namespace kvasir {

/// Lines are written on the engine's thread before anybody sees the step: some ten microseconds into the page cache. A
/// thread of its own brings them to the disk once a second. A step there is no memory to write is the end of what is
/// kept of its run; the state says so.
class RunJournal : public RunObserver {
 public:
    explicit RunJournal(std::string folder, JournalLimits limits = {});
    ~RunJournal() override;  ///< leaves the journal as a killed program would

    void began(std::shared_ptr<const RunInfo> info, std::shared_ptr<const Model> model) override;
    void measured(const RunRecords& records) override;
    void ended(const char* how, const Error& why) override;

    /// Has the journal of a restored run from now on, so that no other window offers it; it is offered again when this
    /// program dies. Its torn end is cut off.
    Status adopt(const std::string& path);
    /// What the journals hold is safe elsewhere or was put aside: no start offers it. A run under way reopens its own
    /// with its next step.
    void close(const std::string& why);

    struct State {
        std::string path;  ///< of the run that began last, or was adopted; "" when it cannot be kept
        bool failed = false;
        Error problem;  ///< with failed: why it cannot be kept
        friend bool operator==(const State& a, const State& b) {
            return a.path == b.path && a.failed == b.failed && a.problem.message() == b.problem.message();
        }
    };
    State state() const;
    const std::string& folder() const { return folder_; }

 private:
    /// One journal that this program has.
    struct Open {
        std::string path, pending;  ///< pending: what did not reach the file yet
        int fd = -1, n_done = 0;
        bool running = false, synced = false, folder_synced = false;
        bool cut = false;  ///< a step is missing: none after it may follow
        Error problem;
        std::vector<bool> known_pieces;
        std::shared_ptr<const Model> model;
        Open() = default;
        Open(const Open&) = delete;
        Open& operator=(const Open&) = delete;
        ~Open();
    };
    std::shared_ptr<Open> create(const RunInfo& info) const;
    void write_head(Open& journal, const RunInfo& info) const;
    static void write_step(Open& journal, const RunRecords& records);
    /// Writes what line() returns. False: there was no memory for it.
    template <class F>
    static bool write(Open& journal, F&& line);
    static void flush(Open& journal);
    Status adopt_file(const std::string& path);
    void leave(std::shared_ptr<Open>& journal, const char* why);
    static nlohmann::json new_pieces(Open& journal, const std::vector<int>& ids);
    void bring_to_disk();

    const std::string folder_;
    const JournalLimits limits_;
    mutable std::mutex mutex_;  ///< guards all below
    std::condition_variable wake_;
    std::shared_ptr<Open> current_;  ///< of the run that began last
    std::shared_ptr<Open> adopted_;
    std::vector<std::shared_ptr<Open>> leaving_;  ///< closed, not yet on the disk
    Error cannot_;                                ///< why the last run has no journal at all
    bool failed_ = false, quit_ = false;
    std::thread sync_;
};

}  // namespace kvasir
