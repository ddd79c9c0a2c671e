#include "parser/convert.h"

namespace redquel::parser {

namespace {

// Bits of PostgreSQL's pg_trigger.tgtype, which the grammar gives.
constexpr int kBefore = 1 << 1, kInsert = 1 << 2, kDelete = 1 << 3, kUpdate = 1 << 4, kTruncate = 1 << 5, kInsteadOf = 1 << 6;

}  // namespace

ast::CreateTrigger convert_create_trigger(const PgQuery__CreateTrigStmt& create) {
  ast::CreateTrigger result;
  result.name = create.trigname;
  result.relation = convert_relation(*create.relation);
  result.replace = create.replace;
  result.constraint = create.isconstraint;
  result.function = convert_names(nodes(create.funcname, create.n_funcname));
  result.arguments = convert_names(nodes(create.args, create.n_args));
  result.for_each_row = create.row;
  using Timing = ast::CreateTrigger::Timing;
  result.timing = (create.timing & kBefore) != 0 ? Timing::kBefore : (create.timing & kInsteadOf) != 0 ? Timing::kInsteadOf : Timing::kAfter;
  result.on_insert = (create.events & kInsert) != 0;
  result.on_delete = (create.events & kDelete) != 0;
  result.on_update = (create.events & kUpdate) != 0;
  result.on_truncate = (create.events & kTruncate) != 0;
  result.columns = convert_names(nodes(create.columns, create.n_columns));
  result.condition = convert_expression(create.when_clause);
  for (const Node* item : nodes(create.transition_rels, create.n_transition_rels)) {
    const PgQuery__TriggerTransition& table = *item->trigger_transition;
    result.transition_tables.push_back({table.name, table.is_new != 0, table.is_table != 0});
  }
  result.deferrable = create.deferrable;
  result.initially_deferred = create.initdeferred;
  result.names_other_table = create.constrrel != nullptr;
  return result;
}

}  // namespace redquel::parser
