// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/file_kinds.h"

#include <QCoreApplication>
#include <QFile>
#include <QFileInfo>

#include "core/model/tokenizer.h"
#include "ui/shell/format.h"

namespace kvasir::ui {

namespace {
constexpr qint64 kMostTextBytes = 4 << 20;
QString tr(const char* text) {
    return QCoreApplication::translate("FileKinds", text);
}
}  // namespace

bool acceptable(const QString& path, FileKind* kind, QString* why) {
    const QFileInfo info(path);
    const QString name = info.fileName(), suffix = info.suffix().toLower();
    if (!info.exists()) {
        *why = tr("Cannot open %1: it is not there.").arg(name);
    } else if (info.isDir()) {
        *why = tr("Cannot open %1: it is a folder. Choose a .gguf, .txt, .md or .kvasir file in it.").arg(name);
    } else if (suffix == QLatin1String("gguf")) {
        *kind = FileKind::model;
        return true;
    } else if (suffix == QLatin1String("kvasir")) {
        *kind = FileKind::session;
        return true;
    } else if (suffix == QLatin1String("txt") || suffix == QLatin1String("md")) {
        *kind = FileKind::text;
        return true;
    } else if (suffix == QLatin1String("safetensors") || suffix == QLatin1String("bin") ||
               suffix == QLatin1String("pt")) {
        *why = tr("Cannot open %1: models are read from GGUF files. Convert it with llama.cpp's convert_hf_to_gguf.py.")
                   .arg(name);
    } else {
        *why = tr("Cannot open %1: Kvasir opens .gguf models, .txt and .md texts, and .kvasir sessions.").arg(name);
    }
    return false;
}

Result<QString> readText(const QString& path, size_t* replaced) {
    QFile file(path);
    const std::string where = path.toStdString();
    if (!file.open(QIODevice::ReadOnly))
        return Error{ErrorCode::input, "cannot read text", where, file.errorString().toStdString(),
                     "Check the file's permissions."};
    if (file.size() > kMostTextBytes)
        return Error{ErrorCode::input, "cannot use text", where,
                     "it has " + fileSizeText(uint64_t(file.size())).toStdString(),
                     "Texts of up to 4 MiB can be used."};
    const QByteArray bytes = file.readAll();
    const std::string text = valid_utf8({bytes.constData(), size_t(bytes.size())}, replaced);
    if (text.find('\0') != std::string::npos)
        return Error{ErrorCode::input, "cannot use text", where, "it holds zero bytes, so it is no text",
                     "Choose a UTF-8 text file."};
    return QString::fromStdString(text);
}

}  // namespace kvasir::ui
