// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/save_name.h"

#include <QCoreApplication>
#include <QFileDialog>
#include <QFileInfo>

namespace kvasir::ui {

QString withEnding(const QString& path, const QString& format) {
    const QFileInfo there(path);
    if (there.exists() && !there.isFile() && !there.isDir()) return path;  // a device or a pipe is called as it is
    return there.suffix().compare(format, Qt::CaseInsensitive) == 0 ? path : path + QLatin1Char('.') + format;
}

QString askForSaveName(QWidget* parent, const QString& title, const QString& suggestion, const QString& format,
                       const QString& filter, QString* problem) {
    QFileDialog dialog(parent, title, QFileInfo(suggestion).absolutePath(), filter);
    dialog.setAcceptMode(QFileDialog::AcceptSave);
    dialog.setFileMode(QFileDialog::AnyFile);
    dialog.setDefaultSuffix(format);
    dialog.selectFile(QFileInfo(suggestion).fileName());
    if (dialog.exec() != QDialog::Accepted || dialog.selectedFiles().isEmpty()) return {};
    const QString chosen = dialog.selectedFiles().constFirst(), path = withEnding(chosen, format);
    if (path == chosen || !QFileInfo::exists(path)) return path;
    *problem = QCoreApplication::translate("SaveName", "%1 is there already and is kept. Choose another name.")
                   .arg(QFileInfo(path).fileName());
    return {};
}

}  // namespace kvasir::ui
