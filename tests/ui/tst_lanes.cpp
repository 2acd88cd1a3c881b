// SPDX-License-Identifier: GPL-3.0-or-later
// Line breaking, tints and the lanes view, fed with a run made by hand.
#include <QApplication>
#include <QFontMetricsF>
#include <QScreen>
#include <QTest>

#include "ui/lanes/lane_pane.h"
#include "ui/lanes/lanes_view.h"
#include "ui/lanes/tint.h"
#include "ui/lanes/token_flow.h"
#include "ui/shell/byte_text.h"
#include "ui/shell/format.h"
#include "ui/shell/run_controller.h"
#include "ui/shell/theme.h"

using namespace kvasir;
using namespace kvasir::ui;

class TestLanes : public QObject {
    Q_OBJECT

    static QString lineText(const TokenFlow& flow, int line) {
        QStringList words;
        const auto [first, last] = flow.lineRange(line);
        for (size_t i = first; i < last; ++i)
            words << flow.fragments()[i].text;
        return words.join(QLatin1Char('|'));
    }

    /// The session's own run, so that it can grow while it is shown.
    static std::shared_ptr<const RunModel> runOf(Session& s) { return {std::shared_ptr<void>(), &s.run}; }

    /// Two lanes, three tokens; the second token's character is split over two tokens.
    static Session session(bool comparable) {
        Session s;
        s.experiment = Experiment::first_start();
        s.experiment.lanes.resize(2);
        auto info = std::make_shared<RunInfo>();
        info->serial = 7;
        info->experiment = s.experiment;
        info->prompt_ids = {1};
        info->n_planned = 3;
        info->lanes.resize(2);
        for (size_t i = 0; i < 2; ++i)
            info->lanes[i].exact = i == 0;
        s.run.begin(info, 2, 1, 64);
        s.run.set_piece(1, "Start");
        s.run.set_piece(2, " caf\xC3");
        s.run.set_piece(3, "\xA9");
        s.run.set_piece(4, " end");
        std::vector<StepRecord> records;
        for (int step = 0; step < 3; ++step)
            for (int lane = 0; lane < 2; ++lane) {
                StepRecord r;
                r.run = 7;
                r.lane = lane;
                r.step = step;
                r.position = 1 + step;
                r.token_id = 2 + step;
                r.kl = lane == 0 ? 0 : 0.2f * float(step);
                r.top1_agrees = lane == 0 || step != 1;
                r.comparable = lane == 0 || comparable || step < 2;
                r.margin = 0.5f;
                records.push_back(r);
            }
        s.run.append(std::move(records));
        s.extra = nlohmann::json::object();
        return s;
    }

 private slots:
    void initTestCase() { Theme::instance().apply(*qApp, Theme::Kind::light, 1); }

    void wordsStayWhole() {
        const QFont font = Theme::instance().font(11);
        const QFontMetricsF m(font);
        TokenFlow flow;
        flow.setFont(font, m.horizontalAdvance(QStringLiteral("Theodore Marsh")) + 2);
        for (const char* token : {"Theodore", " Mar", "sh", " Cle", "men", "tine"})
            flow.append(QLatin1String(token));
        QCOMPARE(flow.lineCount(), 2);
        QCOMPARE(lineText(flow, 0), QStringLiteral("Theodore|Mar|sh"));
        QCOMPARE(lineText(flow, 1), QStringLiteral("Cle|men|tine"));
        flow.append(QStringLiteral("s and"));
        flow.append(QStringLiteral("\nNext"));
        QCOMPARE(lineText(flow, flow.lineCount() - 1), QStringLiteral("Next"));
    }

    void aWordThatGrowsTooLongMovesWithAllItsTokens() {
        const QFont font = Theme::instance().font(11);
        TokenFlow flow;
        flow.setFont(font, QFontMetricsF(font).horizontalAdvance(QStringLiteral("abc defg")) + 1);
        flow.append(QStringLiteral("abc"));
        flow.append(QStringLiteral(" de"));
        QCOMPARE(flow.lineCount(), 1);
        const int changed = flow.append(QStringLiteral("fghij"));
        QCOMPARE(changed, 0);
        QCOMPARE(lineText(flow, 0), QStringLiteral("abc"));
        QCOMPARE(lineText(flow, 1), QStringLiteral("de|fghij"));
        QCOMPARE(flow.rectOf(1).left(), 0.0);
        QCOMPARE(flow.tokenAt(flow.rectOf(2).center()), 2);
    }

