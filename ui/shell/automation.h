// SPDX-License-Identifier: GPL-3.0-or-later
// The window driven without hands: pictures of it, and how fast it answers.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>
#include <functional>
#include <vector>

namespace kvasir::ui {

class MainWindow;

/// Runs the experiment of the window, saves pictures into a folder, quits.
class ScreenshotTour : public QObject {
    Q_OBJECT
 public:
    ScreenshotTour(MainWindow& window, QString folder);
    void start();

 private:
    struct Step {
        int wait_ms;
        std::function<void()> run;
    };
    void take(std::vector<Step> steps);
    void both(std::vector<Step>& steps, const QString& name, int settle_ms);
    void grab(QWidget* widget, const QString& name);
    void grabSchemeEditor(const QString& name);
    void whenFinished();

    MainWindow& window_;
    QString folder_;
    bool finished_ = false;
};

/// Runs the first experiment, kTokens tokens long, and prints: milliseconds from the start of the process to the first
/// token, the longest time in which the event loop did not turn while the run was under way, how often the plots in
/// sight showed what came (the least of them, from the first to the last token) and the longest that one took, what
/// drawing took, and the steps per second to compare with those of `kvasir-cli run --tokens 256 --min-tokens 256
/// --json`.
class ResponseBenchmark : public QObject {
    Q_OBJECT
 public:
    static constexpr int kTokens = 256;  ///< long enough that drawing the first picture does not count
    explicit ResponseBenchmark(MainWindow& window);
    void start();

 private:
    void beat();
    void report();
    void countPictures();

    /// One plot in sight.
    struct Seen {
        int n = 0;
        double last_ms = 0, longest_ms = 0;
    };

    MainWindow& window_;
    QTimer heart_;
    QElapsedTimer since_beat_;
    double longest_ms_ = 0, first_token_ms_ = -1;
    double cpu_before_ms_ = 0;  // of this thread, when the run began
    qint64 n_beats_ = 0;
    QElapsedTimer tokens_;     // since the first token
    double tokens_ms_ = 0;     // until the last one
    std::vector<Seen> plots_;  // in the order of the docks
    bool tokens_come_ = false;
    bool running_ = false;
};

/// Milliseconds since the process was started, by the kernel's clock.
double millisecondsSinceProcessStart();

}  // namespace kvasir::ui
