#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>
#include <string>
#include <vector>

#include "executor/ddl/ddl.h"
#include "executor/ddl/object_lookup.h"
#include "executor/ddl/table_alteration.h"
#include "planner/bind/bind.h"
#include "sql/column.h"
#include "sql/evaluation_context.h"
#include "sql/expressions/expression.h"

namespace redquel::executor {

/// Returns the conversion of ALTER … TYPE: over a row of the previous table, in the type of `column`. Throws 42804 without an assignment
/// cast to it, and the errors of binding USING.
sql::ExpressionPtr converted_column(const sql::TableDef& before, const sql::ColumnDef& column, const ColumnRewrite& rewrite,
                                    const sql::CatalogSnapshot& catalog, const planner::BindSettings& settings);

/// Makes the rows of a table that is written anew of those that it has, and checks them.
class RowConverter {
 public:
  using Row = std::vector<sql::Datum>;

  /// `catalog` outlives the converter; `rewrites`: columns that get another type.
  RowConverter(const SessionState& session, const sql::CatalogSnapshot& catalog, TablePtr before, TablePtr after,
               const std::vector<ColumnRewrite>& rewrites);

  /// A page of rows as they were (the columns of the old definition in order), as rows for a WriteUnit. Throws 23502, 23514 for rows
  /// that do not fit, and what converting them throws.
  asio::awaitable<std::vector<Row>> convert(RedisClient& client, const sql::Batch& page);
  /// Returns true if all columns keep their values.
  bool keeps_values() const;

 private:
  /// The source of a column's value in a new row.
  struct Source {
    std::optional<std::size_t> copied;  // position in the old row
    sql::ExpressionPtr over_old;        // over the old row; also defaults, which read no column
    sql::ExpressionPtr over_new;        // generated columns
    const sql::SequenceDef* sequence = nullptr;
  };
  struct Check {
    std::string name;
    sql::ExpressionPtr condition;
  };

  Source source_of(const sql::ColumnDef& column, const std::vector<ColumnRewrite>& rewrites, const sql::CatalogSnapshot& catalog,
                   const planner::BindSettings& settings) const;
  void check(const sql::Batch& batch) const;

  TablePtr before_, after_;
  sql::EvaluationContext evaluation_;
  std::vector<Source> sources_;
  std::vector<Check> checks_;
};

}  // namespace redquel::executor
