// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/settings.h"

#include <QFileInfo>
#include <QLatin1String>

namespace kvasir::ui {

const std::vector<SettingRow>& Settings::table() {
    static const std::vector<SettingRow> rows = {
        {"look/theme", QStringLiteral("auto"), "auto, light, dark or contrast"},
        {"look/scale", 1.0, "type scale, 0.8 to 2"},
        {"window/geometry", QByteArray(), "size and place of the window"},
        {"window/state", QByteArray(),
         "docks of Explore where a person moved one; empty: they follow the size of the window"},
        {"lanes/measure", QStringLiteral("kl"), "what tints tokens: kl or dp"},
        {"lanes/prompt", false, "the prompt's text is shown in the lanes"},
        {"experiment/last", QByteArray(), "the experiment as JSON, as it was when the window closed"},
        {"files/recent", QStringList(), "models, texts and sessions, newest first"},
        {"files/folder", QString(), "where the last file was opened or saved"},
        {"export/format", QStringLiteral("png"), "format of the export dialog"},
        {"export/scale", 2, "pixels per unit of an exported PNG"},
    };
    return rows;
}

Settings::Settings(bool remember) {
    if (remember)
        store_ = std::make_unique<QSettings>(QSettings::IniFormat, QSettings::UserScope, QStringLiteral("kvasir"),
                                             QStringLiteral("kvasir"));
}

QVariant Settings::get(const char* key) const {
    for (const SettingRow& row : table()) {
        if (qstrcmp(row.key, key) != 0) continue;
        const QString name = QLatin1String(key);
        return store_ ? store_->value(name, row.default_value) : volatile_.value(name, row.default_value);
    }
    qFatal("kvasir: no setting %s", key);
    return {};
}

void Settings::set(const char* key, const QVariant& value) {
    if (store_)
        store_->setValue(QLatin1String(key), value);
    else
        volatile_[QLatin1String(key)] = value;
}

void Settings::reset() {
    if (store_) store_->clear();
    volatile_.clear();
}

QStringList Settings::recentFiles() const {
    QStringList existing;
    for (const QString& path : get("files/recent").toStringList())
        if (QFileInfo::exists(path)) existing.append(path);
    return existing;
}

void Settings::addRecentFile(const QString& path) {
    const QString absolute = QFileInfo(path).absoluteFilePath();
    QStringList files = get("files/recent").toStringList();
    files.removeAll(absolute);
    files.prepend(absolute);
    while (files.size() > 10)
        files.removeLast();
    set("files/recent", files);
    set("files/folder", QFileInfo(absolute).absolutePath());
}

}  // namespace kvasir::ui
