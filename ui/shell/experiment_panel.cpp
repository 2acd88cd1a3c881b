// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/experiment_panel.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QEvent>
#include <QFormLayout>
#include <QFrame>
#include <QLabel>
#include <QScrollBar>
#include <QSpinBox>
#include <QToolButton>
#include <QVBoxLayout>

#include "core/model/gguf.h"
#include "ui/shell/actions.h"
#include "ui/shell/experiment_edits.h"
#include "ui/shell/format.h"
#include "ui/shell/lane_list.h"
#include "ui/shell/run_controller.h"
#include "ui/shell/text_preview.h"
#include "ui/shell/theme.h"
#include "ui/shell/typeset.h"

namespace kvasir::ui {

namespace {

QToolButton* textButton(QAction* action, const QString& text) {
    auto* button = new QToolButton;
    button->setIcon(action->icon());
    button->setText(text);
    button->setToolButtonStyle(text.isEmpty() ? Qt::ToolButtonIconOnly : Qt::ToolButtonTextBesideIcon);
    button->setObjectName(action->objectName());
    button->setAccessibleName(plainText(action));
    const auto follow = [button, action] {
        button->setEnabled(action->isEnabled());
        button->setToolTip(action->toolTip());
    };
    follow();
    QObject::connect(action, &QAction::changed, button, follow);
    QObject::connect(button, &QToolButton::clicked, action, &QAction::trigger);
    return button;
}

/// A label column of one width, so that the values of a section stand under each other.
QFormLayout* factForm() {
    auto* form = new QFormLayout;
    form->setHorizontalSpacing(10);
    form->setVerticalSpacing(2);
    form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    return form;
}

OneLineLabel* addFact(QFormLayout* form, const QString& key) {
    auto* value = new OneLineLabel;
    typeset(value, 9);
    form->addRow(makeLabel(key, 9, Face::regular, QStringLiteral("dim")), value);
    return value;
}

}  // namespace

ExperimentPanel::ExperimentPanel(RunController& controller, ExperimentEdits& edits, Actions& actions, QWidget* parent)
    : QScrollArea(parent), controller_(controller), edits_(edits), text_(new TextPreview(5)) {
    setFrameShape(QFrame::NoFrame);
    setWidgetResizable(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFocusPolicy(Qt::NoFocus);
    auto* page = new QWidget;
    page->setAutoFillBackground(true);
    page->setBackgroundRole(QPalette::Base);
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(11, 9, 11, 9);
    column->setSpacing(6);
    addModelSection(column);
    column->addWidget(makeLine());
    addTextSection(column, actions);
    column->addWidget(makeLine());
    addLanesSection(column, actions);
    column->addWidget(makeLine());
    addSamplingSection(column);
    column->addStretch(1);
    setWidget(page);
    connect(&controller_, &RunController::modelChanged, this, &ExperimentPanel::showModel);
    connect(&controller_, &RunController::experimentChanged, this, &ExperimentPanel::showExperiment);
    connect(&counter_, &TokenCounter::counted, this,
            [this](int n) { text_tokens_->setText(tr("%1").arg(countText(n))); });
    showModel();
}

QSize ExperimentPanel::minimumSizeHint() const {
    return {widget()->minimumSizeHint().width() + verticalScrollBar()->sizeHint().width(),
            QScrollArea::minimumSizeHint().height()};
}

/// Other words, other type: another width.
bool ExperimentPanel::eventFilter(QObject* watched, QEvent* event) {
    if (watched == widget() && event->type() == QEvent::LayoutRequest) updateGeometry();
    return QScrollArea::eventFilter(watched, event);
}

QLabel* ExperimentPanel::addHeading(const QString& text) {
    headings_.push_back(makeHeading(text));
    return headings_.back();
}

void ExperimentPanel::showSection(int section) {
    const QLabel* heading = headings_[size_t(section)];
    verticalScrollBar()->setValue(heading->mapTo(widget(), QPoint()).y());
}

void ExperimentPanel::addModelSection(QVBoxLayout* column) {
    column->addWidget(addHeading(tr("Model")));
    QFormLayout* form = factForm();
    for (const QString& key : {tr("Shape"), tr("Weights"), tr("Cache, fp16"), tr("Context")})
        model_facts_.push_back(addFact(form, key));
    column->addLayout(form);
}

void ExperimentPanel::addTextSection(QVBoxLayout* column, Actions& actions) {
    auto* head = new QHBoxLayout;
    head->addWidget(addHeading(tr("Text")), 1);
    head->addWidget(textButton(actions["edit-text"], QString()));
    column->addLayout(head);
    auto* frame = new QFrame;
    frame->setObjectName(QStringLiteral("card"));
    auto* inside = new QVBoxLayout(frame);
    inside->setContentsMargins(8, 6, 8, 6);
    typeset(text_, 9.5);
    inside->addWidget(text_);
    column->addWidget(frame);
    QFormLayout* form = factForm();
    text_tokens_ = addFact(form, tr("Tokens"));
    text_use_ = addFact(form, tr("Use"));
    column->addLayout(form);
}

void ExperimentPanel::addLanesSection(QVBoxLayout* column, Actions& actions) {
    column->addWidget(addHeading(tr("Lanes")));
    lanes_ = new LaneList(controller_, edits_);
    column->addWidget(lanes_);
    auto* row = new QHBoxLayout;
    row->addWidget(textButton(actions["add-lane"], tr("Add lane")));
    row->addStretch(1);
    column->addLayout(row);
    QAction* floor = actions["noise-floor"];
    noise_floor_ = new QCheckBox(plainText(floor));
    noise_floor_->setObjectName(QStringLiteral("noise-floor"));
    noise_floor_->setToolTip(floor->toolTip());
    typeset(noise_floor_, 9);
    connect(noise_floor_, &QCheckBox::clicked, floor, &QAction::trigger);
    column->addWidget(noise_floor_);
}

void ExperimentPanel::addSamplingSection(QVBoxLayout* column) {
    column->addWidget(addHeading(tr("Sampling")));
    QFormLayout* form = factForm();
    form->setVerticalSpacing(4);
    const auto row = [&](const QString& key, QWidget* field, const QString& tip) {
        typeset(field, 9);
        field->setToolTip(tip);
        field->setAccessibleName(key);
        form->addRow(makeLabel(key, 9, Face::regular, QStringLiteral("dim")), field);
    };
    const auto spin = [&](int low, int high, const QString& special, const QString& suffix, const QString& key,
                          const QString& tip) {
        auto* field = new QSpinBox;
        field->setRange(low, high);
        field->setSpecialValueText(special);
        field->setSuffix(suffix);
        field->setKeyboardTracking(false);
        connect(field, &QSpinBox::valueChanged, this, [this, key] { samplingEdited(key); });
        row(key, field, tip);
        return field;
    };
    const auto real = [&](double high, double step, const QString& special, const QString& key, const QString& tip) {
        auto* field = new QDoubleSpinBox;
        field->setRange(0, high);
        field->setSingleStep(step);
        field->setDecimals(2);
        field->setSpecialValueText(special);
        field->setKeyboardTracking(false);
        connect(field, &QDoubleSpinBox::valueChanged, this, [this, key] { samplingEdited(key); });
        row(key, field, tip);
        return field;
    };
    tokens_ = spin(0, 100000, tr("all"), QString(), tr("Tokens"), tr("How many tokens are written or scored"));
    temperature_ = real(5, 0.1, tr("0 · greedy"), tr("Temperature"), tr("0 takes the most likely token"));
    top_k_ = spin(0, 100000, tr("off"), QString(), tr("Top-k"), tr("Only the k most likely tokens are drawn from"));
    top_p_ = real(1, 0.05, QString(), tr("Top-p"),
                  tr("Only the most likely tokens with this share are drawn from; 1 is off"));
    seed_ = spin(0, 2147483647, QString(), QString(), tr("Seed"), tr("The same seed repeats the run"));
    threads_ = spin(0, 256, tr("all cores"), QString(), tr("Threads"), tr("Results do not depend on it"));
    kernels_ = new QComboBox;
    kernels_->addItems({tr("fused"), tr("reference")});
    connect(kernels_, &QComboBox::activated, this, [this] { samplingEdited(tr("Kernels")); });
    row(tr("Kernels"), kernels_, tr("fused reads the codes; reference goes through the dequantized values"));
    column->addLayout(form);
}

void ExperimentPanel::showModel() {
    const auto model = controller_.model();
    if (!model) {
        for (OneLineLabel* fact : model_facts_)
            fact->setText(QString(QChar(0x2013)));
    } else {
        const ModelConfig& c = model->config();
        model_facts_[0]->setText(tr("%1 layers · %2 KV × %3").arg(c.n_layers).arg(c.n_kv_heads).arg(c.head_dim));
        model_facts_[1]->setText(
            tr("%1 · %2").arg(QString::fromStdString(c.weights), fileSizeText(model->file().file_bytes())));
        model_facts_[2]->setText(
            tr("%1 KiB per token").arg(fixedText(2.0 * c.n_layers * c.n_kv_heads * c.head_dim * 2 / 1024, 1)));
        model_facts_[3]->setText(tr("%1 tokens").arg(countText(c.context_length)));
    }
    showExperiment();
}

void ExperimentPanel::showExperiment() {
    showing_ = true;
    const Experiment& e = controller_.experiment();
    const QString text = QString::fromStdString(e.prompt);
    text_->setText(text);
    if (controller_.model())
        counter_.count(controller_.model(), e.prompt, e.chat);
    else
        text_tokens_->setText(QString(QChar(0x2013)));
    if (e.score_text) {
        text_use_->setText(e.n_tokens > 0 ? tr("first %1 as prompt, %2 scored").arg(e.prefill).arg(e.n_tokens)
                                          : tr("first %1 as prompt, rest scored").arg(e.prefill));
    } else {
        text_use_->setText((e.chat ? tr("chat turn, %1 tokens more") : tr("prompt, %1 tokens more")).arg(e.n_tokens));
    }
    tokens_->setMinimum(e.score_text ? 0 : 1);
    tokens_->setSpecialValueText(e.score_text ? tr("all") : QString());
    tokens_->setValue(e.n_tokens);
    temperature_->setValue(double(e.sampling.temperature));
    top_k_->setValue(e.sampling.top_k);
    top_p_->setValue(double(e.sampling.top_p));
    seed_->setValue(int(e.sampling.seed));
    threads_->setValue(e.n_threads);
    kernels_->setCurrentIndex(e.kernels == KernelPath::fused ? 0 : 1);
    noise_floor_->setChecked(e.noise_floor);
    showing_ = false;
}

void ExperimentPanel::samplingEdited(const QString& what) {
    if (showing_) return;
    Experiment e = controller_.experiment();
    e.n_tokens = tokens_->value();
    e.sampling.temperature = float(temperature_->value());
    e.sampling.top_k = top_k_->value();
    e.sampling.top_p = float(top_p_->value());
    e.sampling.seed = uint64_t(seed_->value());
    e.n_threads = threads_->value();
    e.kernels = kernels_->currentIndex() == 0 ? KernelPath::fused : KernelPath::reference;
    edits_.apply(tr("Set %1").arg(what.toLower()), e);
}

}  // namespace kvasir::ui
