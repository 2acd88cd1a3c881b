// SPDX-License-Identifier: GPL-3.0-or-later
// Cache specs as text: both forms, both directions, and what a refusal says.
#include <QtTest>

#include "core/cache/cache_spec.h"

using namespace kvasir;

namespace {

QString refusal(const char* text) {
    const auto spec = parse_cache_spec(text);
    return spec.ok() ? QString("accepted") : QString::fromStdString(spec.error().message());
}

}  // namespace

class CacheSpecTest : public QObject {
    Q_OBJECT

 private slots:
    void long_form_gives_the_same_scheme_data() {
        QTest::addColumn<QString>("text");
        for (const Preset& preset : presets())
            QTest::newRow(preset.name.c_str()) << QString::fromStdString(preset.name);
        for (const char* text :
             {"quanto:4,residual=32",
              "quanto:2,axis_key=-1,axis_value=0",
              "quanto:4,group=32",
              "hqq:4,axis_key=0,axis_value=0,optimize=off",
              "kivi:2,residual=128",
              "kivi:4,group=64,residual=64",
              "hadamard:2,v_residual=0",
              "hadamard:2,k=kivi:2",
              "quanto:4,k=kivi:2",
              "fp16,v=hadamard:2",
              "kivi:2,k=fp32",
              " quanto:4 , residual = 32 ",
              "ggml:q4_0,rotate=off",
              "fp8,scale=0.0375",
              "quanto:4,sink=4,layers=0-1:fp16+5:kivi:2,layers_k=7:fp32",
              "quanto:4,layers_k=0:kivi:4,layers=0:fp16",
              "fp16,layers_v=3:hadamard:2",
              "k=affine3:group=32:rotate=16:signs:centre; v=exl5:rotate=32; residual=16; flush=block; sink=2",
              "k=affine4:rope=before; v=fp16; residual=8; flush=whole; score=after_flush",
              "k=fp32:rotate; v=fp32:rotate=llama; flush=write"})
            QTest::newRow(text) << text;
    }

    void long_form_gives_the_same_scheme() {
        QFETCH(QString, text);
        const auto spec = parse_cache_spec(text.toStdString());
        QVERIFY2(spec.ok(), spec.ok() ? "" : spec.error().message().c_str());
        QCOMPARE(QString::fromStdString(spec->text), text.trimmed());
        const auto again = parse_cache_spec(long_spec(*spec));
        QVERIFY2(again.ok(), again.ok() ? "" : again.error().message().c_str());
        QVERIFY(again->same_scheme(*spec));
        QCOMPARE(long_spec(*again), long_spec(*spec));
    }

    /// What the editor offers is what the parser takes, and the default is the default.
    void every_option_of_every_preset_is_accepted() {
        for (const Preset& preset : presets()) {
            const CacheSpec base = parse_cache_spec(preset.name).value();
            QVERIFY(!preset.title.empty() && !preset.origin.empty());
            for (const PresetOption& option : preset.options) {
                const std::string head = preset.name + "," + option.key + "=";
                const auto with_default = parse_cache_spec(head + option.default_value);
                QVERIFY2(with_default.ok(), head.c_str());
                QVERIFY2(with_default->same_scheme(base), head.c_str());
                for (const std::string& choice : option.choices)
                    QVERIFY2(parse_cache_spec(head + choice).ok(), (head + choice).c_str());
                if (!option.choices.empty() || option.is_text) continue;
                QVERIFY(option.minimum < option.maximum);
                for (const int beyond : {option.minimum - 1, option.maximum + 1})
                    QVERIFY2(!parse_cache_spec(head + std::to_string(beyond)).ok(), head.c_str());
            }
        }
    }

