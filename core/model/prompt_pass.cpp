// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/prompt_pass.h"

#include <algorithm>

namespace kvasir {
namespace {

using Group = std::vector<size_t>;  // indices of caches

std::vector<Group> groups_of(std::span<KvCache* const> caches) {
    std::vector<Group> groups;
    for (size_t i = 0; i < caches.size(); ++i) {
        auto group = std::find_if(groups.begin(), groups.end(), [&](const Group& g) {
            return caches[g.front()]->spec().same_prompt_attention(caches[i]->spec());
        });
        if (group == groups.end()) group = groups.emplace(groups.end());
        group->push_back(i);
    }
    return groups;
}

}  // namespace

Result<PromptPass> read_prompt(Forward& forward, std::span<KvCache* const> caches, std::span<const int> tokens,
                               int chunk, const Progress& progress, const CancelCheck& cancelled) {
    for (KvCache* cache : caches)
        cache->begin_prompt(int(tokens.size()));
    const std::vector<Group> groups = groups_of(caches);
    PromptPass pass;
    pass.logits.resize(caches.size());
    pass.n_groups = int(groups.size());
    const size_t step = size_t(std::max(1, chunk));
    for (size_t begin = 0; begin < tokens.size(); begin += step) {
        if (progress) progress(double(begin) / double(tokens.size()), "reading the prompt");
        const std::span<const int> part = tokens.subspan(begin, std::min(step, tokens.size() - begin));
        std::vector<Sequence> sequences;
        for (const Group& group : groups) {
            Sequence s;
            s.tokens.assign(part.begin(), part.end());
            for (const size_t i : group)
                s.caches.push_back(caches[i]);
            sequences.push_back(std::move(s));
        }
        ForwardOptions options;
        options.flush = false;
        options.no_logits = begin + step < tokens.size();
        std::vector<float> logits;
        if (Status s = forward.run(sequences, options, logits, cancelled); !s) return s.error();
        for (const Sequence& s : sequences)
            if (s.failed) return s.error;
        if (options.no_logits) continue;
        const auto stride = std::ptrdiff_t(forward.logits_stride());
        for (size_t g = 0; g < groups.size(); ++g)
            for (const size_t i : groups[g])
                pass.logits[i].assign(logits.begin() + std::ptrdiff_t(g) * stride,
                                      logits.begin() + std::ptrdiff_t(g + 1) * stride);
    }
    return pass;
}

Status each_prompt_chunk(Forward& forward, KvCache& cache, std::span<const int> tokens, ForwardOptions options,
                         const AfterChunk& after, const CancelCheck& cancelled) {
    constexpr size_t kChunk = 128;
    options.flush = false;
    cache.begin_prompt(int(tokens.size()));
    std::vector<float> logits;
    for (size_t begin = 0; begin < tokens.size(); begin += kChunk) {
        const std::span<const int> part = tokens.subspan(begin, std::min(kChunk, tokens.size() - begin));
        Sequence s;
        s.tokens.assign(part.begin(), part.end());
        s.caches = {&cache};
        if (Status done = forward.run({&s, 1}, options, logits, cancelled); !done) return done;
        if (s.failed) return s.error;
        after(begin, part.size(), logits);
    }
    return {};
}

}  // namespace kvasir
