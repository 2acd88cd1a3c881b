// SPDX-License-Identifier: GPL-3.0-or-later
// Counts a text's tokens off the GUI thread; only the newest question is answered.
#pragma once

#include <QObject>
#include <memory>
#include <string>

#include "core/model/model.h"

namespace kvasir::ui {

class TokenCounter : public QObject {
    Q_OBJECT
 public:
    using QObject::QObject;
    void count(std::shared_ptr<const Model> model, const std::string& text, bool chat);

 signals:
    void counted(int n_tokens);

 private:
    int newest_ = 0;
};

}  // namespace kvasir::ui
