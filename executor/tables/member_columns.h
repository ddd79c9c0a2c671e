#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "executor/redis/reply.h"
#include "planner/tree/physical_plan.h"
#include "sql/catalog/member_form.h"
#include "sql/catalog/table_keys.h"
#include "sql/column.h"

namespace redquel::executor {

/// Columns of an IndexKeys, made of members of sets and of scores in zsets.
class MemberColumns {
 public:
  /// `keys` outlives this.
  explicit MemberColumns(const planner::IndexKeys& keys);

  /// The zsets that have the columns outside of the key; empty: there are none.
  const std::vector<std::string>& zsets() const { return zsets_; }
  /// Returns the rows of every `step`th reply, a member each. `scores`: of each zset an array, parallel to the members. `ends`: of members
  /// of one set that are short. Texts are views into the replies, which `owner` keeps alive.
  sql::Batch decode(std::span<const Reply> members, std::size_t step, std::span<const Reply> scores, const RepliesPtr& owner, const sql::MemberEnds& ends) const;

 private:
  const planner::IndexKeys& keys_;
  sql::TableKeys names_;
  sql::OmittedParts omitted_;       // by members that are combined as they are
  std::vector<std::size_t> parts_;  // of the key, for each column; behind these, places in
  std::vector<std::string> zsets_;
};

}  // namespace redquel::executor
