// SPDX-License-Identifier: GPL-3.0-or-later
// A lane's letter is its own, wherever it moves.
#include <QTest>
#include <set>

#include "core/session/lane_identity.h"
#include "core/session/session_file.h"

using namespace kvasir;

class TestLaneIdentity : public QObject {
    Q_OBJECT

    static Experiment experiment(const std::vector<const char*>& specs, int reference = 0) {
        Experiment e;
        for (const char* spec : specs)
            e.lanes.push_back({parse_cache_spec(spec).value(), true});
        e.reference = reference;
        give_marks(e);
        return e;
    }
    static std::string letters(const Experiment& e) {
        std::string text;
        for (int i = 0; i < int(e.lanes.size()); ++i)
            text += i == e.reference ? 'R' : char('A' + lane_mark(e, i));
        return text;
    }

 private slots:
    void lanesAreMarkedInOrder() {
        QCOMPARE(letters(experiment({"fp16", "quanto:4", "quanto:2"})), std::string("RAB"));
        QCOMPARE(letters(experiment({"quanto:4", "fp16", "quanto:2"}, 1)), std::string("ARB"));
    }

    void unmarkedLanesHaveTheMarkOfTheirPlace() {
        Experiment e = experiment({"quanto:4", "fp16", "quanto:2"}, 1);
        for (LaneSetup& lane : e.lanes)
            lane.mark = -1;
        QCOMPARE(letters(e), std::string("ARB"));
    }

    void movingAndRemovingKeepsThem() {
        Experiment e = experiment({"fp16", "quanto:4", "quanto:2", "hqq:4"});
        std::swap(e.lanes[1], e.lanes[3]);
        give_marks(e);
        QCOMPARE(letters(e), std::string("RCBA"));
        e.lanes.erase(e.lanes.begin() + 2);
        give_marks(e);
        QCOMPARE(letters(e), std::string("RCA"));
        e.lanes.push_back({parse_cache_spec("fp8").value(), true});
        give_marks(e);
        QCOMPARE(letters(e), std::string("RCAB"));
    }

    void aCopyIsAnotherLane() {
        Experiment e = experiment({"fp16", "quanto:4", "quanto:2"});
        e.lanes.insert(e.lanes.begin() + 2, e.lanes[1]);  // with the mark of the first
        give_marks(e);
        QCOMPARE(letters(e), std::string("RACB"));
    }

    void aNewLaneTakesNoLetterThatStandsForAnotherSchemeInTheRun() {
        const Experiment run = experiment({"fp16", "quanto:4", "quanto:2", "hqq:4"});
        Experiment e = run;
        e.lanes.erase(e.lanes.begin() + 2);
        e.lanes.push_back({parse_cache_spec("fp8").value(), true});
        give_marks(e, &run);
        QCOMPARE(letters(e), std::string("RACD"));
        e.lanes.pop_back();
        e.lanes.push_back({parse_cache_spec("quanto:2").value(), true});  // the one that was removed comes back
        give_marks(e, &run);
        QCOMPARE(letters(e), std::string("RACB"));
        // when the run in sight has all letters, a new lane gets one of its own: no letter stands for two lanes
        Experiment full = experiment({"fp16", "fp8", "fp8", "fp8", "fp8", "fp8", "fp8", "fp8"});
        Experiment other = full;
        other.lanes[3] = {parse_cache_spec("hqq:1").value(), true};
        give_marks(other, &full);
        QCOMPARE(letters(other), std::string("RABHDEFG"));
    }

    void lanesAreFoundAgainInAnotherExperiment() {
        const Experiment run = experiment({"fp16", "quanto:4", "quanto:2", "hqq:4"});
        Experiment e = run;
        std::swap(e.lanes[0], e.lanes[3]);
        e.lanes.erase(e.lanes.begin() + 1);  // quanto:4
        e.reference = 2;
        QCOMPARE(same_lane(run, 0, e), 2);
        QCOMPARE(same_lane(run, 1, e), -1);
        QCOMPARE(same_lane(run, 2, e), 1);
        QCOMPARE(same_lane(run, 3, e), 0);
        QCOMPARE(same_lane(e, 0, run), 3);
    }

    void theyAreSaved() {
        Experiment e = experiment({"fp16", "quanto:4", "quanto:2", "hqq:4"});
        std::swap(e.lanes[1], e.lanes[3]);
        const auto again = experiment_from_json(experiment_to_json(e));
        QVERIFY(again.ok());
        QCOMPARE(letters(*again), std::string("RCBA"));
        nlohmann::json odd = experiment_to_json(e);
        odd["lanes"][1]["mark"] = 2000000000;
        QVERIFY(!experiment_from_json(odd).ok());
        odd["lanes"][1]["mark"] = odd["lanes"][2]["mark"];  // two lanes with one letter
        Experiment twice = *experiment_from_json(odd);
        give_marks(twice);
        std::set<int> marks;
        for (int i = 1; i < 4; ++i)
            marks.insert(lane_mark(twice, i));
        QCOMPARE(marks.size(), size_t(3));
    }
};

QTEST_APPLESS_MAIN(TestLaneIdentity)
#include "tst_lane_identity.moc"
