#include "executor/runtime/session_context.h"

#include "executor/runtime/notifications.h"
#include "executor/runtime/transaction_moment.h"
#include "planner/bind/view_answer.h"
#include "planner/bind/written_definition.h"
#include "sql/definition_words.h"
#include "sql/error.h"
#include "sql/session_hooks.h"
#include "sql/types/datetime.h"

namespace redquel::executor {

namespace {

void send_notice(const void* session, const sql::SqlError& notice) {
  const auto& send = static_cast<const SessionState*>(session)->notice;
  if (send) send("NOTICE", notice);
}

const std::string* show_parameter(const void* session, const std::string& name) {
  thread_local std::string value;
  const auto& show = static_cast<const SessionState*>(session)->show;
  std::optional<std::string> found = show ? show(name) : std::nullopt;
  if (!found) return nullptr;
  value = *std::move(found);
  return &value;
}

std::vector<sql::RunTimeParameter> run_time_parameters(const void* session) {
  const auto& list = static_cast<const SessionState*>(session)->run_time_parameters;
  return list ? list() : std::vector<sql::RunTimeParameter>{};
}

sql::SessionNames session_names(const void* session) {
  const SessionState& state = *static_cast<const SessionState*>(session);
  sql::SessionNames names = state.names ? state.names() : sql::SessionNames{};
  if (state.notifications) names.channels = state.notifications->channels();
  return names;
}

void notify(const void* session, std::string channel, std::string payload) {
  const SessionState& state = *static_cast<const SessionState*>(session);
  if (!state.notifications) throw sql::not_supported("pg_notify() outside of a session");
  if (state.only_looks) throw sql::in_read_only_transaction("pg_notify()");
  state.notifications->notify(std::move(channel), std::move(payload));
}

std::string set_parameter(const void* session, const std::string& name, const std::string* value, bool local) {
  const auto& set = static_cast<const SessionState*>(session)->set;
  if (!set) throw sql::not_supported("set_config() outside of a session");
  return set(name, value == nullptr ? std::nullopt : std::optional(*value), local);
}

std::string written_expression(const sql::EvaluationContext& context, const sql::TableDef& table, const std::string& text, bool pretty) {
  return planner::written_expression(text, table, *context.catalog, bind_settings(context, true), pretty);
}

std::string written_default(const sql::EvaluationContext& context, const std::string& text, sql::Type type, const std::string& schema) {
  return planner::written_default(text, type, schema, *context.catalog, bind_settings(context, true));
}

std::string written_domain_check(const sql::EvaluationContext& context, const std::string& text, const sql::UserType& domain, bool pretty) {
  return planner::written_domain_check(text, domain, *context.catalog, bind_settings(context, true), pretty);
}

std::string written_body(const sql::EvaluationContext& context, const sql::FunctionDef& function) {
  return planner::written_body(function, *context.catalog, bind_settings(context, true));
}

std::vector<sql::ViewDef::Reference> body_references(const sql::EvaluationContext& context, const sql::FunctionDef& function) {
  return planner::body_references(function, *context.catalog, bind_settings(context, true));
}

/// Once; every thread that evaluates has been here before.
void name_session_hooks() {
  static const bool done = [] {
    sql::set_session_hooks({.set = set_parameter, .notice = send_notice, .notify = notify, .names = session_names, .written_expression = written_expression});
    sql::set_definition_words({.written_default = written_default,
                               .domain_check = written_domain_check,
                               .body = written_body,
                               .body_references = body_references});
    return true;
  }();
  static_cast<void>(done);
}

}  // namespace

sql::Oid role_of(const sql::EvaluationContext& evaluation) {
  if (evaluation.session != nullptr) return static_cast<const SessionState*>(evaluation.session)->role;
  const sql::RoleDef* role = sql::known_roles()->find(evaluation.user);
  return role == nullptr ? 0 : role->oid;
}

sql::EvaluationContext session_context(const SessionState& session, const sql::CatalogSnapshot* catalog) {
  name_session_hooks();
  return {.settings = &session.settings,
          .user = session.user,
          .trigger_depth = session.trigger_depth,
          .database = session.database,
          .search_path = session.search_path,
          .backend_pid = session.backend_pid,
          .catalog = catalog,
          .show = show_parameter,
          .run_time_parameters = run_time_parameters,
          .session = &session};
}

sql::EvaluationContext definition_context(const SessionState& session, const sql::CatalogSnapshot& catalog) {
  sql::EvaluationContext context;
  context.settings = &session.settings;
  context.transaction_timestamp = context.statement_timestamp = sql::current_timestamp();
  context.user = session.user;
  context.database = session.database;
  context.search_path = session.search_path;
  context.catalog = &catalog;
  return context;
}

planner::LeftOutRules left_out_rules(const SessionState& session) {
  planner::LeftOutRules rules = session.left_out_rules;
  if (session.function_depth > 0) rules.rules |= planner::kViewsLeftOut;
  return rules;
}

planner::BindSettings bind_settings(const SessionState& session, bool parameters) {
  planner::BindSettings settings;
  settings.search_path = session.search_path;
  settings.user = session.user;
  settings.role = session.role;
  settings.database = session.database;
  settings.row_security = session.row_security;
  settings.session = session.settings;
  settings.left_out = left_out_rules(session);
  settings.parameters = parameters;
  settings.now = transaction_moment(session);
  return settings;
}

planner::BindSettings bind_settings(const sql::EvaluationContext& evaluation, bool parameters) {
  planner::BindSettings settings;
  settings.search_path = evaluation.search_path;
  settings.user = evaluation.user;
  settings.role = role_of(evaluation);
  settings.database = evaluation.database;
  settings.session = *evaluation.settings;
  settings.parameters = parameters;
  return settings;
}

}  // namespace redquel::executor
