// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/walk/walk.h"

#include <unistd.h>
#include <QApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QTimer>
#include <cstdio>

#include "support/default_model.h"

namespace kvasir::test {

namespace {

// A step that takes longer hangs: SIGALRM ends the process, and the last line said which one it was.
constexpr unsigned kHangs = kSanitized ? 600 : 200;  // s

QStringList warnings;

void collect(QtMsgType type, const QMessageLogContext&, const QString& message) {
    if (type != QtDebugMsg && type != QtInfoMsg) warnings << message;
    std::fprintf(stderr, "    Qt: %s\n", qPrintable(message));
}

bool harmless(const QString& warning) {
    return warning.contains(QLatin1String("This plugin does not support")) ||  // of the offscreen platform
           warning.contains(QLatin1String("OpenType support missing")) ||      // of the fonts installed
           // Qt names no window that it makes for docks dragged together
           warning.contains(QLatin1String("'objectName' not set for QDockWidget"));
}

const Move& drawMove(Dice& dice) {
    static const std::vector<Move> all = [] {
        std::vector<Move> moves = experimentMoves();
        moves.insert(moves.end(), inputMoves().begin(), inputMoves().end());
        return moves;
    }();
    int total = 0;
    for (const Move& move : all)
        total += move.weight;
    int at = dice.below(total);
    for (const Move& move : all)
        if ((at -= move.weight) < 0) return move;
    return all.back();
}

}  // namespace

void collectWarnings() {
    qInstallMessageHandler(collect);
}

QStringList takeWarnings() {
    QStringList taken = std::exchange(warnings, {});
    taken.removeIf(harmless);
    return taken;
}

Walk::Walk(uint64_t seed, const QString& folder)
    : seed_(seed), folder_(folder), dice_(seed, 0), answers_(seed, -1), files_(folder) {
    settings_ = std::make_unique<ui::Settings>();
    openWindow();
    armAnswers();
}

Walk::~Walk() = default;

void Walk::say(const QString& what) {
    std::fprintf(stderr, "step %d: %s\n", step_, qPrintable(what));
}

void Walk::wait(int ms) {
    QEventLoop loop;
    QTimer::singleShot(ms, &loop, &QEventLoop::quit);
    loop.exec();
}

void Walk::waitForRun() {
    QElapsedTimer since;
    since.start();
    wait(40);
    while (window_->controller().underWay() && since.elapsed() < 4000)
        wait(15);
}

void Walk::openWindow() {
    if (window_) window_->close();
    window_ = std::make_unique<ui::MainWindow>(*settings_);
    window_->show();
    window_->openPath(files_.model(), false);
    for (int i = 0; i < 400 && !window_->controller().model(); ++i)
        wait(10);
    boundExperiment();
}

void Walk::boundExperiment() {
    Experiment e = window_->controller().experiment();
    e.n_tokens = std::min(e.n_tokens, 600);
    e.min_tokens = std::max(e.min_tokens, e.n_tokens / 2);  // the tiny model ends its text at once
    e.n_threads = e.n_threads < 1 ? 2 : std::min(e.n_threads, 3);
    if (e.prompt.size() > 4000) e.prompt.resize(4000);
    if (!(e == window_->controller().experiment())) window_->controller().setExperiment(e);
}

QString Walk::run(int n_steps) {
    takeWarnings();
    for (step_ = 1; step_ <= n_steps; ++step_) {
        dice_ = Dice(seed_, step_);
        answers_ = Dice(seed_ + 1, step_);
        n_answers_ = 0;
        alarm(kHangs);
        const Move& move = drawMove(dice_);
        say(QLatin1String(move.name));
        if (!QApplication::activeWindow()) window_->activateWindow();
        move.make(*this);
        wait(dice_.oneIn(3) ? dice_.below(60) : 0);
        if (!window_->isVisible()) openWindow();  // it was closed: that is what some of the steps do
        const QStringList warned = takeWarnings();
        QString problem = warned.isEmpty() ? QString() : QStringLiteral("Qt warned: ") + warned.join(QLatin1Char('\n'));
        if (problem.isEmpty()) problem = unsound(*window_);
        if (!problem.isEmpty()) return QStringLiteral("after step %1: %2").arg(step_).arg(problem);
    }
    alarm(kHangs);
    window_->close();
    window_.reset();
    wait(0);
    alarm(0);
    return takeWarnings().join(QLatin1Char('\n'));
}

}  // namespace kvasir::test
