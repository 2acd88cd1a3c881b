// SPDX-License-Identifier: GPL-3.0-or-later
// What stands above a lane's text: chip, name, badges, and figures that keep their place. Names give way before
// figures, and figures go behind the chevron before one of them is cut.
#pragma once

#include <QToolButton>
#include <QWidget>

#include "ui/lanes/lane_metrics.h"

namespace kvasir::ui {

class LaneHeader : public QWidget {
    Q_OBJECT
 public:
    explicit LaneHeader(QWidget* parent = nullptr);

    void setContent(const LaneHeaderContent& content);
    const LaneHeaderContent& content() const { return content_; }
    void setCompact(bool compact);  ///< one line: chip, name, KL with n, chevron for the rest
    bool compact() const { return compact_; }
    QToolButton* menuButton() { return menu_; }
    QToolButton* chevron() { return chevron_; }
    QSize sizeHint() const override;
    static int heightOf(bool compact);
    /// Figures that are printed at this width; the others are behind the chevron.
    QVector<LaneMetric> shownMetrics() const;

 protected:
    void paintEvent(QPaintEvent*) override;
    void resizeEvent(QResizeEvent*) override;

 private:
    int paintName(QPainter& painter, int y, int right);
    void paintFigures(QPainter& painter);
    void paintShort(QPainter& painter);
    void placeButtons();
    int figuresTop() const;  // of the part that changes while a run goes on
    QVector<int> widthsOf(const QVector<LaneMetric>& metrics) const;

    LaneHeaderContent content_;
    bool compact_ = false;
    QToolButton *menu_, *chevron_;
};

}  // namespace kvasir::ui
