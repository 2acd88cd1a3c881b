// SPDX-License-Identifier: GPL-3.0-or-later
// A random walk over the real window: what a person can do to it, in an order nobody would think of. Every step is said
// before it is done, so that the last lines name what a crash came from; after every step the window must be sound.
#pragma once

#include <QObject>
#include <QPointer>
#include <QString>
#include <QStringList>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "ui/shell/main_window.h"
#include "ui/walk/walk_files.h"

namespace kvasir::test {

/// The choices of one step. Each step has its own, so that it does the same whatever the steps before it drew.
class Dice {
 public:
    Dice(uint64_t seed, int step) : engine_(seed * 1000003 + uint64_t(step)) {}
    int below(int n) { return n < 2 ? 0 : int(engine_() % uint64_t(n)); }
    bool oneIn(int n) { return below(n) == 0; }
    template <class List>
    auto of(const List& list) {
        return *(std::begin(list) + below(int(std::size(list))));
    }

 private:
    std::mt19937_64 engine_;
};

class Walk {
 public:
    /// Everything that is written ends in `folder`, settings included.
    Walk(uint64_t seed, const QString& folder);
    ~Walk();

    /// "" when `n_steps` steps were sound, else what was not.
    QString run(int n_steps);

    // ---- for the moves
    ui::MainWindow& window() { return *window_; }
    Dice& dice() { return dice_; }
    WalkFiles& files() { return files_; }
    void say(const QString& what);  ///< to stderr, at once
    void wait(int ms);              ///< the event loop turns
    void waitForRun();              ///< until it is over, or for some seconds
    void openWindow();              ///< closes the one that is there
    void boundExperiment();         ///< what a spin box or a file may ask for would take hours

 private:
    void answerWhatIsOpen();  ///< a dialog or a menu, see walk_dialogs.cpp
    void armAnswers();

    uint64_t seed_;
    QString folder_;
    int step_ = 0;
    Dice dice_, answers_;
    WalkFiles files_;
    std::unique_ptr<ui::Settings> settings_;
    std::unique_ptr<ui::MainWindow> window_;
    QObject alive_;            ///< whose timers end with the walk
    QPointer<QWidget> asked_;  ///< the dialog that is being answered
    int n_answers_ = 0;        ///< in this step
};

struct Move {
    const char* name;
    int weight;
    void (*make)(Walk&);
};
const std::vector<Move>& experimentMoves();  ///< lanes, runs, files: what the window's own functions do
const std::vector<Move>& inputMoves();       ///< mouse, keys, sizes: what comes from outside

/// One click, wheel turn or key somewhere in `root`, which need not be the window: dialogs are poked by the same hand.
void pokeSomewhere(QWidget& root, Dice& dice, const std::function<void(const QString&)>& say);

/// "" or what is not as it must be between two steps.
QString unsound(ui::MainWindow& window);

/// What Qt warned of since the last call, without what is known to be harmless.
QStringList takeWarnings();
void collectWarnings();

}  // namespace kvasir::test
