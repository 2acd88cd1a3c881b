// SPDX-License-Identifier: GPL-3.0-or-later
// A language 40 % longer than English that people can still read: vowels are doubled. What is not longer did not go
// through tr().
#pragma once

#include <QTranslator>

namespace kvasir::ui::look {

class PseudoLanguage : public QTranslator {
 public:
    bool isEmpty() const override { return false; }
    QString translate(const char*, const char* source, const char*, int) const override {
        return lengthened(QString::fromUtf8(source));
    }

    /// Placeholders, tags, entities, mnemonics and what only looks like words (options with digits) stay.
    static QString lengthened(const QString& source) {
        const QString vowels = QStringLiteral("aeiouyAEIOUY");
        QString out;
        int letters = 0, added = 0;
        for (qsizetype i = 0; i < source.size(); ++i) {
            const QChar c = source[i];
            if (c == QLatin1Char('<')) {
                const qsizetype end = source.indexOf(QLatin1Char('>'), i);
                if (end > 0) {
                    out += source.mid(i, end - i + 1);
                    i = end;
                    continue;
                }
            }
            if (c == QLatin1Char('%') && i + 1 < source.size()) {
                out += c;
                out += source[++i];
                continue;
            }
            out += c;
            letters += c.isLetter();
            const bool mnemonic = i > 0 && source[i - 1] == QLatin1Char('&');
            if (vowels.contains(c) && !mnemonic) {
                out += c.toLower();
                ++added;
            }
        }
        // words of few vowels: the rest of the 40 %, in front of a colon or an ellipsis at the end
        qsizetype end = out.size();
        while (end > 0 && !out[end - 1].isLetterOrNumber())
            --end;
        for (; letters > 2 && added * 10 < letters * 4; ++added)
            out.insert(end, QLatin1Char('x'));
        return out;
    }
};

}  // namespace kvasir::ui::look
