#pragma once

#include <string>
#include <string_view>

namespace redquel::sql {

/// Lawrence Philips' double metaphone of a word: how it sounds, and how it sounds in the language that it may come from.
struct DoubleMetaphone {
  std::string primary, alternate;  // at most four letters
};
DoubleMetaphone double_metaphone(std::string_view text);

}  // namespace redquel::sql
