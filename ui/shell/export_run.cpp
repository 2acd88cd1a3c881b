// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/export_run.h"

#include <QFileInfo>

namespace kvasir::ui {

namespace {
constexpr int kLookAgain = 30;  // ms
}

ExportRun::ExportRun(std::vector<ExportJob> jobs, QObject* parent, int patience_ms)
    : QObject(parent), jobs_(std::move(jobs)), patience_(patience_ms) {
    connect(&timer_, &QTimer::timeout, this, &ExportRun::turn);
    timer_.start(0);
}

void ExportRun::turn() {
    if (next_ >= jobs_.size()) return end(QString());
    const ExportJob& job = jobs_[next_];
    if (job.ready && !job.ready()) {
        if (!waiting_.isValid()) waiting_.start();
        timer_.setInterval(kLookAgain);
        if (waiting_.elapsed() < patience_) return;
        patience_ = 0;
        left_out_ << QFileInfo(job.path).fileName();
    } else {
        emit progressed(tr("Exporting %1 of %2").arg(next_ + 1).arg(jobs_.size()));
        if (const QString problem = job.write(); !problem.isEmpty()) return end(problem);
        ++n_written_;
    }
    waiting_.invalidate();
    timer_.setInterval(0);
    ++next_;
}

void ExportRun::end(const QString& problem) {
    timer_.stop();
    jobs_.clear();  // the plots that were made for it
    emit finished(n_written_, problem, left_out_);
    deleteLater();
}

}  // namespace kvasir::ui
