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
#include "ui/shell/plot_dock.h"
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

void ScreenshotTour::grab(QWidget* widget, const QString& name) {
    const QString path = QDir(folder_).filePath(name + QStringLiteral(".png"));
    if (!widget->grab().save(path)) std::fprintf(stderr, "kvasir: cannot write %s\n", qPrintable(path));
}

/// Each step has its own turn, `wait_ms` after the one before.
void ScreenshotTour::take(std::vector<Step> steps) {
    if (steps.empty()) return;
    const int wait_ms = steps.front().wait_ms;  // read before the list is moved into the lambda
    QTimer::singleShot(wait_ms, this, [this, steps = std::move(steps)]() mutable {
        steps.front().run();
        steps.erase(steps.begin());
        take(std::move(steps));
    });
}

/// Steps that show `name` in both themes.
void ScreenshotTour::both(std::vector<Step>& steps, const QString& name, int settle_ms) {
    for (const char* theme : {"dark", "light"}) {
        const QString kind = QLatin1String(theme);
        steps.push_back({0, [this, kind] { window_.setTheme(kind); }});
        steps.push_back({settle_ms, [this, kind, name] { grab(&window_, name + QLatin1Char('-') + kind); }});
    }
}

void ScreenshotTour::start() {
    QDir().mkpath(folder_);
    window_.setTheme(QStringLiteral("light"));
    window_.resize(1366, 768);
    QTimer::singleShot(0, this, [this] { window_.restoreDefaultLayout(); });
    connect(&window_.controller(), &RunController::modelChanged, this, [this] {
        std::vector<Step> steps;
        both(steps, QStringLiteral("first-start"), 400);
        steps.push_back({0, [this] { window_.actions()["run"]->trigger(); }});
        take(std::move(steps));
    });
    connect(&window_.controller(), &RunController::statusChanged, this, [this] {
        const EngineState state = window_.controller().status().state;
        if (state == EngineState::failed) {
            std::fprintf(stderr, "kvasir: %s\n", window_.controller().status().error.message().c_str());
            QApplication::exit(1);
        }
        if (state != EngineState::finished || finished_) return;
        finished_ = true;
        whenFinished();
    });
}

void ScreenshotTour::whenFinished() {
    std::vector<Step> steps;
    steps.push_back({700, [this] { grab(&window_, QStringLiteral("explore-light")); }});
    steps.push_back({0, [this] {
                         window_.setTheme(QStringLiteral("dark"));
                         window_.resize(1920, 1080);
                     }});
    steps.push_back({300, [this] { window_.restoreDefaultLayout(); }});
    // the distribution view asks for its picture when it is seen
    steps.push_back({2500, [this] { grab(&window_, QStringLiteral("explore-dark")); }});
    steps.push_back({0, [this] { window_.setPresent(true); }});
    both(steps, QStringLiteral("present"), 700);
    steps.push_back({0, [this] { window_.setPresent(false); }});
    for (const char* theme : {"dark", "light"})
        steps.push_back({300, [this, theme] {
                             window_.setTheme(QLatin1String(theme));
                             grabSchemeEditor(QStringLiteral("scheme-editor-") + QLatin1String(theme));
                         }});
    steps.push_back({0, [] { QApplication::exit(0); }});
    take(std::move(steps));
}

void ScreenshotTour::grabSchemeEditor(const QString& name) {
    const Experiment& e = window_.controller().experiment();
    const int lane = int(e.lanes.size()) - 1;
    SchemeDialog dialog(e.lanes[size_t(lane)].spec, &window_.controller().model()->config(),
                        Theme::instance().laneOf(e, lane), false, &window_);
    dialog.show();
    QApplication::processEvents();
    grab(&dialog, name);
}