    void appendingGivesTheSameAsLayingOutAgain() {
        const QFont font = Theme::instance().font(11);
        TokenFlow grown;
        grown.setFont(font, 180);
        const QStringList tokens{QStringLiteral("Averyveryverylongwordwithoutanyspaceinsideitatall"),
                                 QStringLiteral(" 등대"),
                                 QStringLiteral("지기는 "),
                                 QStringLiteral("\n\n"),
                                 QStringLiteral("  two"),
                                 QStringLiteral(" "),
                                 QStringLiteral(""),
                                 QStringLiteral("\tx")};
        for (int repeat = 0; repeat < 20; ++repeat)
            for (const QString& t : tokens)
                grown.append(t);
        TokenFlow again = grown;
        again.setFont(font, 180);
        QCOMPARE(again.lineCount(), grown.lineCount());
        QCOMPARE(again.fragments().size(), grown.fragments().size());
        for (size_t i = 0; i < again.fragments().size(); ++i) {
            QCOMPARE(again.fragments()[i].x, grown.fragments()[i].x);
            QCOMPARE(again.fragments()[i].line, grown.fragments()[i].line);
            QVERIFY2(again.fragments()[i].blank || again.fragments()[i].x + again.fragments()[i].width <= 181 ||
                         again.fragments()[i].text.size() == 1,
                     qPrintable(again.fragments()[i].text));
        }
    }

    void tintsFollowTheEdges_data() {
        QTest::addColumn<float>("kl");
        QTest::addColumn<bool>("comparable");
        QTest::addColumn<int>("level");
        QTest::newRow("nothing") << 0.0f << true << 0;
        QTest::newRow("below") << 0.0099f << true << 0;
        QTest::newRow("first") << 0.0101f << true << 1;
        QTest::newRow("third") << 0.11f << true << 3;
        QTest::newRow("most") << 7.0f << true << 5;
        QTest::newRow("no number") << std::numeric_limits<float>::quiet_NaN() << true << 5;
        QTest::newRow("contexts differ") << 7.0f << false << 0;
    }
    void tintsFollowTheEdges() {
        QFETCH(float, kl);
        QFETCH(bool, comparable);
        QFETCH(int, level);
        StepRecord r;
        r.kl = kl;
        r.comparable = comparable;
        QCOMPARE(tintLevel(r, nullptr, ErrorMeasure::kl), level);
    }

    void errorsBelowTheFloorHaveNoTint() {
        StepRecord r;
        r.kl = 0.2f;
        r.reference_probability = 0.5f;
        r.probability = 0.25f;
        FloorRecord floor{1, 0, 0.1f, -0.1f};
        QCOMPARE(tintLevel(r, &floor, ErrorMeasure::kl), 3);
        QCOMPARE(tintLevel(r, &floor, ErrorMeasure::delta_probability), 3);
        floor = {1, 0, 0.3f, float(std::log(0.2))};  // p moves by 0.4
        QCOMPARE(tintLevel(r, &floor, ErrorMeasure::kl), 0);
        QCOMPARE(tintLevel(r, &floor, ErrorMeasure::delta_probability), 0);
    }

    void aFloorThatComesLaterTakesTheTintAway() {
        Session s = session(true);
        ViewState view;
        LaneBody body(view, nullptr);
        body.resize(400, 300);
        body.setRun(runOf(s), 1);
        const auto tinted = [&] {
            const QImage image = body.grab().toImage();
            const QRect last = body.stepRect(2);  // KL 0.4: tint 4
            int n = 0;
            for (int x = last.left(); x < last.right(); ++x)
                for (int y = last.top(); y < last.bottom(); ++y)
                    n += image.pixelColor(x, y) == Theme::instance().tint(4);
            return n;
        };
        QVERIFY(tinted() > 50);
        s.run.append(std::vector<FloorRecord>{{7, 2, 0.5f, 0}});
        body.appendNew();
        QCOMPARE(tinted(), 0);
    }

