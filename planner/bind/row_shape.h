#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planner/bind/bind_state.h"

namespace redquel::planner {

/// A field of a row, as an expression over the row.
struct RowField {
  std::string name;
  sql::ExpressionPtr value;
};

/// Returns the fields of a row: of a composite type, ROW(…), or a whole row of a relation. nullopt: only its value has them, or it is no
/// row.
std::optional<std::vector<RowField>> row_shape(const sql::Expression& row);

/// Like row_shape() above, also for columns of subqueries whose rows are known.
std::optional<std::vector<RowField>> row_shape(const BindState&, const sql::Expression& row);

/// A row of these fields: of type record with their names, or of a composite type. One that is `null_extended` is NULL where all
/// of them are.
sql::ExpressionPtr named_row(sql::Type type, const std::vector<std::string>& names, std::vector<sql::ExpressionPtr> fields,
                             bool null_extended, std::optional<std::uint32_t> offset);

/// NULL::t and ROW(…)::t, where t is a table: a record with the table's names. 42846, 0A000 for anything else.
sql::ExpressionPtr table_row(BindState&, const sql::TableDef&, const sql::ExpressionPtr& value, std::optional<std::uint32_t> offset);

}  // namespace redquel::planner
