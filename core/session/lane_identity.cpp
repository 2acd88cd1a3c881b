// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/lane_identity.h"

#include <set>

namespace kvasir {

namespace {

int at_place(const Experiment& experiment, int lane) {
    return lane - (lane > experiment.reference ? 1 : 0);
}

std::set<int> marks_of(const Experiment& experiment) {
    std::set<int> marks;
    for (int i = 0; i < int(experiment.lanes.size()); ++i)
        if (i != experiment.reference) marks.insert(lane_mark(experiment, i));
    return marks;
}

/// The mark of the lane of `shown` that has this scheme and whose mark is free; -1: none.
int mark_in(const Experiment& shown, const LaneSetup& lane, const std::set<int>& used) {
    for (int i = 0; i < int(shown.lanes.size()); ++i)
        if (i != shown.reference && shown.lanes[size_t(i)].spec == lane.spec && !used.contains(lane_mark(shown, i)))
            return lane_mark(shown, i);
    return -1;
}

int free_mark(const std::set<int>& used, const std::set<int>& in_sight) {
    int mark = 0;
    while (used.contains(mark) || in_sight.contains(mark))
        ++mark;
    return mark;
}

}  // namespace

int lane_mark(const Experiment& experiment, int lane) {
    const int mark = experiment.lanes[size_t(lane)].mark;
    return mark >= 0 ? mark : at_place(experiment, lane);
}

void give_marks(Experiment& experiment, const Experiment* shown) {
    std::set<int> used;
    for (int i = 0; i < int(experiment.lanes.size()); ++i) {
        LaneSetup& lane = experiment.lanes[size_t(i)];
        if (i != experiment.reference && lane.mark >= 0 && !used.insert(lane.mark).second) lane.mark = -1;
    }
    const std::set<int> in_sight = shown ? marks_of(*shown) : std::set<int>();
    for (const bool known : {true, false})  // lanes of the run first, so that no new one takes their marks
        for (int i = 0; i < int(experiment.lanes.size()); ++i) {
            LaneSetup& lane = experiment.lanes[size_t(i)];
            if (i == experiment.reference || lane.mark >= 0) continue;
            const int mark = known ? (shown ? mark_in(*shown, lane, used) : -1) : free_mark(used, in_sight);
            if (mark < 0) continue;
            lane.mark = mark;
            used.insert(mark);
        }
}

int same_lane(const Experiment& from, int lane, const Experiment& in) {
    if (lane == from.reference) return in.reference;
    for (int i = 0; i < int(in.lanes.size()); ++i)
        if (i != in.reference && lane_mark(in, i) == lane_mark(from, lane)) return i;
    return -1;
}

}  // namespace kvasir
