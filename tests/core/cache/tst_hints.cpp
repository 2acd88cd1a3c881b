// SPDX-License-Identifier: GPL-3.0-or-later
// A refusal that offers a way out is followed, and it works: what its hint says is put into the spec, and the spec is
// taken by the same geometry.
#include <QtTest>
#include <regex>

#include "core/cache/length_check.h"

using namespace kvasir;

namespace {

struct Geometry {
    int n_kv_heads = 3, head_dim = 64, n_prompt = 128, n_tokens = 200;
};

/// What refuses the text, if anything does.
Status check(const std::string& text, const Geometry& g) {
    const auto spec = parse_cache_spec(text);
    if (!spec) return spec.error();
    if (Status ok = check_geometry(*spec, g.n_kv_heads, g.head_dim); !ok) return ok;
    return check_lengths(*spec, {2, g.n_kv_heads, g.head_dim, g.n_tokens}, g.n_prompt, g.n_tokens);
}

/// `text` with its key set to another value where it stands, else behind it.
std::string with(const std::string& text, const std::string& key, const std::string& value) {
    const std::regex there("\\b" + key + "(=[^;:,]*)?(?=[;:,]|$)");
    if (std::regex_search(text, there)) return std::regex_replace(text, there, key + "=" + value);
    if (text.find(';') == std::string::npos) return text + "," + key + "=" + value;
    if (key != "residual" && key != "flush" && key != "sink")  // an option of the sides
        return std::regex_replace(text, std::regex("([kv]=[^;]*)"), "$1:" + key + "=" + value);
    return text + "; " + key + "=" + value;
}

/// What a hint proposes first: each key=value before an "or", a preset by its name, a prompt of so many tokens.
std::string followed(std::string text, Geometry& g, const Error& refused) {
    const std::string first = refused.hint.substr(0, refused.hint.find(" or "));
    std::smatch m;
    bool changed = false;
    if (std::regex_search(refused.why, m,
                          std::regex("has no option '?(\\w+)")))  // the wrong key gives way to the near one
        text = std::regex_replace(text, std::regex("," + m[1].str() + "=[^,]*"), "");
    if (std::regex_search(first, m, std::regex("prompt of (?:at least )?(\\d+)")))
        g.n_prompt = std::stoi(m[1]), changed = true;
    if (std::regex_search(first, m, std::regex("group of (?:\\d+, )*(\\d+)")))
        text = with(text, "group", m[1]), changed = true;
    for (std::string rest = first; std::regex_search(rest, m, std::regex("(\\w+)=((?:[\\w.-]|:(?!\\w+=))*\\w)"));
         rest = m.suffix())
        text = with(text, m[1], m[2]), changed = true;
    if (!changed && std::regex_search(first, m, std::regex("(?:Use|Nearest:) ([a-z0-9_]+(?::\\w+)?)"))) text = m[1];
    return text;
}

}  // namespace

class TestHints : public QObject {
    Q_OBJECT
 private slots:
    void everyHintWorks_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<int>("heads");
        QTest::addColumn<int>("dim");
        QTest::addColumn<int>("prompt");
        const auto row = [](const char* text, int heads = 3, int dim = 64, int prompt = 128) {
            QTest::addRow("%s at %d x %d, prompt %d", text, heads, dim, prompt) << text << heads << dim << prompt;
        };
        // Lengths.
        row("quanto:4,axis_key=-1", 3, 64, 24);
        row("quanto:4,group=1000");
        row("k=affine4:group=64:axis=rows; v=fp16; residual=10; flush=whole", 2, 64, 64);
        row("quanto:4,axis_key=-1,sink=16", 3, 64, 100);
        row("quanto:4,group=64", 1, 64, 1);
        // Geometry.
        for (const int dim : {16, 20, 40, 80, 96, 100, 128})
            for (const char* text : {"kivi:4", "hadamard:2", "ggml:q4_0", "tq:4", "quarot:4", "exl3:4", "fp8"})
                row(text, 2, dim);
        row("k=hqq8:group=20; v=hqq8:group=20; flush=slide; residual=4", 2, 40);
        row("k=hqq3; v=hqq3; flush=slide; residual=8");
        row("k=affine4:group=16:rotate=48; v=fp16; flush=slide; residual=4");
        // The scheme itself.
        row("k=affine8:form=integer; v=affine8:form=integer");
        row("k=hqq4; v=hqq4; flush=write");
        row("k=affine4:axis=rows; v=affine4:axis=rows; flush=slide");
        row("k=affine4:axis=channel:group=12; v=affine4; residual=12; flush=kivi");
        row("k=affine4:axis=channel:group=32; v=affine4:group=32; residual=40; flush=kivi");
        row("kivi:2,group=32,residual=40");
        row("k=exl4:group=16; v=exl4");
        row("k=affine4:axis=strided; v=affine4");
        row("k=q4_0:axis=channel; v=q4_0");
        row("fp8,scale=0");
        // Grammar.
        row("quanto:5");
        row("quantoo:4");
        row("quanto:4,residul=64");
        row("quanto:4,kk=3");
        row("quanto:4,snk=3");
        row("quanto:4,layer=3");
        row("quanto:4,axis_key=2");
        row("quanto:4,group=9999");
        row("quanto:4,layers=0-1:quanto:5");
        row("k=affine4; v=affine4; residual=99999999");
        row("k=affine4:axis=tokens; v=fp16");
    }
    void everyHintWorks() {
        QFETCH(QString, text);
        QFETCH(int, heads);
        QFETCH(int, dim);
        QFETCH(int, prompt);
        Geometry g{heads, dim, prompt, prompt + 300};
        std::string spec = text.toStdString();
        // A scheme may be wrong in more than one way: each refusal leads on, and soon to one that is taken.
        for (int i = 0; i < 4; ++i) {
            const Status refused = check(spec, g);
            if (refused) return;
            QVERIFY2(!refused.error().hint.empty(), spec.c_str());
            const std::string next = followed(spec, g, refused.error());
            const bool moved = next != spec || refused.error().hint.find("prompt of") != std::string::npos;
            QVERIFY2(moved, (spec + " | " + refused.error().message()).c_str());
            spec = next;
        }
        QVERIFY2(check(spec, g), (spec + " | " + check(spec, g).error().message()).c_str());
    }
    void whatIsNotRefusedRuns() {
        QVERIFY(check("quanto:4", {}));
        QVERIFY(check("k=affine4:form=integer; v=affine2:form=integer", {}));
    }
};

QTEST_APPLESS_MAIN(TestHints)
#include "tst_hints.moc"
