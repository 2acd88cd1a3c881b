// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/format.h"

#include <QCoreApplication>
#include <QFileInfo>
#include <cmath>

#include "core/base/utf8.h"
#include "ui/shell/byte_text.h"

namespace kvasir::ui {

QString mibText(uint64_t bytes) {
    return QString::number(double(bytes) / (1024.0 * 1024.0), 'f', 2);
}

QString percentText(double share) {
    return fixedText(share * 100, 1) + QStringLiteral(" %");
}

QString durationText(double seconds) {
    const qint64 s = qint64(std::ceil(std::max(0.0, seconds)));
    return QStringLiteral("%1:%2").arg(s / 60).arg(s % 60, 2, 10, QLatin1Char('0'));
}

QString fileSizeText(uint64_t bytes) {
    const double mib = double(bytes) / (1024.0 * 1024.0);
    if (mib >= 1024) return QString::number(mib / 1024, 'f', 2) + QStringLiteral(" GiB");
    return QString::number(mib, 'f', 1) + QStringLiteral(" MiB");
}

QString modelTitle(const std::string& path, const std::string& weights) {
    QString name = QFileInfo(QString::fromStdString(path)).completeBaseName();
    const QString type = QString::fromStdString(weights);
    if (name.endsWith(type, Qt::CaseInsensitive) && name.size() > type.size() + 1) name.chop(type.size() + 1);
    return name;
}

QString noiseFloorSentence() {
    return QCoreApplication::translate("format",
                                       "The noise floor is how far the reference moves when its sums are taken in "
                                       "another order: an error below it says nothing.");
}

QString tokenText(const std::string& bytes) {
    ByteText whole;
    QString text = whole.push(bytes);
    if (const QString rest = whole.waiting(); !rest.isEmpty()) text += QLatin1Char(' ') + rest;
    if (!is_valid_utf8(bytes)) text = text.simplified();  // beside bytes a space says nothing
    if (!text.isEmpty() && text.count(QLatin1Char(' ')) == text.size()) text.fill(QChar(0x2423));
    text.replace(QLatin1Char('\n'), QChar(0x21B5));
    text.replace(QLatin1Char('\t'), QChar(0x21E5));
    for (QChar& c : text)
        if (c.unicode() < 0x20) c = QChar(ushort(0x2400 + c.unicode()));
    return text;
}

}  // namespace kvasir::ui
