// SPDX-License-Identifier: GPL-3.0-or-later
// Everything that is remembered between starts, by name, in one table.
#pragma once

#include <QSettings>
#include <QString>
#include <QStringList>
#include <QVariant>
#include <memory>
#include <vector>

namespace kvasir::ui {

struct SettingRow {
    const char* key;
    QVariant default_value;
    const char* meaning;
};

class Settings {
 public:
    /// Every key that exists, with its default.
    static const std::vector<SettingRow>& table();

    /// Stored for the user, or, with `remember` false, for this process only.
    explicit Settings(bool remember = true);

    QVariant get(const char* key) const;
    void set(const char* key, const QVariant& value);
    bool remembers() const { return store_ != nullptr; }
    void reset();  ///< forgets everything

    QStringList recentFiles() const;  ///< newest first, existing files only
    void addRecentFile(const QString& path);

 private:
    std::unique_ptr<QSettings> store_;
    QVariantMap volatile_;
};

}  // namespace kvasir::ui
