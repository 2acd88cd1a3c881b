// SPDX-License-Identifier: GPL-3.0-or-later
// The parts around the lanes: actions, settings, theme, edits, dialogs, files.
#include <QApplication>
#include <QComboBox>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QTemporaryDir>
#include <QTest>
#include <array>
#include <cmath>

#include "ui/lanes/tint.h"
#include "ui/shell/actions.h"
#include "ui/shell/experiment_edits.h"
#include "ui/shell/file_kinds.h"
#include "ui/shell/format.h"
#include "ui/shell/frame_pace.h"
#include "ui/shell/model_dialog.h"
#include "ui/shell/prompts.h"
#include "ui/shell/run_controller.h"
#include "ui/shell/scheme_dialog.h"
#include "ui/shell/settings.h"
#include "ui/shell/transcript.h"

using namespace kvasir;
using namespace kvasir::ui;

namespace {

double luminance(const QColor& c) {
    const auto linear = [](double v) { return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4); };
    return 0.2126 * linear(c.redF()) + 0.7152 * linear(c.greenF()) + 0.0722 * linear(c.blueF());
}

double contrast(const QColor& a, const QColor& b) {
    const double x = luminance(a), y = luminance(b);
    return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

}  // namespace

class TestShell : public QObject {
    Q_OBJECT

 private slots:
    void initTestCase() { Theme::instance().apply(*qApp, Theme::Kind::light, 1); }

    void framesTakeAShareOfTheMachine() {
        const auto settled = [](int n_cores, double cost_ms) {
            FramePace pace(n_cores);
            int interval = 0;
            for (int i = 0; i <= 40; ++i)
                interval = pace.next(i * cost_ms);
            pace.idle(1e6);  // what was drawn meanwhile does not count
            if (pace.next(1e6 + cost_ms) != interval) qFatal("idle time counted");
            return interval;
        };
        QCOMPARE(settled(2, 0.5), FramePace::kShortest);
        QCOMPARE(settled(2, 6), 300);  // 6 ms of the 600 that two cores have then: 1 %
        QCOMPARE(settled(2, 90), FramePace::kLongest);
        QCOMPARE(settled(16, 5), FramePace::kShortest);
        const double before = FramePace::threadCpuMs();
        for (volatile int i = 0; i < 20000000;)
            i = i + 1;
        QVERIFY(FramePace::threadCpuMs() > before);
    }
    void everyShortcutHasOneAction() {
        QWidget window;
        Actions actions(&window);
        QHash<QString, QString> owner;
        for (const auto& [group, action] : actions.all()) {
            QVERIFY(!action->text().isEmpty() && !group.isEmpty());
            for (const QKeySequence& key : action->shortcuts()) {
                QVERIFY2(!key.isEmpty(), qPrintable(action->objectName()));
                QVERIFY2(!owner.contains(key.toString()),
                         qPrintable(key.toString() + QStringLiteral(" twice: ") + action->objectName()));
                owner[key.toString()] = action->objectName();
            }
        }
        QCOMPARE(owner.value(QStringLiteral("F5")), QStringLiteral("run"));
        QCOMPARE(owner.value(QStringLiteral("Ctrl+Shift+P")), QStringLiteral("commands"));
    }

    void settingsHaveDefaultsAndForget() {
        Settings settings(false);
        QCOMPARE(settings.get("look/theme").toString(), QStringLiteral("auto"));
        settings.set("look/theme", QStringLiteral("dark"));
        QCOMPARE(settings.get("look/theme").toString(), QStringLiteral("dark"));
        settings.reset();
        QCOMPARE(settings.get("look/theme").toString(), QStringLiteral("auto"));
    }

