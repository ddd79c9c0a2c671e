#pragma once

#include <span>
#include <string_view>

namespace redquel::sql::text_search {

/// The words of stop_words/LANGUAGE.txt, one a line, in lower case.
struct StopWordList {
  std::string_view language;
  std::string_view lines;
};

/// Returns the lists in the order of their names. cmake/embed_stop_words.cmake makes them from the files.
std::span<const StopWordList> stop_word_lists();

}  // namespace redquel::sql::text_search
