// SPDX-License-Identifier: GPL-3.0-or-later
// A sentence that stays in the view it concerns: no box stops the work.
#pragma once

#include <QFrame>
#include <functional>

class QHBoxLayout;
class QLabel;
class QVBoxLayout;

namespace kvasir::ui {

class MessageBar : public QFrame {
    Q_OBJECT
 public:
    enum class Kind { info, warn, bad };
    MessageBar(Kind kind, const QString& sentence, QWidget* parent = nullptr);
    /// At most two are asked for; the bar closes when one is used, unless `keep`.
    void addAction(const QString& text, std::function<void()> run, bool keep = false);
    QString sentence() const;

 signals:
    void closed();

 protected:
    void paintEvent(QPaintEvent*) override;

 private:
    Kind kind_;
    QLabel* text_;
    QHBoxLayout* row_;
};

/// The place above the lanes where messages stand; a message with the same key replaces the one before.
class MessageArea : public QWidget {
    Q_OBJECT
 public:
    explicit MessageArea(QWidget* parent = nullptr);
    MessageBar* show(const QString& key, MessageBar::Kind kind, const QString& sentence);
    void clear(const QString& key);
    MessageBar* message(const QString& key) const;

 private:
    QVBoxLayout* column_;
};

}  // namespace kvasir::ui
