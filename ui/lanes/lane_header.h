// SPDX-License-Identifier: GPL-3.0-or-later
// What stands above a lane's text: chip, name, badges, and five figures that keep their place.
#pragma once

#include <QToolButton>
#include <QVector>
#include <QWidget>
#include <optional>

#include "core/session/run_model.h"
#include "ui/shell/chip.h"

namespace kvasir::ui {

class LaneHeader : public QWidget {
    Q_OBJECT
 public:
    explicit LaneHeader(QWidget* parent = nullptr);

    struct Content {
        LaneLook look;
        QString name, spec;
        bool reference = false, exact = false, reference_path = false, failed = false;
        double nominal_bits = 0;
        std::optional<LaneSummary> summary;  ///< none before the first record
        bool measures_floor = false;         ///< the figure below comes, if later than the others
        double noise_floor = 0;              ///< mean KL of the reference's second draw, nats; 0: not measured yet
        bool insideNoiseFloor() const {
            return !reference && summary && summary->n_comparable > 0 && summary->kl_mean < noise_floor;
        }
    };
    void setContent(const Content& content);
    void setCompact(bool compact);  ///< one line: chip, name, bits, KL
    QToolButton* menuButton() { return menu_; }
    QSize sizeHint() const override;

 protected:
    void paintEvent(QPaintEvent*) override;
    void resizeEvent(QResizeEvent*) override;

 private:
    struct Metric {
        QString key, value, widest;
        bool dim = false;
        QString beside = QString();  ///< in grey after the value
        QString text() const { return beside.isEmpty() ? value : value + QLatin1Char(' ') + beside; }
    };
    QVector<Metric> metrics() const;
    int paintName(QPainter& painter, int y);
    int figuresTop() const;  // of the part that changes while a run goes on

    Content content_;
    bool compact_ = false;
    QToolButton* menu_;
};

}  // namespace kvasir::ui
