#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql/types/type.h"

namespace redquel::executor {

/// The name of a commit over several buckets: "<16 hex digits>.<buckets>.<tables>", the numbers with commas between. A process that finds
/// the name in one bucket knows where the other parts are.
struct CommitName {
  std::string text;
  std::vector<int> buckets;  // ascending
  std::vector<sql::Oid> tables;

  bool operator==(const CommitName&) const = default;
};

/// Returns a new name. `buckets` may be in any order, without repetitions.
CommitName make_commit_name(std::vector<int> buckets, std::span<const sql::Oid> tables);

/// Returns the parts of a name that Redis holds; nullopt for any other text.
std::optional<CommitName> parse_commit_name(std::string_view text);

}  // namespace redquel::executor
