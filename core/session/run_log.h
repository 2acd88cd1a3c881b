// SPDX-License-Identifier: GPL-3.0-or-later
// The two ways out of the engine's thread: a lossless log of small records, and a slot that keeps only the newest
// frame.
#pragma once

#include <iterator>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/session/step_record.h"

namespace kvasir {

/// What was measured since the last look, each kind oldest first. The records of a step never come after its floor.
struct RunRecords {
    std::vector<StepRecord> steps;
    std::vector<FloorRecord> floors;
    std::vector<LaneStop> stops;
    bool empty() const { return steps.empty() && floors.empty() && stops.empty(); }
};

/// Append-only; drained by one swap, so the writer never waits for a reader that is copying.
class RunLog {
 public:
    void append(RunRecords&& records) {
        const std::scoped_lock lock(mutex_);
        move_to(records_.steps, records.steps);
        move_to(records_.floors, records.floors);
        move_to(records_.stops, records.stops);
    }
    RunRecords drain() {
        RunRecords out;
        const std::scoped_lock lock(mutex_);
        std::swap(out, records_);
        return out;
    }

 private:
    template <class T>
    static void move_to(std::vector<T>& end, std::vector<T>& from) {
        end.insert(end.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
    }
    std::mutex mutex_;
    RunRecords records_;
};

/// Latest wins; take() gives each value at most once.
template <class T>
class Mailbox {
 public:
    void put(std::shared_ptr<const T> value) {
        const std::scoped_lock lock(mutex_);
        value_ = std::move(value);
    }
    std::shared_ptr<const T> take() {
        const std::scoped_lock lock(mutex_);
        return std::exchange(value_, nullptr);
    }
    bool full() const {
        const std::scoped_lock lock(mutex_);
        return value_ != nullptr;
    }

 private:
    mutable std::mutex mutex_;
    std::shared_ptr<const T> value_;
};

}  // namespace kvasir
