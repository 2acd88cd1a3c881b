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

/// Append-only; drained by one swap, so the writer never waits for a reader that is copying.
class RunLog {
 public:
    void append(std::vector<StepRecord>&& records) {
        const std::scoped_lock lock(mutex_);
        records_.insert(records_.end(), std::make_move_iterator(records.begin()),
                        std::make_move_iterator(records.end()));
    }
    std::vector<StepRecord> drain() {
        std::vector<StepRecord> out;
        const std::scoped_lock lock(mutex_);
        out.swap(records_);
        return out;
    }

 private:
    std::mutex mutex_;
    std::vector<StepRecord> records_;
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

 private:
    std::mutex mutex_;
    std::shared_ptr<const T> value_;
};

}  // namespace kvasir
