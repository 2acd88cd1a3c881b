// SPDX-License-Identifier: GPL-3.0-or-later
// Does everything fit? The real window at sizes, type sizes, lane counts, layouts, languages and locales that people
// have, looked at by support/layout_check.h. The test takes a set in which every two values meet; tools/layout-grid
// takes all of them, and writes pictures.
#include <QApplication>
#include <QDir>
#include <QLocale>
#include <QProcess>
#include <QTest>
#include <array>
#include <memory>
#include <set>
#include <tuple>

#include "support/default_model.h"
#include "support/layout_check.h"
#include "support/pseudo_language.h"
#include "support/synthetic_run.h"
#include "ui/shell/main_window.h"
#include "ui/shell/message_bar.h"
#include "ui/shell/plot_dock.h"
#include "ui/shell/run_status.h"

using namespace kvasir;
using namespace kvasir::ui;
using kvasir::ui::look::Finding;
using kvasir::ui::look::Findings;

namespace {

struct Case {
    int size, type, lanes, layout, language, locale;
};

const QSize kSizes[] = {{1300, 700}, {1280, 720}, {1024, 600}, {1920, 1080}, {1264, 640}};
const int kTypes[] = {80, 100, 110, 125, 150};
const char* const kLocales[] = {"en_US", "de_DE", "ko_KR"};
const int kValues[] = {5, 5, 8, 2, 2, 3};

int& field(Case& c, int i) {
    int* fields[] = {&c.size, &c.type, &c.lanes, &c.layout, &c.language, &c.locale};
    return *fields[i];
}

std::vector<Case> allCases() {
    std::vector<Case> all;
    for (int language = 0; language < 2; ++language)
        for (int locale = 0; locale < 3; ++locale)
            for (int size = 0; size < 5; ++size)
                for (int type = 0; type < 5; ++type)
                    for (int layout = 0; layout < 2; ++layout)
                        for (int lanes = 0; lanes < 8; ++lanes)
                            all.push_back({size, type, lanes, layout, language, locale});
    return all;
}

/// Greedy: every two values of two factors stand together in at least one case.
std::vector<Case> pairwise() {
    std::set<std::array<int, 4>> open;
    for (int a = 0; a < 6; ++a)
        for (int b = a + 1; b < 6; ++b)
            for (int x = 0; x < kValues[a]; ++x)
                for (int y = 0; y < kValues[b]; ++y)
                    open.insert({a, x, b, y});
    const auto gain = [&](Case c) {
        int n = 0;
        for (int a = 0; a < 6; ++a)
            for (int b = a + 1; b < 6; ++b)
                n += int(open.count({a, field(c, a), b, field(c, b)}));
        return n;
    };
    std::vector<Case> chosen;
    const std::vector<Case> all = allCases();
    while (!open.empty()) {
        const Case best =
            *std::max_element(all.begin(), all.end(), [&](const Case& p, const Case& q) { return gain(p) < gain(q); });
        chosen.push_back(best);
        Case c = best;
        for (int a = 0; a < 6; ++a)
            for (int b = a + 1; b < 6; ++b)
                open.erase({a, field(c, a), b, field(c, b)});
    }
    std::stable_sort(chosen.begin(), chosen.end(), [](const Case& p, const Case& q) {
        return std::tie(p.language, p.locale) < std::tie(q.language, q.locale);
    });
    return chosen;
}

QString nameOf(const Case& c) {
    return QStringLiteral("%1x%2 %3% %4lanes %5 %6 %7")
        .arg(kSizes[c.size].width())
        .arg(kSizes[c.size].height())
        .arg(kTypes[c.type])
        .arg(c.lanes + 1)
        .arg(c.layout ? QStringLiteral("present") : QStringLiteral("explore"),
             c.language ? QStringLiteral("long") : QStringLiteral("english"), QLatin1String(kLocales[c.locale]));
}

std::shared_ptr<const DistributionFrame> distribution(int lane) {
    auto frame = std::make_shared<DistributionFrame>();
    frame->request.lane = lane;
    frame->request.n_bins = 96;
    frame->n_tokens = 192;
    frame->n_quantized = 160;
    frame->rotated = true;
    frame->low = -0.65, frame->high = 0.65;
    for (int i = 0; i < 96; ++i) {
        const double x = (i - 48) / 12.0;
        frame->before.push_back(uint32_t(4000 * std::exp(-x * x * 4)) + (i % 31 == 0));
        frame->after.push_back(uint32_t(3000 * std::exp(-x * x)));
        frame->decoded.push_back(i % 12 == 0 ? 900 : 0);
    }
    frame->levels = {-0.12, -0.043, 0.034, 0.11};
    frame->before_stats = {0, 0.045, 53.9, 13.0};
    frame->after_stats = {0, 0.05, 2.9, 3.8};
    frame->mse = 2.55e-4;
    frame->sqnr_db = 9.24;
    frame->level_token = 125;
    return frame;
}

}  // namespace

