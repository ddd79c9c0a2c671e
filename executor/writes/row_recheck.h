#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "executor/context/execution_context.h"
#include "executor/storage/row_image.h"
#include "planner/recheck.h"

namespace redquel::executor {

/// Rows of the source of a write or a locking clause, brought up to date where other transactions have changed them
/// meanwhile. As PostgreSQL at READ COMMITTED: the newest version of each changed or locked row is read, and the
/// conditions are evaluated again over it and over what the source had read of the other relations. A row that has got
/// another primary key counts as deleted.
class RowRecheck {
 public:
  /// The columns of a table in the source.
  struct Target {
    std::shared_ptr<const sql::TableDef> table;
    std::vector<std::size_t> positions;  // in the source, parallel to
    std::vector<std::int16_t> numbers;   // 0 is the hidden key. The key is among them
    /// FOR KEY SHARE: a row that has kept its key and unique values counts as unchanged, and stays as the source has
    /// read it.
    bool only_keys_count = false;
  };

  /// `source` outlives it. `targets`: parallel to those of the source.
  RowRecheck(const planner::RecheckSource& source, std::vector<Target> targets, ExecutionContext& context);

  /// Returns true if the source has a form whose rows can be evaluated again. Plans it when first asked.
  bool is_possible();
  /// Returns the rows as they are now, in order, without those that are gone or refused. Call it if is_possible().
  asio::awaitable<std::vector<sql::Batch>> renewed(const sql::Batch& rows, ExecutionCounters* counters);

 private:
  using Row = std::vector<sql::Datum>;
  /// One row of a table as the source has read it, and as it is now.
  struct Version {
    Row before;
    std::optional<Row> now;
    bool is_same = true;
  };
  /// Returns the versions, target by target, of each row.
  asio::awaitable<std::vector<std::vector<Version>>> read(const sql::Batch& rows, ExecutionCounters* counters);
  bool is_same(std::size_t target, const Row& before, const Row& now) const;
  std::optional<planner::Recheck> planned(planner::SubqueryAnswers answers);
  /// Returns the plan for a row with these versions.
  const planner::Recheck& plan_for(const std::vector<Version>& versions) const;
  /// Returns what the source makes of the row.
  asio::awaitable<std::vector<sql::Batch>> evaluated(const sql::Batch& rows, std::size_t row,
                                                     const std::vector<Version>& versions);
  std::vector<std::size_t> places_of(const Target& target) const;
  static bool counts(const Target& target, std::int16_t number);

  const planner::RecheckSource& source_;
  std::vector<Target> targets_;
  std::vector<std::shared_ptr<const RowEncoder>> encoders_;  // parallel to the targets
  ExecutionContext& context_;
  bool is_planned_ = false;
  std::optional<planner::Recheck>
      kept_;  // with the answers that subqueries gave before; nullopt: the source has no such form
  std::optional<planner::Recheck> new_;  // with new answers, where a row has changed in what they look at
};

}  // namespace redquel::executor
