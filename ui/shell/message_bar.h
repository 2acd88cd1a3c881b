// SPDX-License-Identifier: GPL-3.0-or-later
// A sentence that stays in the view it concerns: no box stops the work.
#pragma once

#include <QFrame>
#include <functional>
#include <vector>

class QHBoxLayout;
class QLabel;
class QToolButton;
class QVBoxLayout;

namespace kvasir::ui {

class OneLineLabel;

class MessageBar : public QFrame {
    Q_OBJECT
 public:
    enum class Kind { info, warn, bad };
    MessageBar(Kind kind, const QString& sentence, QWidget* parent = nullptr);
    /// At most two are asked for; the bar closes when one is used, unless `keep`.
    void addAction(const QString& text, std::function<void()> run, bool keep = false);
    QString sentence() const;
    Kind kind() const { return kind_; }
    /// How many others wait behind this one; 0 hides the button that leads to them.
    void setWaiting(int n);
    /// It asks something that a person has to answer: it stays in sight, and only an error comes before it.
    void setQuestion() { question_ = true; }
    bool isQuestion() const { return question_; }

 signals:
    void closed();
    void othersWanted(const QPoint& global);

 protected:
    void paintEvent(QPaintEvent*) override;
    void resizeEvent(QResizeEvent*) override;

 private:
    void showUnfoldable();

    Kind kind_;
    bool question_ = false;
    OneLineLabel* line_;  ///< what fits into one line
    QLabel* all_;         ///< the whole sentence, when a person unfolds it
    QToolButton *unfold_, *others_;
    QHBoxLayout* row_;
};

/// The one line above the lanes where messages stand, the newest in sight, the others behind a button. A message with
/// the same key replaces the one before; what is no error waits behind a question that nobody has answered yet.
class MessageArea : public QWidget {
    Q_OBJECT
 public:
    explicit MessageArea(QWidget* parent = nullptr);
    MessageBar* show(const QString& key, MessageBar::Kind kind, const QString& sentence);
    void clear(const QString& key);
    MessageBar* message(const QString& key) const;
    MessageBar* inSight() const { return bars_.empty() ? nullptr : bars_.back(); }

 private:
    void bringForward(const QString& key);
    void arrange();
    void listOthers(const QPoint& global);

    QVBoxLayout* column_;
    std::vector<MessageBar*> bars_;  ///< the oldest first; the last one is in sight
};

}  // namespace kvasir::ui
