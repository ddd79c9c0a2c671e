#include <utility>

#include "parser/convert.h"
#include "sql/error.h"
#include "sql/stack_depth.h"

namespace redquel::parser {
namespace {

ast::FromItem convert_subquery(const PgQuery__RangeSubselect& subselect) {
  ast::SubqueryRef subquery{convert_query(subselect.subquery), subselect.lateral != 0, convert_alias(subselect.alias)};
  const std::uint32_t at = subquery.query->offset;
  return {at, std::move(subquery)};
}

ast::FromItem convert_functions(const PgQuery__RangeFunction& range) {
  ast::FunctionRef result;
  for (const Node* item : nodes(range.functions, range.n_functions)) {
    // Each is a list of the call and its column definition list, which may be missing.
    const Nodes parts = list_items(item);
    ast::FunctionItem function;
    function.call = convert_expression(parts[0]);
    if (parts.size() > 1) function.columns = convert_record_columns(list_items(parts[1]));
    result.functions.push_back(std::move(function));
  }
  result.lateral = range.lateral;
  result.rows_from = range.is_rowsfrom;
  result.with_ordinality = range.ordinality;
  result.alias = convert_alias(range.alias);
  result.columns = convert_record_columns(nodes(range.coldeflist, range.n_coldeflist));
  const std::uint32_t at = result.functions.at(0).call->offset;
  return {at, std::move(result)};
}

ast::JoinKind convert_join_kind(const PgQuery__JoinExpr& join) {
  switch (join.jointype) {
    case PG_QUERY__JOIN_TYPE__JOIN_LEFT:
      return ast::JoinKind::kLeft;
    case PG_QUERY__JOIN_TYPE__JOIN_RIGHT:
      return ast::JoinKind::kRight;
    case PG_QUERY__JOIN_TYPE__JOIN_FULL:
      return ast::JoinKind::kFull;
    default:
      break;
  }
  const bool conditioned = join.is_natural || join.n_using_clause > 0 || join.quals != nullptr;
  return conditioned ? ast::JoinKind::kInner : ast::JoinKind::kCross;
}

ast::FromItem convert_join(const PgQuery__JoinExpr& join) {
  ast::Join result;
  result.kind = convert_join_kind(join);
  result.natural = join.is_natural;
  result.left = std::make_unique<const ast::FromItem>(convert_from_item(join.larg));
  result.right = std::make_unique<const ast::FromItem>(convert_from_item(join.rarg));
  result.using_columns = convert_names(nodes(join.using_clause, join.n_using_clause));
  if (join.join_using_alias != nullptr) result.using_alias = join.join_using_alias->aliasname;
  result.on = convert_expression(join.quals);
  result.alias = convert_alias(join.alias);
  const std::uint32_t at = result.left->offset;
  return {at, std::move(result)};
}

ast::FromItem convert_sample(const PgQuery__RangeTableSample& sample) {
  ast::TableSample result;
  result.relation = std::make_unique<const ast::FromItem>(convert_from_item(sample.relation));
  result.method = convert_names(nodes(sample.method, sample.n_method));
  result.arguments = convert_expressions(nodes(sample.args, sample.n_args));
  result.repeatable = convert_expression(sample.repeatable);
  return {convert_location(sample.location), std::move(result)};
}

}  // namespace

ast::RecordColumn convert_record_column(const PgQuery__ColumnDef& column) {
  ast::RecordColumn result;
  result.name = column.colname;
  if (column.type_name != nullptr) result.type = convert_type(*column.type_name);
  if (column.coll_clause != nullptr) {
    result.collation = convert_names(nodes(column.coll_clause->collname, column.coll_clause->n_collname));
  }
  result.offset = convert_location(column.location);
  return result;
}

std::vector<ast::RecordColumn> convert_record_columns(Nodes items) {
  std::vector<ast::RecordColumn> columns;
  for (const Node* item : items) columns.push_back(convert_record_column(*item->column_def));
  return columns;
}

ast::FromItem convert_from_item(const Node* node) {
  sql::check_stack_depth();
  switch (node->node_case) {
    case PG_QUERY__NODE__NODE_RANGE_VAR:
      return {convert_location(node->range_var->location), convert_table_ref(*node->range_var)};
    case PG_QUERY__NODE__NODE_RANGE_SUBSELECT:
      return convert_subquery(*node->range_subselect);
    case PG_QUERY__NODE__NODE_RANGE_FUNCTION:
      return convert_functions(*node->range_function);
    case PG_QUERY__NODE__NODE_JOIN_EXPR:
      return convert_join(*node->join_expr);
    case PG_QUERY__NODE__NODE_RANGE_TABLE_SAMPLE:
      return convert_sample(*node->range_table_sample);
    case PG_QUERY__NODE__NODE_RANGE_TABLE_FUNC:
      throw sql::not_supported("XMLTABLE", convert_location(node->range_table_func->location));
    default:
      throw sql::not_supported("this kind of FROM item");
  }
}

std::vector<ast::FromItem> convert_from(Nodes items) {
  std::vector<ast::FromItem> result;
  result.reserve(items.size());
  for (const Node* item : items) result.push_back(convert_from_item(item));
  return result;
}

}  // namespace redquel::parser