    void recentFilesAreNewestFirstAndExist() {
        QTemporaryDir dir;
        Settings settings(false);
        for (const char* name : {"a.gguf", "b.gguf", "a.gguf"}) {
            QFile file(dir.filePath(QLatin1String(name)));
            QVERIFY(file.open(QIODevice::WriteOnly));
            settings.addRecentFile(file.fileName());
        }
        QCOMPARE(settings.recentFiles(),
                 (QStringList{dir.filePath(QStringLiteral("a.gguf")), dir.filePath(QStringLiteral("b.gguf"))}));
        QFile::remove(dir.filePath(QStringLiteral("a.gguf")));
        QCOMPARE(settings.recentFiles(), QStringList{dir.filePath(QStringLiteral("b.gguf"))});
    }

    void neighbouringTintsAreToldApart() {
        const auto lab = [](const QColor& colour) {  // CIELAB, white D65
            const auto linear = [](float c) { return c <= 0.04045F ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); };
            const auto f = [](double t) { return t > 0.008856 ? std::cbrt(t) : 7.787 * t + 16.0 / 116; };
            const double r = linear(colour.redF()), g = linear(colour.greenF()), b = linear(colour.blueF());
            const double x = f((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047),
                         y = f(0.2126 * r + 0.7152 * g + 0.0722 * b),
                         z = f((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883);
            return std::array{116 * y - 16, 500 * (x - y), 200 * (y - z)};
        };
        for (const auto kind : {Theme::Kind::light, Theme::Kind::dark, Theme::Kind::high_contrast}) {
            Theme& theme = Theme::instance();
            theme.apply(*qApp, kind, 1);
            for (int level = 1; level <= 5; ++level) {
                const auto a = lab(theme.tint(level - 1)), b = lab(theme.tint(level));
                const double apart = std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
                QVERIFY2(apart >= 15, qPrintable(QStringLiteral("%1: %2").arg(level).arg(apart)));
                QVERIFY((a[0] < b[0]) == (kind != Theme::Kind::light));  // and in order without their hue
            }
        }
    }
    void textIsReadableOnEveryGround() {
        for (const auto kind : {Theme::Kind::light, Theme::Kind::dark, Theme::Kind::high_contrast}) {
            Theme& theme = Theme::instance();
            theme.apply(*qApp, kind, 1);
            const QColor text = theme.colour(QStringLiteral("text"));
            for (int level = 0; level <= 5; ++level)
                QVERIFY(contrast(text, theme.tint(level)) >= 4.5);
            for (const char* ground : {"window", "base", "alt", "panel"}) {
                QVERIFY(contrast(text, theme.colour(QLatin1String(ground))) >= 7);
                QVERIFY(contrast(theme.colour(QStringLiteral("dim")), theme.colour(QLatin1String(ground))) >= 4.5);
            }
            for (int lane = 0; lane < 7; ++lane)
                QCOMPARE(theme.lane(lane, false).letter, QString(QChar(ushort('A' + lane))));
            QVERIFY(theme.lane(4, false).hollow && !theme.lane(3, false).hollow);
        }
        Theme::instance().apply(*qApp, Theme::Kind::light, 1);
    }

    void typeScaleIsBoundedAndApplied() {
        Theme& theme = Theme::instance();
        theme.apply(*qApp, Theme::Kind::light, 1.5);
        QCOMPARE(theme.font(10).pointSizeF(), 15.0);
        QCOMPARE(theme.px(4), 6);
        theme.apply(*qApp, Theme::Kind::light, 9);
        QCOMPARE(theme.typeScale(), 2.0);
        theme.apply(*qApp, Theme::Kind::light, 1);
    }

    void editsCanBeTakenBack() {
        RunController controller;
        ExperimentEdits edits(controller);
        const Experiment first = controller.experiment();
        edits.addLane(parse_cache_spec("kivi:2").value());
        QCOMPARE(controller.experiment().lanes.size(), first.lanes.size() + 1);
        edits.moveLane(0, 1);
        QCOMPARE(controller.experiment().reference, 1);
        edits.removeLane(1);  // the reference stays
        QCOMPARE(controller.experiment().lanes.size(), first.lanes.size() + 1);
        edits.removeLane(0);
        QCOMPARE(controller.experiment().reference, 0);
        while (edits.stack().canUndo())
            edits.stack().undo();
        QVERIFY(controller.experiment() == first);
        edits.stack().redo();
        QCOMPARE(controller.experiment().lanes.back().spec.text, std::string("kivi:2"));
    }

    void movingALaneKeepsTheOthersInOrder() {
        RunController controller;
        ExperimentEdits edits(controller);
        const auto order = [&] {
            QStringList names;
            for (const LaneSetup& lane : controller.experiment().lanes)
                names << QString::fromStdString(lane.spec.text);
            return names.join(QLatin1Char(' '));
        };
        QCOMPARE(order(), QStringLiteral("fp16 quanto:4 quanto:2 hadamard:2"));
        edits.moveLane(3, -2);
        QCOMPARE(order(), QStringLiteral("fp16 hadamard:2 quanto:4 quanto:2"));
        QCOMPARE(controller.experiment().reference, 0);
        edits.moveLane(0, 2);
        QCOMPARE(order(), QStringLiteral("hadamard:2 quanto:4 fp16 quanto:2"));
        QCOMPARE(controller.experiment().reference, 2);
        edits.moveLane(0, 3);
        QCOMPARE(controller.experiment().reference, 1);
        edits.moveLane(3, -3);
        QCOMPARE(controller.experiment().reference, 2);
        edits.moveLane(0, -1);
        QCOMPARE(edits.stack().count(), 4);
    }

    void schemeEditorKnowsEveryPreset() {
        for (const Preset& preset : presets()) {
            const CacheSpec spec = parse_cache_spec(preset.name).value();
            SchemeDialog dialog(spec, nullptr, Theme::instance().lane(0, false), false, nullptr);
            QVERIFY2(dialog.spec().same_scheme(spec), preset.name.c_str());
            for (const PresetOption& option : preset.options)
                QVERIFY2(dialog.findChild<QWidget*>(QStringLiteral("option-") + QString::fromStdString(option.key)),
                         option.key.c_str());
        }
    }

    void schemeEditorFieldsAndTextAgree() {
        ModelConfig config;
        config.n_layers = 30, config.n_kv_heads = 3, config.head_dim = 64;
        SchemeDialog dialog(parse_cache_spec("quanto:4").value(), &config, Theme::instance().lane(0, false), false,
                            nullptr);
        auto* text = dialog.findChild<QLineEdit*>(QStringLiteral("spec-text"));
        auto* residual = dialog.findChild<QSpinBox*>(QStringLiteral("option-residual"));
        auto* apply = dialog.findChild<QPushButton*>(QStringLiteral("primary"));
        QVERIFY(text && residual && apply);
        residual->setValue(32);
        QCOMPARE(text->text(), QStringLiteral("quanto:4,residual=32"));
        QCOMPARE(dialog.spec().residual_k, 32);
        text->setText(QStringLiteral("quanto:4,residual=64"));
        QCOMPARE(dialog.findChild<QSpinBox*>(QStringLiteral("option-residual"))->value(), 64);
        text->setText(QStringLiteral("quanto:4,residuel=64"));
        QVERIFY(!apply->isEnabled());
        QVERIFY(!dialog.findChild<QLabel*>(QStringLiteral("spec-problem"))->text().isEmpty());
        QCOMPARE(dialog.spec().residual_k, 64);
    }

    void schemeEditorHasFiguresOfWhatIsWritten() {
        ModelConfig config;
        config.n_layers = 30, config.n_kv_heads = 3, config.head_dim = 64;
        SchemeDialog dialog(parse_cache_spec("quanto:4").value(), &config, Theme::instance().lane(0, false), false,
                            nullptr);
        auto* text = dialog.findChild<QLineEdit*>(QStringLiteral("spec-text"));
        const auto shows = [&](const QString& words) {
            for (const QLabel* label : dialog.findChildren<QLabel*>())
                if (label->text().contains(words)) return true;
            return false;
        };
        QVERIFY(shows(QStringLiteral("4.50")) && shows(QStringLiteral("MiB")));
        // refused: as text, and by this model
        for (const char* refused :
             {"quanto:4,residuel=64", "quanto:4,layers=0-99:fp16", "quanto:4,residual=99999999"}) {
            text->setText(QLatin1String(refused));
            QVERIFY(!dialog.findChild<QPushButton*>(QStringLiteral("primary"))->isEnabled());
            QVERIFY2(!shows(QStringLiteral("4.50")) && !shows(QStringLiteral("MiB")), refused);
        }
        text->setText(QStringLiteral("quanto:4,residual=9999"));  // nothing is quantized before that
        QVERIFY(shows(QStringLiteral("180.00 MiB")));
    }

    void schemeEditorRefusesWhatTheModelCannotStore() {
        ModelConfig config;
        config.n_layers = 2, config.n_kv_heads = 1, config.head_dim = 80;
        SchemeDialog dialog(parse_cache_spec("hadamard:2").value(), &config, Theme::instance().lane(0, false), false,
                            nullptr);
        QVERIFY(!dialog.findChild<QPushButton*>(QStringLiteral("primary"))->isEnabled());
    }

    void modelSummaryRefusesWhatIsNoModel() {
        QTemporaryDir dir;
        QFile file(dir.filePath(QStringLiteral("a.gguf")));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("no model at all, only words");
        file.close();
        QVERIFY(!readModelSummary(file.fileName().toStdString()).ok());
    }

    void filesAreKnownByName() {
        QTemporaryDir dir;
        QString why;
        FileKind kind{};
        const auto made = [&](const char* name) {
            QFile file(dir.filePath(QLatin1String(name)));
            if (file.open(QIODevice::WriteOnly)) file.write("x");
            return file.fileName();
        };
        QVERIFY(acceptable(made("a.GGUF"), &kind, &why) && kind == FileKind::model);
        QVERIFY(acceptable(made("a.md"), &kind, &why) && kind == FileKind::text);
        QVERIFY(acceptable(made("a.kvasir"), &kind, &why) && kind == FileKind::session);
        QVERIFY(!acceptable(made("a.safetensors"), &kind, &why) && why.contains(QStringLiteral("GGUF")));
        QVERIFY(!acceptable(dir.path(), &kind, &why) && why.contains(QStringLiteral("folder")));
    }

    void textFilesAreMadeValid() {
        QTemporaryDir dir;
        QFile file(dir.filePath(QStringLiteral("a.txt")));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("caf\xC3\xA9 \xFF!");
        file.close();
        size_t replaced = 0;
        const auto text = readText(file.fileName(), &replaced);
        QVERIFY(text.ok());
        QCOMPARE(text.value(), QStringLiteral("café \uFFFD!"));
        QCOMPARE(replaced, size_t(1));
    }

    void builtInTextsFillAnExperiment() {
        const BuiltInText* names = builtInTextOf(Experiment::first_start());
        QVERIFY(names);
        QCOMPARE(names->id, QStringLiteral("ten-names"));
        QSet<QString> ids;
        for (const BuiltInText& t : builtInTexts()) {
            QVERIFY2(!t.text.isEmpty() && !ids.contains(t.id), qPrintable(t.id));
            ids.insert(t.id);
            const Experiment e = withText(Experiment::first_start(), t);
            QVERIFY(builtInTextOf(e) == &t);
            if (t.score) QCOMPARE(e.mode, Mode::teacher_forced);
        }
    }

    void figuresAreWrittenAsPeopleReadThem() {
        QCOMPARE(mibText(14722662), QStringLiteral("14.04"));
        QCOMPARE(percentText(0.924), QStringLiteral("92.4 %"));
        QCOMPARE(durationText(61.2), QStringLiteral("1:02"));
        QCOMPARE(tokenText(" a\n"), QStringLiteral(" a↵"));
    }
};

QTEST_MAIN(TestShell)
#include "tst_shell.moc"
