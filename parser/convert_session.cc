#include <string_view>
#include <utility>

#include "parser/convert.h"

namespace redquel::parser {
namespace {

std::optional<ast::SettingValue> convert_setting(const Node& node) {
  if (node.node_case == PG_QUERY__NODE__NODE_TYPE_CAST) {
    // SET TIME ZONE INTERVAL '…' HOUR TO MINUTE
    std::optional<ast::SettingValue> value = convert_setting(*node.type_cast->arg);
    if (value) value->interval = true;
    return value;
  }
  if (node.node_case != PG_QUERY__NODE__NODE_A_CONST) return std::nullopt;
  const PgQuery__AConst& constant = *node.a_const;
  ast::SettingValue value;
  value.offset = convert_location(constant.location);
  switch (constant.val_case) {
    case PG_QUERY__A__CONST__VAL_IVAL:
      value.text = std::to_string(constant.ival->ival);
      value.is_string = false;
      break;
    case PG_QUERY__A__CONST__VAL_FVAL:
      value.text = constant.fval->fval;
      value.is_string = false;
      break;
    case PG_QUERY__A__CONST__VAL_SVAL:
      value.text = constant.sval->sval;
      break;
    case PG_QUERY__A__CONST__VAL_BOOLVAL:
      value.text = constant.boolval->boolval ? "true" : "false";
      break;
    default:
      return std::nullopt;
  }
  return value;
}

ast::TransactionKind convert_transaction_kind(PgQuery__TransactionStmtKind kind) {
  switch (kind) {
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_START:
      return ast::TransactionKind::kStart;
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_COMMIT:
      return ast::TransactionKind::kCommit;
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_ROLLBACK:
      return ast::TransactionKind::kRollback;
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_SAVEPOINT:
      return ast::TransactionKind::kSavepoint;
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_RELEASE:
      return ast::TransactionKind::kRelease;
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_ROLLBACK_TO:
      return ast::TransactionKind::kRollbackTo;
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_PREPARE:
      return ast::TransactionKind::kPrepare;
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_COMMIT_PREPARED:
      return ast::TransactionKind::kCommitPrepared;
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_ROLLBACK_PREPARED:
      return ast::TransactionKind::kRollbackPrepared;
    default:
      return ast::TransactionKind::kBegin;
  }
}

ast::Transaction convert(const PgQuery__TransactionStmt& transaction) {
  return {.kind = convert_transaction_kind(transaction.kind),
          .modes = convert_options(nodes(transaction.options, transaction.n_options)),
          .savepoint = transaction.savepoint_name,
          .global_id = transaction.gid,
          .chain = transaction.chain != 0};
}

ast::Explain convert(const PgQuery__ExplainStmt& explain) {
  return {convert_options(nodes(explain.options, explain.n_options)), convert_nested_statement(explain.query)};
}

ast::Prepare convert(const PgQuery__PrepareStmt& prepare) {
  ast::Prepare result;
  result.name = prepare.name;
  for (const Node* item : nodes(prepare.argtypes, prepare.n_argtypes)) {
    result.parameter_types.push_back(convert_type(*item->type_name));
  }
  result.statement = convert_nested_statement(prepare.query);
  return result;
}

ast::DeclareCursor convert(const PgQuery__DeclareCursorStmt& declare) {
  // CURSOR_OPT_… of PostgreSQL's nodes/parsenodes.h.
  const auto has = [&declare](std::int32_t bit) { return (declare.options & bit) != 0; };
  ast::DeclareCursor result;
  result.name = declare.portalname;
  result.binary = has(0x1);
  if (has(0x2)) result.scroll = true;
  if (has(0x4)) result.scroll = false;
  if (has(0x8)) result.insensitive = true;
  if (has(0x10)) result.insensitive = false;
  result.hold = has(0x20);
  result.query = convert_query(declare.query);
  return result;
}

ast::Fetch convert(const PgQuery__FetchStmt& fetch) {
  ast::Fetch result;
  switch (fetch.direction) {
    case PG_QUERY__FETCH_DIRECTION__FETCH_BACKWARD:
      result.direction = ast::FetchDirection::kBackward;
      break;
    case PG_QUERY__FETCH_DIRECTION__FETCH_ABSOLUTE:
      result.direction = ast::FetchDirection::kAbsolute;
      break;
    case PG_QUERY__FETCH_DIRECTION__FETCH_RELATIVE:
      result.direction = ast::FetchDirection::kRelative;
      break;
    default:
      break;
  }
  result.count = fetch.how_many;
  result.cursor = fetch.portalname;
  result.move = fetch.ismove;
  return result;
}

ast::Copy convert(const PgQuery__CopyStmt& copy) {
  ast::Copy result;
  if (copy.relation != nullptr) result.relation = convert_relation(*copy.relation);
  result.query = convert_nested_statement(copy.query);
  result.columns = convert_names(nodes(copy.attlist, copy.n_attlist));
  result.from = copy.is_from;
  result.program = copy.is_program;
  if (copy.filename[0] != '\0') result.file = copy.filename;
  result.options = convert_options(nodes(copy.options, copy.n_options));
  result.where = convert_expression(copy.where_clause);
  return result;
}

ast::Vacuum convert(const PgQuery__VacuumStmt& vacuum) {
  ast::Vacuum result;
  result.analyze_only = !vacuum.is_vacuumcmd;
  result.options = convert_options(nodes(vacuum.options, vacuum.n_options));
  for (const Node* item : nodes(vacuum.rels, vacuum.n_rels)) {
    const PgQuery__VacuumRelation& relation = *item->vacuum_relation;
    result.relations.push_back(
        {convert_table_ref(*relation.relation), convert_names(nodes(relation.va_cols, relation.n_va_cols))});
  }
  return result;
}

ast::Reindex convert(const PgQuery__ReindexStmt& reindex) {
  ast::Reindex result;
  switch (reindex.kind) {
    case PG_QUERY__REINDEX_OBJECT_TYPE__REINDEX_OBJECT_INDEX:
      result.kind = ast::ReindexKind::kIndex;
      break;
    case PG_QUERY__REINDEX_OBJECT_TYPE__REINDEX_OBJECT_SCHEMA:
      result.kind = ast::ReindexKind::kSchema;
      break;
    case PG_QUERY__REINDEX_OBJECT_TYPE__REINDEX_OBJECT_SYSTEM:
      result.kind = ast::ReindexKind::kSystem;
      break;
    case PG_QUERY__REINDEX_OBJECT_TYPE__REINDEX_OBJECT_DATABASE:
      result.kind = ast::ReindexKind::kDatabase;
      break;
    default:
      result.kind = ast::ReindexKind::kTable;
      break;
  }
  if (reindex.relation != nullptr) result.relation = convert_relation(*reindex.relation);
  result.name = reindex.name;
  result.options = convert_options(nodes(reindex.params, reindex.n_params));
  return result;
}

ast::Cluster convert(const PgQuery__ClusterStmt& cluster) {
  ast::Cluster result;
  if (cluster.relation != nullptr) result.relation = convert_relation(*cluster.relation);
  result.index = cluster.indexname;
  return result;
}

ast::LockTable convert(const PgQuery__LockStmt& lock) {
  ast::LockTable result;
  for (const Node* item : nodes(lock.relations, lock.n_relations)) {
    result.relations.push_back(convert_table_ref(*item->range_var));
  }
  result.mode = lock.mode;
  result.no_wait = lock.nowait;
  return result;
}

ast::SetConstraints convert(const PgQuery__ConstraintsSetStmt& set) {
  ast::SetConstraints result;
  for (const Node* item : nodes(set.constraints, set.n_constraints)) {
    result.constraints.push_back(convert_relation(*item->range_var));
  }
  result.deferred = set.deferred;
  return result;
}

ast::Discard convert(const PgQuery__DiscardStmt& discard) {
  switch (discard.target) {
    case PG_QUERY__DISCARD_MODE__DISCARD_PLANS:
      return {ast::DiscardTarget::kPlans};
    case PG_QUERY__DISCARD_MODE__DISCARD_SEQUENCES:
      return {ast::DiscardTarget::kSequences};
    case PG_QUERY__DISCARD_MODE__DISCARD_TEMP:
      return {ast::DiscardTarget::kTemporary};
    default:
      return {ast::DiscardTarget::kAll};
  }
}

ast::Do convert(const PgQuery__DoStmt& statement) {
  ast::Do result;
  for (const ast::Option& option : convert_options(nodes(statement.args, statement.n_args))) {
    const auto* text = std::get_if<std::string>(&option.value);
    if (text == nullptr) continue;
    (option.name == "language" ? result.language : result.code) = *text;
  }
  return result;
}

/// Returns SELECT * FROM the procedure. convert_expression() takes nodes; CALL holds the function call without one.
ast::Call convert(const PgQuery__CallStmt& call) {
  Node node = PG_QUERY__NODE__INIT;
  node.node_case = PG_QUERY__NODE__NODE_FUNC_CALL;
  node.func_call = call.funccall;
  ast::ExpressionPtr procedure = convert_expression(&node);
  const std::uint32_t offset = procedure->offset;
  ast::FunctionRef called;
  called.functions.push_back({.call = std::move(procedure), .columns = {}});
  ast::Select query;
  query.targets.push_back({.value = std::make_unique<const ast::Expression>(ast::Expression{.node = ast::ColumnRef{.names = {}, .star = true}}), .name = {}});
  query.from.push_back({.offset = offset, .node = std::move(called)});
  return {std::make_shared<const ast::Statement>(ast::Statement{.node = std::move(query)})};
}

}  // namespace

ast::SetVariable convert_set_variable(const PgQuery__VariableSetStmt& set) {
  using Kind = ast::SetVariable::Kind;
  ast::SetVariable result;
  result.name = set.name;
  result.local = set.is_local;
  switch (set.kind) {
    case PG_QUERY__VARIABLE_SET_KIND__VAR_SET_DEFAULT:
      result.kind = Kind::kDefault;
      break;
    case PG_QUERY__VARIABLE_SET_KIND__VAR_SET_CURRENT:
      result.kind = Kind::kFromCurrent;
      break;
    case PG_QUERY__VARIABLE_SET_KIND__VAR_SET_MULTI:
      result.kind = Kind::kTransaction;
      break;
    case PG_QUERY__VARIABLE_SET_KIND__VAR_RESET:
      result.kind = Kind::kReset;
      break;
    case PG_QUERY__VARIABLE_SET_KIND__VAR_RESET_ALL:
      result.kind = Kind::kResetAll;
      break;
    default:
      result.kind = Kind::kValue;
      break;
  }
  const Nodes arguments = nodes(set.args, set.n_args);
  if (result.kind == Kind::kTransaction) {
    // PostgreSQL's own names: TRANSACTION, SESSION CHARACTERISTICS, TRANSACTION SNAPSHOT.
    result.session_characteristics = result.name == "SESSION CHARACTERISTICS";
    if (result.name == "TRANSACTION SNAPSHOT" && !arguments.empty()) {
      if (std::optional<ast::SettingValue> id = convert_setting(*arguments[0])) result.snapshot = id->text;
    } else {
      result.modes = convert_options(arguments);
    }
    return result;
  }
  for (const Node* item : arguments) {
    if (std::optional<ast::SettingValue> value = convert_setting(*item)) result.values.push_back(std::move(*value));
  }
  return result;
}

std::optional<ast::Statement> convert_session_statement(const Node& node) {
  switch (node.node_case) {
    case PG_QUERY__NODE__NODE_VARIABLE_SET_STMT:
      return ast::Statement{convert_set_variable(*node.variable_set_stmt)};
    case PG_QUERY__NODE__NODE_VARIABLE_SHOW_STMT:
      return ast::Statement{ast::ShowVariable{node.variable_show_stmt->name}};
    case PG_QUERY__NODE__NODE_TRANSACTION_STMT:
      return ast::Statement{convert(*node.transaction_stmt)};
    case PG_QUERY__NODE__NODE_CONSTRAINTS_SET_STMT:
      return ast::Statement{convert(*node.constraints_set_stmt)};
    case PG_QUERY__NODE__NODE_EXPLAIN_STMT:
      return ast::Statement{convert(*node.explain_stmt)};
    case PG_QUERY__NODE__NODE_PREPARE_STMT:
      return ast::Statement{convert(*node.prepare_stmt)};
    case PG_QUERY__NODE__NODE_EXECUTE_STMT:
      return ast::Statement{ast::Execute{
          node.execute_stmt->name, convert_expressions(nodes(node.execute_stmt->params, node.execute_stmt->n_params))}};
    case PG_QUERY__NODE__NODE_DEALLOCATE_STMT:
      return ast::Statement{ast::Deallocate{node.deallocate_stmt->name}};
    case PG_QUERY__NODE__NODE_DECLARE_CURSOR_STMT:
      return ast::Statement{convert(*node.declare_cursor_stmt)};
    case PG_QUERY__NODE__NODE_FETCH_STMT:
      return ast::Statement{convert(*node.fetch_stmt)};
    case PG_QUERY__NODE__NODE_CLOSE_PORTAL_STMT:
      return ast::Statement{ast::ClosePortal{node.close_portal_stmt->portalname}};
    case PG_QUERY__NODE__NODE_COPY_STMT:
      return ast::Statement{convert(*node.copy_stmt)};
    case PG_QUERY__NODE__NODE_VACUUM_STMT:
      return ast::Statement{convert(*node.vacuum_stmt)};
    case PG_QUERY__NODE__NODE_REINDEX_STMT:
      return ast::Statement{convert(*node.reindex_stmt)};
    case PG_QUERY__NODE__NODE_CLUSTER_STMT:
      return ast::Statement{convert(*node.cluster_stmt)};
    case PG_QUERY__NODE__NODE_LOCK_STMT:
      return ast::Statement{convert(*node.lock_stmt)};
    case PG_QUERY__NODE__NODE_DISCARD_STMT:
      return ast::Statement{convert(*node.discard_stmt)};
    case PG_QUERY__NODE__NODE_LISTEN_STMT:
      return ast::Statement{ast::Listen{node.listen_stmt->conditionname}};
    case PG_QUERY__NODE__NODE_UNLISTEN_STMT:
      return ast::Statement{ast::Unlisten{node.unlisten_stmt->conditionname}};
    case PG_QUERY__NODE__NODE_NOTIFY_STMT:
      return ast::Statement{ast::Notify{node.notify_stmt->conditionname, node.notify_stmt->payload}};
    case PG_QUERY__NODE__NODE_DO_STMT:
      return ast::Statement{convert(*node.do_stmt)};
    case PG_QUERY__NODE__NODE_CALL_STMT:
      return ast::Statement{convert(*node.call_stmt)};
    case PG_QUERY__NODE__NODE_CHECK_POINT_STMT:
      return ast::Statement{ast::Checkpoint{}};
    default:
      return std::nullopt;
  }
}

}  // namespace redquel::parser
