// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/automation.h"

#include <unistd.h>
#include <QApplication>
#include <QDir>
#include <QFile>
#include <algorithm>
#include <cstdio>
#include <ctime>

#include "ui/lanes/lanes_view.h"
#include "ui/shell/main_window.h"
#include "ui/shell/scheme_dialog.h"

namespace kvasir::ui {

double millisecondsSinceProcessStart() {
    // field 22 of /proc/self/stat: start time after boot in clock ticks; the name in parentheses may hold spaces
    QFile file(QStringLiteral("/proc/self/stat"));
    if (!file.open(QIODevice::ReadOnly)) return 0;
    const QByteArray text = file.readAll();
    const QList<QByteArray> fields = text.mid(text.lastIndexOf(')') + 2).split(' ');
    timespec now{};
    clock_gettime(CLOCK_BOOTTIME, &now);
    const double start_s = fields.value(19).toDouble() / double(sysconf(_SC_CLK_TCK));
    return (double(now.tv_sec) + double(now.tv_nsec) * 1e-9 - start_s) * 1000;
}

ScreenshotTour::ScreenshotTour(MainWindow& window, QString folder) : window_(window), folder_(std::move(folder)) {}

void ScreenshotTour::after(int ms, std::function<void()> next) {
    QTimer::singleShot(ms, this, std::move(next));
}

void ScreenshotTour::grab(QWidget* widget, const QString& name) {
    const QString path = QDir(folder_).filePath(name);
    if (!widget->grab().save(path)) std::fprintf(stderr, "kvasir: cannot write %s\n", qPrintable(path));
}

void ScreenshotTour::start() {
    QDir().mkpath(folder_);
    window_.setTheme(QStringLiteral("light"));
    window_.resize(1366, 768);
    after(0, [this] { window_.restoreDefaultLayout(); });
    connect(&window_.controller(), &RunController::modelChanged, this, [this] {
        after(200, [this] {
            grab(&window_, QStringLiteral("first-start-light.png"));
            window_.actions()["run"]->trigger();
        });
    });
    connect(&window_.controller(), &RunController::statusChanged, this, [this] {
        const EngineState state = window_.controller().status().state;
        if (state == EngineState::failed) {
            std::fprintf(stderr, "kvasir: %s\n", window_.controller().status().error.message().c_str());
            QApplication::exit(1);
        }
        if (state != EngineState::finished || finished_) return;
        finished_ = true;
        after(700, [this] { whenFinished(); });
    });
}

void ScreenshotTour::whenFinished() {
    grab(&window_, QStringLiteral("explore-light.png"));
    window_.setTheme(QStringLiteral("dark"));
    window_.resize(1920, 1080);
    after(300, [this] {
        window_.restoreDefaultLayout();
        // the distribution view asks for its picture when it is seen
        after(2500, [this] {
            grab(&window_, QStringLiteral("explore-dark.png"));
            window_.setTheme(QStringLiteral("light"));
            window_.setPresent(true);
            after(700, [this] {
                grab(&window_, QStringLiteral("present-light.png"));
                window_.setPresent(false);
                const Experiment& e = window_.controller().experiment();
                const int lane = int(e.lanes.size()) - 1;
                SchemeDialog dialog(e.lanes[size_t(lane)].spec, &window_.controller().model()->config(),
                                    Theme::instance().laneOf(lane, e.reference), false, &window_);
                dialog.show();
                QApplication::processEvents();
                grab(&dialog, QStringLiteral("scheme-editor.png"));
                QApplication::exit(0);
            });
        });
    });
}

ResponseBenchmark::ResponseBenchmark(MainWindow& window) : window_(window) {
    heart_.setTimerType(Qt::PreciseTimer);
    heart_.setInterval(1);
    connect(&heart_, &QTimer::timeout, this, &ResponseBenchmark::beat);
    connect(&window_.controller(), &RunController::recordsAppended, this, [this] {
        if (first_token_ms_ < 0) first_token_ms_ = millisecondsSinceProcessStart();
    });
    connect(&window_.controller(), &RunController::runBegan, this, [this] {
        since_beat_.start();
        running_ = true;
        heart_.start();
    });
    connect(&window_.controller(), &RunController::statusChanged, this, [this] {
        const EngineState state = window_.controller().status().state;
        if (running_ &&
            (state == EngineState::finished || state == EngineState::failed || state == EngineState::stopped))
            report();
        else if (state == EngineState::failed)
            report();
    });
}

void ResponseBenchmark::start() {
    window_.controller().start();
}

void ResponseBenchmark::beat() {
    longest_ms_ = std::max(longest_ms_, double(since_beat_.nsecsElapsed()) * 1e-6);
    since_beat_.start();
    ++n_beats_;
}

void ResponseBenchmark::report() {
    running_ = false;
    heart_.stop();
    const EngineStatus& s = window_.controller().status();
    if (s.state == EngineState::failed) std::fprintf(stderr, "kvasir: %s\n", s.error.message().c_str());
    std::printf("first_token_ms %.0f\n", first_token_ms_);
    std::printf("longest_gap_ms %.1f\n", longest_ms_);
    std::printf("event_loop_turns %lld\n", static_cast<long long>(n_beats_));
    std::printf("tokens %d\n", s.n_done);
    std::printf("run_seconds %.2f\n", s.elapsed_s);
    std::fflush(stdout);
    QApplication::exit(s.state == EngineState::failed ? 1 : 0);
}

}  // namespace kvasir::ui