    void theScreenShowsWhatPaintingAnewWould() {
        Session s = session(true);
        for (int id = 5; id < 12; ++id)
            s.run.set_piece(id, std::string(size_t(id - 3), char('a' + id)) + (id == 9 ? "\n" : " "));
        ViewState view;
        QWidget window;
        window.resize(300, 260);
        LaneBody body(view, &window);
        body.resize(window.size());
        body.setRun(runOf(s), 1);
        window.show();
        QVERIFY(QTest::qWaitForWindowExposed(&window));
        const auto compare = [&] {
            QApplication::processEvents();
            const QImage screen = window.screen()->grabWindow(window.winId()).toImage();
            QVERIFY(!screen.isNull());
            QCOMPARE(screen.convertToFormat(QImage::Format_RGB32),
                     body.grab().toImage().convertToFormat(QImage::Format_RGB32));
        };
        for (int step = 3; step < 300; ++step) {
            std::vector<StepRecord> records(2);
            for (int lane = 0; lane < 2; ++lane) {
                records[size_t(lane)].run = 7;
                records[size_t(lane)].lane = lane;
                records[size_t(lane)].step = step;
                records[size_t(lane)].position = 1 + step;
                records[size_t(lane)].token_id = 5 + step % 7;
                records[size_t(lane)].kl = lane == 0 ? 0 : 0.01f * float(step % 50);
                records[size_t(lane)].comparable = true;
                records[size_t(lane)].top1_agrees = step % 11 != 0;
            }
            s.run.append(std::move(records));
            body.appendNew();
            const int end = std::max(0, body.contentHeight() - body.visibleHeight());
            body.setScroll((end + body.lineHeight() - 1) / body.lineHeight() * body.lineHeight());
            if (step % 9 == 0) compare();
            if (QTest::currentTestFailed()) return;
        }
        QVERIFY(body.contentHeight() > 3 * body.visibleHeight());
        for (const int lines : {20, 21, 3, 0, 2}) {
            body.setScroll(lines * body.lineHeight());
            if (lines == 21) view.setCrosshairStep(150);
            compare();
        }
    }

    void probabilityChangeTintsToo() {
        StepRecord r;
        r.reference_probability = 0.9f;
        r.probability = 0.5f;
        QCOMPARE(tintLevel(r, nullptr, ErrorMeasure::delta_probability), 4);
    }

    void lanesShowARunAndKeysMoveThroughIt() {
        RunController controller;
        ViewState view;
        LanesView lanes(controller, view);
        lanes.resize(900, 500);
        lanes.show();
        controller.adoptSession(session(true));
        QCOMPARE(lanes.panes().size(), size_t(2));
        LaneBody* body = lanes.panes()[1]->body();
        body->setFocus();
        QTest::keyClick(body, Qt::Key_Home);
        QCOMPARE(view.crosshairStep(), 0);
        QTest::keyClick(body, Qt::Key_Right);
        QTest::keyClick(body, Qt::Key_Right);
        QTest::keyClick(body, Qt::Key_Right);
        QCOMPARE(view.crosshairStep(), 2);
        QVERIFY(body->stepRect(2).left() > body->stepRect(0).left());
        QVERIFY(!lanes.popoverShown());
        QTest::keyClick(body, Qt::Key_Return);
        QVERIFY(lanes.popoverShown());
        view.setLaneShown(1, false);
        QCOMPARE(lanes.panes().size(), size_t(1));
        QVERIFY(!lanes.popoverShown());
    }

    void bytesAreShownUntilTheirCharacterIsWhole() {
        Session s = session(true);
        std::vector<StepRecord> records = s.run.lane(1);
        for (const int lane : {0, 1})
            for (StepRecord r : {records.back()}) {
                r.lane = lane;
                r.step = r.position = 3;
                r.token_id = 5;
                s.run.append({r});
            }
        s.run.set_piece(5, "\xE2\x82");  // two of the three bytes of a euro sign
        ViewState state;
        LaneBody body(state, nullptr);
        body.resize(400, 300);
        body.setRun(runOf(s), 1);
        const QRect waiting = body.stepRect(3);
        QVERIFY(waiting.width() > body.stepRect(1).width());  // "E2 82"
        body.setPromptShown(true);                            // laid out again
        QVERIFY(std::abs(body.stepRect(3).width() - waiting.width()) <= 1);
        body.setPromptShown(false);
        for (const int lane : {0, 1}) {
            StepRecord r = s.run.lane(lane).back();
            r.step = r.position = 4;
            r.token_id = 6;
            s.run.append({r});
        }
        s.run.set_piece(6, "\xAC");
        body.appendNew();
        QVERIFY(body.stepRect(3).isNull());  // whole now, where its last byte came
        QVERIFY(!body.stepRect(4).isNull() && body.stepRect(4).width() < waiting.width());
    }

