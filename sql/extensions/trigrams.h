#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace redquel::sql {

// Trigrams of texts: three characters in a row, of words in lower case with two blanks before and one behind them. Words are made of ASCII
// letters and digits.

/// Returns the trigrams in order, each once.
std::vector<std::string> trigrams_of(std::string_view text);
/// Returns the share of trigrams that both texts have among those that either has, from 0 to 1.
float trigram_similarity(std::string_view a, std::string_view b);

/// The part of the second text that trigram_word_similarity() chooses.
enum class TrigramExtent { kAny, kWholeWords };
/// Returns the greatest similarity of the first text's trigrams to those of a continuous part of the second text.
float trigram_word_similarity(std::string_view a, std::string_view b, TrigramExtent extent);

}  // namespace redquel::sql
