// SPDX-License-Identifier: GPL-3.0-or-later
// Lanes as tabs where there is no room for all of them, and the lane the chosen one is compared with.
#pragma once

#include <QVector>
#include <QWidget>

#include "ui/shell/theme.h"

class QTabBar;
class QToolButton;

namespace kvasir::ui {

class LaneTabs : public QWidget {
    Q_OBJECT
 public:
    explicit LaneTabs(QWidget* parent = nullptr);

    struct Lane {
        int lane = 0;
        LaneLook look;
        QString name;
        bool reference = false;
    };
    /// Keeps what was chosen where it is still there; else the first lane beside the reference.
    void setLanes(const QVector<Lane>& lanes);
    int lane() const;                       ///< chosen, -1: none
    int beside() const { return beside_; }  ///< compared with, -1: none
    void choose(int lane);
    void setBesideShown(bool shown);  ///< is there room for it

 signals:
    void changed();

 protected:
    void resizeEvent(QResizeEvent*) override;

 private:
    void restyle();
    void nameTabs();
    void fillMenu();
    void nameButton();
    const Lane* find(int lane) const;

    QTabBar* bar_;
    QToolButton* with_;
    QVector<Lane> lanes_;
    int beside_ = -1;
    bool wants_none_ = false;
};

}  // namespace kvasir::ui
