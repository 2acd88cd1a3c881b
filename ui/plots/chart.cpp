// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/chart.h"

#include <QHelpEvent>
#include <QRubberBand>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "ui/plots/plot_style.h"

namespace kvasir::ui {

namespace {
constexpr int kDragThreshold = 4;  // px before a press becomes a drag

/// How powers are written ("10" with an exponent, not "1 · 10") QCustomPlot tells an axis' painter only when it draws:
/// before that, the room that its figures need is measured too wide.
class AxisWithPowers : public QCPAxis {
 public:
    static void tell(QCPAxis& axis) {
        QImage nowhere(1, 1, QImage::Format_RGB32);
        QCPPainter painter(&nowhere);
        painter.setMode(QCPPainter::pmNoCaching);
        (axis.*&AxisWithPowers::draw)(&painter);
    }
};
}  // namespace

Chart::Chart(QWidget* parent) : QCustomPlot(parent) {
    setPlottingHint(QCP::phFastPolylines);
    setPlottingHint(QCP::phImmediateRefresh, false);  // all plots go to the screen together
    setAutoAddPlottableToLegend(false);
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setContextMenuPolicy(Qt::PreventContextMenu);  // the right button draws a zoom box
    crosshair_ = new QCPItemStraightLine(this);
    crosshair_->setLayer(QStringLiteral("overlay"));  // buffered: moving it repaints nothing else
    crosshair_->setSelectable(false);
    crosshair_->setVisible(false);
    // The data have a buffer of their own: while a run grows, axes and grid are not drawn again.
    layer(QStringLiteral("main"))->setMode(QCPLayer::lmBuffered);
    connect(this, &QCustomPlot::afterLayout, this, &Chart::fitTexts);
    connect(this, &QCustomPlot::afterReplot, this, [this] {
        drawn_ = true;
        replot_waits_ = axes_changed_ = false;
        drawn_ranges_ = ranges();
    });
}

void Chart::setFollowing(bool follow) {
    if (follow) {
        fit();
        stale_ = true;
        if (isVisible()) replot(rpQueuedReplot);
    }
    if (follow == following_) return;
    following_ = follow;
    emit followingChanged(follow);
}

void Chart::hold() {
    if (!following_) return;
    following_ = false;
    emit followingChanged(false);
}

void Chart::applyTheme(const Theme& theme) {
    theme_ = &theme;
    changeAxes();
    setBackground(QBrush(theme.colour(QStringLiteral("base"))));
    crosshair_->setPen(QPen(theme.colour(QStringLiteral("text")), 1));
    for (QCPAxisRect* rect : axisRects()) {
        rect->setAutoMargins(QCP::msNone);
        for (QCPAxis* axis : rect->axes())
            styleAxis(*axis, theme);
    }
}

void Chart::resizeEvent(QResizeEvent* event) {
    arrange(event->size());
    QCustomPlot::resizeEvent(event);
}

void Chart::refresh() {
    if (following_) fit();
    stale_ = !isVisible();
    if (stale_) return;
    fresh_ = true;
    if (replot_waits_) return;
    if (drawn_ && !axes_changed_ && ranges() == drawn_ranges_) return layer(QStringLiteral("main"))->replot();
    replot_waits_ = true;
    replot(rpQueuedReplot);
}

QVector<QCPRange> Chart::ranges() const {
    QVector<QCPRange> ranges;
    for (const QCPAxisRect* rect : const_cast<Chart*>(this)->axisRects())  // QCustomPlot's own is not const
        for (const QCPAxis::AxisType side : {QCPAxis::atBottom, QCPAxis::atLeft})
            ranges << rect->axis(side)->range();
    return ranges;
}

void Chart::setAxisLabel(QCPAxis& axis, const QString& text) {
    if (labels_.contains(&axis) && labels_.value(&axis) == text) return;
    labels_[&axis] = text;
    axis.setLabel(text);
    changeAxes();
}

/// Between layout and drawing: what stands on the axes is cut to the room that they have now.
void Chart::fitTexts() {
    for (QCPAxisRect* rect : axisRects()) {
        for (const QCPAxis::AxisType side : {QCPAxis::atLeft, QCPAxis::atBottom}) {
            QCPAxis* axis = rect->axis(side);
            fitTicks(*axis);
            if (side == QCPAxis::atLeft) widenMargin(*rect);
            const QString whole = labels_.value(axis);
            if (whole.isEmpty()) continue;
            // the label stands in the middle of its axis and may use the margins beside it
            const QRect area = rect->rect(), outer = rect->outerRect();
            const bool across = side == QCPAxis::atBottom;
            const int before = across ? area.left() - outer.left() : area.top() - outer.top(),
                      after = across ? outer.right() - area.right() : outer.bottom() - area.bottom();
            const int room = (across ? area.width() : area.height()) + 2 * std::min(before, after);
            axis->setLabel(QFontMetricsF(axis->labelFont()).elidedText(whole, Qt::ElideRight, std::max(room, 0)));
        }
    }
}

/// Long figures do not push the label of their axis out of the picture: they take from its width. The margin stays
/// until what is drawn changes, so that the axis does not jump while a run goes on.
void Chart::widenMargin(QCPAxisRect& rect) {
    QCPAxis* axis = rect.axis(QCPAxis::atLeft);
    if (axis->scaleType() == QCPAxis::stLogarithmic) AxisWithPowers::tell(*axis);
    rect.setMinimumMargins(QMargins(rect.margins().left(), 0, 0, 0));
    rect.setAutoMargins(QCP::msLeft);
    rect.update(QCPLayoutElement::upMargins);
    rect.setAutoMargins(QCP::msNone);
}

QString Chart::tipAt(QPointF at) const {
    for (auto it = labels_.begin(); it != labels_.end(); ++it) {
        const QCPAxis* axis = it.key();
        if (axis->label() == it.value()) continue;
        const QRect area = axis->axisRect()->rect();
        const bool on = axis->axisType() == QCPAxis::atLeft ? at.x() < area.left() : at.y() > area.bottom();
        if (on) return it.value();
    }
    return {};
}

bool Chart::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QCustomPlot::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const QString tip = tipAt(help->pos());
    if (tip.isEmpty()) {
        QToolTip::hideText();
        event->ignore();
    } else {
        QToolTip::showText(help->globalPos(), tip, this);
    }
    return true;
}

