#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "planner/access/index_condition.h"
#include "planner/tree/logical_plan.h"
#include "sql/expressions/expression.h"

namespace redquel::planner {

/// The indexed expressions of one scan (of indexes on expressions and partial indexes): the numbers (below 0) of the table's computed
/// columns, which conditions and orders may name like others. A partial index counts if the scan's conditions imply its predicate.
class IndexedExpressions {
 public:
  IndexedExpressions(const LogicalScan& scan, const std::vector<LogicalColumn>& columns,
                     const std::vector<sql::ExpressionPtr>& conditions);

  /// nullopt: no index that can be used has it.
  std::optional<std::int16_t> number_of(const sql::Expression& expression) const;
  /// A column that is indexed only where a predicate holds, which holds here, and is never NULL.
  bool is_never_null(std::int16_t number) const;
  /// A partial index that has every row which satisfies the conditions.
  struct Cover {
    std::int16_t number;
    std::int16_t column;  // that it was made over
  };
  const std::vector<Cover>& covers() const { return covers_; }

 private:
  struct Entry {
    sql::ExpressionPtr expression;
    std::int16_t number;
    bool never_null;
  };
  std::vector<Entry> entries_;
  std::vector<Cover> covers_;
};

}  // namespace redquel::planner
