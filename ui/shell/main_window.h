// SPDX-License-Identifier: GPL-3.0-or-later
// The window: lanes in the middle, docks around them, one row of controls above.
#pragma once

#include <QElapsedTimer>
#include <QMainWindow>
#include <functional>
#include <vector>

#include "ui/shell/actions.h"
#include "ui/shell/experiment_edits.h"
#include "ui/shell/input_guard.h"
#include "ui/shell/run_controller.h"
#include "ui/shell/session_files.h"
#include "ui/shell/settings.h"
#include "ui/shell/theme.h"
#include "ui/shell/view_state.h"

class QMenu;

namespace kvasir::ui {

class ExperimentPanel;
class DockLayout;
class ExperimentDock;
class LanesView;
class MessageArea;
class PlotDock;
class RunMessages;
class RunStatus;
class RunToolbar;
class StartBanner;
struct ExportJob;

class MainWindow : public QMainWindow {
    Q_OBJECT
 public:
    /// `data_folder`: where the last session and the journals are kept; by default the user's, or nowhere where
    /// settings are not remembered.
    explicit MainWindow(Settings& settings, const QString& data_folder = {});
    ~MainWindow() override;

    RunController& controller() { return controller_; }
    ViewState& view() { return view_; }
    Actions& actions() { return actions_; }
    ExperimentEdits& edits() { return edits_; }
    LanesView& lanes() { return *lanes_; }
    MessageArea& messages() { return *messages_; }
    RunStatus& status() { return *status_; }
    SessionFiles& files() { return files_; }
    const std::vector<PlotDock*>& plotDocks() const { return plots_; }

    /// Loads the model of the last experiment or the default one; says what to do when there is none.
    void loadFirstModel();
    /// Any file a person hands over. A model asks before it replaces the one that is open, unless `ask` is false.
    void openPath(const QString& path, bool ask = true);
    void saveSessionTo(const QString& path) { files_.saveTo(path); }
    void openSession(const QString& path);
    void exportAllTo(const QString& folder);

    void setTheme(const QString& name);  ///< auto, light, dark, contrast
    void setTypeScale(double scale);
    void restoreDefaultLayout();
    void setPresent(bool present);
    void memoryRanOut();  ///< for something that the window did: ends the run, whose journal goes on to be there
    void quitUnasked();   ///< as Ctrl+Q, from a signal: nobody is there to answer a question
    void editLane(int lane);

 signals:
    void sessionSaved(const QString& path, const QString& problem);  ///< problem: "" when it was written
    void sessionOpened(const QString& path, const QString& problem);
    void exported(int n_files, const QString& problem);

 protected:
    void closeEvent(QCloseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    bool event(QEvent* event) override;

 private:
    // main_window.cpp
    void makeCentre();
    void makeDocks();
    void connectController();
    void updateActions();
    void updateBanner();
    // main_window_actions.cpp
    void connectActions();
    void connectViewActions();
    void fillMenus();
    void fillModelMenu();
    void fillTextMenu();
    void fillLaneMenu(int lane, QMenu* menu);
    void chooseMode(Mode mode);
    void makeEqual();
    void editText();
    void addLane();
    void askForCommand();
    void about();
    // main_window_files.cpp
    void openWithDialog();
    void openModel(const QString& path, bool ask);
    void openText(const QString& path);
    void connectFiles();
    enum class Keep { new_run, both, undecided };
    Keep askWhichRunStays();
    void save(bool ask_name);
    bool mayReplaceResults();
    void showTitle();
    void exportWithDialog(const PlotDock* chosen);
    void exportAll();
    void runJobs(std::vector<ExportJob> jobs);
    QString folder() const;
    nlohmann::json viewJson() const;
    void applyViewJson(const nlohmann::json& view);
    // main_window_view.cpp
    void applyTheme();
    void followAll();
    void boundMinimum();
    void focusPane(int by);

    Settings& settings_;
    RunController controller_;
    SessionFiles files_;
    ViewState view_;
    ExperimentEdits edits_;
    Actions actions_;
    InputGuard input_guard_;
    RunToolbar* toolbar_ = nullptr;
    MessageArea* messages_ = nullptr;
    StartBanner* banner_ = nullptr;
    LanesView* lanes_ = nullptr;
    ExperimentDock* experiment_dock_ = nullptr;
    ExperimentPanel* panel_ = nullptr;
    std::vector<PlotDock*> plots_;
    DockLayout* layout_ = nullptr;
    RunStatus* status_ = nullptr;
    EngineState last_state_ = EngineState::idle;
    QString theme_name_, add_lane_tip_;
    double scale_ = 1, scale_before_present_ = 1;
    bool present_ = false, applying_theme_ = false, unasked_ = false;
};

}  // namespace kvasir::ui