class TestLayout : public QObject {
    Q_OBJECT

    look::PseudoLanguage pseudo_;
    std::unique_ptr<Settings> settings_;
    std::unique_ptr<MainWindow> window_;
    int language_ = -1, locale_ = -1;
    QMap<QString, QPair<int, QString>> unexpected_;  ///< finding, how often, first case
    QString pictures_ = qEnvironmentVariable("KVASIR_LAYOUT_PICTURES");

    void speak(int language, int locale) {
        if (window_ && language == language_ && locale == locale_) return;
        window_.reset();
        QApplication::removeTranslator(&pseudo_);
        if (language) QApplication::installTranslator(&pseudo_);
        QLocale::setDefault(QLocale(QLatin1String(kLocales[locale])));
        language_ = language;
        locale_ = locale;
        settings_ = std::make_unique<Settings>(false);
        window_ = std::make_unique<MainWindow>(*settings_);
        window_->show();
        if (const std::string model = kvasir::test::default_model(); !model.empty()) {
            window_->openPath(QString::fromStdString(model), false);
            QTRY_VERIFY_WITH_TIMEOUT(window_->controller().model(), 120000);
        }
    }

    static void settle() {
        for (int i = 0; i < 4; ++i) {
            QCoreApplication::sendPostedEvents();
            QCoreApplication::processEvents();
        }
    }

    void note(const Findings& findings, const QString& name) {
        for (const Finding& f : findings) {
            auto& [n, first] = unexpected_[f.line()];
            if (n++ == 0) first = name;
        }
    }

    void picture(const QString& name) {
        if (pictures_.isEmpty()) return;
        QDir().mkpath(pictures_);
        QString file = name;
        window_->grab().save(
            QDir(pictures_).filePath(file.replace(QLatin1Char(' '), QLatin1Char('_')) + QStringLiteral(".png")));
    }

    void resizeTo(QSize size, const QString& name) {
        for (int i = 0; i < 2; ++i) {  // what stood there before may need more room until it is arranged anew
            window_->resize(size);
            settle();
        }
        if (window_->size() != size)
            note({{QStringLiteral("window too large"), QStringLiteral("MainWindow"),
                   QStringLiteral("%1 x %2 where %3 x %4 is there")
                       .arg(window_->width())
                       .arg(window_->height())
                       .arg(size.width())
                       .arg(size.height())}},
                 name);
    }

    /// Every plot behind a tab, raised; no other dock may move unless the raised one takes the column.
    void lookAtPlots(const QString& name) {
        for (PlotDock* dock : window_->plotDocks()) {
            if (!dock->isVisible() || dock->isFloating()) continue;
            dock->raise();
            settle();
            if (dock->entry().id == QLatin1String("distributions")) {
                for (int lane = 0; lane < 8; ++lane)  // the view takes the one it asked for
                    emit window_->controller().distributionReady(distribution(lane));
                settle();
            }
            note(look::lookAt(*window_), name + QStringLiteral(" [") + dock->entry().id + QLatin1Char(']'));
            picture(name + QLatin1Char('_') + dock->entry().id);
        }
    }

    void check(const Case& c) {
        const QString name = nameOf(c);
        speak(c.language, c.locale);
        window_->setPresent(false);
        window_->setTypeScale(kTypes[c.type] / 100.0);
        window_->resize(kSizes[c.size]);
        settle();
        window_->restoreDefaultLayout();
        if (c.layout) window_->setPresent(true);
        window_->controller().adoptSession(kvasir::test::synthetic_session(
            c.lanes + 1, 56, c.locale == 1 ? Mode::free_running : Mode::teacher_forced));
        settle();
        resizeTo(kSizes[c.size], name);
        note(look::lookAt(*window_), name);
        picture(name);
        if (c.layout == 0) lookAtPlots(name);
    }