    void bytesAreShownAsBytes() {
        QCOMPARE(tokenText("\xEC\x9D"), QStringLiteral("EC 9D"));
        QCOMPARE(tokenText(" caf\xC3"), QStringLiteral("caf C3"));
        QCOMPARE(tokenText("\x80"), QStringLiteral("80"));
        QCOMPARE(tokenText("\xEC\x9D\xB4"), QStringLiteral("이"));
        QCOMPARE(tokenText(" the"), QStringLiteral(" the"));
        QCOMPARE(tokenText("  "), QStringLiteral("␣␣"));
        QCOMPARE(tokenText("a\n\x01"), QStringLiteral("a↵␁"));
        ByteText text;
        QCOMPARE(text.push("\xEC"), QString());
        QCOMPARE(text.waiting(), QStringLiteral("EC"));
        QCOMPARE(text.push("\x9D"), QString());
        QCOMPARE(text.waiting(), QStringLiteral("EC 9D"));
        QCOMPARE(text.push("\xB4!"), QStringLiteral("이!"));
        QCOMPARE(text.waiting(), QString());
        QCOMPARE(text.push("\xEC\x9D"), QString());
        QCOMPARE(text.push("x"), QStringLiteral(" EC 9D x"));  // never became a character
    }

    void whatWaitsLeavesNoTrace() {
        const QFont font = Theme::instance().font(11);
        for (const double width : {60.0, 90.0, 200.0}) {
            TokenFlow plain, waited;
            plain.setFont(font, width);
            waited.setFont(font, width);
            for (const char* token : {"One", " two", "three", " ", "four\n", "fiveandsix", " seven"}) {
                plain.append(QLatin1String(token));
                waited.append(QLatin1String(token));
                waited.setWaiting(QStringLiteral("EC 9D 81 80"));
                QVERIFY(waited.fragments().size() > plain.fragments().size());
                waited.setWaiting({});
                QCOMPARE(waited.lineCount(), plain.lineCount());
                waited.setWaiting(QStringLiteral("EC 9D"));
            }
            plain.append(QStringLiteral("end"));
            waited.append(QStringLiteral("end"));
            QCOMPARE(waited.lineCount(), plain.lineCount());
            QCOMPARE(waited.fragments().size(), plain.fragments().size());
            for (size_t i = 0; i < plain.fragments().size(); ++i) {
                QCOMPARE(waited.fragments()[i].x, plain.fragments()[i].x);
                QCOMPARE(waited.fragments()[i].line, plain.fragments()[i].line);
            }
        }
    }

    void figuresInsideTheNoiseFloorAreGreyed() {
        for (const float floor : {0.0f, 0.001f, 10.0f}) {
            Session s = session(true);
            auto info = std::make_shared<RunInfo>(s.run.info());
            info->experiment.noise_floor = floor > 0;
            std::vector<StepRecord> records;
            for (const int lane : {0, 1})
                for (const StepRecord& r : s.run.lane(lane))
                    records.push_back(r);
            s.run.begin(info, 2, 1, 64);
            s.run.append(records);
            if (floor > 0) s.run.append(std::vector<FloorRecord>{{7, 0, floor, 0}, {7, 1, floor, 0}});
            RunController controller;
            ViewState view;
            LanesView lanes(controller, view);
            controller.adoptSession(s);
            const auto says = [&](size_t lane) {
                const LaneHeader* header = lanes.panes()[lane]->header();
                return header->toolTip().contains(QStringLiteral("inside the noise floor of 10.00")) &&
                       header->accessibleName().contains(QStringLiteral("inside the noise floor"));
            };
            QVERIFY(!says(0));
            QCOMPARE(says(1), floor > 1);
            // it stands beside the error, and in the reference's header in the place of its own
            const auto has = [&](size_t lane, const QString& words) {
                return lanes.panes()[lane]->header()->accessibleName().contains(words);
            };
            const QString figure = errorText(double(floor)), kl = errorText(controller.run().summary(1).kl_mean);
            QCOMPARE(has(0, QStringLiteral("noise floor ") + figure), floor > 0);
            QCOMPARE(has(1, QStringLiteral("mean KL / floor %1 / %2").arg(kl, figure)), floor > 0);
            QCOMPARE(has(1, QStringLiteral("mean KL %1,").arg(kl)), floor == 0);
        }
    }

    void tintedTokensAreDrawnInTheirTint() {
        for (const bool comparable : {true, false}) {
            RunController controller;
            ViewState view;
            LanesView lanes(controller, view);
            lanes.resize(900, 500);
            lanes.show();
            controller.adoptSession(session(comparable));
            LaneBody* body = lanes.panes()[1]->body();
            const QImage image = body->grab().toImage();
            const QRect last = body->stepRect(2);  // KL 0.4: tint 4 when it can be compared
            QVERIFY(!last.isNull());
            int tinted = 0;
            for (int x = last.left(); x < last.right(); ++x)
                for (int y = last.top(); y < last.bottom(); ++y)
                    tinted += image.pixelColor(x, y) == Theme::instance().tint(4);
            QCOMPARE(tinted > 50, comparable);
        }
    }
};

QTEST_MAIN(TestLanes)
#include "tst_lanes.moc"
