#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace redquel::sql {

/// The costs of one character that is inserted, deleted or replaced.
struct EditCosts {
  std::int32_t insertion = 1, deletion = 1, substitution = 1;
};

/// Returns the least costs of edits that make `target` of `source`; with a limit, which is not below 0, at most the limit and 1. 22023 for
/// texts of more than 255 characters.
std::int32_t levenshtein_distance(std::string_view source, std::string_view target, const EditCosts& costs, std::optional<std::int32_t> limit = {});

}  // namespace redquel::sql
