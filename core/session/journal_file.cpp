// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/journal_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <memory>

#include "core/base/guard_memory.h"
#include "core/base/read_file.h"
#include "core/base/strict_json.h"
#include "core/session/journal_line.h"
#include "core/session/json_fields.h"
#include "core/session/session_file.h"

namespace kvasir {
namespace {

using nlohmann::json;

constexpr size_t kMostBytes = size_t(1) << 30;
constexpr size_t kHead = 64 << 10, kTail = 256 << 10;  // bytes looked at for a summary

Error refuse(const std::string& path, std::string why) {
    return {ErrorCode::input, "cannot restore the run", path, std::move(why), ""};
}

Error too_large(const std::string& path) {
    return {ErrorCode::memory, "cannot restore the run", path, "it does not fit into memory", "Close other programs."};
}

Result<std::string> read_bytes(const std::string& path) {
    auto bytes = read_file(path, kMostBytes);
    if (bytes) return bytes;
    return Error{bytes.error().code, "cannot restore the run", path, bytes.error().why, ""};
}

std::string read_at(int fd, off_t at, size_t n) {
    std::string bytes(n, '\0');
    size_t got = 0;
    while (got < n) {
        const ssize_t more = ::pread(fd, bytes.data() + got, n - got, at + off_t(got));
        if (more < 0 && errno == EINTR) continue;
        if (more <= 0) break;
        got += size_t(more);
    }
    bytes.resize(got);
    return bytes;
}

/// Calls see(line) for every whole line from the start of `text`; returns how many bytes they take.
size_t each_whole_line(std::string_view text, const std::function<bool(const JournalLine&)>& see) {
    size_t at = 0;
    while (at < text.size()) {
        const size_t end = text.find('\n', at);
        if (end == std::string_view::npos) break;
        const auto line = read_journal_line(text.substr(at, end - at));
        if (!line || !see(*line)) break;
        at = end + 1;
    }
    return at;
}

/// The first line of a journal. Throws RefusedField.
void read_head(std::string_view line, JournalSummary& s) {
    const json j = json::parse(line, nullptr, false);
    const Fields f(j, "");
    const int version = f.whole("kvasir_journal", 1, session_limits::kIds);
    if (version > kJournalVersion)
        refuse_field("kvasir_journal",
                     fmt::format("version {}, this program reads up to {}", version, kJournalVersion));
    s.started = int64_t(f.unsigned64("started", 0));
    s.model = f.text("model", session_limits::kWords, "");
    s.n_planned = f.whole("n_planned", 0, session_limits::kTokens);
    for (const json& spec : f.list("specs", session_limits::kLanes))
        if (spec.is_string()) s.specs.push_back(spec.get<std::string>());
}

/// Head and tail only: a journal can be large.
void summarize(int fd, JournalSummary& s) {
    struct stat info {};
    if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        s.damage = "it is not a regular file";
        return;
    }
    const std::string head = read_at(fd, 0, std::min(size_t(info.st_size), kHead));
    const size_t end = head.find('\n');
    const auto first = read_journal_line(std::string_view(head).substr(0, end == std::string::npos ? 0 : end));
    try {
        if (!first) refuse_field("", "its beginning is damaged");
        read_head(first->json, s);
    } catch (const RefusedField& field) {
        s.damage = field.why;
        return;
    }
    const size_t n_tail = std::min(size_t(info.st_size), kTail);
    const std::string tail = read_at(fd, info.st_size - off_t(n_tail), n_tail);
    size_t stop = tail.rfind('\n');
    s.torn = stop == std::string::npos || stop + 1 < tail.size();
    while (stop != std::string::npos && stop > 0) {
        const size_t before = tail.rfind('\n', stop - 1), from = before == std::string::npos ? 0 : before + 1;
        if (before == std::string::npos && n_tail < size_t(info.st_size)) return;  // longer than what is looked at
        if (const auto line = read_journal_line(std::string_view(tail).substr(from, stop - from))) {
            s.n_done = line->n_done;
            s.closed = !s.torn && line->json.starts_with("{\"closed\"");
            return;
        }
        s.torn = true;
        stop = before;
    }
}

/// The files of a folder whose names end so; none where there is no such folder. (The standard library's iterator ends
/// the program when memory runs out in it.)
std::vector<std::string> files_in(const std::string& folder, std::string_view ending) {
    struct Close {
        void operator()(DIR* d) const { ::closedir(d); }
    };
    const std::unique_ptr<DIR, Close> entries(::opendir(folder.c_str()));
    std::vector<std::string> files;
    while (const dirent* entry = entries ? ::readdir(entries.get()) : nullptr)
        if (std::string_view(entry->d_name).ends_with(ending)) files.push_back(folder + "/" + entry->d_name);
    return files;
}

/// Rows of one step behind the columns of the steps before it.
void join_columns(json& columns, const json& rows) {
    for (const auto& [name, cells] : rows.items())
        for (const json& cell : cells)
            columns[name].push_back(cell);
}

/// Adds what a line of the journal says to the `run` of a session document.
void join_line(json& run, const json& line) {
    if (line.contains("steps"))
        for (const auto& [lane, rows] : line.at("steps").items())
            join_columns(run.at("lanes").at(std::stoul(lane)).at("records"), rows);
    if (line.contains("stopped"))
        for (const auto& [lane, why] : line.at("stopped").items())
            run.at("lanes").at(std::stoul(lane))["stopped"] = why;
    if (line.contains("floors")) join_columns(run.at("noise_floor"), line.at("floors"));
    if (line.contains("pieces")) run.at("pieces").update(line.at("pieces"));
}

Result<RecoveredRun> read_or_throw(const std::string& path) {
    const auto bytes = read_bytes(path);
    if (!bytes) return bytes.error();
    if (!room_for_json(*bytes)) return too_large(path);
    RecoveredRun recovered;
    JournalSummary& s = recovered.summary;
    s.path = path;
    json run;
    int n_lines = 0;
    try {
        const size_t whole = each_whole_line(*bytes, [&](const JournalLine& line) {
            if (n_lines == 0) {
                read_head(line.json, s);
            } else {
                json j = json::parse(line.json);
                if (n_lines == 1) {
                    run = std::move(j.at("run"));
                    for (json& lane : run.at("lanes"))
                        lane["records"] = json::object();
                    run["noise_floor"] = {
                        {"step", json::array()}, {"kl", json::array()}, {"delta_logprob", json::array()}};
                    run["pieces"] = json::object();
                }
                join_line(run, j);
            }
            s.n_done = line.n_done;
            s.closed = line.json.starts_with("{\"closed\"");
            ++n_lines;
            return true;
        });
        if (n_lines < 2) return refuse(path, "its beginning is damaged");
        if (whole < bytes->size()) {
            s.torn = true;
            recovered.note =
                fmt::format("{} bytes at its end were not written whole and are left out.", bytes->size() - whole);
        }
    } catch (const RefusedField& field) {
        return refuse(path, field.why);
    } catch (const json::exception& e) {  // whole lines that no program of ours wrote
        return refuse(path, e.what());
    } catch (const std::logic_error& e) {  // a lane that is no number
        return refuse(path, e.what());
    }
    json document = {{"kvasir_session", kSessionVersion}, {"experiment", run.value("experiment", json())}};
    document["run"] = std::move(run);
    auto session = session_from_json(std::move(document), path);
    if (!session) return session.error();
    recovered.experiment = std::move(session->experiment);
    recovered.run = std::move(session->run);
    return recovered;
}

}  // namespace

