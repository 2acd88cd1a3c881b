// SPDX-License-Identifier: GPL-3.0-or-later
// Line breaking of a growing row of tokens. Appending measures the new token only; a word that no longer fits moves to
// the next line with all its tokens.
#pragma once

#include <QFontMetricsF>
#include <QRectF>
#include <QString>
#include <vector>

namespace kvasir::ui {

class TokenFlow {
 public:
    /// A piece of one token on one line.
    struct Fragment {
        int token = 0;
        int line = 0;
        double x = 0, width = 0;
        QString text;        ///< without leading spaces
        bool blank = false;  ///< spaces or a line break only
    };

    TokenFlow();
    static int lineHeightOf(const QFont& font);
    void setFont(const QFont& font, double width);  ///< lays everything out again
    void clear();
    /// Adds the next token; returns the first line that changed.
    int append(const QString& text);
    /// Shows `text` after the last token until the next append() or the next call; "" takes it back. Returns the first
    /// line that changed.
    int setWaiting(const QString& text);

    int tokenCount() const { return int(texts_.size()); }
    const QString& textOf(int token) const { return texts_[size_t(token)]; }
    int lineCount() const { return int(line_first_.size()); }
    double lineHeight() const { return line_height_; }
    double ascent() const { return metrics_.ascent(); }
    double textHeight() const { return metrics_.height(); }
    double height() const { return lineCount() * line_height_; }

    const std::vector<Fragment>& fragments() const { return fragments_; }
    /// Fragments of a line: [first, second).
    std::pair<size_t, size_t> lineRange(int line) const;
    /// Rectangle of a token's first fragment; empty when it shows nothing.
    QRectF rectOf(int token) const;
    int lineOf(int token) const;
    int firstTokenOf(int line) const;  ///< that shows something there or further up; -1: none
    /// Token at a point; -1 beside the text. With `nearest` the closest one of that line.
    int tokenAt(const QPointF& point, bool nearest = false) const;

 private:
    void layOut(int token, const QString& text);
    void place(int token, const QString& text, double width, bool blank);
    void newLine();
    void wrapWord();
    void takeBackWaiting();

    /// What a word that is taken back had moved.
    struct Before {
        size_t n_lines = 0;
        std::vector<Fragment> word;
        double x = 0, word_x = 0;
        size_t word_at = 0;
    };

    QFontMetricsF metrics_;
    double width_ = 0, line_height_;
    std::vector<QString> texts_;
    std::vector<Fragment> fragments_;
    std::vector<size_t> line_first_;   // first fragment of each line
    std::vector<size_t> token_first_;  // first fragment of each token
    double x_ = 0;
    size_t word_ = 0;    // first fragment of the word being built
    double word_x_ = 0;  // where it starts
    QString waiting_;
    Before before_waiting_;
};

}  // namespace kvasir::ui
