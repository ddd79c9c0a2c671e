#pragma once

#include <string>
#include <string_view>

#include "sql/text_search/dictionary.h"
#include "sql/text_search/query.h"

namespace redquel::sql::text_search {

/// The options of ts_headline() (manual 12.3.4). Words are tokens that are neither blanks nor tags, URLs or wholes of hyphenated words.
struct HeadlineOptions {
  int least_words = 15, most_words = 35;
  int short_word = 3;  // words of so many bytes are no good end
  bool is_whole = false;  // HighlightAll
  std::string begin = "<b>", end = "</b>";
};

/// Reads `MaxWords=5, StartSel = "<i>"`. 22023, 42601; 0A000 for MaxFragments.
HeadlineOptions read_headline_options(std::string_view text);

/// Returns the part of a text that shows best why it matches, with the words of the query marked.
std::string headline(const ConfigurationRow& configuration, std::string_view text, const Query& query, const HeadlineOptions& options);

}  // namespace redquel::sql::text_search
