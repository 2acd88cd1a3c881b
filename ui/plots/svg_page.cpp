// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/svg_page.h"

#include <QBuffer>
#include <QFontMetricsF>
#include <QImage>
#include <QPaintEngine>
#include <QPainter>
#include <QPainterPath>
#include <cmath>

namespace kvasir::ui {

namespace {

constexpr int kUnitsPerInch = 96;
constexpr int kPatternSize = 8;  // of Qt's brush patterns

QByteArray number(double value) {
    QByteArray text = QByteArray::number(value, 'f', 3);  // a thousandth of a pixel; never an exponent
    while (text.endsWith('0'))
        text.chop(1);
    if (text.endsWith('.')) text.chop(1);
    return text == "-0" ? QByteArray("0") : text;
}

/// Text for an attribute or an element. XML 1.0 knows no other control characters than tab and line ends.
QByteArray escaped(const QString& text) {
    QString clean = text;
    for (QChar& c : clean)
        if (c.unicode() < 0x20 && c != QLatin1Char('\t') && c != QLatin1Char('\n')) c = QChar(0xFFFD);
    return clean.toHtmlEscaped().toUtf8();
}

QByteArray pathData(const QPainterPath& path) {
    QByteArray d;
    const auto point = [&](char command, const QPainterPath::Element& e) {
        d += command + number(e.x) + ',' + number(e.y) + ' ';
    };
    for (int i = 0; i < path.elementCount(); ++i) {
        const QPainterPath::Element e = path.elementAt(i);
        if (e.type == QPainterPath::MoveToElement) {
            point('M', e);
        } else if (e.type == QPainterPath::LineToElement) {
            point('L', e);
        } else if (e.type == QPainterPath::CurveToElement && i + 2 < path.elementCount()) {
            point('C', e);
            point(' ', path.elementAt(++i));
            point(' ', path.elementAt(++i));
        }
    }
    d.chop(1);
    return d;
}

QByteArray paint(const char* attribute, const QColor& colour, double opacity) {
    QByteArray text = QByteArray(" ") + attribute + "=\"" + colour.name().toLatin1() + '"';
    const double alpha = colour.alphaF() * opacity;
    if (alpha < 1) text += QByteArray(" ") + attribute + "-opacity=\"" + number(alpha) + '"';
    return text;
}

QByteArray strokeOf(const QPen& pen, const QTransform& to_page, double opacity) {
    if (pen.style() == Qt::NoPen) return " stroke=\"none\"";
    QByteArray text = paint("stroke", pen.color(), opacity);
    const double scale = pen.isCosmetic() ? 1 : std::sqrt(std::abs(to_page.determinant()));
    const double width = pen.widthF() > 0 ? pen.widthF() * scale : 1;
    text += " stroke-width=\"" + number(width) + '"';
    if (pen.capStyle() != Qt::FlatCap)
        text += pen.capStyle() == Qt::RoundCap ? " stroke-linecap=\"round\"" : " stroke-linecap=\"square\"";
    if (pen.joinStyle() != Qt::MiterJoin)
        text += pen.joinStyle() == Qt::RoundJoin ? " stroke-linejoin=\"round\"" : " stroke-linejoin=\"bevel\"";
    if (pen.style() == Qt::SolidLine) return text;
    QByteArray dashes;
    for (const double dash : pen.dashPattern())
        dashes += (dashes.isEmpty() ? "" : ",") + number(dash * width);
    return text + " stroke-dasharray=\"" + dashes + '"';
}

}  // namespace

/// Asks the painter for its state at each element, so that there is no second copy of it.
class SvgEngine : public QPaintEngine {
 public:
    SvgEngine()
        : QPaintEngine(PrimitiveTransform | PatternTransform | PixmapTransform | PatternBrush | LinearGradientFill |
                       AlphaBlend | PainterPaths | Antialiasing | BrushStroke | ConstantOpacity | MaskedBrush |
                       ObjectBoundingModeGradients) {}

    bool begin(QPaintDevice*) override { return true; }
    bool end() override {
        closeClip();
        return true;
    }
    void updateState(const QPaintEngineState&) override {}
    Type type() const override { return User; }

    void drawPath(const QPainterPath& path) override { addPath(path, true); }
    void drawPolygon(const QPointF* points, int n, PolygonDrawMode mode) override {
        QPainterPath path;
        path.addPolygon(QPolygonF(QVector<QPointF>(points, points + n)));
        if (mode != PolylineMode) path.closeSubpath();
        path.setFillRule(mode == WindingMode ? Qt::WindingFill : Qt::OddEvenFill);
        addPath(path, mode != PolylineMode);
    }
    void drawPixmap(const QRectF& rect, const QPixmap& pixmap, const QRectF& source) override {
        drawImage(rect, pixmap.toImage(), source, Qt::AutoColor);
    }
    void drawImage(const QRectF& rect, const QImage& image, const QRectF& source, Qt::ImageConversionFlags) override;
    void drawTextItem(const QPointF& at, const QTextItem& item) override;

