// SPDX-License-Identifier: GPL-3.0-or-later
#include <nlohmann/json.hpp>

#include "core/session/run_fixture.h"
#include "core/session/task_set.h"

using namespace kvasir;
using namespace kvasir::test;

namespace {

const TaskKind& kind(const char* name) {
    const TaskKind* k = task_kind(name);
    if (!k) qFatal("no task %s", name);
    return *k;
}

std::string line(const nlohmann::json& changes = nlohmann::json::object()) {
    nlohmann::json j{{"input", "q"},      {"context", "c"},   {"answers", {"A"}},          {"length", 1},
                     {"dataset", "trec"}, {"language", "en"}, {"all_classes", {"A", "B"}}, {"_id", "1"}};
    j.update(changes);
    return j.dump() + "\n";
}

}  // namespace

class TestTaskSet : public QObject {
    Q_OBJECT
 private slots:
    void everyTaskHasExamplesThatItsReferenceAnswers() {
        QCOMPARE(task_kinds().size(), size_t(5));
        for (const TaskKind& k : task_kinds()) {
            const auto examples = read_task_examples(k, own_task_examples(k), "built in");
            QVERIFY2(examples, examples ? "" : examples.error().message().c_str());
            QVERIFY(examples->size() >= 6 && examples->size() <= 10);
            for (const TaskExample& e : *examples) {
                // (The 1e-8 of ROUGE keeps it below 1.)
                QVERIFY2(task_score(k, e, e.answers[0]) > 0.99999, e.id.c_str());
                QCOMPARE(task_score(k, e, ""), 0.0);
                QVERIFY(e.context.find(e.input) == std::string::npos);
            }
        }
        QVERIFY(!task_kind("passage_count"));
    }
    void promptsOfLongBench() {
        TaskExample e;
        e.context = "C{input}", e.input = "I";
        const auto model = tiny_model();
        QCOMPARE(task_prompt(kind("trec"), e, *model, 10000),
                 std::string("Please determine the type of the question below. Here are some examples of "
                             "questions.\n\nC{input}\nI"));
        QVERIFY(task_prompt(kind("hotpotqa"), e, *model, 10000).ends_with("Question: I\nAnswer:"));
        QVERIFY(task_prompt(kind("passage_retrieval_en"), e, *model, 10000).ends_with("The answer is: "));
        for (const char* name : {"trec", "samsum", "triviaqa"})
            QVERIFY(!kind(name).chat && kind(name).first_line);
        for (const char* name : {"hotpotqa", "passage_retrieval_en"})
            QVERIFY(kind(name).chat && !kind(name).first_line);
    }
    void longPromptsKeepTheFirstAndTheLastHalf() {
        TaskExample e;
        for (int i = 0; i < 200; ++i)
            e.context += "the keeper wrote down the names. ";
        e.input = "end";
        const auto model = tiny_model();
        const Tokenizer& tokenizer = model->tokenizer();
        const std::string whole = task_prompt(kind("trec"), e, *model, 1000000);
        const std::vector<int> ids = model->encode_prompt(whole, false);
        const std::string cut = task_prompt(kind("trec"), e, *model, 41);
        std::vector<int> first(ids.begin(), ids.begin() + 20);
        if (tokenizer.is_control(first.front())) first.erase(first.begin());  // the BOS does not become text
        const std::vector<int> last(ids.end() - 20, ids.end());
        QCOMPARE(cut, tokenizer.decode(first) + tokenizer.decode(last));
        QCOMPARE(task_prompt(kind("trec"), e, *model, int(ids.size())), whole);
    }
    void firstLineOfAnAnswer() {
        QCOMPARE(scored_part(kind("trec"), "\n\nFood\nCity"), std::string("Food"));
        QCOMPARE(scored_part(kind("trec"), "\n"), std::string());
        QCOMPARE(scored_part(kind("hotpotqa"), "\na\nb"), std::string("\na\nb"));
    }
    void theBestReferenceCounts() {
        TaskExample e;
        e.answers = {"Aled Pryce", "Pryce"};
        QCOMPARE(task_score(kind("triviaqa"), e, " Pryce\nQuestion"), 1.0);
    }
    void badLinesAreNamed() {
        const auto message = [](const char* task, const std::string& jsonl) {
            const auto read = read_task_examples(kind(task), jsonl, "x.jsonl");
            return read ? std::string() : read.error().message();
        };
        QCOMPARE(message("trec", "\n" + line() + "\r\n" + line()), std::string());
        QVERIFY(message("trec", line() + "{").find("x.jsonl, line 2") != std::string::npos);
        QVERIFY(message("trec", line({{"answers", nlohmann::json::array()}})).find("no answer") != std::string::npos);
        QVERIFY(message("trec", line({{"all_classes", nullptr}})).find("all_classes") != std::string::npos);
        QVERIFY(message("passage_retrieval_en", line()).find("Paragraph 1") != std::string::npos);
        QVERIFY(message("triviaqa", "{\"input\": 3}\n").find("line 1") != std::string::npos);
        QVERIFY(message("trec", "").find("no example") != std::string::npos);
    }
};

QTEST_APPLESS_MAIN(TestTaskSet)
#include "tst_task_set.moc"
