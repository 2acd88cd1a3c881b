// SPDX-License-Identifier: GPL-3.0-or-later
// The text of one lane: tokens tinted by their error, other top-1 underlined, first flip with a pennant. Painted here
// token by token, so that a new token costs one line.
#pragma once

#include <QWidget>
#include <memory>
#include <vector>

#include "core/session/run_model.h"
#include "ui/lanes/token_flow.h"
#include "ui/shell/byte_text.h"
#include "ui/shell/view_state.h"

namespace kvasir::ui {

class LaneBody : public QWidget {
    Q_OBJECT
 public:
    LaneBody(ViewState& view, QWidget* parent);

    /// Shows `lane` of `run`, from the start. What is laid out here belongs to this run and keeps it.
    void setRun(std::shared_ptr<const RunModel> run, int lane);
    void appendNew();  ///< takes the records that came since
    void setPromptShown(bool shown);
    void setNote(const QString& rich, bool bad = false);  ///< above the text, or alone: why there is no (more) text
    const QString& note() const { return note_; }
    void setTextPoints(double points);
    void restyle();  ///< theme, type or width changed: lay out and tint again
    void retint();

    void setScroll(int y);  ///< no further than endScroll()
    int scrolled() const { return scroll_; }
    int endScroll() const;      ///< where the last line is in sight, in whole lines
    int contentHeight() const;  ///< of the text, pixels
    int visibleHeight() const;  ///< room for it
    int lineHeight() const { return int(flow_.lineHeight()); }
    /// Places count the prompt's tokens that are shown, then the steps.
    int placeAt(int y) const;             ///< of the first token in the line at this scroll position
    int scrollForPlace(int place) const;  ///< that shows this token's line at the top
    /// Height of everything above the text, without a note.
    static int leastHeadHeight();
    int step() const { return view_.crosshairStep(); }  ///< token under the cursor, -1: none
    /// Rectangle of a token in this widget; null when it is not in sight.
    QRect stepRect(int step) const;
    /// Scroll position that shows this token.
    int scrollFor(int step) const;

    int lane() const { return lane_; }
    bool hasText() const { return !marks_.empty(); }  ///< else a note has the whole pane
    /// What is not printed in full at this place; "": nothing.
    QString tipAt(const QPoint& at) const;

 signals:
    void hovered(int step);    ///< -1: the mouse left the text
    void details(int step);    ///< Enter, or a click on the token
    void scrollWanted(int y);  ///< position of this lane
    void wheelTurned(int pixels);
    void contentGrew();
    void promptToggled();

 protected:
    bool event(QEvent*) override;
    void paintEvent(QPaintEvent*) override;
    void resizeEvent(QResizeEvent*) override;
    void mouseMoveEvent(QMouseEvent*) override;
    void mousePressEvent(QMouseEvent*) override;
    void leaveEvent(QEvent*) override;
    void wheelEvent(QWheelEvent*) override;
    void keyPressEvent(QKeyEvent*) override;
    void focusInEvent(QFocusEvent*) override;
    void focusOutEvent(QFocusEvent*) override;

 private:
    struct Mark {
        unsigned char tint = 0;
        bool other_top1 = false;
    };
    int stripHeight() const;  ///< of all that is above the text
    int noteHeight() const;
    bool noteInStrip() const;
    void paintNote(QPainter& painter) const;
    int promptTokens() const;  ///< shown in the flow, before step 0
    int stepAt(const QPoint& point, bool nearest) const;
    void rebuild();
    Mark markOf(const StepRecord& record) const;
    QString stripText(bool* is_flip) const;
    void updateStrip();
    void paintLine(QPainter& painter, int line, double top);
    void paintFragment(QPainter& painter, const TokenFlow::Fragment& fragment, double top);
    void moveCursor(int step);

    ViewState& view_;
    std::shared_ptr<const RunModel> run_;
    int lane_ = 0;
    TokenFlow flow_;
    std::vector<Mark> marks_;  // by step
    size_t n_floors_ = 0;      // of run_->floors(), known to the marks
    ByteText text_;
    QString strip_painted_;
    bool failed_ = false;  ///< marks_ are those of a lane that has no figures
    int first_flip_ = -1;
    float flip_margin_ = 0;
    bool prompt_shown_ = false;
    QString note_;
    bool note_bad_ = false;
    double points_ = 11;
    int scroll_ = 0;
};

}  // namespace kvasir::ui