    const QByteArray& defs() const { return defs_; }
    const QByteArray& body() const { return body_; }

 private:
    void addPath(const QPainterPath& path, bool filled);
    void openClip();
    void closeClip();
    QByteArray fillOf(const QBrush& brush);
    QByteArray gradientFill(const QLinearGradient& gradient);
    QByteArray patternFill(const QBrush& brush);
    QTransform toPage() const { return painter()->combinedTransform(); }

    QByteArray defs_, body_;
    int n_ids_ = 0;
    bool clip_open_ = false;
    QRectF clip_;
};

/// What follows is inside the painter's clip.
void SvgEngine::openClip() {
    const QRectF wanted = painter()->hasClipping() ? toPage().mapRect(painter()->clipBoundingRect()) : QRectF();
    if (clip_open_ == painter()->hasClipping() && wanted == clip_) return;
    closeClip();
    if (!painter()->hasClipping()) return;
    const QByteArray id = "c" + QByteArray::number(++n_ids_);
    defs_ += "<clipPath id=\"" + id + "\"><rect x=\"" + number(wanted.x()) + "\" y=\"" + number(wanted.y()) +
             "\" width=\"" + number(std::max(0.0, wanted.width())) + "\" height=\"" +
             number(std::max(0.0, wanted.height())) + "\"/></clipPath>\n";
    body_ += "<g clip-path=\"url(#" + id + ")\">\n";
    clip_open_ = true;
    clip_ = wanted;
}

void SvgEngine::closeClip() {
    if (std::exchange(clip_open_, false)) body_ += "</g>\n";
    clip_ = QRectF();
}

void SvgEngine::addPath(const QPainterPath& path, bool filled) {
    const QPen pen = painter()->pen();
    const QBrush brush = painter()->brush();
    const bool fills = filled && brush.style() != Qt::NoBrush;
    if (path.isEmpty() || (!fills && pen.style() == Qt::NoPen)) return;
    openClip();
    body_ += "<path d=\"" + pathData(toPage().map(path)) + '"';
    body_ += fills ? fillOf(brush) : QByteArray(" fill=\"none\"");
    if (fills && path.fillRule() == Qt::OddEvenFill) body_ += " fill-rule=\"evenodd\"";
    body_ += strokeOf(pen, toPage(), painter()->opacity()) + "/>\n";
}

QByteArray SvgEngine::fillOf(const QBrush& brush) {
    if (brush.style() == Qt::SolidPattern) return paint("fill", brush.color(), painter()->opacity());
    if (brush.style() == Qt::LinearGradientPattern)
        return gradientFill(*static_cast<const QLinearGradient*>(brush.gradient()));
    return patternFill(brush);
}

QByteArray SvgEngine::gradientFill(const QLinearGradient& gradient) {
    const QByteArray id = "g" + QByteArray::number(++n_ids_);
    const QPointF from = toPage().map(gradient.start()), to = toPage().map(gradient.finalStop());
    defs_ += "<linearGradient id=\"" + id + "\" gradientUnits=\"userSpaceOnUse\" x1=\"" + number(from.x()) +
             "\" y1=\"" + number(from.y()) + "\" x2=\"" + number(to.x()) + "\" y2=\"" + number(to.y()) + "\">";
    for (const QGradientStop& stop : gradient.stops())
        defs_ += "<stop offset=\"" + number(stop.first) + "\"" +
                 paint("stop-color", stop.second, 1).replace("stop-color-opacity", "stop-opacity") + "/>";
    defs_ += "</linearGradient>\n";
    return " fill=\"url(#" + id + ")\"";
}

/// Hatching as lines, the rest of Qt's patterns dot by dot.
QByteArray SvgEngine::patternFill(const QBrush& brush) {
    const QByteArray id = "p" + QByteArray::number(++n_ids_), size = QByteArray::number(kPatternSize);
    defs_ += "<pattern id=\"" + id + "\" patternUnits=\"userSpaceOnUse\" width=\"" + size + "\" height=\"" + size +
             "\"><path";
    QByteArray lines;
    if (brush.style() == Qt::BDiagPattern) lines = "M-1,1 l2,-2 M0,8 l8,-8 M7,9 l2,-2";
    if (brush.style() == Qt::FDiagPattern) lines = "M-1,7 l2,2 M0,0 l8,8 M7,-1 l2,2";
    if (brush.style() == Qt::CrossPattern) lines = "M0,3.5 h8 M3.5,0 v8";
    if (!lines.isEmpty()) {
        defs_ += " d=\"" + lines + "\" fill=\"none\" stroke-width=\"1\"" +
                 paint("stroke", brush.color(), painter()->opacity());
    } else {
        QImage dots(kPatternSize, kPatternSize, QImage::Format_RGB32);
        dots.fill(Qt::white);
        QPainter(&dots).fillRect(dots.rect(), QBrush(Qt::black, brush.style()));
        defs_ += " d=\"";
        for (int y = 0; y < kPatternSize; ++y)
            for (int x = 0; x < kPatternSize; ++x)
                if (dots.pixelColor(x, y) == Qt::black) defs_ += "M" + number(x) + ',' + number(y) + "h1v1h-1z";
        defs_ += '"' + paint("fill", brush.color(), painter()->opacity());
    }
    defs_ += "/></pattern>\n";
    return " fill=\"url(#" + id + ")\"";
}

void SvgEngine::drawImage(const QRectF& rect, const QImage& image, const QRectF& source, Qt::ImageConversionFlags) {
    if (rect.isEmpty() || source.isEmpty()) return;
    QByteArray png;
    QBuffer buffer(&png);
    buffer.open(QIODevice::WriteOnly);
    image.copy(source.toAlignedRect()).save(&buffer, "PNG");
    openClip();
    const QTransform t = toPage();
    body_ += "<image transform=\"matrix(" + number(t.m11()) + ',' + number(t.m12()) + ',' + number(t.m21()) + ',' +
             number(t.m22()) + ',' + number(t.dx()) + ',' + number(t.dy()) + ")\" x=\"" + number(rect.x()) + "\" y=\"" +
             number(rect.y()) + "\" width=\"" + number(rect.width()) + "\" height=\"" + number(rect.height()) +
             "\" preserveAspectRatio=\"none\" image-rendering=\"optimizeSpeed\"" +
             " xlink:href=\"data:image/png;base64," + png.toBase64() + "\"/>\n";
}

void SvgEngine::drawTextItem(const QPointF& at, const QTextItem& item) {
    if (item.text().trimmed().isEmpty()) return;
    const QFont font = item.font();
    // Qt lays text out in whole pixels of height: the same here, else every line is longer than it was planned.
    const int pixels = font.pixelSize() > 0 ? font.pixelSize() : qRound(font.pointSizeF() * kUnitsPerInch / 72);
    QByteArray families;
    for (const QString& family : font.families())
        families += "'" + escaped(family) + "', ";
    openClip();
    const QTransform t = toPage();
    const QPointF place = t.map(at);
    body_ += "<text xml:space=\"preserve\"";
    if (t.type() <= QTransform::TxTranslate)
        body_ += " x=\"" + number(place.x()) + "\" y=\"" + number(place.y()) + '"';
    else
        body_ += " transform=\"matrix(" + number(t.m11()) + ',' + number(t.m12()) + ',' + number(t.m21()) + ',' +
                 number(t.m22()) + ',' + number(place.x()) + ',' + number(place.y()) + ")\"";
    body_ += " font-family=\"" + families + "sans-serif\" font-size=\"" + QByteArray::number(pixels) + "\"";
    if (font.weight() != QFont::Normal) body_ += " font-weight=\"" + QByteArray::number(font.weight()) + '"';
    if (font.italic()) body_ += " font-style=\"italic\"";
    body_ += paint("fill", painter()->pen().color(), painter()->opacity()) + '>' + escaped(item.text()) + "</text>\n";
}

SvgPage::SvgPage(QSize size, const QString& title, const QString& description)
    : size_(size), title_(title), description_(description), engine_(std::make_unique<SvgEngine>()) {}

SvgPage::~SvgPage() = default;

QPaintEngine* SvgPage::paintEngine() const {
    return engine_.get();
}

int SvgPage::metric(PaintDeviceMetric metric) const {
    switch (metric) {
        case PdmWidth:
            return size_.width();
        case PdmHeight:
            return size_.height();
        case PdmWidthMM:
            return qRound(size_.width() * 25.4 / kUnitsPerInch);
        case PdmHeightMM:
            return qRound(size_.height() * 25.4 / kUnitsPerInch);
        case PdmNumColors:
            return 0xffffff;
        case PdmDepth:
            return 32;
        case PdmDpiX:
        case PdmDpiY:
        case PdmPhysicalDpiX:
        case PdmPhysicalDpiY:
            return kUnitsPerInch;
        case PdmDevicePixelRatio:
            return 1;
        case PdmDevicePixelRatioScaled:
            return qRound(devicePixelRatioFScale());
        default:
            return QPaintDevice::metric(metric);
    }
}

QByteArray SvgPage::bytes() const {
    const QByteArray width = QByteArray::number(size_.width()), height = QByteArray::number(size_.height());
    return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
           "xmlns:xlink=\"http://www.w3.org/1999/xlink\" version=\"1.1\" width=\"" +
           width + "\" height=\"" + height + "\" viewBox=\"0 0 " + width + ' ' + height + "\">\n<title>" +
           escaped(title_) + "</title>\n<desc>" + escaped(description_) + "</desc>\n<defs>\n" + engine_->defs() +
           "</defs>\n" + engine_->body() + "</svg>\n";
}

}  // namespace kvasir::ui
