// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/byte_text.h"

#include "core/base/utf8.h"

namespace kvasir::ui {

QString hexBytes(std::string_view bytes) {
    return QString::fromLatin1(QByteArray(bytes.data(), qsizetype(bytes.size())).toHex(' ').toUpper());
}

QString ByteText::push(std::string_view bytes) {
    pending_ += bytes;
    QString text;
    std::string_view rest = pending_;
    while (!rest.empty()) {
        const Utf8Step step = utf8_step(rest);
        if (step.kind == Utf8Step::Kind::incomplete) break;
        const std::string_view one = rest.substr(0, step.length);
        text += step.kind == Utf8Step::Kind::valid ? QString::fromUtf8(one.data(), qsizetype(one.size()))
                                                   : QLatin1Char(' ') + hexBytes(one) + QLatin1Char(' ');
        rest.remove_prefix(step.length);
    }
    pending_ = std::string(rest);
    return text;
}

}  // namespace kvasir::ui
