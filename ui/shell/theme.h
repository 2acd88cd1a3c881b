// SPDX-License-Identifier: GPL-3.0-or-later
// Colours, lane identities and type sizes: the values of resources/palette.json, by role. Follows the window's
// luminance.
#pragma once

#include <QColor>
#include <QFont>
#include <QObject>
#include <QString>
#include <QVector>

class QApplication;
class QPalette;

namespace kvasir {
struct Experiment;
}

namespace kvasir::ui {

/// The pointed-down triangle is the reference's where single points have to be seen.
enum class LaneMarker { none, disc, square, diamond, triangle, triangle_down };

/// How a lane looks everywhere. The reference is R in the text colour; the others are A, B, C ... as they were given
/// (core/session/lane_identity).
struct LaneLook {
    QString letter;
    QColor colour;
    LaneMarker marker = LaneMarker::none;
    bool hollow = false;
    double pen = 2;
};

class Theme : public QObject {
    Q_OBJECT
 public:
    enum class Kind { light, dark, high_contrast };
    explicit Theme(Kind kind = Kind::light) : kind_(kind) {}
    static Theme& instance();

    void apply(QApplication& app, Kind kind, double type_scale);  ///< palette, style sheet, fonts; emits changed()
    /// Light or dark by the luminance of the palette's window colour: what *auto* follows.
    static Kind kindOf(const QPalette& palette);
    Kind kind() const { return kind_; }
    double typeScale() const { return scale_; }

    /// Roles of the palette table: "window", "base", "alt", "panel", "button", "text", "dim", "line", "edge", "grid",
    /// "accent", "on_accent", "sel", "hover", "warn", "bad".
    QColor colour(const QString& role) const;
    QColor tint(int level) const;  ///< 1..5
    QVector<QColor> sequential() const;
    QVector<QColor> diverging() const;

    /// Look of a lane_mark() (0 = A); is_reference gives R.
    LaneLook lane(int mark, bool is_reference) const;
    LaneLook laneOf(const Experiment& experiment, int lane) const;

    QFont font(double points, bool semibold = false) const;  ///< points at scale 1
    QFont mono(double points) const;
    int px(int at_scale_1) const;  ///< spacing on the 4 px grid, scaled with the type

 signals:
    void changed();

 private:
    Kind kind_;
    double scale_ = 1;
};

}  // namespace kvasir::ui
