// SPDX-License-Identifier: GPL-3.0-or-later
// What will happen, and the button that begins it: above the lanes before a run. Where the words have no room beside
// the buttons they stand above them, and the second sentence leaves; the tooltip has what is cut.
#pragma once

#include <QFrame>

class QBoxLayout;
class QPushButton;

namespace kvasir::ui {

class OneLineLabel;

class StartBanner : public QFrame {
    Q_OBJECT
 public:
    explicit StartBanner(QWidget* parent = nullptr);

    void setWords(const QString& title, const QString& text);
    QPushButton* runButton() { return run_; }
    QPushButton* lastSessionButton() { return last_; }

 protected:
    void resizeEvent(QResizeEvent*) override;
    bool event(QEvent* event) override;

 private:
    void arrange();

    QBoxLayout* row_;
    OneLineLabel *title_, *text_;
    QPushButton *last_, *run_;
};

}  // namespace kvasir::ui
