// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/scheme_dialog.h"

#include <QComboBox>
#include <QFormLayout>
#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QVBoxLayout>

#include "core/cache/cache_bytes.h"
#include "ui/shell/chip.h"
#include "ui/shell/dialog_page.h"
#include "ui/shell/format.h"
#include "ui/shell/icons.h"
#include "ui/shell/typeset.h"

namespace kvasir::ui {

namespace {

constexpr int kContext = 8192;  // tokens

QFrame* card() {
    auto* frame = new QFrame;
    frame->setObjectName(QStringLiteral("card"));
    return frame;
}

/// Value of `key` in `preset,key=value,...`; the default when it is not written.
QString valueIn(const QString& text, const PresetOption& option) {
    for (const QString& part : text.split(QLatin1Char(',')).mid(1)) {
        const qsizetype eq = part.indexOf(QLatin1Char('='));
        if (part.left(eq).trimmed().toStdString() == option.key) return part.mid(eq + 1).trimmed();
    }
    return QString::fromStdString(option.default_value);
}

}  // namespace

SchemeDialog::SchemeDialog(const CacheSpec& spec, const ModelConfig* config, const LaneLook& look, bool new_lane,
                           QWidget* parent)
    : QDialog(parent),
      spec_(spec),
      config_(config ? std::make_unique<ModelConfig>(*config) : nullptr),
      preset_(new QComboBox),
      text_(new QLineEdit),
      origin_(new QLabel),
      long_form_(new QLabel),
      sign_(new QLabel),
      problem_(new QLabel) {
    setWindowTitle(tr("Cache scheme"));
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(16, 14, 16, 14);
    outer->setSpacing(10);
    auto* page = new DialogPage;
    outer->addWidget(page, 1);
    QVBoxLayout* column = page->column();

    auto* top = new QHBoxLayout;
    auto* label = new QLabel(tr("&Preset"));
    label->setBuddy(preset_);
    for (const Preset& p : presets())
        preset_->addItem(QString::fromStdString(p.name + "  " + p.title), QString::fromStdString(p.name));
    preset_->setMaxVisibleItems(20);
    preset_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    preset_->setMinimumContentsLength(24);
    auto* chip = new ChipWidget;
    chip->setLook(look);
    top->addWidget(label);
    top->addWidget(preset_, 1);
    top->addSpacing(8);
    top->addWidget(new QLabel(tr("Lane")));
    top->addWidget(chip);
    column->addLayout(top);
    typeset(origin_, 9, Face::regular, QStringLiteral("dim"));
    origin_->setWordWrap(true);
    column->addWidget(origin_);

    auto* options = card();
    fields_ = new QFormLayout(options);
    fields_->setContentsMargins(12, 12, 12, 12);
    fields_->setHorizontalSpacing(12);
    fields_->setVerticalSpacing(7);
    column->addWidget(options);

    auto* text_label = makeLabel(tr("&Text form (edit here or above)"), 9, Face::regular, QStringLiteral("dim"));
    text_label->setBuddy(text_);
    column->addWidget(text_label);
    auto* text_row = new QHBoxLayout;
    typeset(text_, 10, Face::mono);
    text_->setObjectName(QStringLiteral("spec-text"));
    text_row->addWidget(text_, 1);
    text_row->addWidget(sign_);
    column->addLayout(text_row);
    typeset(problem_, 9, Face::regular, QStringLiteral("bad"));
    problem_->setWordWrap(true);
    problem_->setObjectName(QStringLiteral("spec-problem"));
    column->addWidget(problem_);
    typeset(long_form_, 9, Face::mono, QStringLiteral("dim"));
    long_form_->setWordWrap(true);
    long_form_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    column->addWidget(long_form_);
    column->addWidget(makeFacts());
    column->addStretch(1);

    auto* buttons = new QHBoxLayout;
    buttons->addStretch(1);
    auto* cancel = new QPushButton(tr("Cancel"));
    apply_ = new QPushButton(new_lane ? tr("Add lane %1").arg(look.letter) : tr("Apply to lane %1").arg(look.letter));
    apply_->setObjectName(QStringLiteral("primary"));
    apply_->setDefault(true);
    buttons->addWidget(cancel);
    buttons->addWidget(apply_);
    outer->addLayout(buttons);
    connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
    connect(apply_, &QPushButton::clicked, this, &QDialog::accept);
    connect(preset_, &QComboBox::activated, this, &SchemeDialog::choosePreset);
    connect(text_, &QLineEdit::textChanged, this, &SchemeDialog::textChanged);
    text_->setText(QString::fromStdString(spec.text));
    preset_->setFocus();
    resizeOnScreen(*this, sizeHint().expandedTo(QSize(Theme::instance().px(620), 0)));
}

QWidget* SchemeDialog::makeFacts() {
    auto* frame = card();
    auto* row = new QHBoxLayout(frame);
    row->setContentsMargins(12, 10, 12, 10);
    row->setSpacing(28);
    const auto fact = [&](const QString& name, QLabel*& value, QLabel*& note) {
        auto* column = new QVBoxLayout;
        column->setSpacing(1);
        column->addWidget(makeLabel(name, 9, Face::regular, QStringLiteral("dim")));
        column->addWidget(value = makeLabel(QString(), 15, Face::semibold));
        column->addWidget(note = makeLabel(QString(), 8.5, Face::regular, QStringLiteral("dim")));
        row->addLayout(column);
    };
    QLabel* bits_note = nullptr;
    fact(tr("bits per value"), bits_, bits_note);
    bits_note->setText(tr("nominal, mean of K and V"));
    fact(tr("bytes per token"), bytes_, bytes_note_);
    fact(tr("at %1 tokens").arg(countText(kContext)), context_, context_note_);
    row->addStretch(1);
    return frame;
}

void SchemeDialog::choosePreset(int index) {
    text_->setText(preset_->itemData(index).toString());
}

void SchemeDialog::rebuildFields() {
    while (fields_->rowCount() > 0)
        fields_->removeRow(0);
    const int index = preset_->currentIndex();
    if (index < 0) {
        fields_->addRow(
            makeLabel(tr("Written in the long form: edit the text below."), 9, Face::regular, QStringLiteral("dim")));
        return;
    }
    const Preset& preset = presets()[size_t(index)];
    for (const PresetOption& option : preset.options) {
        const QString key = QString::fromStdString(option.key), value = valueIn(text_->text(), option);
        QWidget* field = nullptr;
        if (!option.choices.empty()) {
            auto* combo = new QComboBox;
            for (const std::string& c : option.choices)
                combo->addItem(QString::fromStdString(c));
            combo->setCurrentText(value);
            connect(combo, &QComboBox::activated, this, &SchemeDialog::fieldChanged);
            field = combo;
        } else if (option.is_text || option.is_real) {
            auto* line = new QLineEdit(value);
            if (option.is_text) line->setPlaceholderText(tr("none"));
            connect(line, &QLineEdit::textEdited, this, &SchemeDialog::fieldChanged);
            field = line;
        } else {
            auto* spin = new QSpinBox;
            spin->setRange(option.minimum, option.maximum);
            spin->setValue(value.toInt());
            spin->setKeyboardTracking(false);
            if (key.contains(QLatin1String("residual"))) spin->setSuffix(tr(" tokens"));
            connect(spin, &QSpinBox::valueChanged, this, &SchemeDialog::fieldChanged);
            field = spin;
        }
        field->setObjectName(QStringLiteral("option-") + key);
        field->setToolTip(QString::fromStdString(option.help));
        auto* name = new QLabel(key);
        name->setToolTip(QString::fromStdString(option.help));
        fields_->addRow(name, field);
    }
    if (preset.options.empty())
        fields_->addRow(makeLabel(tr("This preset has no options."), 9, Face::regular, QStringLiteral("dim")));
}

void SchemeDialog::fieldChanged() {
    const Preset& preset = presets()[size_t(preset_->currentIndex())];
    QString text = QString::fromStdString(preset.name);
    for (const PresetOption& option : preset.options) {
        const QString key = QString::fromStdString(option.key);
        const auto* field = findChild<QWidget*>(QStringLiteral("option-") + key);
        QString value;
        if (const auto* combo = qobject_cast<const QComboBox*>(field))
            value = combo->currentText();
        else if (const auto* spin = qobject_cast<const QSpinBox*>(field))
            value = QString::number(spin->value());
        else if (const auto* line = qobject_cast<const QLineEdit*>(field))
            value = line->text().trimmed();
        if (value != QString::fromStdString(option.default_value)) text += QStringLiteral(",%1=%2").arg(key, value);
    }
    adjusting_ = true;  // the fields already show it
    text_->setText(text);
    adjusting_ = false;
}

void SchemeDialog::textChanged(const QString& text) {
    const Result<CacheSpec> parsed = parse_cache_spec(text.toStdString());
    if (!parsed) {
        showProblem(QString::fromStdString(parsed.error().message()));
        return;
    }
    spec_ = *parsed;
    if (!adjusting_) {
        preset_->setCurrentIndex(preset_->findData(text.section(QLatin1Char(','), 0, 0).trimmed()));
        rebuildFields();
    }
    const int index = preset_->currentIndex();
    origin_->setText(index < 0 ? QString() : QString::fromStdString(presets()[size_t(index)].origin));
    origin_->setVisible(!origin_->text().isEmpty());
    const Status fits =
        config_ ? check_geometry(spec_, config_->n_kv_heads, config_->head_dim, config_->n_layers) : Status();
    showProblem(fits ? QString() : QString::fromStdString(fits.error().message()));
    if (fits) showFacts();
}

void SchemeDialog::showProblem(const QString& sentence) {
    problem_->setText(sentence);
    problem_->setVisible(!sentence.isEmpty());
    const bool good = sentence.isEmpty();
    sign_->setPixmap(iconPixmap(good ? QStringLiteral("check") : QStringLiteral("error"), Theme::instance().px(16),
                                Theme::instance().colour(good ? QStringLiteral("dim") : QStringLiteral("bad")),
                                devicePixelRatioF()));
    apply_->setEnabled(good);
    if (good) return;
    long_form_->clear();  // a scheme that cannot be has no figures
    for (QLabel* value : {bits_, bytes_, context_})
        value->setText(QChar(0x2013));
    for (QLabel* note : {bytes_note_, context_note_})
        note->clear();
}

void SchemeDialog::showFacts() {
    long_form_->setText(QString::fromStdString(long_spec(spec_)));
    const int head_dim = config_ ? config_->head_dim : 64;
    const double bits = nominal_bits_per_value(spec_, head_dim, config_ ? config_->n_layers : 0);
    bits_->setText(fixedText(bits, 2));
    if (!config_) {
        bytes_->setText(QChar(0x2013));
        bytes_note_->setText(tr("no model is loaded"));
        context_->setText(QChar(0x2013));
        return;
    }
    // K and V of every layer and KV head; exact tokens of the residual are not in the nominal figure
    const double values = 2.0 * config_->n_layers * config_->n_kv_heads * config_->head_dim;
    const double bytes = values * bits / 8, exact = values * 2;
    bytes_->setText(countText(qRound64(bytes)));
    bytes_note_->setText(tr("fp16: %1 · ratio %2").arg(countText(qRound64(exact)), fixedText(exact / bytes, 1)));
    const CacheShape shape{.n_layers = config_->n_layers, .n_kv_heads = config_->n_kv_heads, .head_dim = head_dim};
    const uint64_t whole = cache_bytes(spec_, shape, kContext, kContext).total();
    context_->setText(tr("%1 MiB").arg(mibText(whole)));
    context_note_->setText(tr("with the exact residual · fp16: %1 MiB").arg(mibText(uint64_t(exact * kContext))));
}

}  // namespace kvasir::ui