ResponseBenchmark::ResponseBenchmark(MainWindow& window) : window_(window) {
    heart_.setTimerType(Qt::PreciseTimer);
    heart_.setInterval(25);  // every beat takes the engine off a core
    connect(&heart_, &QTimer::timeout, this, &ResponseBenchmark::beat);
    connect(&window_.controller(), &RunController::recordsAppended, this, [this] {
        if (!running_ || first_token_ms_ >= 0) return;
        first_token_ms_ = millisecondsSinceProcessStart();
        tokens_come_ = true;
        tokens_.start();
    });
    plots_.resize(window_.plotDocks().size());
    for (size_t i = 0; i < plots_.size(); ++i)
        connect(window_.plotDocks()[i]->plot(), &PlotView::updated, this, [this, i] {
            if (!tokens_come_) return;
            Seen& plot = plots_[i];
            const double now = double(tokens_.elapsed());
            plot.longest_ms = std::max(plot.longest_ms, now - plot.last_ms);
            plot.last_ms = now;
            ++plot.n;
        });
    connect(&window_.controller(), &RunController::runBegan, this, [this] {
        if (window_.controller().runIsFromFile()) {  // a session took the place of the experiment that was to run
            running_ = false;
            if (window_.controller().model()) start();
            return;
        }
        since_beat_.start();
        cpu_before_ms_ = FramePace::threadCpuMs();
        running_ = true;
        heart_.start();
    });
    connect(&window_.controller(), &RunController::statusChanged, this, [this] {
        const EngineState state = window_.controller().status().state;
        if (tokens_come_ && !takes_tokens(state)) {
            tokens_come_ = false;
            tokens_ms_ = double(tokens_.elapsed());
        }
        if (running_ &&
            (state == EngineState::finished || state == EngineState::failed || state == EngineState::stopped))
            report();
        else if (state == EngineState::failed)
            report();
        else if (!running_ && window_.controller().model() &&
                 (state == EngineState::idle || state == EngineState::stopped))
            start();
    });
}

void ResponseBenchmark::start() {
    Experiment e = window_.controller().experiment();
    e.n_tokens = e.min_tokens = kTokens;
    window_.controller().setExperiment(e);
    window_.controller().start();
}

void ResponseBenchmark::beat() {
    longest_ms_ = std::max(longest_ms_, double(since_beat_.nsecsElapsed()) * 1e-6);
    since_beat_.start();
    ++n_beats_;
}

void ResponseBenchmark::countPictures() {
    double least = -1, longest = 0;
    for (size_t i = 0; i < plots_.size(); ++i) {
        PlotView* plot = window_.plotDocks()[i]->plot();
        if (!plot->isVisible() || plot->visibleRegion().isEmpty()) continue;
        const double rate = tokens_ms_ > 0 ? 1000 * plots_[i].n / tokens_ms_ : 0;
        least = least < 0 ? rate : std::min(least, rate);
        longest = std::max({longest, plots_[i].longest_ms, tokens_ms_ - plots_[i].last_ms});
    }
    if (least < 0) return;
    std::printf("plot_updates_per_second %.2f\n", least);
    std::printf("longest_plot_wait_ms %.0f\n", longest);
}

void ResponseBenchmark::report() {
    const double drawing_ms = running_ ? FramePace::threadCpuMs() - cpu_before_ms_ : 0;
    running_ = false;
    heart_.stop();
    const EngineStatus& s = window_.controller().status();
    if (s.state == EngineState::failed) std::fprintf(stderr, "kvasir: %s\n", s.error.message().c_str());
    std::printf("first_token_ms %.0f\n", first_token_ms_);
    std::printf("longest_gap_ms %.1f\n", longest_ms_);
    std::printf("event_loop_turns %lld\n", static_cast<long long>(n_beats_));
    std::printf("tokens %d\n", s.n_done);
    std::printf("run_seconds %.2f\n", s.elapsed_s);
    std::printf("drawing_seconds %.2f\n", drawing_ms * 1e-3);
    countPictures();
    if (!window_.controller().run().empty())
        std::printf("steps_per_second %.1f\n", window_.controller().run().steps_per_second());
    std::fflush(stdout);
    QApplication::exit(s.state == EngineState::failed ? 1 : 0);
}

}  // namespace kvasir::ui
