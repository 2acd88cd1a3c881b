// SPDX-License-Identifier: GPL-3.0-or-later
// The expressions are those of the models' tokenizer.json files as listed by llama.cpp (src/llama-vocab.cpp), rewritten
// for PCRE2. Expressions found in model files are never compiled.
#include "core/model/pre_tokenizer.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <cstdio>
#include <cstdlib>
#include <new>

namespace kvasir {

namespace {

// Unicode White_Space, for use inside brackets. PCRE2's \s also contains U+180E, which is no white space.
#define WS "\\x09-\\x0D\\x20\\x{85}\\x{A0}\\x{1680}\\x{2000}-\\x{200A}\\x{2028}\\x{2029}\\x{202F}\\x{205F}\\x{3000}"
#define SPACES "[" WS "]+(?![^" WS "])"  // \s+(?!\S)
#define TAIL "|[" WS "]*[\\r\\n]+|" SPACES "|[" WS "]+"
#define ENDINGS "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define CJK "\\x{4E00}-\\x{9FA5}"
#define UPPER "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define LOWER "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define GPT2 "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^" WS "\\p{L}\\p{N}]+|" SPACES
#define LLAMA3(digits) ENDINGS "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|" digits "| ?[^" WS "\\p{L}\\p{N}]+[\\r\\n]*" TAIL
#define TEKKEN(ending, digits)                                                                               \
    "[^\\r\\n\\p{L}\\p{N}]?" UPPER "*" LOWER "+" ending "|[^\\r\\n\\p{L}\\p{N}]?" UPPER "+" LOWER "*" ending \
    "|" digits "| ?[^" WS "\\p{L}\\p{N}]+[\\r\\n/]*" TAIL

constexpr size_t kMaxExpressions = 6;

/// One list of expressions, run one after another on the pieces that the ones before left.
struct Family {
    const char* names;  ///< values of tokenizer.ggml.pre, each between spaces; the first is the family's name
    const char* expressions[kMaxExpressions];
};

const Family kFamilies[] = {
    {" gpt-2 phi-2 mpt olmo jais exaone4 mellum roberta-bpe trillion jina-v1-en jina-v2-en jina-v2-es jina-v2-de"
     " jina-v2-code ",
     {GPT2}},
    {" smollm starcoder refact command-r codeshell exaone minerva-7b ", {"\\p{N}", GPT2}},
    {" llama-bpe llama3 llama-v3 falcon3 pixtral lfm2 dbrx smaug-bpe glm4 chatglm-bpe ", {LLAMA3("\\p{N}{1,3}")}},
    {" qwen2 deepseek-r1-qwen stablelm2 megrez hunyuan grok-2 ", {LLAMA3("\\p{N}")}},
    {" qwen35 ",
     {ENDINGS "|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}| ?[^" WS "\\p{L}\\p{M}\\p{N}]+[\\r\\n]*" TAIL}},
    {" tekken ", {TEKKEN("", "\\p{N}")}},
    {" gpt-4o llama4 ", {TEKKEN(ENDINGS "?", "\\p{N}{1,3}")}},
    {" deepseek-v3 hunyuan-dense ",
     {"\\p{N}{1,3}", "[" CJK "\\x{3040}-\\x{309F}\\x{30A0}-\\x{30FF}]+",
      "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_\\x60{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"
      "| ?[\\p{P}\\p{S}]+[\\r\\n]*" TAIL}},
    {" deepseek-coder ",
     {"[\\r\\n]", "[" WS "]?\\p{L}+", "[" WS "]?\\p{P}+", "[" CJK "\\x{0800}-\\x{4E00}\\x{AC00}-\\x{D7FF}]+",
      "\\p{N}"}},
    {" falcon ", {"[\\p{P}\\$\\+<=>\\^~\\|\\x60]+", GPT2, "[0-9][0-9][0-9]"}},
    {" default ", {"[\\p{P}\\$\\+<=>\\^~\\|]+", GPT2, "\\p{N}+", "[0-9][0-9][0-9]"}},
};

// Names with two habits that the rest of their families does not have.
constexpr std::string_view kIgnoreMerges = " llama-bpe llama3 llama-v3 falcon3 pixtral tekken ";
constexpr std::string_view kAddBos = " llama-bpe llama3 llama-v3 falcon3 pixtral tekken ";

bool listed(std::string_view names, std::string_view name) {
    if (name.empty() || name.find(' ') != std::string_view::npos) return false;
    std::string between(1, ' ');
    between.append(name).append(1, ' ');
    return names.find(between) != std::string_view::npos;
}

// Limits far above what these expressions need: they step back at most once per character of one piece.
constexpr uint32_t kMatchLimit = 1u << 30;
constexpr uint32_t kHeapLimitKiB = 256u << 10;
constexpr size_t kJitStackStart = 32u << 10, kJitStackMax = 8u << 20;  // bytes

struct Free {
    void operator()(pcre2_code* p) const { pcre2_code_free(p); }
    void operator()(pcre2_match_context* p) const { pcre2_match_context_free(p); }
    void operator()(pcre2_match_data* p) const { pcre2_match_data_free(p); }
    void operator()(pcre2_jit_stack* p) const { pcre2_jit_stack_free(p); }
};
using Code = std::unique_ptr<pcre2_code, Free>;

Code compile(const char* expression) {
    int error = 0;
    PCRE2_SIZE where = 0;
    Code code(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(expression), PCRE2_ZERO_TERMINATED, PCRE2_UTF | PCRE2_UCP,
                            &error, &where, nullptr));
    if (!code) {
        std::fprintf(stderr, "kvasir: pre-tokenizer expression does not compile (error %d at %zu)\n", error, where);
        std::abort();
    }
    pcre2_jit_compile(code.get(), PCRE2_JIT_COMPLETE);  // without a JIT pcre2_match interprets
    return code;
}

/// What one call of split() needs besides the compiled expressions, which threads share.
class Matcher {
 public:
    Matcher() {
        if (!match_ || !context_) throw std::bad_alloc();
        pcre2_set_match_limit(context_.get(), kMatchLimit);
        pcre2_set_depth_limit(context_.get(), kMatchLimit);
        pcre2_set_heap_limit(context_.get(), kHeapLimitKiB);
        pcre2_jit_stack_assign(context_.get(), nullptr, stack_.get());
    }

