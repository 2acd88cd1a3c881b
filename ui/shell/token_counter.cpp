// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/token_counter.h"

#include <QCoreApplication>
#include <QPointer>
#include <QThreadPool>
#include <utility>

#include "core/base/guard_memory.h"

namespace kvasir::ui {

void TokenCounter::count(std::shared_ptr<const Model> model, const std::string& text, bool chat) {
    const int question = ++newest_;
    QPointer<TokenCounter> self(this);
    QThreadPool::globalInstance()->start([self, question, text, chat, model = std::move(model)] {
        const int n = guard_memory([&] { return int(model->encode_prompt(text, chat).size()); }, [] { return -1; });
        QMetaObject::invokeMethod(qApp, [self, question, n] {
            if (n >= 0 && self && self->newest_ == question) emit self->counted(n);
        });
    });
}

}  // namespace kvasir::ui
