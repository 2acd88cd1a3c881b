// SPDX-License-Identifier: GPL-3.0-or-later
// Scores of an answer against a reference, 0 to 1, as LongBench computes them (THUDM/LongBench v1, LongBench/metrics.py
// at 2e00731, and the Python package rouge 1.0.1; docs/spec/kv-cache-schemes.md, section 7.3). Their quirks are kept:
// published numbers contain them.
//
// Texts are valid UTF-8. Letters beyond the Latin, Greek and Cyrillic blocks keep their case.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kvasir {

/// Question answering: F1 of the word multisets after lower-casing and removing ASCII punctuation and the articles a,
/// an, the. 0 when no word is shared.
double token_f1(std::string_view prediction, std::string_view reference);

/// Summaries: the package's "rouge-l" f, which is not the usual one. Sentences are cut at every '.', words are compared
/// as sets: with U = union over all pairs of sentences of the words of their longest common subsequence, recall =
/// |U| / |distinct words of the reference|, precision = |U| / |distinct words of the prediction|, and
/// f = 2 p r / (p + r + 1e-8). 0 for a text without a sentence, where the package raises an exception.
double rouge_l(std::string_view prediction, std::string_view reference);

/// Classification: 1 / n when the reference is among the n class names found in the prediction, else 0. Names that are
/// proper parts of the reference are removed by a loop that skips the name after each one it removes, as the original's
/// does.
double classification_score(std::string_view prediction, std::string_view reference,
                            std::span<const std::string> classes);

/// Retrieval: of the numbers in the prediction, the share equal to the number of the reference "Paragraph <number>";
/// 0 without a number. PRECONDITION: the reference has one (paragraph_number is not empty).
double retrieval_score(std::string_view prediction, std::string_view reference);

/// The digits after the first "Paragraph " that has some; "" when there is none.
std::string_view paragraph_number(std::string_view reference);

/// Python's str.split(): the words between Unicode white space.
std::vector<std::string> words_of(std::string_view text);

}  // namespace kvasir
