// SPDX-License-Identifier: GPL-3.0-or-later
// A page to paint on that becomes SVG 1.1. QSvgGenerator leaves out every clip (Qt 6.4), so curves, bars and captions
// run over their axes; here each clip is a clipPath, and text has the size that it was laid out with.
#pragma once

#include <QByteArray>
#include <QPaintDevice>
#include <QSize>
#include <QString>
#include <memory>

namespace kvasir::ui {

class SvgEngine;

/// One unit is one CSS pixel, 1/96 inch. Clips are rectangles, as those of charts are.
class SvgPage : public QPaintDevice {
 public:
    SvgPage(QSize size, const QString& title, const QString& description);
    ~SvgPage() override;

    /// The document; complete when no painter is active on the page.
    QByteArray bytes() const;
    QPaintEngine* paintEngine() const override;

 protected:
    int metric(PaintDeviceMetric metric) const override;

 private:
    QSize size_;
    QString title_, description_;
    std::unique_ptr<SvgEngine> engine_;
};

}  // namespace kvasir::ui