void Chart::showEvent(QShowEvent* event) {
    QCustomPlot::showEvent(event);
    if (!stale_) return;
    stale_ = false;
    replot(rpQueuedReplot);
}

void Chart::showCrosshair(double x) {
    if (crosshair_->visible() && crosshair_->point1->key() == x) return;
    crosshair_->point1->setCoords(x, 1);  // any two heights that a logarithmic axis has as well
    crosshair_->point2->setCoords(x, 2);
    crosshair_->setVisible(true);
    replotCrosshair();
}

void Chart::replotCrosshair() {
    if (isVisible() && drawn_) layer(QStringLiteral("overlay"))->replot();
}

void Chart::hideCrosshair() {
    if (!crosshair_->visible()) return;
    crosshair_->setVisible(false);
    replotCrosshair();
}

void Chart::paintForExport(QCPPainter& painter, QSize size, const Theme& theme) {
    const Theme& screen = *theme_;
    const bool crossed = crosshair_->visible();
    crosshair_->setVisible(false);
    const QSize least = minimumSize();
    applyTheme(theme);
    arrange(size);
    toPainter(&painter, size.width(), size.height());
    applyTheme(screen);
    arrange(this->size());
    setMinimumSize(least);
    crosshair_->setVisible(crossed);
    drawn_ranges_.clear();  // the layout was that of the page
    if (isVisible()) replot(rpQueuedReplot);
}

void Chart::zoom(QCPAxis& axis, double factor, double centre) {
    QCPRange range = axis.range();
    if (axis.scaleType() == QCPAxis::stLogarithmic) {
        range.lower = centre * std::pow(range.lower / centre, factor);
        range.upper = centre * std::pow(range.upper / centre, factor);
        if (range.upper / range.lower < 1.2 || range.upper / range.lower > 1e15) return;
    } else {
        range.lower = centre + (range.lower - centre) * factor;
        range.upper = centre + (range.upper - centre) * factor;
        if (&axis == xAxis && range.size() < minimumSpan()) return;
    }
    if (!QCPRange::validRange(range)) return;
    axis.setRange(range);
    hold();
    replot(rpQueuedReplot);
}

void Chart::zoomToBox(const QRect& box) {
    QCPAxisRect* axes = axisRectAt(box.center());
    if (!axes) return;
    const QRect rect = box.intersected(axes->rect());
    if (rect.width() < kDragThreshold || rect.height() < kDragThreshold) return;
    QCPAxis *across = axes->axis(QCPAxis::atBottom), *up = axes->axis(QCPAxis::atLeft);
    const QCPRange x(across->pixelToCoord(rect.left()), across->pixelToCoord(rect.right()));
    const QCPRange y(up->pixelToCoord(rect.bottom()), up->pixelToCoord(rect.top()));
    if (x.size() < minimumSpan() || !QCPRange::validRange(x) || !QCPRange::validRange(y)) return;
    across->setRange(x);
    up->setRange(y);
    hold();
    replot(rpQueuedReplot);
}

