// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/prompt_dialog.h"

#include <QButtonGroup>
#include <QCheckBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QRadioButton>
#include <QSpinBox>
#include <QVBoxLayout>

#include "ui/shell/dialog_page.h"
#include "ui/shell/format.h"
#include "ui/shell/theme.h"
#include "ui/shell/typeset.h"

namespace kvasir::ui {

namespace {

void countInWords(QSpinBox* box) {
    const auto say = [box](int n) {
        box->setSuffix(n == 1 ? PromptDialog::tr(" token") : PromptDialog::tr(" tokens"));
    };
    say(box->value());
    QObject::connect(box, &QSpinBox::valueChanged, box, say);
}

}  // namespace

PromptDialog::PromptDialog(const Experiment& experiment, std::shared_ptr<const Model> model, QWidget* parent)
    : QDialog(parent),
      experiment_(experiment),
      model_(std::move(model)),
      text_(new QPlainTextEdit),
      use_(new QButtonGroup(this)),
      chat_(new QCheckBox),
      tokens_(new QSpinBox),
      prefill_(new QSpinBox),
      count_(new QLabel) {
    setWindowTitle(tr("Text"));
    resizeOnScreen(*this, QSize(Theme::instance().px(640), Theme::instance().px(480)));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(16, 14, 16, 14);
    column->setSpacing(10);
    text_->setObjectName(QStringLiteral("prompt-text"));
    text_->setAccessibleName(tr("Text"));
    text_->setPlainText(QString::fromStdString(experiment.prompt));
    text_->setTabChangesFocus(true);
    typeset(text_, 11);
    column->addWidget(text_, 1);
    typeset(count_, 9, Face::regular, QStringLiteral("dim"));
    column->addWidget(count_);

    auto* form = form_ = new QFormLayout;
    form->setHorizontalSpacing(12);
    auto* use_row = new QHBoxLayout;
    const QString names[] = {tr("continue it"), tr("score it")};
    const QString tips[] = {tr("The text is the prompt; the lanes write what follows"),
                            tr("The first tokens are the prompt; every further token is given and scored")};
    for (int i = 0; i < 2; ++i) {
        auto* button = new QRadioButton(names[i]);
        button->setToolTip(tips[i]);
        button->setChecked((i == 1) == experiment.score_text);
        use_->addButton(button, i);
        use_row->addWidget(button);
    }
    use_row->addStretch(1);
    form->addRow(tr("Use"), use_row);
    chat_->setText(tr("as one turn of the model's chat template"));
    chat_->setChecked(experiment.chat);
    const bool has_chat = model_ && model_->chat_template().kind() != ChatTemplate::Kind::none;
    chat_->setEnabled(has_chat);
    if (!has_chat)
        chat_->setToolTip(model_ ? tr("The model has no chat template that is recognised") : tr("No model is loaded"));
    form->addRow(tr("Chat"), chat_);
    prefill_->setRange(1, 100000);
    prefill_->setValue(experiment.prefill);
    countInWords(prefill_);
    form->addRow(tr("Prompt"), prefill_);
    tokens_->setRange(0, 100000);
    tokens_->setValue(experiment.n_tokens);
    countInWords(tokens_);
    form->addRow(tokens_label_ = new QLabel, tokens_);
    column->addLayout(form);

    auto* buttons = new QHBoxLayout;
    auto* cancel = new QPushButton(tr("Cancel"));
    auto* use = new QPushButton(tr("Use this text"));
    use->setObjectName(QStringLiteral("primary"));
    use->setDefault(true);
    buttons->addStretch(1);
    buttons->addWidget(cancel);
    buttons->addWidget(use);
    column->addLayout(buttons);
    connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
    connect(use, &QPushButton::clicked, this, &QDialog::accept);
    connect(use_, &QButtonGroup::idClicked, this, &PromptDialog::modeChanged);
    count_timer_.setSingleShot(true);
    count_timer_.setInterval(200);
    connect(&counter_, &TokenCounter::counted, this, &PromptDialog::showCount);
    connect(&count_timer_, &QTimer::timeout, this, &PromptDialog::countTokens);
    connect(text_, &QPlainTextEdit::textChanged, &count_timer_, qOverload<>(&QTimer::start));
    connect(chat_, &QCheckBox::toggled, this, &PromptDialog::countTokens);
    modeChanged();
    countTokens();
    text_->setFocus();
}

void PromptDialog::modeChanged() {
    const bool score = use_->checkedId() == 1;
    form_->setRowVisible(prefill_, score);  // with its label
    form_->setRowVisible(chat_, !score);
    tokens_label_->setText(score ? tr("Score") : tr("Write"));
    tokens_->setSpecialValueText(score ? tr("all that follow") : QString());
    tokens_->setMinimum(score ? 0 : 1);
}

void PromptDialog::countTokens() {
    if (!model_) {
        count_->setText(tr("Tokens are counted when a model is loaded."));
        return;
    }
    const bool chat = chat_->isChecked() && chat_->isEnabled() && use_->checkedId() == 0;
    counter_.count(model_, text_->toPlainText().toStdString(), chat);
}

void PromptDialog::showCount(int n) {
    const int context = model_->config().context_length;
    QString text = n == 1 ? tr("1 token") : tr("%1 tokens").arg(countText(n));
    if (n > context) text += tr(" · more than the model's context of %1").arg(countText(context));
    count_->setText(text);
}

Experiment PromptDialog::experiment() const {
    Experiment e = experiment_;
    e.prompt = text_->toPlainText().toStdString();
    e.score_text = use_->checkedId() == 1;
    e.chat = !e.score_text && chat_->isEnabled() && chat_->isChecked();
    e.prefill = prefill_->value();
    e.n_tokens = tokens_->value();
    if (e.score_text) e.mode = Mode::teacher_forced;
    return e;
}

}  // namespace kvasir::ui