    void report() {
        for (auto it = unexpected_.cbegin(); it != unexpected_.cend(); ++it)
            qWarning("%s   (%d times, first in %s)", qPrintable(it.key()), it.value().first,
                     qPrintable(it.value().second));
        const qsizetype n = unexpected_.size();
        unexpected_.clear();
        QVERIFY2(n == 0, qPrintable(QStringLiteral("%1 things do not fit").arg(n)));
    }

 private slots:
    void fits() {
        const bool grid = qEnvironmentVariable("KVASIR_LAYOUT_GRID") == QLatin1String("full");
        const std::vector<Case> cases = grid ? allCases() : pairwise();
        const QString only = qEnvironmentVariable("KVASIR_LAYOUT_ONLY");
        int n = 0;
        for (const Case& c : cases)
            if (nameOf(c).contains(only)) {
                check(c);
                ++n;
            }
        qInfo("%d windows looked at", n);
        report();
    }

    /// The banner, the empty plots and the lanes that say what they will show.
    void fitsBeforeARun() {
        for (int language = 0; language < 2; ++language) {
            window_.reset();
            speak(language, 0);
            for (const QSize size : {QSize(1300, 700), QSize(1024, 600)})
                for (const int type : {100, 150}) {
                    const QString name =
                        QStringLiteral("%1x%2 %3% before a run").arg(size.width()).arg(size.height()).arg(type);
                    window_->setTypeScale(type / 100.0);
                    window_->resize(size);
                    settle();
                    window_->restoreDefaultLayout();
                    resizeTo(size, name);
                    note(look::lookAt(*window_), name);
                    picture(name + QString::number(language));
                }
        }
        report();
    }

    /// A run under way, a lane that stopped, a lane that is hidden, a message with a way out.
    void fitsWhileMuchIsSaid() {
        for (int language = 0; language < 2; ++language) {
            window_.reset();
            speak(language, 0);
            for (const QSize size : {QSize(1300, 700), QSize(1280, 720), QSize(1024, 600)})
                for (const int type : {100, 125, 150}) {
                    const QString name =
                        QStringLiteral("%1x%2 %3% much is said").arg(size.width()).arg(size.height()).arg(type);
                    window_->setTypeScale(type / 100.0);
                    window_->resize(size);
                    settle();
                    window_->restoreDefaultLayout();
                    Session session = kvasir::test::synthetic_session(4);
                    session.run.append(std::vector<LaneStop>{
                        {1, 2, "the cache has no room for token 180: its buffer of 180 tokens was reserved for 179"}});
                    window_->controller().adoptSession(std::move(session));
                    window_->view().setLaneShown(3, false);
                    window_->messages()
                        .show(QStringLiteral("said"), MessageBar::Kind::warn,
                              QStringLiteral("A run of 11:42 was not closed: 38 of 56 tokens are in its journal."))
                        ->addAction(QStringLiteral("Restore the run"), [] {});
                    EngineStatus status;
                    status.state = EngineState::running;
                    status.n_done = 38, status.n_planned = 56, status.elapsed_s = 3600;
                    window_->status().show(status);
                    resizeTo(size, name);
                    note(look::lookAt(*window_), name);
                    picture(name + QString::number(language));
                    status.floor_progress = 0.25;
                    window_->status().show(status);
                    settle();
                    note(look::lookAt(*window_), name + QStringLiteral(", noise floor"));
                    window_->view().setLaneShown(3, true);
                }
        }
        report();
    }

    /// 2560 x 1440 at scale 2: the factor is read when a program starts.
    void fitsAtTwoPixelsPerUnit() {
        if (qEnvironmentVariableIsSet("QT_SCALE_FACTOR")) QSKIP("a factor is set already");
        QProcess program;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert(QStringLiteral("QT_SCALE_FACTOR"), QStringLiteral("2"));
        environment.insert(QStringLiteral("KVASIR_LAYOUT_ONLY"), QStringLiteral("1280x720"));
        program.setProcessEnvironment(environment);
        program.setProcessChannelMode(QProcess::MergedChannels);
        program.start(QCoreApplication::applicationFilePath(), {QStringLiteral("fits")});
        QVERIFY(program.waitForFinished(600000));
        QVERIFY2(program.exitCode() == 0, program.readAll().constData());
    }

    void cleanupTestCase() { window_.reset(); }
};

QTEST_MAIN(TestLayout)
#include "tst_layout.moc"
