#include "executor/routines/routine_result.h"

#include "planner/bind/function_body.h"
#include "executor/runtime/session_context.h"
#include "sql/expressions/evaluate.h"

namespace redquel::executor {

using sql::FunctionDef;
using sql::SqlError;

SqlError with_context(const SqlError& error, const std::string& line) {
  const std::string context = error.context().empty() ? line : error.context() + "\n" + line;
  return SqlError(error.sqlstate(), error.message())
      .detail(error.detail())
      .hint(error.hint())
      .context(context)
      .schema(error.schema())
      .table(error.table())
      .column(error.column())
      .data_type(error.data_type())
      .constraint(error.constraint());
}

std::shared_ptr<const FunctionDef> with_columns_of(std::shared_ptr<const FunctionDef> function, const FunctionInvocation& invocation) {
  if (!function->columns.empty() || invocation.columns.empty()) return function;
  const auto made = std::make_shared<FunctionDef>(*function);
  for (const sql::ResultColumn& column : invocation.columns) made->columns.push_back({column.name, column.type});
  return made;
}

std::vector<sql::Batch> as_results(const std::vector<sql::Batch>& rows, const FunctionDef& function, const std::vector<sql::ResultColumn>& columns,
                                   const std::vector<sql::ResultColumn>& wanted, const SessionState& session, const sql::CatalogSnapshot& catalog) {
  const std::vector<sql::ExpressionPtr> results = planner::function_results(function, columns, wanted.empty(), session.settings);
  sql::EvaluationContext context;
  context.settings = &session.settings;
  context.user = session.user;
  context.database = session.database;
  context.search_path = session.search_path;
  context.catalog = &catalog;
  std::vector<sql::Batch> converted;
  for (const sql::Batch& batch : rows) {
    sql::Batch& made = converted.emplace_back();
    made.rows = batch.rows;
    for (const sql::ExpressionPtr& result : results) made.columns.push_back(sql::evaluate(*result, batch, context));
  }
  return converted;
}

}  // namespace redquel::executor