    void presets_are_the_published_points() {
        const CacheSpec quanto = parse_cache_spec("quanto:2,axis_key=-1").value();
        QCOMPARE(quanto.k.bits, 2);
        QCOMPARE(quanto.k.group, 64);
        QVERIFY(quanto.k.axis == SideSpec::Axis::rows && quanto.v.axis == SideSpec::Axis::token);
        QVERIFY(quanto.flush_k == FlushRule::whole && quanto.residual_v == 128);
        const CacheSpec hqq = parse_cache_spec("hqq:8").value();
        QVERIFY(hqq.k.codec == SideSpec::Codec::hqq && hqq.k.optimize && hqq.k.axis == SideSpec::Axis::token);
        const CacheSpec hadamard = parse_cache_spec("hadamard:2").value();
        QVERIFY(hadamard.k == parse_cache_spec("kivi:4")->k);
        QVERIFY(hadamard.v.rotates() && hadamard.v.form == SideSpec::Form::minimum_f32 && hadamard.v.bits == 2);
        QVERIFY(hadamard.flush_k == FlushRule::block && hadamard.flush_v == FlushRule::slide);
        const CacheSpec bent = parse_cache_spec("quanto:4,k=kivi:2,residual=64").value();
        QVERIFY(bent.k == parse_cache_spec("kivi:2")->k && bent.residual_k == 32 && bent.residual_v == 64);
        QVERIFY(parse_cache_spec("fp16")->exact() && !bent.exact());
    }

    /// Over the layers a model has: rules may bring such a layer in, or cover all of them.
    void which_schemes_quantize_as_they_write() {
        const auto writes = [](const char* text, int n_layers) {
            return parse_cache_spec(text).value().quantizes_as_it_writes(n_layers);
        };
        for (const char* text :
             {"fp16", "quanto:4", "hqq:4", "kivi:2", "hadamard:2", "kivi:2,layers=0-1:fp16", "quanto:4,sink=4",
              "k=affine4; v=affine4; residual=32; flush=slide; score=after_flush", "ggml:q4_0,layers=0-3:kivi:4",
              "ggml:q4_0,layers_k=0-3:fp16+2:kivi:4,layers_v=0-3:fp32"})
            QVERIFY2(!writes(text, 4), text);
        for (const char* text : {"ggml:q4_0", "tq:3", "fp8", "quarot:4", "exl3:4", "kivi:2,layers=0:ggml:q4_0",
                                 "kivi:2,layers_v=3:fp8", "k=fp16; v=affine4; flush=write", "quanto:4,v=tq:4",
                                 "ggml:q4_0,layers=0-2:fp16", "ggml:q4_0,layers_k=0-3:fp16"})
            QVERIFY2(writes(text, 4), text);
        QVERIFY(writes("ggml:q4_0,layers=0-3:kivi:4", 5));
    }

    void nominal_bits_count_codes_and_constants() {
        const auto bits = [](const char* text) { return nominal_bits_per_value(parse_cache_spec(text).value(), 64); };
        QCOMPARE(bits("fp16"), 16.0);
        QCOMPARE(bits("fp32"), 32.0);
        QCOMPARE(bits("quanto:4"), 4.5);
        QCOMPARE(bits("hqq:8"), 8.5);
        QCOMPARE(bits("kivi:2"), 3.0);
        QCOMPARE(bits("hadamard:2"), 4.0);
        QCOMPARE(bits("ternary"), (5.0 + 2.5) / 2);
        QCOMPARE(bits("ggml:q8_0"), 8.5);
        QCOMPARE(bits("ggml:q5_1"), 6.0);
        QCOMPARE(bits("ggml:q4_0"), 4.5);
        QCOMPARE(bits("tq:3"), 3.25);
        QCOMPARE(bits("fp8"), 8.0);
        QCOMPARE(bits("quarot:4"), 4.5);
        QCOMPARE(bits("exl3:3"), 3.5);
        QCOMPARE(nominal_bits_per_value(parse_cache_spec("quanto:4,layers=0-1:fp16").value(), 64, 4), (32 + 9.0) / 4);
        QCOMPARE(nominal_bits_per_value(parse_cache_spec("quanto:4,layers=0-1:fp16").value(), 64, 2), 16.0);
        // How many layers there are decides: without their number there is no figure.
        QVERIFY(std::isnan(nominal_bits_per_value(parse_cache_spec("quanto:4,layers=0-1:fp16").value(), 64)));
    }

