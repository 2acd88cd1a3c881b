// SPDX-License-Identifier: GPL-3.0-or-later
// A row of tokens as text. A token may hold a part of a character only: its bytes are shown as bytes until the
// character is whole, and for good when it never becomes one.
#pragma once

#include <QString>
#include <string>
#include <string_view>

namespace kvasir::ui {

/// "EC 9D"
QString hexBytes(std::string_view bytes);

class ByteText {
 public:
    /// Text that is certain once these bytes have come.
    QString push(std::string_view bytes);
    /// The bytes that wait for the rest of their character, as bytes; "" when none do.
    QString waiting() const { return pending_.empty() ? QString() : hexBytes(pending_); }

 private:
    std::string pending_;
};

}  // namespace kvasir::ui
