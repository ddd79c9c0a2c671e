#include <utility>

#include "parser/convert.h"

namespace redquel::parser {
namespace {

ast::AssignmentTarget convert_assignment_target(const PgQuery__ResTarget& target) {
  return {target.name, convert_indirection(nodes(target.indirection, target.n_indirection)),
          convert_location(target.location)};
}

std::vector<ast::AssignmentTarget> convert_assignment_targets(Nodes items) {
  std::vector<ast::AssignmentTarget> targets;
  targets.reserve(items.size());
  for (const Node* item : items) targets.push_back(convert_assignment_target(*item->res_target));
  return targets;
}

std::vector<ast::Assignment> convert_assignments(Nodes items) {
  std::vector<ast::Assignment> assignments;
  for (const Node* item : items) {
    const PgQuery__ResTarget& target = *item->res_target;
    ast::AssignmentTarget converted = convert_assignment_target(target);
    if (target.val->node_case != PG_QUERY__NODE__NODE_MULTI_ASSIGN_REF) {
      assignments.emplace_back().value = convert_expression(target.val);
    } else if (const PgQuery__MultiAssignRef& part = *target.val->multi_assign_ref; part.colno == 1) {
      // (a, b) = source: one entry per column, each with the same source.
      ast::Assignment& assignment = assignments.emplace_back();
      assignment.row = true;
      assignment.value = convert_expression(part.source);
    }
    assignments.back().targets.push_back(std::move(converted));
  }
  return assignments;
}

ast::Overriding convert_overriding(PgQuery__OverridingKind kind) {
  switch (kind) {
    case PG_QUERY__OVERRIDING_KIND__OVERRIDING_USER_VALUE:
      return ast::Overriding::kUserValue;
    case PG_QUERY__OVERRIDING_KIND__OVERRIDING_SYSTEM_VALUE:
      return ast::Overriding::kSystemValue;
    default:
      return ast::Overriding::kNone;
  }
}

ast::OnConflict convert_on_conflict(const PgQuery__OnConflictClause& clause) {
  ast::OnConflict result;
  result.update = clause.action == PG_QUERY__ON_CONFLICT_ACTION__ONCONFLICT_UPDATE;
  if (const PgQuery__InferClause* infer = clause.infer; infer != nullptr) {
    result.target =
        ast::ConflictTarget{convert_index_elements(nodes(infer->index_elems, infer->n_index_elems)),
                            convert_expression(infer->where_clause), infer->conname, convert_location(infer->location)};
  }
  result.assignments = convert_assignments(nodes(clause.target_list, clause.n_target_list));
  result.where = convert_expression(clause.where_clause);
  result.offset = convert_location(clause.location);
  return result;
}

ast::MergeWhen convert_merge_when(const PgQuery__MergeWhenClause& when) {
  ast::MergeWhen result;
  result.matched = when.matched;
  result.condition = convert_expression(when.condition);
  result.overriding = convert_overriding(when.override);
  switch (when.command_type) {
    case PG_QUERY__CMD_TYPE__CMD_UPDATE:
      result.action = ast::MergeAction::kUpdate;
      result.assignments = convert_assignments(nodes(when.target_list, when.n_target_list));
      break;
    case PG_QUERY__CMD_TYPE__CMD_INSERT:
      result.action = ast::MergeAction::kInsert;
      result.columns = convert_assignment_targets(nodes(when.target_list, when.n_target_list));
      result.values = convert_expressions(nodes(when.values, when.n_values));
      break;
    case PG_QUERY__CMD_TYPE__CMD_DELETE:
      result.action = ast::MergeAction::kDelete;
      break;
    default:
      result.action = ast::MergeAction::kDoNothing;
      break;
  }
  return result;
}

}  // namespace

ast::IndexElement convert_index_element(const PgQuery__IndexElem& element) {
  ast::IndexElement result;
  result.column = element.name;
  result.expression = convert_expression(element.expr);
  result.collation = convert_names(nodes(element.collation, element.n_collation));
  result.operator_class = convert_names(nodes(element.opclass, element.n_opclass));
  result.operator_class_options = convert_storage_options(nodes(element.opclassopts, element.n_opclassopts));
  result.direction = element.ordering == PG_QUERY__SORT_BY_DIR__SORTBY_ASC    ? ast::SortDirection::kAscending
                     : element.ordering == PG_QUERY__SORT_BY_DIR__SORTBY_DESC ? ast::SortDirection::kDescending
                                                                              : ast::SortDirection::kDefault;
  result.nulls = element.nulls_ordering == PG_QUERY__SORT_BY_NULLS__SORTBY_NULLS_FIRST  ? ast::SortNulls::kFirst
                 : element.nulls_ordering == PG_QUERY__SORT_BY_NULLS__SORTBY_NULLS_LAST ? ast::SortNulls::kLast
                                                                                        : ast::SortNulls::kDefault;
  return result;
}

std::vector<ast::IndexElement> convert_index_elements(Nodes items) {
  std::vector<ast::IndexElement> elements;
  elements.reserve(items.size());
  for (const Node* item : items) elements.push_back(convert_index_element(*item->index_elem));
  return elements;
}

ast::Insert convert_insert(const PgQuery__InsertStmt& insert) {
  ast::Insert result;
  result.with = convert_with(insert.with_clause);
  result.relation = convert_relation(*insert.relation);
  if (insert.relation->alias != nullptr) result.alias = insert.relation->alias->aliasname;
  result.columns = convert_assignment_targets(nodes(insert.cols, insert.n_cols));
  result.source = convert_query(insert.select_stmt);
  result.overriding = convert_overriding(insert.override);
  if (insert.on_conflict_clause != nullptr) result.on_conflict = convert_on_conflict(*insert.on_conflict_clause);
  result.returning = convert_targets(nodes(insert.returning_list, insert.n_returning_list));
  return result;
}

ast::Update convert_update(const PgQuery__UpdateStmt& update) {
  ast::Update result;
  result.with = convert_with(update.with_clause);
  result.relation = convert_table_ref(*update.relation);
  result.assignments = convert_assignments(nodes(update.target_list, update.n_target_list));
  result.from = convert_from(nodes(update.from_clause, update.n_from_clause));
  result.where = convert_expression(update.where_clause);
  result.returning = convert_targets(nodes(update.returning_list, update.n_returning_list));
  return result;
}

ast::Delete convert_delete(const PgQuery__DeleteStmt& statement) {
  ast::Delete result;
  result.with = convert_with(statement.with_clause);
  result.relation = convert_table_ref(*statement.relation);
  result.using_items = convert_from(nodes(statement.using_clause, statement.n_using_clause));
  result.where = convert_expression(statement.where_clause);
  result.returning = convert_targets(nodes(statement.returning_list, statement.n_returning_list));
  return result;
}

ast::Merge convert_merge(const PgQuery__MergeStmt& merge) {
  ast::Merge result;
  result.with = convert_with(merge.with_clause);
  result.relation = convert_table_ref(*merge.relation);
  result.source = std::make_unique<const ast::FromItem>(convert_from_item(merge.source_relation));
  result.on = convert_expression(merge.join_condition);
  for (const Node* item : nodes(merge.merge_when_clauses, merge.n_merge_when_clauses)) {
    result.whens.push_back(convert_merge_when(*item->merge_when_clause));
  }
  return result;
}

}  // namespace redquel::parser