    void names_for_people() {
        const auto name = [](const char* text) { return display_name(parse_cache_spec(text).value()); };
        QCOMPARE(name("quanto:4"), std::string("Quanto int4"));
        QCOMPARE(name("quanto:4,residual=32"), std::string("Quanto int4, residual 32"));
        QCOMPARE(name("quanto:4,residual=128"), std::string("Quanto int4"));
        QCOMPARE(name("hadamard:2,v_residual=0"), std::string("Hadamard 2-bit, v residual 0"));
        QCOMPARE(name("fp16,k=kivi:2"), std::string("fp16, keys from kivi:2"));
        QCOMPARE(display_name(parse_cache_spec(long_spec(parse_cache_spec("kivi:2").value())).value()),
                 std::string("KIVI int2"));
        const std::string kivi = long_spec(parse_cache_spec("kivi:2").value());
        const auto residual = [&](const char* words) {
            std::string text = kivi;
            return text.replace(text.find("residual=32"), 11, words);
        };
        QCOMPARE(name(residual("residual=128").c_str()), std::string("KIVI int2, residual 128"));
        QCOMPARE(name(residual("residual_k=64; residual_v=7").c_str()), std::string("KIVI int2, residual 64/7"));
    }

    void refusals_say_what_would_do_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QStringList>("words");
        const auto row = [](const char* text, QStringList words) { QTest::newRow(text) << text << words; };
        row("", {"no preset", "quanto:4"});
        row("quanto:5", {"quanto:5", "quanto:4", "Nearest: quanto:4"});
        row("qanto:2", {"Nearest: quanto:2"});
        row("kivi", {"kivi:4", "Nearest: kivi:"});
        row("ggml:q4_2", {"no preset ggml:q4_2", "Nearest: ggml:q4_"});
        row("exl3:4,group=32", {"no option group"});
        row("quanto:4,sink=-4", {"sink", "Nearest: sink=0"});
        row("quanto:4,layers=0-1", {"layers", "FIRST-LAST:PRESET"});
        row("quanto:4,layers=3-1:fp16", {"layers", "3-1:fp16"});
        row("quanto:4,layers_k=0:fp17", {"no preset 'fp17'", "Nearest: fp16"});
        row("fp8,scale=0", {"above 0"});
        row("fp8,scale=much", {"scale", "a number from 0 to 1000"});
        row("k=fp16; v=affine4:centre", {"values", "only keys can be centred"});
        row("k=fp16; v=affine4:rope=before", {"values have no RoPE"});
        row("k=affine4:signs; v=fp16", {"random signs", "Add rotate"});
        row("k=affine4:rotate=often; v=fp16", {"rotate cannot be 'often'"});
        row("k=hqq4; v=fp16; flush=write", {"optimizer", "optimize=off"});
        row("k=q4_0:axis=channel; v=fp16", {"inside a token"});
        row("k=affine4:centre; v=fp16; flush=write", {"mean"});
        row("k=ternary:axis=rows; v=fp16", {"ternary groups"});
        row("k=fp8:group=32; v=fp16; flush=write", {"fp8 has no groups"});
        row("k=fp8:scale=inf; v=fp16; flush=write", {"scale cannot be 'inf'"});
        row("k=affine4:group=32:group=64; v=fp16", {"given twice"});
        row("k=fp16:order=pairs; v=fp16", {"say nothing about exact values"});
        row("k=q8_0:form=minimum; v=fp16", {"form says nothing about q8_0", "Leave form out"});
        row("k=affine4:optimize=off; v=fp16", {"optimize says nothing about affine4"});
        row("quanto:4,residal=32", {"no option residal", "residual", "Nearest: residual"});
        row("quanto:4,residual=many", {"'many'", "a number from 0 to"});
        row("quanto:4,residual=-1", {"Nearest: residual=0"});
        row("quanto:4,axis_key=1", {"axis_key", "0 or -1"});
        row("hqq:4,optimize=yes", {"on or off"});
        row("quanto:4,residual", {"not key=value"});
        row("quanto:4,group=32,group=64", {"given twice"});
        row("quanto:4,k=kiwi:2", {"kiwi:2", "Nearest: kivi:2"});
        row("quanto:4,k=kivi:2,axis_key=-1", {"axis_key does nothing"});
        row("kivi:2,residual=40", {"residual 40", "multiple of the group 32", "Nearest: residual=32"});
        row("kivi:2,group=20,residual=40", {"multiple of 8", "Nearest: group=24"});
        row("k=affine4:group=64", {"needs v="});
        row("k=affine9; v=fp16", {"9 bits", "1 to 8"});
        row("k=turbo7; v=fp16; flush=write", {"7 bits", "1 to 6"});
        row("k=turbi; v=fp16; flush=write", {"turbo6"});
        row("k=affine4; v=affine4; residual_k=3; residual=1", {"residual of both sides stands behind residual_k"});
        row("k=affine4; v=affine4; flush_v=write; flush=whole", {"flush of both sides stands behind flush_v"});
        row("k=afine4; v=fp16", {"no codec 'afine4'", "Nearest: affine4"});
        row("k=affine4:axis=tokens; v=fp16", {"axis", "Nearest: axis=token"});
        row("k=affine4:axis=channel:group=32; v=fp16; flush=whole", {"keys", "Use flush=block"});
        row("k=hqq4:axis=rows; v=fp16", {"hqq groups"});
        row("k=affine4; v=fp16; flush=none", {"needs a flush rule"});
        row("k=fp16; v=fp16; colour=red", {"no key 'colour'"});
    }

    void refusals_say_what_would_do() {
        QFETCH(QString, text);
        QFETCH(QStringList, words);
        const QString message = refusal(qPrintable(text));
        QVERIFY2(message != "accepted", qPrintable(text));
        for (const QString& word : words)
            QVERIFY2(message.contains(word), qPrintable(message));
        QCOMPARE(parse_cache_spec(text.toStdString()).error().code, ErrorCode::input);
        QVERIFY2(!message.contains(".."), qPrintable(message));
    }

    void geometry_is_checked_with_a_way_out() {
        const auto check = [](const char* text, int n_kv_heads, int head_dim) {
            const Status status = check_geometry(parse_cache_spec(text).value(), n_kv_heads, head_dim);
            return status.ok() ? QString("ok") : QString::fromStdString(status.error().message());
        };
        for (const Preset& preset : presets())
            QCOMPARE(check(preset.name.c_str(), 3, 64), QString("ok"));
        QCOMPARE(check("hadamard:2,k=fp16", 8, 80).contains("groups of 32"), true);
        QVERIFY(check("k=fp32:rotate; v=fp16", 8, 72).contains("no Hadamard matrix of order 72") == false);
        QVERIFY(check("k=fp32:rotate; v=fp16", 8, 42).contains("no Hadamard matrix of order 42"));
        QCOMPARE(check("ggml:q4_0", 8, 96), QString("ok"));  // llama.cpp does not rotate here
        QVERIFY(check("ggml:q4_0", 8, 80).contains("groups of 32 do not divide"));
        const QString kivi = check("kivi:2", 8, 80);
        QVERIFY2(kivi.contains("80 channels") && kivi.contains("16"), qPrintable(kivi));
        QCOMPARE(check("kivi:2,group=16", 8, 80), QString("ok"));
        QCOMPARE(check("quanto:4", 8, 80), QString("ok"));  // groups across tokens, as the original
        // A rule is checked where another one covers its first layer, too.
        QVERIFY(check("fp16,layers=0-1:exl3:4+0:fp16", 8, 80).contains("do not divide"));
        QVERIFY(check("k=hqq3; v=hqq3; residual=32; flush=slide", 3, 64).contains("flushed whole"));
        const CacheSpec rules = parse_cache_spec("quanto:4,layers=0-29:fp16").value();
        QVERIFY(check_geometry(rules, 3, 64, 30).ok() && check_geometry(rules, 3, 64).ok());
        const Status beyond = check_geometry(rules, 3, 64, 29);
        QVERIFY(!beyond && beyond.error().why.find("names layer 29") != std::string::npos);
    }
};

QTEST_APPLESS_MAIN(CacheSpecTest)
#include "tst_cache_spec.moc"
