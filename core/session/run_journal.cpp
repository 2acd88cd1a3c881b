// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/run_journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <filesystem>

#include "core/base/guard_memory.h"
#include "core/session/journal_line.h"
#include "core/session/run_json.h"
#include "core/session/session_file.h"

namespace kvasir {
namespace {

using nlohmann::json;

constexpr auto kSyncInterval = std::chrono::seconds(1);
constexpr size_t kMostPending = size_t(64) << 20;
// A line as JSON and as text, at most: of its own, of each record.
constexpr size_t kLineRoom = size_t(1) << 20, kRecordRoom = size_t(16) << 10;

/// Throws where a line could not be written to its end; see room_for().
void need_room(size_t n_records = 0) {
    if (!room_for(kLineRoom + n_records * kRecordRoom)) throw std::bad_alloc();
}

Error cannot_keep(const std::string& where, int number) {
    return guard_memory(
        [&] {
            return Error{ErrorCode::disk, "this run cannot be kept", where, std::strerror(number),
                         "Save the session to another place before you quit."};
        },
        [] {
            return Error{ErrorCode::memory, "run not kept", "", "out of memory", ""};
        });  // see no_memory()
}

/// 20261201-114203-4711-2: sorts by time, and no two processes or runs share one.
std::string file_stem(const RunInfo& info) {
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    localtime_r(&now, &local);
    char text[32];
    std::strftime(text, sizeof text, "%Y%m%d-%H%M%S", &local);
    return fmt::format("{}-{}-{}", text, ::getpid(), info.serial);
}

void sync_folder(const std::string& folder) {
    const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    ::fsync(fd);
    ::close(fd);
}

}  // namespace

RunJournal::Open::~Open() {
    if (fd >= 0) ::close(fd);
}

RunJournal::RunJournal(std::string folder, JournalLimits limits)
    : folder_(std::move(folder)), limits_(limits), sync_(start_thread([this] { bring_to_disk(); })) {}

RunJournal::~RunJournal() {
    {
        const std::scoped_lock lock(mutex_);
        quit_ = true;
    }
    wake_.notify_all();
    sync_.join();
    for (const std::shared_ptr<Open>& journal : {current_, adopted_})
        if (journal) ::fdatasync(journal->fd);
}

/// Made under another name and locked before it gets its own: who lists the folder never sees a journal that nobody has
/// and that is only beginning.
std::shared_ptr<RunJournal::Open> RunJournal::create(const RunInfo& info) const {
    auto journal = std::make_shared<Open>();
    std::error_code failed;
    std::filesystem::create_directories(folder_, failed);
    if (failed) {
        journal->problem = cannot_keep(folder_, failed.value());
        return journal;
    }
    const std::string path = folder_ + "/" + file_stem(info), beginning = path + ".new";
    journal->path = path + ".journal";
    journal->fd = ::open(beginning.c_str(), O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (journal->fd < 0 || ::flock(journal->fd, LOCK_EX | LOCK_NB) != 0 ||
        ::rename(beginning.c_str(), journal->path.c_str()) != 0) {
        journal->problem = cannot_keep(folder_, errno);
        journal->path.clear();
    }
    return journal;
}

void RunJournal::began(std::shared_ptr<const RunInfo> info, std::shared_ptr<const Model> model) {
    std::shared_ptr<Open> journal;
    const bool begun = guard_memory(
        [&] {
            need_room();
            prune_journals(folder_, limits_);
            journal = create(*info);
            journal->model = std::move(model);
            if (!journal->path.empty()) write_head(*journal, *info);
            return true;
        },
        [&] {
            if (journal && !journal->path.empty()) ::unlink(journal->path.c_str());
            return false;
        });
    const std::scoped_lock lock(mutex_);
    leave(current_, "another run began");
    leave(adopted_, "another run began");
    failed_ = !begun || journal->path.empty();
    if (!begun)
        cannot_ = cannot_keep(folder_, ENOMEM);
    else if (failed_)
        cannot_ = std::move(journal->problem);
    else
        current_ = std::move(journal);
}

/// Throws where there is no memory for it.
void RunJournal::write_head(Open& journal, const RunInfo& info) const {
    need_room(info.prompt_ids.size());
    const ModelConfig& c = journal.model->config();
    journal.known_pieces.assign(size_t(c.n_vocab), false);
    json specs = json::array();
    for (const LaneSetup& lane : info.experiment.lanes)
        specs.push_back(lane.spec.text);
    json run = run_info_to_json(info, c.n_layers, c.n_kv_heads, c.head_dim);
    run["experiment"] = experiment_to_json(info.experiment);
    journal.pending = journal_line(0, {{"kvasir_journal", kJournalVersion},
                                       {"started", uint64_t(std::time(nullptr))},
                                       {"model", info.model_name + " " + info.model_weights},
                                       {"n_planned", info.n_planned},
                                       {"specs", std::move(specs)}});
    journal.pending += journal_line(0, {{"run", std::move(run)}, {"pieces", new_pieces(journal, info.prompt_ids)}});
    journal.running = true;
    flush(journal);
}

json RunJournal::new_pieces(Open& journal, const std::vector<int>& ids) {
    json pieces = json::object();
    for (const int id : ids) {
        if (id < 0 || size_t(id) >= journal.known_pieces.size() || journal.known_pieces[size_t(id)]) continue;
        journal.known_pieces[size_t(id)] = true;
        pieces[std::to_string(id)] = to_hex(std::string(journal.model->tokenizer().piece(id)));
    }
    return pieces;
}

void RunJournal::measured(const RunRecords& records) {
    const std::scoped_lock lock(mutex_);
    if (!current_ || !current_->running || current_->cut || records.empty()) return;
    write_step(*current_, records);
}

void RunJournal::write_step(Open& journal, const RunRecords& records) {
    const int n_before = journal.n_done;
    const bool written = write(journal, [&] {
        need_room(records.steps.size() + records.floors.size());
        json line = json::object();
        std::vector<int> ids;
        for (size_t i = 0; i < records.steps.size();) {
            std::vector<StepRecord> lane;  // consecutive records of one lane
            for (const int index = records.steps[i].lane; i < records.steps.size() && records.steps[i].lane == index;
                 ++i) {
                const StepRecord& r = records.steps[i];
                ids.push_back(r.token_id);
                for (const TopToken& t : r.top)
                    ids.push_back(t.id);
                journal.n_done = std::max(journal.n_done, r.step + 1);
                lane.push_back(r);
            }
            line["steps"][std::to_string(lane.front().lane)] = records_to_json(lane);
        }
        if (!ids.empty()) line["pieces"] = new_pieces(journal, ids);
        if (!records.floors.empty()) line["floors"] = floors_to_json(records.floors);
        for (const LaneStop& stop : records.stops)
            line["stopped"][std::to_string(stop.lane)] = stop.reason;
        return line;
    });
    if (written && !journal.cut) return;
    journal.cut = true;
    journal.n_done = n_before;
    journal.problem = cannot_keep(journal.path, written ? ENOSPC : ENOMEM);
}

void RunJournal::ended(const char* how, const Error& why) {
    {
        const std::scoped_lock lock(mutex_);
        if (!current_ || !current_->running) return;
        current_->running = false;
        if (current_->n_done == 0) {  // nothing was measured, so there is nothing to keep
            ::unlink(current_->path.c_str());
            current_.reset();
        } else if (!write(*current_, [&] { return json{{"end", how}, {"why", why.message()}}; })) {
            write(*current_, [&] { return json{{"end", how}}; });
        }
    }
    wake_.notify_all();
}

template <class F>
bool RunJournal::write(Open& journal, F&& line) {
    return guard_memory(
        [&] {
            need_room();
            const json j = line();
            if (journal.pending.size() < kMostPending)
                journal.pending += journal_line(journal.n_done, j);
            else
                journal.cut = true;
            flush(journal);
            return true;
        },
        [] { return false; });
}

/// What does not reach the file is tried again with the next line: a disk that was full for a while loses nothing.
void RunJournal::flush(Open& journal) {
    if (journal.fd < 0) return;
    size_t written = 0;
    int why = 0;
    while (written < journal.pending.size()) {
        const ssize_t n = ::write(journal.fd, journal.pending.data() + written, journal.pending.size() - written);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            why = n < 0 ? errno : ENOSPC;
            break;
        }
        written += size_t(n);
    }
    journal.pending.erase(0, written);
    journal.synced = false;
    if (why != 0)
        journal.problem = cannot_keep(journal.path, why);
    else if (!journal.cut)
        journal.problem = {};
}

Status RunJournal::adopt(const std::string& path) {
    {
        const std::scoped_lock lock(mutex_);
        if (adopted_ && adopted_->path == path) return {};
        if (current_ && current_->path == path) {  // this window's own last run, shown again
            leave(adopted_, "another run is shown");
            return {};
        }
    }
    return guard_memory("cannot restore the run", "Close other programs.", [&] { return adopt_file(path); });
}

Status RunJournal::adopt_file(const std::string& path) {
    auto journal = std::make_shared<Open>();
    journal->path = path;
    journal->fd = open_locked_journal(path);
    if (journal->fd < 0)
        return Error{ErrorCode::input, "cannot restore the run", path,
                     errno == EWOULDBLOCK ? "another window has it" : std::strerror(errno), ""};
    const auto whole = whole_lines(path);
    if (!whole) return whole.error();
    journal->n_done = whole->n_done;
    if (::ftruncate(journal->fd, off_t(whole->n_bytes)) != 0)
        return Error{ErrorCode::disk, "cannot restore the run", path, std::strerror(errno), ""};
    const std::scoped_lock lock(mutex_);
    leave(adopted_, "another run is shown");
    adopted_ = std::move(journal);
    write(*adopted_, [] { return json{{"restored", uint64_t(std::time(nullptr))}}; });
    return {};
}

/// Without memory it is given up all the same; a journal that does not say so is offered again, which loses nothing.
void RunJournal::leave(std::shared_ptr<Open>& journal, const char* why) {
    if (!journal) return;
    write(*journal, [&] { return json{{"closed", why}}; });
    ::flock(journal->fd, LOCK_UN);  // its bytes reach the disk below, but others may have it now
    guard_memory([&] { leaving_.push_back(journal); }, [] {});
    journal.reset();
}

void RunJournal::close(const std::string& why) {
    const std::scoped_lock lock(mutex_);
    for (auto* journal : {&current_, &adopted_})
        if (*journal) write(**journal, [&] { return json{{"closed", why}}; });
}

RunJournal::State RunJournal::state() const {
    const std::scoped_lock lock(mutex_);
    const auto& journal = adopted_ ? adopted_ : current_;
    if (!journal) return {"", failed_, cannot_};
    return {journal->path, !journal->problem.why.empty(), journal->problem};
}

void RunJournal::bring_to_disk() {
    std::unique_lock lock(mutex_);
    std::vector<std::shared_ptr<Open>> journals;
    while (!quit_) {
        wake_.wait_for(lock, kSyncInterval);
        const auto collect = [&] {
            journals.reserve(leaving_.size() + 2);
            journals.insert(journals.end(), leaving_.begin(), leaving_.end());
            leaving_.clear();
            for (const std::shared_ptr<Open>& journal : {current_, adopted_})
                if (journal && !journal->synced) journals.push_back(journal);
        };
        guard_memory(collect, [] {});  // or a second later
        for (const std::shared_ptr<Open>& journal : journals) {
            journal->synced = true;
            lock.unlock();
            ::fdatasync(journal->fd);
            if (!std::exchange(journal->folder_synced, true)) sync_folder(folder_);
            lock.lock();
        }
        journals.clear();
    }
}

}  // namespace kvasir