void Chart::wheelEvent(QWheelEvent* event) {
    const QPoint delta = event->angleDelta();
    const int turn = delta.y() ? delta.y() : delta.x();
    if (turn == 0) return event->ignore();
    const double factor = std::pow(0.85, turn / 120.0);
    if (event->modifiers() & Qt::ShiftModifier)
        zoom(*yAxis, factor, yAxis->pixelToCoord(event->position().y()));
    else
        zoom(*xAxis, factor, xAxis->pixelToCoord(event->position().x()));
    event->accept();
}

void Chart::mousePressEvent(QMouseEvent* event) {
    press_ = last_ = event->pos();
    if (event->button() == Qt::LeftButton) {
        drag_ = Drag::pressed;
    } else if (event->button() == Qt::RightButton) {
        drag_ = Drag::box;
        if (!band_) band_ = new QRubberBand(QRubberBand::Rectangle, this);
    }
    event->accept();
}

void Chart::mouseMoveEvent(QMouseEvent* event) {
    const QPoint at = event->pos();
    if (drag_ == Drag::pressed && (at - press_).manhattanLength() >= kDragThreshold) drag_ = Drag::pan;
    if (drag_ == Drag::pan) {
        for (QCPAxis* axis : {xAxis, yAxis}) {
            const bool horizontal = axis == xAxis;
            const int from = horizontal ? last_.x() : last_.y(), to = horizontal ? at.x() : at.y();
            if (axis->scaleType() == QCPAxis::stLogarithmic) {
                const double ratio = axis->pixelToCoord(from) / axis->pixelToCoord(to);
                axis->setRange(axis->range().lower * ratio, axis->range().upper * ratio);
            } else {
                const double shift = axis->pixelToCoord(from) - axis->pixelToCoord(to);
                axis->setRange(axis->range().lower + shift, axis->range().upper + shift);
            }
        }
        last_ = at;
        hold();
        replot(rpQueuedReplot);
    } else if (drag_ == Drag::box) {
        band_->setGeometry(QRect(press_, at).normalized());
        band_->show();
    } else {
        setCursor(laneLabelAt(at) >= 0 ? Qt::PointingHandCursor : Qt::ArrowCursor);
        if (const QCPAxisRect* axes = axisRectAt(at); axes && axes->rect().contains(at))
            emit pointed(axes->axis(QCPAxis::atBottom)->pixelToCoord(at.x()),
                         axes->axis(QCPAxis::atLeft)->pixelToCoord(at.y()));
    }
    event->accept();
}

void Chart::mouseReleaseEvent(QMouseEvent* event) {
    const Drag drag = std::exchange(drag_, Drag::none);
    if (drag == Drag::box) {
        band_->hide();
        zoomToBox(QRect(press_, event->pos()).normalized());
    } else if (drag == Drag::pressed) {
        if (const int lane = laneLabelAt(event->pos()); lane >= 0) emit laneClicked(lane);
    }
    event->accept();
}

void Chart::mouseDoubleClickEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton) {
        if (laneLabelAt(event->pos()) < 0)
            setFollowing(true);
        else
            drag_ = Drag::pressed;  // two quick clicks on a label are two clicks
    }
    event->accept();
}

void Chart::leaveEvent(QEvent* event) {
    QCustomPlot::leaveEvent(event);
    emit pointerLeft();
}

void Chart::keyPressEvent(QKeyEvent* event) {
    const int step = event->modifiers() & Qt::ShiftModifier ? 10 : 1;
    switch (event->key()) {
        case Qt::Key_Left:
            return emit crosshairStepped(-step);
        case Qt::Key_Right:
            return emit crosshairStepped(step);
        case Qt::Key_Up:
            return emit rowStepped(step);
        case Qt::Key_Down:
            return emit rowStepped(-step);
        case Qt::Key_Home:
            return emit crosshairJumped(false);
        case Qt::Key_End:
            return emit crosshairJumped(true);
        case Qt::Key_Plus:
        case Qt::Key_Equal:
            return zoom(*xAxis, 0.7, xAxis->range().center());
        case Qt::Key_Minus:
            return zoom(*xAxis, 1 / 0.7, xAxis->range().center());
        case Qt::Key_F:
            return setFollowing(true);
        default:
            QCustomPlot::keyPressEvent(event);
    }
}

void Chart::paintEvent(QPaintEvent* event) {
    QCustomPlot::paintEvent(event);
    if (!replot_waits_ && std::exchange(fresh_, false)) emit shown();
    if (!hasFocus()) return;
    QPainter painter(this);
    painter.setPen(QPen(theme_->colour(QStringLiteral("accent")), 2));
    painter.drawRect(QRectF(rect()).adjusted(1, 1, -1, -1));
}

}  // namespace kvasir::ui