    /// First match at or after `from`; false when there is none. Every other outcome is a lack of memory.
    bool next(const pcre2_code* code, std::string_view text, size_t from, size_t& begin, size_t& end) {
        const auto* subject = reinterpret_cast<PCRE2_SPTR>(text.data());
        // The text was validated once; PCRE2 would do it again for the whole subject on every call.
        int found = pcre2_match(code, subject, text.size(), from, PCRE2_NO_UTF_CHECK, match_.get(), context_.get());
        if (found == PCRE2_ERROR_JIT_STACKLIMIT)
            found = pcre2_match(code, subject, text.size(), from, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, match_.get(),
                                context_.get());
        if (found == PCRE2_ERROR_NOMATCH) return false;
        if (found < 0) throw std::bad_alloc();
        const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(match_.get());
        begin = ends[0];
        end = ends[1];
        return true;
    }

 private:
    std::unique_ptr<pcre2_jit_stack, Free> stack_{pcre2_jit_stack_create(kJitStackStart, kJitStackMax, nullptr)};
    std::unique_ptr<pcre2_match_context, Free> context_{pcre2_match_context_create(nullptr)};
    std::unique_ptr<pcre2_match_data, Free> match_{pcre2_match_data_create(1, nullptr)};
};

}  // namespace

struct PreTokenizer::Impl {
    std::string family;
    bool ignore_merges = false;
    bool adds_bos = false;
    std::vector<Code> expressions;
};

PreTokenizer::PreTokenizer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
PreTokenizer::~PreTokenizer() = default;

std::unique_ptr<const PreTokenizer> PreTokenizer::find(std::string_view name) {
    for (const Family& family : kFamilies) {
        if (!listed(family.names, name)) continue;
        auto impl = std::make_unique<Impl>();
        const std::string_view names = std::string_view(family.names).substr(1);
        impl->family = std::string(names.substr(0, names.find(' ')));
        impl->ignore_merges = listed(kIgnoreMerges, name);
        impl->adds_bos = listed(kAddBos, name);
        for (const char* expression : family.expressions)
            if (expression) impl->expressions.push_back(compile(expression));
        return std::unique_ptr<const PreTokenizer>(new PreTokenizer(std::move(impl)));
    }
    return nullptr;
}

std::vector<std::string_view> PreTokenizer::split(std::string_view text) const {
    Matcher matcher;
    std::vector<std::string_view> pieces, finer;
    if (!text.empty()) pieces.push_back(text);
    for (const Code& code : impl_->expressions) {
        finer.clear();
        for (const std::string_view piece : pieces) {
            size_t done = 0, begin = 0, end = 0;
            while (done < piece.size() && matcher.next(code.get(), piece, done, begin, end)) {
                if (begin > done) finer.push_back(piece.substr(done, begin - done));  // the gap stays a piece
                finer.push_back(piece.substr(begin, end - begin));
                done = end;
            }
            if (done < piece.size()) finer.push_back(piece.substr(done));
        }
        pieces.swap(finer);
    }
    return pieces;
}

std::string_view PreTokenizer::family() const {
    return impl_->family;
}
bool PreTokenizer::ignore_merges() const {
    return impl_->ignore_merges;
}
bool PreTokenizer::adds_bos() const {
    return impl_->adds_bos;
}

}  // namespace kvasir
