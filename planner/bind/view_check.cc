#include "planner/bind/view_check.h"

#include <fmt/format.h>

#include "parser/deparse.h"
#include "parser/parse.h"
#include "planner/bind/bind_state.h"
#include "planner/bind/plan_nodes.h"
#include "planner/bind/query_binder.h"
#include "planner/bind/view_query.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::SqlError;

namespace {

constexpr std::string_view kFunction = "check_view";

/// Returns the only argument, a literal; null: the function is another one.
const ast::StringLiteral* checked_name(const ast::FunctionRef& function) {
  const auto* call = function.functions.size() == 1 ? std::get_if<ast::FunctionCall>(&function.functions[0].call->node) : nullptr;
  if (call == nullptr || call->name.size() != 2 || call->name[0] != "redquel" || call->name[1] != kFunction) return nullptr;
  const auto* name = call->arguments.size() == 1 ? std::get_if<ast::StringLiteral>(&call->arguments[0].value->node) : nullptr;
  if (name == nullptr) throw sql::not_supported("redquel.check_view() of anything but the name of a view");
  return name;
}

/// The rows of one side that the other one lacks, as texts.
std::string lacking(std::string_view words, std::string_view rows, std::string_view others) {
  return fmt::format("SELECT '{}'::text AS difference, found::text AS \"row\" FROM (({}) EXCEPT ALL ({})) AS found", words, rows, others);
}

}  // namespace

std::optional<FromPart> bind_view_check(BindState& state, QueryLevel& level, const ast::FunctionRef& function) {
  const ast::StringLiteral* const written = checked_name(function);
  if (written == nullptr) return std::nullopt;
  const ast::TypeName parts = parser::parse_type_name(written->value);  // qualified names are spelled alike
  ast::RelationName name;
  if (parts.names.size() > 1) name.schema = parts.names[parts.names.size() - 2];
  name.name = parts.names.back();
  const FoundTable found = find_table(state, name);
  if (!found.table || !found.table->materialized) {
    throw SqlError(sqlstate::kWrongObjectType, fmt::format("\"{}\" is not a materialized view", name.name));
  }
  const sql::TableDef& table = *found.table;
  if (!table.populated) {
    throw SqlError(sqlstate::kObjectNotInPrerequisiteState, fmt::format("materialized view \"{}\" has not been populated", table.name))
        .hint("Use the REFRESH MATERIALIZED VIEW command.");
  }
  Requirement* const requirement = state.requirements.add(sql::AclKind::kTable, table.oid, sql::right::kSelect);
  if (requirement != nullptr) requirement->selected.insert(0);
  std::string columns;
  for (std::size_t i = 0; i < table.shown_columns(); ++i) columns += (i == 0 ? "" : ", ") + parser::quote_identifier(table.columns[i].name);
  const std::string rows = fmt::format("SELECT {} FROM {}.{}", columns, parser::quote_identifier(table.schema), parser::quote_identifier(table.name));
  sql::ViewDef differences;  // a view of no catalog, whose relations need no further rights
  differences.name = kFunction;
  differences.columns = {{.name = "difference", .type = sql::kText}, {.name = "row", .type = sql::kText}};
  differences.query = lacking("not in the query", rows, table.materialized->query) + " UNION ALL " + lacking("not in the view", table.materialized->query, rows);
  FromPart part;
  part.plan = bind_view(state, differences).plan;
  const auto relation = std::make_shared<Relation>(Relation{.name = differences.name});
  for (const LogicalColumn& column : part.plan->columns) relation->columns.push_back({column.name, reference(column)});
  apply_alias(*relation, function.alias);
  level.range_table.push_back(relation);
  level.unlockable.emplace_back(relation->name, "a function");
  part.names.push_back({.relation = relation});
  return part;
}

}  // namespace redquel::planner
