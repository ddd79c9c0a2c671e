#include "sql/identifier_list.h"

#include "sql/ascii.h"

namespace redquel::sql {

std::optional<std::vector<std::string>> split_identifier_list(std::string_view text) {
  std::vector<std::string> names;
  std::size_t i = 0;
  const auto skip_space = [&] {
    while (i < text.size() && is_blank(text[i])) ++i;
  };
  skip_space();
  if (i == text.size()) return names;
  while (true) {
    std::string name;
    if (text[i] == '"') {
      for (++i;; ++i) {
        if (i == text.size()) return std::nullopt;
        if (text[i] == '"') {
          if (i + 1 < text.size() && text[i + 1] == '"') {
            ++i;
          } else {
            break;
          }
        }
        name.push_back(text[i]);
      }
      ++i;
    } else {
      while (i < text.size() && text[i] != ',' && !is_blank(text[i])) name.push_back(to_lower(text[i++]));
      if (name.empty()) return std::nullopt;
    }
    names.push_back(std::move(name));
    skip_space();
    if (i == text.size()) return names;
    if (text[i] != ',') return std::nullopt;
    ++i;
    skip_space();
    if (i == text.size()) return std::nullopt;
  }
}

}  // namespace redquel::sql
