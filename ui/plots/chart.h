// SPDX-License-Identifier: GPL-3.0-or-later
// The QCustomPlot under every plot: fixed margins, crosshair on its own layer, zoom and pan with Following or Held.
#pragma once

#include <qcustomplot.h>

#include "ui/shell/theme.h"

class QRubberBand;

namespace kvasir::ui {

/// Mouse: wheel zooms x, Shift+wheel y, drag pans, right-drag zooms to a box, double click follows.
/// Keys: arrows move the crosshair (Shift: by ten), + and - zoom, F follows.
class Chart : public QCustomPlot {
    Q_OBJECT
 public:
    explicit Chart(QWidget* parent = nullptr);

    static constexpr int kLeastArea = 60;  ///< px: no plot is drawn into less height than this

    bool following() const { return following_; }
    void setFollowing(bool follow);  ///< true fits at once

    /// Colours and fonts of `theme`; nothing is replotted.
    virtual void applyTheme(const Theme& theme);
    /// Ranges that show all data.
    virtual void fit() = 0;
    /// Fits while following; then the data are drawn anew, and axes and grid only where they changed. Nothing before
    /// the chart is visible.
    void refresh();
    /// The label of an axis: cut with an ellipsis where there is no room, then whole in the tooltip.
    void setAxisLabel(QCPAxis& axis, const QString& text);

    void showCrosshair(double x);  ///< repaints its layer only, and only when it moved
    void hideCrosshair();

    /// A chart takes what there is; it asks for no more than its least size.
    QSize sizeHint() const override { return minimumSize(); }
    QSize minimumSizeHint() const override { return minimumSize(); }

    /// Width and height a picture of this chart has, at 96 units an inch.
    virtual QSize exportSize() const { return {643, 320}; }  // 170 mm wide
    /// Paints the chart without its crosshair in the colours of `theme`, whatever is on screen.
    void paintForExport(QCPPainter& painter, QSize size, const Theme& theme);

 signals:
    void shown();  ///< what refresh() drew is on the screen
    void followingChanged(bool follow);
    void pointed(double x, double y);  ///< the mouse is over the axes
    void pointerLeft();
    void crosshairStepped(int tokens);  ///< arrow keys
    void rowStepped(int rows);          ///< up and down keys
    void crosshairJumped(bool to_end);  ///< Home, End
    void laneClicked(int lane);

 protected:
    /// Lane whose label is at this place, or -1.
    virtual int laneLabelAt(QPointF) const { return -1; }
    /// Places what stands side by side or above each other, for a picture of this size.
    virtual void arrange(QSize) {}
    /// What the tooltip says at this place; "": nothing.
    virtual QString tipAt(QPointF at) const;
    /// The next refresh() draws axes and grid too.
    void changeAxes() { axes_changed_ = true; }
    /// Least width of the x range.
    virtual double minimumSpan() const { return 2; }
    const Theme& theme() const { return *theme_; }

    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void showEvent(QShowEvent* event) override;

 private:
    void hold();
    void replotCrosshair();
    void fitTexts();
    void widenMargin(QCPAxisRect& rect);
    QVector<QCPRange> ranges() const;
    void zoom(QCPAxis& axis, double factor, double centre);
    void zoomToBox(const QRect& box);

    enum class Drag { none, pressed, pan, box };
    const Theme* theme_ = &Theme::instance();
    QCPItemStraightLine* crosshair_;
    QRubberBand* band_ = nullptr;
    Drag drag_ = Drag::none;
    QPoint press_;
    QPoint last_;
    bool following_ = true;
    bool stale_ = true;
    bool drawn_ = false;  ///< there is something the crosshair can be drawn over
    bool axes_changed_ = true, replot_waits_ = false;
    bool fresh_ = false;               ///< drawn by refresh() and not on the screen yet
    QVector<QCPRange> drawn_ranges_;   ///< of the axes as they stand on the screen
    QHash<QCPAxis*, QString> labels_;  ///< whole
};

}  // namespace kvasir::ui
