// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

#include "ui/shell/exports.h"

namespace kvasir::ui {

/// Writes one file per turn of the event loop, so that the window answers while many are written. Deletes itself.
class ExportRun : public QObject {
    Q_OBJECT
 public:
    /// ms that a view may take to get what it needs, before it is left out; the views after it then have none.
    static constexpr int kPatience = 5000;

    ExportRun(std::vector<ExportJob> jobs, QObject* parent, int patience_ms = kPatience);

 signals:
    void progressed(const QString& words);
    /// problem: "" when all is written; left_out: files whose view had nothing to show.
    void finished(int n_files, const QString& problem, const QStringList& left_out);

 private:
    void turn();
    void end(const QString& problem);

    std::vector<ExportJob> jobs_;
    size_t next_ = 0;
    int n_written_ = 0, patience_;
    QStringList left_out_;
    QTimer timer_;
    QElapsedTimer waiting_;
};

}  // namespace kvasir::ui
