#pragma once

#include <optional>
#include <vector>

#include "planner/bind/query_level.h"

namespace redquel::planner {

struct BoundQuery {
  LogicalPtr plan;  // its columns are the query's
  /// Parallel to the columns: an untyped literal or parameter that the surroundings may still give a type (UNION,
  /// INSERT … SELECT), else null. Only filled when asked for; the plan's own column is then of no use.
  std::vector<sql::ExpressionPtr> unknowns;
  /// The place of each column in the text, for messages of the enclosing query.
  std::vector<std::optional<std::uint32_t>> offsets;
  std::vector<sql::Collation> collations;
  /// Rows that the query around it locks; their columns follow the query's own in the plan, which has so many more.
  std::vector<LogicalLockRows::Mark> lock_marks;
  std::size_t lock_columns = 0;
};

/// Any query: SELECT, VALUES, UNION … with its WITH, ORDER BY and LIMIT. `outer` is the level around it (null: none),
/// whose innermost correlation frame takes the outer columns that are used. `keep_unknowns`: see BoundQuery.
/// `pushed`: the locking clause around it, which locks the rows that this query reads, too.
BoundQuery bind_query(BindState&, QueryLevel* outer, WithItem* with, const parser::ast::Select&,
                      bool keep_unknowns = false, const std::optional<RowLock>& pushed = std::nullopt);

BoundQuery bind_select(BindState&, QueryLevel* outer, WithItem* with, const parser::ast::Select&, bool keep_unknowns,
                       const std::optional<RowLock>& pushed);
BoundQuery bind_set_operation(BindState&, QueryLevel* outer, WithItem* with, const parser::ast::Select&);
BoundQuery bind_values(BindState&, QueryLevel* outer, WithItem* with, const parser::ast::Select&);

/// Rows that may hold pending subqueries of the level: VALUES where there are none, else a UNION ALL of projections.
LogicalPtr place_rows(BindState&, const QueryLevel&, std::vector<std::vector<sql::ExpressionPtr>> rows,
                      const std::vector<std::string>& names, const std::vector<sql::Type>& types);
/// 42601 "VALUES lists must all be the same length".
void check_row_length(const BindState&, const parser::ast::Expressions& row, std::size_t length, std::size_t first_length);

}  // namespace redquel::planner
