// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/model_dialog.h"

#include <QClipboard>
#include <QCoreApplication>
#include <QFileInfo>
#include <QFormLayout>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPointer>
#include <QPushButton>
#include <QTableWidget>
#include <QThreadPool>
#include <QVBoxLayout>

#include "core/base/guard_memory.h"
#include "core/base/sha256.h"
#include "core/cache/cache_spec.h"
#include "core/model/chat_template.h"
#include "core/model/gguf.h"
#include "core/model/tokenizer.h"
#include "ui/shell/dialog_page.h"
#include "ui/shell/format.h"
#include "ui/shell/icons.h"
#include "ui/shell/theme.h"
#include "ui/shell/typeset.h"

namespace kvasir::ui {

Result<ModelSummary> readModelSummary(const std::string& path) {
    auto file = GgufFile::open(path);
    if (!file) return file.error();
    auto config = read_model_config(**file);
    if (!config) return config.error();
    auto tokenizer = Tokenizer::from_gguf(**file);
    if (!tokenizer) return tokenizer.error();
    ModelSummary s;
    s.config = *config;
    s.file_bytes = (*file)->file_bytes();
    s.n_tensors = (*file)->tensors().size();
    s.tokenizer = std::string((*tokenizer)->pre_tokenizer());
    s.warnings = (*file)->warnings();
    if (const auto text = (*file)->string("tokenizer.chat_template"))
        s.chat_template = std::string(ChatTemplate::recognise(*text).name());
    return s;
}

ModelDialog::ModelDialog(const QString& path, QWidget* parent)
    : QDialog(parent),
      path_(path),
      shape_(new QFormLayout),
      reading_(new QFormLayout),
      schemes_(new QTableWidget),
      gone_(std::make_shared<std::atomic<bool>>(false)) {
    setWindowTitle(tr("Open model"));
    resizeOnScreen(*this, QSize(Theme::instance().px(740), Theme::instance().px(500)));
    body_ = new QVBoxLayout(this);
    body_->setContentsMargins(16, 14, 16, 14);
    body_->setSpacing(10);
    auto* head = new QHBoxLayout;
    auto* sign = new QLabel;
    sign->setPixmap(iconPixmap(QStringLiteral("model"), Theme::instance().px(28),
                               Theme::instance().colour(QStringLiteral("text")), devicePixelRatioF()));
    head->addWidget(sign);
    head->addSpacing(8);
    auto* names = new QVBoxLayout;
    names->setSpacing(1);
    names->addWidget(makeLabel(QFileInfo(path).fileName(), 12, Face::semibold));
    names->addWidget(line_ = makeLabel(tr("reading …"), 9.5, Face::regular, QStringLiteral("dim")));
    head->addLayout(names, 1);
    body_->addLayout(head);
    body_->addWidget(makeLine());

    auto* facts = new QHBoxLayout;
    const auto section = [&](const QString& title, QFormLayout* form) {
        auto* column = new QVBoxLayout;
        column->addWidget(makeHeading(title));
        form->setHorizontalSpacing(12);
        form->setVerticalSpacing(2);
        column->addLayout(form);
        column->addStretch(1);
        facts->addLayout(column, 1);
    };
    section(tr("Shape"), shape_);
    section(tr("Will read as"), reading_);
    auto* page = new DialogPage;
    page->column()->addLayout(facts);
    body_->addWidget(page, 1);
    body_->addWidget(makeLine());
    body_->addWidget(makeHeading(tr("Cache schemes for this model")));
    schemes_->setColumnCount(4);
    schemes_->setHorizontalHeaderLabels({tr("Scheme"), tr("Fits"), tr("Bits per value"), tr("Why")});
    schemes_->verticalHeader()->hide();
    schemes_->verticalHeader()->setDefaultSectionSize(Theme::instance().px(24));
    schemes_->setShowGrid(false);
    schemes_->setAlternatingRowColors(true);
    schemes_->setEditTriggers(QAbstractItemView::NoEditTriggers);
    schemes_->setSelectionBehavior(QAbstractItemView::SelectRows);
    schemes_->setTabKeyNavigation(false);
    schemes_->horizontalHeader()->setStretchLastSection(true);
    schemes_->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    schemes_->setAccessibleName(tr("Cache schemes for this model"));
    body_->addWidget(schemes_, 1);
    note_ = makeLabel(QString(), 9.5);
    note_->setWordWrap(true);
    body_->addWidget(note_);

    auto* buttons = new QHBoxLayout;
    buttons->addWidget(copy_ = new QPushButton(icon(QStringLiteral("copy")), tr("Copy summary")));
    buttons->addStretch(1);
    auto* cancel = new QPushButton(tr("Cancel"));
    buttons->addWidget(cancel);
    buttons->addWidget(open_ = new QPushButton(tr("Open model")));
    open_->setObjectName(QStringLiteral("primary"));
    open_->setDefault(true);
    open_->setEnabled(false);
    copy_->setEnabled(false);
    body_->addLayout(buttons);
    connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
    connect(open_, &QPushButton::clicked, this, &QDialog::accept);
    connect(copy_, &QPushButton::clicked, this, [this] { QGuiApplication::clipboard()->setText(asText()); });

    QPointer<ModelDialog> self(this);
    QThreadPool::globalInstance()->start([self, gone = gone_, path = path.toStdString()] {
        auto summary = std::make_shared<Result<ModelSummary>>(guard_memory(
            [&] { return readModelSummary(path); },
            [&] {
                return Error{ErrorCode::memory, "cannot read model", path, "not enough memory for its keys and tokens",
                             "Close other programs or open a smaller model."};
            }));
        QMetaObject::invokeMethod(qApp, [self, summary] {
            if (self) self->show(*summary);
        });
        if (!*summary) return;
        const Result<std::string> sum = guard_memory(
            "cannot compute the SHA-256", "", [&] { return sha256_of_file(path, [gone] { return gone->load(); }); });
        if (!sum) return;
        QMetaObject::invokeMethod(qApp, [self, hash = QString::fromStdString(*sum)] {
            if (self)
                self->line_->setText(self->line_->text() + tr(" · SHA-256 %1…%2").arg(hash.left(8), hash.right(4)));
        });
    });
}

ModelDialog::~ModelDialog() {
    *gone_ = true;
}

void ModelDialog::show(const Result<ModelSummary>& summary) {
    if (!summary) {
        line_->setText(tr("cannot be opened"));
        typeset(note_, 9.5, Face::regular, QStringLiteral("bad"));
        note_->setText(QString::fromStdString(summary.error().message()));
        return;
    }
    line_->setText(
        tr("GGUF · %1 architecture · %2")
            .arg(QString::fromStdString(summary.value().config.arch), fileSizeText(summary.value().file_bytes)));
    fillFacts(*summary);
    fillSchemes(*summary);
    note_->setText(tr("Errors are those of the cache alone: every lane uses the same %1 weights.")
                       .arg(QString::fromStdString(summary.value().config.weights)));
    for (const std::string& warning : summary.value().warnings)
        note_->setText(note_->text() + QLatin1Char('\n') + QString::fromStdString(warning));
    open_->setEnabled(true);
    copy_->setEnabled(true);
    open_->setFocus();
}

void ModelDialog::fillFacts(const ModelSummary& s) {
    const ModelConfig& c = s.config;
    const auto row = [](QFormLayout* form, const QString& key, const QString& value) {
        form->addRow(makeLabel(key, 9.5, Face::regular, QStringLiteral("dim")), makeLabel(value, 9.5));
    };
    row(shape_, tr("Layers"), QString::number(c.n_layers));
    row(shape_, tr("Heads"), tr("%1 query · %2 KV · size %3").arg(c.n_heads).arg(c.n_kv_heads).arg(c.head_dim));
    row(shape_, tr("Width"), c.tied ? tr("%1 · tied embeddings").arg(countText(c.n_embd)) : countText(c.n_embd));
    row(shape_, tr("RoPE"),
        tr("base %1 · %2")
            .arg(countText(qint64(c.rope_base)),
                 c.rope_scale == 1 ? tr("no scaling") : tr("scale %1").arg(c.rope_scale)));
    row(shape_, tr("Vocabulary"), countText(c.n_vocab));
    row(shape_, tr("Context"), tr("%1 tokens").arg(countText(c.context_length)));
    row(reading_, tr("Weights"), QString::fromStdString(c.weights));
    row(reading_, tr("Tensors"), countText(qint64(s.n_tensors)));
    row(reading_, tr("Tokenizer"), tr("BPE, byte level · %1").arg(QString::fromStdString(s.tokenizer)));
    row(reading_, tr("Chat"), s.chat_template.empty() ? tr("no template") : QString::fromStdString(s.chat_template));
    const double per_token = 2.0 * c.n_layers * c.n_kv_heads * c.head_dim * 2;
    row(reading_, tr("Cache, fp16"), tr("%1 KiB per token").arg(fixedText(per_token / 1024, 1)));
}

void ModelDialog::fillSchemes(const ModelSummary& s) {
    schemes_->setRowCount(0);
    for (const Preset& preset : presets()) {
        const auto spec = parse_cache_spec(preset.name);
        if (!spec) continue;
        const Status fits = check_geometry(*spec, s.config.n_kv_heads, s.config.head_dim);
        const int r = schemes_->rowCount();
        schemes_->insertRow(r);
        const QString bits = fits ? fixedText(nominal_bits_per_value(*spec, s.config.head_dim, s.config.n_layers), 2)
                                  : QString(QChar(0x2013));
        const QString why =
            fits ? QString::fromStdString(preset.origin) : QString::fromStdString(fits.error().message());
        const QStringList cells{QString::fromStdString(preset.title), fits ? tr("yes") : tr("no"), bits, why};
        for (int i = 0; i < 4; ++i) {
            auto* item = new QTableWidgetItem(cells[i]);
            item->setToolTip(cells[i]);
            if (i == 2) item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
            schemes_->setItem(r, i, item);
        }
    }
    for (int i = 0; i < 3; ++i)
        schemes_->resizeColumnToContents(i);
}

QString ModelDialog::asText() const {
    QString text = path_ + QLatin1Char('\n') + line_->text() + QLatin1Char('\n');
    for (const QFormLayout* form : {shape_, reading_})
        for (int r = 0; r < form->rowCount(); ++r) {
            const auto* key = qobject_cast<QLabel*>(form->itemAt(r, QFormLayout::LabelRole)->widget());
            const auto* value = qobject_cast<QLabel*>(form->itemAt(r, QFormLayout::FieldRole)->widget());
            text += QStringLiteral("%1\t%2\n").arg(key->text(), value->text());
        }
    for (int r = 0; r < schemes_->rowCount(); ++r) {
        QStringList cells;
        for (int i = 0; i < 4; ++i)
            cells.append(schemes_->item(r, i)->text());
        text += cells.join(QLatin1Char('\t')) + QLatin1Char('\n');
    }
    return text;
}

}  // namespace kvasir::ui
