#include "sql/extensions/levenshtein.h"

#include <algorithm>
#include <vector>

#include "sql/error.h"
#include "sql/functions/characters.h"
#include "sql/sqlstate.h"

namespace redquel::sql {
namespace {

std::vector<std::string_view> characters_of(std::string_view text) {
  std::vector<std::string_view> characters;
  for (; !text.empty(); text.remove_prefix(characters.back().size())) characters.push_back(first_character(text));
  return characters;
}

}  // namespace

std::int32_t levenshtein_distance(std::string_view source, std::string_view target, const EditCosts& costs, std::optional<std::int32_t> limit) {
  constexpr std::size_t kMostCharacters = 255;
  const std::vector<std::string_view> from = characters_of(source), to = characters_of(target);
  if (from.empty()) return static_cast<std::int32_t>(to.size()) * costs.insertion;
  if (to.empty()) return static_cast<std::int32_t>(from.size()) * costs.deletion;
  if (from.size() > kMostCharacters || to.size() > kMostCharacters) {
    throw SqlError(sqlstate::kInvalidParameterValue, "levenshtein argument exceeds maximum length of 255 characters");
  }
  // A row has the costs of each beginning of `source` for one beginning of `target`.
  std::vector<std::int32_t> row(from.size() + 1), next(row.size());
  for (std::size_t i = 1; i < row.size(); ++i) row[i] = row[i - 1] + costs.deletion;
  for (const std::string_view character : to) {
    next[0] = row[0] + costs.insertion;
    for (std::size_t i = 1; i < row.size(); ++i) {
      const std::int32_t kept = row[i - 1] + (from[i - 1] == character ? 0 : costs.substitution);
      next[i] = std::min({row[i] + costs.insertion, next[i - 1] + costs.deletion, kept});
    }
    std::swap(row, next);
  }
  return limit ? std::min(row.back(), *limit + 1) : row.back();
}

}  // namespace redquel::sql
