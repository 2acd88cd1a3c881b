// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lanes/token_flow.h"

#include <algorithm>
#include <cmath>

namespace kvasir::ui {

namespace {

/// Scripts that break between any two characters: Chinese, Japanese and Korean.
bool breaksAnywhere(QChar c) {
    const ushort u = c.unicode();
    return (u >= 0x2E80 && u <= 0x9FFF) || (u >= 0xAC00 && u <= 0xD7AF) || (u >= 0xF900 && u <= 0xFAFF) ||
           (u >= 0xFF00 && u <= 0xFF60);
}

qsizetype characterLength(const QString& text, qsizetype at) {
    return text[at].isHighSurrogate() && at + 1 < text.size() ? 2 : 1;
}

}  // namespace

int TokenFlow::lineHeightOf(const QFont& font) {
    return int(std::ceil(QFontMetricsF(font).height() * 1.18));
}

TokenFlow::TokenFlow() : metrics_(QFont()), line_height_(lineHeightOf(QFont())) {
    clear();
}

void TokenFlow::setFont(const QFont& font, double width) {
    metrics_ = QFontMetricsF(font);
    line_height_ = lineHeightOf(font);
    width_ = std::max(width, metrics_.averageCharWidth() * 4);
    std::vector<QString> texts = std::move(texts_);
    const QString waiting = waiting_;
    clear();
    for (const QString& text : texts)
        append(text);
    setWaiting(waiting);
}

void TokenFlow::clear() {
    texts_.clear();
    fragments_.clear();
    token_first_.clear();
    line_first_ = {0};
    x_ = word_x_ = 0;
    word_ = 0;
    waiting_.clear();
}

int TokenFlow::append(const QString& text) {
    takeBackWaiting();
    const int before = lineCount() - 1;
    texts_.push_back(text);
    token_first_.push_back(fragments_.size());
    layOut(tokenCount() - 1, text);
    return before;
}

int TokenFlow::setWaiting(const QString& text) {
    takeBackWaiting();
    const int before = lineCount() - 1;
    if (text.isEmpty() || texts_.empty()) return before;
    before_waiting_ = {
        line_first_.size(), {fragments_.begin() + std::ptrdiff_t(word_), fragments_.end()}, x_, word_x_, word_};
    waiting_ = text;
    layOut(tokenCount() - 1, text);
    return before;
}

void TokenFlow::takeBackWaiting() {
    if (waiting_.isEmpty()) return;
    waiting_.clear();
    fragments_.resize(before_waiting_.word_at);
    fragments_.insert(fragments_.end(), before_waiting_.word.begin(), before_waiting_.word.end());
    line_first_.resize(before_waiting_.n_lines);
    x_ = before_waiting_.x;
    word_x_ = before_waiting_.word_x;
    word_ = before_waiting_.word_at;
}

void TokenFlow::layOut(int token, const QString& text) {
    qsizetype i = 0;
    while (i < text.size()) {
        const QChar c = text[i];
        if (c == QLatin1Char('\n')) {
            place(token, QString(), metrics_.averageCharWidth(), true);
            newLine();
            ++i;
            continue;
        }
        qsizetype end = i;
        if (c.isSpace()) {
            while (end < text.size() && text[end].isSpace() && text[end] != QLatin1Char('\n'))
                ++end;
            const double width =
                metrics_.horizontalAdvance(QLatin1Char(' ')) * double(end - i) * (c == QLatin1Char('\t') ? 4 : 1);
            // a space before a word is only room; a token of spaces alone can be pointed at
            if (end == text.size())
                place(token, QString(), width, true);
            else if (!fragments_.empty())
                x_ += width;
            word_ = fragments_.size();
            word_x_ = x_;
        } else if (breaksAnywhere(c)) {
            end = i + 1;
            word_ = fragments_.size();
            word_x_ = x_;
            const QString one(c);
            const double width = metrics_.horizontalAdvance(one);
            if (x_ + width > width_) wrapWord();
            place(token, one, width, false);
            word_ = fragments_.size();
            word_x_ = x_;
        } else {
            while (end < text.size() && !text[end].isSpace() && !breaksAnywhere(text[end]))
                ++end;
            QString run = text.mid(i, end - i);
            double width = metrics_.horizontalAdvance(run);
            if (x_ + width > width_ && word_x_ > 0) wrapWord();
            while (x_ + width > width_ && !run.isEmpty()) {  // longer than a line
                qsizetype fit = 0;
                while (fit < run.size()) {
                    const qsizetype next = fit + characterLength(run, fit);
                    if (x_ + metrics_.horizontalAdvance(run.left(next)) > width_ && (fit > 0 || x_ > 0)) break;
                    fit = next;
                }
                if (fit > 0) place(token, run.left(fit), metrics_.horizontalAdvance(run.left(fit)), false);
                run.remove(0, fit);
                width = metrics_.horizontalAdvance(run);
                if (!run.isEmpty()) newLine();
            }
            if (!run.isEmpty()) place(token, run, width, false);
        }
        i = end;
    }
}

void TokenFlow::place(int token, const QString& text, double width, bool blank) {
    fragments_.push_back({token, lineCount() - 1, x_, width, text, blank});
    x_ += width;
}

void TokenFlow::newLine() {
    line_first_.push_back(fragments_.size());
    x_ = word_x_ = 0;
    word_ = fragments_.size();
}

void TokenFlow::wrapWord() {
    line_first_.push_back(word_);
    for (size_t i = word_; i < fragments_.size(); ++i) {
        fragments_[i].line = lineCount() - 1;
        fragments_[i].x -= word_x_;
    }
    x_ -= word_x_;
    word_x_ = 0;
}

std::pair<size_t, size_t> TokenFlow::lineRange(int line) const {
    const size_t first = line_first_[size_t(line)];
    const size_t last = line + 1 < lineCount() ? line_first_[size_t(line) + 1] : fragments_.size();
    return {first, last};
}

QRectF TokenFlow::rectOf(int token) const {
    if (token < 0 || token >= tokenCount()) return {};
    const size_t first = token_first_[size_t(token)];
    if (first >= fragments_.size() || fragments_[first].token != token) return {};
    const Fragment& f = fragments_[first];
    QRectF rect(f.x, f.line * line_height_, f.width, line_height_);
    for (size_t i = first + 1; i < fragments_.size() && fragments_[i].token == token && fragments_[i].line == f.line;
         ++i)
        rect.setRight(fragments_[i].x + fragments_[i].width);
    return rect;
}

int TokenFlow::lineOf(int token) const {
    if (token < 0 || token >= tokenCount() || fragments_.empty()) return 0;
    return fragments_[std::min(token_first_[size_t(token)], fragments_.size() - 1)].line;
}

int TokenFlow::firstTokenOf(int line) const {
    if (fragments_.empty()) return -1;
    const size_t first = line_first_[size_t(std::clamp(line, 0, lineCount() - 1))];
    return fragments_[std::min(first, fragments_.size() - 1)].token;
}

int TokenFlow::tokenAt(const QPointF& point, bool nearest) const {
    const int line = int(std::floor(point.y() / line_height_));
    if (line < 0 || line >= lineCount()) return -1;
    const auto [first, last] = lineRange(line);
    int best = -1;
    double distance = 1e9;
    for (size_t i = first; i < last; ++i) {
        const Fragment& f = fragments_[i];
        if (point.x() >= f.x && point.x() < f.x + f.width) return f.token;
        const double d = std::min(std::fabs(point.x() - f.x), std::fabs(point.x() - f.x - f.width));
        if (d < distance) {
            distance = d;
            best = f.token;
        }
    }
    return nearest ? best : -1;
}

}  // namespace kvasir::ui
