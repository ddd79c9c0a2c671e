#include <utility>

#include "parser/convert.h"
#include "sql/error.h"
#include "sql/stack_depth.h"

namespace redquel::parser {
namespace {

ast::GroupElement convert_group_element(const Node* node);

std::vector<ast::GroupElement> convert_group_elements(Nodes items) {
  std::vector<ast::GroupElement> elements;
  elements.reserve(items.size());
  for (const Node* item : items) elements.push_back(convert_group_element(item));
  return elements;
}

ast::GroupElement convert_group_element(const Node* node) {
  if (node->node_case != PG_QUERY__NODE__NODE_GROUPING_SET) return convert_expression(node);
  sql::check_stack_depth();
  const PgQuery__GroupingSet& set = *node->grouping_set;
  ast::GroupingSet result;
  switch (set.kind) {
    case PG_QUERY__GROUPING_SET_KIND__GROUPING_SET_ROLLUP:
      result.kind = ast::GroupingSetKind::kRollup;
      break;
    case PG_QUERY__GROUPING_SET_KIND__GROUPING_SET_CUBE:
      result.kind = ast::GroupingSetKind::kCube;
      break;
    case PG_QUERY__GROUPING_SET_KIND__GROUPING_SET_SETS:
      result.kind = ast::GroupingSetKind::kSets;
      break;
    default:
      result.kind = ast::GroupingSetKind::kEmpty;
      break;
  }
  result.elements = convert_group_elements(nodes(set.content, set.n_content));
  result.offset = convert_location(set.location);
  return std::make_unique<const ast::GroupingSet>(std::move(result));
}

ast::LockingClause convert_locking(const PgQuery__LockingClause& locking) {
  ast::LockingClause result;
  switch (locking.strength) {
    case PG_QUERY__LOCK_CLAUSE_STRENGTH__LCS_FORKEYSHARE:
      result.strength = ast::LockStrength::kForKeyShare;
      break;
    case PG_QUERY__LOCK_CLAUSE_STRENGTH__LCS_FORSHARE:
      result.strength = ast::LockStrength::kForShare;
      break;
    case PG_QUERY__LOCK_CLAUSE_STRENGTH__LCS_FORNOKEYUPDATE:
      result.strength = ast::LockStrength::kForNoKeyUpdate;
      break;
    default:
      result.strength = ast::LockStrength::kForUpdate;
      break;
  }
  switch (locking.wait_policy) {
    case PG_QUERY__LOCK_WAIT_POLICY__LockWaitSkip:
      result.wait = ast::LockWait::kSkipLocked;
      break;
    case PG_QUERY__LOCK_WAIT_POLICY__LockWaitError:
      result.wait = ast::LockWait::kNoWait;
      break;
    default:
      result.wait = ast::LockWait::kBlock;
      break;
  }
  for (const Node* item : nodes(locking.locked_rels, locking.n_locked_rels)) {
    result.relations.push_back(convert_relation(*item->range_var));
  }
  return result;
}

ast::CommonTableExpression convert_common_table_expression(const PgQuery__CommonTableExpr& expression) {
  ast::CommonTableExpression result;
  result.name = expression.ctename;
  result.columns = convert_names(nodes(expression.aliascolnames, expression.n_aliascolnames));
  switch (expression.ctematerialized) {
    case PG_QUERY__CTEMATERIALIZE__CTEMaterializeAlways:
      result.materialization = ast::Materialization::kAlways;
      break;
    case PG_QUERY__CTEMATERIALIZE__CTEMaterializeNever:
      result.materialization = ast::Materialization::kNever;
      break;
    default:
      break;
  }
  result.statement = convert_nested_statement(expression.ctequery);
  if (const PgQuery__CTESearchClause* search = expression.search_clause; search != nullptr) {
    result.search = ast::SearchClause{convert_names(nodes(search->search_col_list, search->n_search_col_list)),
                                      search->search_breadth_first != 0, search->search_seq_column,
                                      convert_location(search->location)};
  }
  if (const PgQuery__CTECycleClause* cycle = expression.cycle_clause; cycle != nullptr) {
    result.cycle = ast::CycleClause{convert_names(nodes(cycle->cycle_col_list, cycle->n_cycle_col_list)),
                                    cycle->cycle_mark_column,
                                    convert_expression(cycle->cycle_mark_value),
                                    convert_expression(cycle->cycle_mark_default),
                                    cycle->cycle_path_column,
                                    convert_location(cycle->location)};
  }
  result.offset = convert_location(expression.location);
  return result;
}

ast::SetOperator convert_set_operator(PgQuery__SetOperation operation) {
  switch (operation) {
    case PG_QUERY__SET_OPERATION__SETOP_UNION:
      return ast::SetOperator::kUnion;
    case PG_QUERY__SET_OPERATION__SETOP_INTERSECT:
      return ast::SetOperator::kIntersect;
    case PG_QUERY__SET_OPERATION__SETOP_EXCEPT:
      return ast::SetOperator::kExcept;
    default:
      return ast::SetOperator::kNone;
  }
}

void convert_distinct(Nodes items, ast::Select& select) {
  select.distinct = !items.empty();
  // Plain DISTINCT is a list of one empty node.
  for (const Node* item : items) {
    if (item->node_case != PG_QUERY__NODE__NODE__NOT_SET) select.distinct_on.push_back(convert_expression(item));
  }
}

std::uint32_t first_offset(const ast::Select& select) {
  if (select.with) return select.with->offset;
  if (select.left) return select.left->offset;
  if (!select.targets.empty()) return select.targets.front().offset;
  if (!select.values.empty() && !select.values.front().empty()) return select.values.front().front()->start;
  if (!select.from.empty()) return select.from.front().offset;
  return 0;
}

}  // namespace

std::optional<ast::WithClause> convert_with(const PgQuery__WithClause* with) {
  if (with == nullptr) return std::nullopt;
  ast::WithClause result;
  result.recursive = with->recursive;
  for (const Node* item : nodes(with->ctes, with->n_ctes)) {
    result.expressions.push_back(convert_common_table_expression(*item->common_table_expr));
  }
  result.offset = convert_location(with->location);
  return result;
}

std::vector<ast::Target> convert_targets(Nodes items) {
  std::vector<ast::Target> targets;
  targets.reserve(items.size());
  for (const Node* item : items) {
    const PgQuery__ResTarget& target = *item->res_target;
    targets.push_back({convert_expression(target.val), target.name, convert_location(target.location)});
  }
  return targets;
}

ast::IntoClause convert_into(const PgQuery__IntoClause& into) {
  ast::IntoClause result;
  result.relation = convert_relation(*into.rel);
  result.persistence = convert_persistence(*into.rel);
  result.columns = convert_names(nodes(into.col_names, into.n_col_names));
  result.access_method = into.access_method;
  result.options = convert_storage_options(nodes(into.options, into.n_options));
  switch (into.on_commit) {
    case PG_QUERY__ON_COMMIT_ACTION__ONCOMMIT_PRESERVE_ROWS:
      result.on_commit = ast::OnCommit::kPreserveRows;
      break;
    case PG_QUERY__ON_COMMIT_ACTION__ONCOMMIT_DELETE_ROWS:
      result.on_commit = ast::OnCommit::kDeleteRows;
      break;
    case PG_QUERY__ON_COMMIT_ACTION__ONCOMMIT_DROP:
      result.on_commit = ast::OnCommit::kDrop;
      break;
    default:
      break;
  }
  result.tablespace = into.table_space_name;
  result.with_no_data = into.skip_data;
  return result;
}

ast::Select convert_select(const PgQuery__SelectStmt& select) {
  sql::check_stack_depth();
  ast::Select result;
  result.with = convert_with(select.with_clause);
  result.order_by = convert_sort_keys(nodes(select.sort_clause, select.n_sort_clause));
  result.limit_count = convert_expression(select.limit_count);
  result.limit_offset = convert_expression(select.limit_offset);
  result.with_ties = select.limit_option == PG_QUERY__LIMIT_OPTION__LIMIT_OPTION_WITH_TIES;
  for (const Node* item : nodes(select.locking_clause, select.n_locking_clause)) {
    result.locking.push_back(convert_locking(*item->locking_clause));
  }
  convert_distinct(nodes(select.distinct_clause, select.n_distinct_clause), result);
  result.targets = convert_targets(nodes(select.target_list, select.n_target_list));
  if (select.into_clause != nullptr) result.into = convert_into(*select.into_clause);
  result.from = convert_from(nodes(select.from_clause, select.n_from_clause));
  result.where = convert_expression(select.where_clause);
  result.group_distinct = select.group_distinct;
  result.group_by = convert_group_elements(nodes(select.group_clause, select.n_group_clause));
  result.having = convert_expression(select.having_clause);
  for (const Node* item : nodes(select.window_clause, select.n_window_clause)) {
    result.windows.push_back(convert_window(*item->window_def));
  }
  for (const Node* item : nodes(select.values_lists, select.n_values_lists)) {
    result.values.push_back(convert_expressions(list_items(item)));
  }
  result.set_operator = convert_set_operator(select.op);
  result.set_all = select.all;
  if (select.larg != nullptr) {
    ast::Select left = convert_select(*select.larg);
    std::swap(result.into, left.into);  // INTO is written in the first SELECT, and belongs to the whole
    result.left = std::make_unique<const ast::Select>(std::move(left));
  }
  if (select.rarg != nullptr) result.right = std::make_unique<const ast::Select>(convert_select(*select.rarg));
  result.offset = first_offset(result);
  return result;
}

ast::QueryPtr convert_query(const Node* node) {
  if (node == nullptr) return nullptr;
  return std::make_unique<const ast::Select>(convert_select(*node->select_stmt));
}

}  // namespace redquel::parser