int open_locked_journal(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return -1;
    if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
    const int why = errno;
    ::close(fd);
    errno = why;
    return -1;
}

std::vector<JournalSummary> list_journals(const std::string& folder) {
    std::vector<JournalSummary> found;
    for (std::string& path : files_in(folder, ".journal")) {
        JournalSummary s;
        s.path = std::move(path);
        const int fd = ::open(s.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (fd < 0) continue;
        s.in_use = ::flock(fd, LOCK_EX | LOCK_NB) != 0;
        summarize(fd, s);
        ::close(fd);
        found.push_back(std::move(s));
    }
    std::sort(found.begin(), found.end(),
              [](const auto& a, const auto& b) { return std::tie(a.started, a.path) > std::tie(b.started, b.path); });
    return found;
}

void prune_journals(const std::string& folder, const JournalLimits& limits) {
    std::vector<JournalSummary> all = list_journals(folder);
    for (const std::string& killed_as_it_began : files_in(folder, ".new"))
        (void)discard_journal(killed_as_it_began);
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
        const auto rank = [](const JournalSummary& s) { return s.in_use ? 0 : s.closed ? 2 : 1; };
        return rank(a) < rank(b);
    });
    size_t n = 0;
    uint64_t bytes = 0;
    for (const JournalSummary& s : all) {
        struct stat info {};
        bytes += ::stat(s.path.c_str(), &info) == 0 ? uint64_t(info.st_size) : 0;
        if (++n > limits.most_runs || bytes > limits.most_bytes)
            if (!s.in_use) (void)discard_journal(s.path);
    }
}

Status discard_journal(const std::string& path) {
    const int fd = open_locked_journal(path);
    if (fd < 0 && errno == EWOULDBLOCK)
        return Error{ErrorCode::input, "cannot discard the run", path, "another window has it", "Close that first."};
    const bool gone = ::unlink(path.c_str()) == 0 || errno == ENOENT;
    const int why = errno;
    if (fd >= 0) ::close(fd);
    if (gone) return {};
    return Error{ErrorCode::disk, "cannot discard the run", path, std::strerror(why), ""};
}

Result<WholeLines> whole_lines(const std::string& path) {
    const auto bytes = read_bytes(path);
    if (!bytes) return bytes.error();
    WholeLines whole;
    whole.n_bytes = each_whole_line(*bytes, [&](const JournalLine& line) {
        whole.n_done = line.n_done;
        return true;
    });
    return whole;
}

Result<RecoveredRun> read_journal(const std::string& path) {
    return guard_memory([&] { return read_or_throw(path); }, [&] { return too_large(path); });
}

}  // namespace kvasir
