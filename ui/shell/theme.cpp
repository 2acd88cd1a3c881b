// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/theme.h"

#include <QApplication>
#include <QFile>
#include <QFontDatabase>
#include <QHash>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QPalette>
#include <QStyle>
#include <algorithm>
#include <array>

#include "core/session/lane_identity.h"

// A static library's resources have to be asked for; the macro works outside of namespaces only.
static void initResources() {
    Q_INIT_RESOURCE(kvasir);
}

namespace kvasir::ui {

namespace {

struct Colours {
    QHash<QString, QColor> role;
    QVector<QColor> lanes, tint, sequential, diverging;
};

QByteArray resource(const QString& path) {
    initResources();
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly)) qFatal("kvasir: resource %s is missing from the build", qPrintable(path));
    return file.readAll();
}

QVector<QColor> colourList(const QJsonValue& value) {
    QVector<QColor> list;
    for (const QJsonValue& v : value.toArray())
        list.append(QColor(v.toString()));
    return list;
}

std::array<Colours, 3> readColours() {
    const QJsonObject all = QJsonDocument::fromJson(resource(QStringLiteral(":/palette.json"))).object();
    std::array<Colours, 3> result;
    const char* names[] = {"light", "dark", "high-contrast"};
    for (size_t i = 0; i < 3; ++i) {
        const QJsonObject one = all[QLatin1String(names[i])].toObject();
        Colours& c = result[i];
        for (auto it = one.begin(); it != one.end(); ++it)
            if (it.value().isString()) c.role[it.key()] = QColor(it.value().toString());
        c.role[QStringLiteral("on_accent")] = c.role[QStringLiteral("accentText")];
        c.lanes = colourList(one[QLatin1String("lanes")]);
        c.tint = colourList(one[QLatin1String("tint")]);
        c.sequential = colourList(one[QLatin1String("sequential")]);
        c.diverging = colourList(one[QLatin1String("diverging")]);
        if (c.lanes.size() != 8 || c.tint.size() != 6)
            qFatal("kvasir: palette.json lacks lanes or tints of %s", names[i]);
    }
    return result;
}

const Colours& coloursOf(Theme::Kind kind) {
    static const std::array<Colours, 3> all = readColours();
    return all[size_t(kind)];
}

QPalette paletteOf(const Colours& c) {
    const auto r = [&](const char* name) { return c.role[QLatin1String(name)]; };
    QPalette p;
    p.setColor(QPalette::Window, r("window"));
    p.setColor(QPalette::WindowText, r("text"));
    p.setColor(QPalette::Base, r("base"));
    p.setColor(QPalette::AlternateBase, r("alt"));
    p.setColor(QPalette::Text, r("text"));
    p.setColor(QPalette::Button, r("button"));
    p.setColor(QPalette::ButtonText, r("text"));
    p.setColor(QPalette::BrightText, r("on_accent"));
    p.setColor(QPalette::Highlight, r("accent"));
    p.setColor(QPalette::HighlightedText, r("on_accent"));
    p.setColor(QPalette::ToolTipBase, r("base"));
    p.setColor(QPalette::ToolTipText, r("text"));
    p.setColor(QPalette::PlaceholderText, r("dim"));
    p.setColor(QPalette::Link, r("accent"));
    p.setColor(QPalette::Mid, r("line"));
    p.setColor(QPalette::Dark, r("edge"));
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
        p.setColor(QPalette::Disabled, role, r("disabled"));
    return p;
}

QString styleSheetOf(const Colours& c) {
    QString sheet = QString::fromUtf8(resource(QStringLiteral(":/kvasir.qss")));
    sheet.replace(QLatin1String("@icons"), QLatin1String(":/icons/qss"));
    sheet.replace(QLatin1String("@variant"),
                  QLatin1String(c.role[QStringLiteral("window")].lightnessF() < 0.5 ? "dark" : "light"));
    QStringList names = c.role.keys();
    // `@accentText` before `@accent`
    std::sort(names.begin(), names.end(), [](const QString& a, const QString& b) { return a.size() > b.size(); });
    for (const QString& name : names)
        sheet.replace(QLatin1Char('@') + name, c.role[name].name());
    return sheet;
}

}  // namespace

Theme& Theme::instance() {
    static Theme theme;
    return theme;
}

void Theme::apply(QApplication& app, Kind kind, double type_scale) {
    kind_ = kind;
    scale_ = std::clamp(type_scale, 0.8, 2.0);
    if (app.style()->objectName() != QLatin1String("fusion")) app.setStyle(QStringLiteral("Fusion"));
    app.setPalette(paletteOf(coloursOf(kind)));
    app.setFont(font(10));
    app.setStyleSheet(styleSheetOf(coloursOf(kind)));
    emit changed();
}

Theme::Kind Theme::kindOf(const QPalette& palette) {
    return palette.color(QPalette::Window).lightnessF() < 0.5 ? Kind::dark : Kind::light;
}

QColor Theme::colour(const QString& role) const {
    const auto& roles = coloursOf(kind_).role;
    const auto it = roles.find(role);
    if (it == roles.end()) qFatal("kvasir: no colour role %s", qPrintable(role));
    return it.value();
}

QColor Theme::tint(int level) const {
    return coloursOf(kind_).tint[std::clamp(level, 0, 5)];
}
QVector<QColor> Theme::sequential() const {
    return coloursOf(kind_).sequential;
}
QVector<QColor> Theme::diverging() const {
    return coloursOf(kind_).diverging;
}

LaneLook Theme::lane(int mark, bool is_reference) const {
    const auto& lanes = coloursOf(kind_).lanes;
    if (is_reference) return {QStringLiteral("R"), lanes[0], LaneMarker::none, false, 2.5};
    const QString letters = QStringLiteral("ABCDEFGHIJKLMNOPQSTUVWXYZ");  // R is taken
    const int n = int(letters.size());
    LaneLook look;
    look.letter = letters[mark % n] + (mark < n ? QString() : QString::number(mark / n + 1));
    // four colours, filled, then hollow, then with each other's markers: 32 looks, as many as a session has lanes
    look.colour = lanes[1 + mark % 4];
    look.marker = LaneMarker(1 + (mark + mark / 8) % 4);
    look.hollow = mark % 8 >= 4;
    look.pen = look.hollow ? 1.5 : 2;
    return look;
}

LaneLook Theme::laneOf(const Experiment& experiment, int lane) const {
    return this->lane(lane_mark(experiment, lane), lane == experiment.reference);
}

QFont Theme::font(double points, bool semibold) const {
    QFont f;
    f.setFamilies({QStringLiteral("Noto Sans"), QFontDatabase::systemFont(QFontDatabase::GeneralFont).family(),
                   QStringLiteral("Noto Sans CJK KR")});
    f.setPointSizeF(points * scale_);
    f.setWeight(semibold ? QFont::DemiBold : QFont::Normal);
    return f;
}

QFont Theme::mono(double points) const {
    QFont f;
    f.setFamilies({QStringLiteral("JetBrains Mono"), QStringLiteral("DejaVu Sans Mono")});
    f.setStyleHint(QFont::Monospace);
    f.setPointSizeF(points * scale_);
    return f;
}

int Theme::px(int at_scale_1) const {
    return qRound(at_scale_1 * scale_);
}

}  // namespace kvasir::ui
