#include "planner/bind/row_security.h"

#include <fmt/format.h>

#include <algorithm>

#include "parser/parse.h"
#include "planner/bind/ast_walk.h"
#include "planner/bind/plan_nodes.h"
#include "planner/bind/policy_condition.h"
#include "planner/bind/subquery_placement.h"
#include "planner/tree/logical_walk.h"
#include "sql/error.h"
#include "sql/privileges/row_security.h"
#include "sql/sqlstate.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::ExpressionPtr;
using sql::PolicyDef;
using sql::SqlError;
using TablePtr = std::shared_ptr<const sql::TableDef>;

namespace {

struct Policies {
  std::vector<const PolicyDef*> permissive, restrictive;
};

/// The policies of a command for the role. Restrictive ones are in the order of their names.
Policies policies_for(const BindState& state, const sql::TableDef& table, PolicyCommand command) {
  Policies found;
  for (const PolicyDef& policy : table.security.policies) {
    if (policy.command != PolicyCommand::kAll && policy.command != command) continue;
    if (!sql::is_policy_for(policy, state.bound_role(), *sql::known_roles(), state.settings.database)) continue;
    (policy.restrictive ? found.restrictive : found.permissive).push_back(&policy);
  }
  return found;
}

bool has_subquery(const ast::Expression& expression) {
  if (std::holds_alternative<ast::SubLink>(expression.node)) return true;
  bool found = false;
  for_each_child(expression, [&](const ast::Expression& child) { found = found || has_subquery(child); });
  return found;
}

/// Binds the stored expressions of one table's policies.
class PolicyExpressions {
 public:
  PolicyExpressions(BindState& state, QueryLevel& level, const sql::TableDef& table) : state_(state), level_(level), table_(table) {}

  ExpressionPtr bind(const std::string& text) {
    const std::shared_ptr<const ast::Expression> parsed = parser::parse_expression(text);
    state_.keep_alive(parsed);
    const Scoped positions(state_.keeps_positions, false);
    const Scoped<NameUses*> names(state_.names, nullptr);
    const Scoped<const FunctionScope*> function(state_.function, nullptr);
    const Scoped<const VariableScope*> variables(state_.variables, nullptr);
    const Scoped schemas(state_.checks_schemas, false);
    if (!has_subquery(*parsed)) return bind_policy_condition(state_, level_, *parsed);
    if (std::ranges::find(state_.policy_tables, table_.oid) != state_.policy_tables.end()) {
      throw SqlError(sqlstate::kInvalidObjectDefinition, fmt::format("infinite recursion detected in policy for relation \"{}\"", table_.name));
    }
    state_.policy_tables.push_back(table_.oid);
    ExpressionPtr bound = bind_policy_condition(state_, level_, *parsed);
    state_.policy_tables.pop_back();
    return bound;
  }

  /// The texts as alternatives; false if there are none.
  ExpressionPtr bind_any(const std::vector<std::string>& texts) {
    if (texts.empty()) return sql::make_constant(sql::kBool, false);
    std::vector<ExpressionPtr> alternatives;
    for (const std::string& text : texts) alternatives.push_back(bind(text));
    return alternatives.size() == 1 ? alternatives[0] : make_boolean(sql::Logical::Kind::kOr, std::move(alternatives));
  }

 private:
  BindState& state_;
  QueryLevel& level_;
  const sql::TableDef& table_;
};

/// Texts of conditions that must all hold; each is true if one of its alternatives is.
using Conjuncts = std::vector<std::vector<std::string>>;

void add_new(Conjuncts& conjuncts, std::vector<std::string> alternatives) {
  if (std::ranges::find(conjuncts, alternatives) == conjuncts.end()) conjuncts.push_back(std::move(alternatives));
}

/// Adds the policies that make existing rows visible to the command (PostgreSQL's add_security_quals).
void add_using(const Policies& policies, Conjuncts& conjuncts) {
  std::vector<std::string> alternatives;
  for (const PolicyDef* policy : policies.permissive) {
    if (!policy->using_sql.empty()) alternatives.push_back(policy->using_sql);
  }
  if (!alternatives.empty()) {
    for (const PolicyDef* policy : policies.restrictive) {
      if (!policy->using_sql.empty()) add_new(conjuncts, {policy->using_sql});
    }
  }
  add_new(conjuncts, std::move(alternatives));
}

std::vector<ExpressionPtr> references(const std::vector<LogicalColumn>& columns, std::size_t count) {
  std::vector<ExpressionPtr> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(reference(columns[i]));
  return values;
}

void add_row(QueryLevel& level, const TablePtr& table, const std::vector<LogicalColumn>& row) {
  const RelationPtr relation = policy_relation(table, references(row, table->columns.size()));
  level.names.push_back({.relation = relation});
  level.range_table.push_back(relation);
}

LogicalPtr replaced(const LogicalPtr& plan, const LogicalPtr& before, const LogicalPtr& after) {
  if (plan == before) return after;
  std::vector<LogicalPtr> inputs = inputs_of(*plan);
  bool is_changed = false;
  for (LogicalPtr& input : inputs) {
    LogicalPtr now = replaced(input, before, after);
    is_changed = is_changed || now != input;
    input = std::move(now);
  }
  return is_changed ? with_inputs(*plan, inputs) : plan;
}

}  // namespace

bool is_restricted(BindState& state, const sql::TableDef& table) {
  const sql::RoleSet& roles = *sql::known_roles();
  const sql::RowSecurity found = sql::row_security(table, state.bound_role(), roles, state.settings.database);
  if (found != sql::RowSecurity::kNone) state.depends_on_role = true;
  if (found != sql::RowSecurity::kEnabled || state.names != nullptr) return false;  // a definition's names are the same without policies
  if (state.settings.row_security) return true;
  SqlError error(sqlstate::kInsufficientPrivilege, fmt::format("query would be affected by row-level security policy for table \"{}\"", table.name));
  if (!sql::owns_table(table, state.bound_role(), roles, state.settings.database)) throw error;
  throw std::move(error).hint("To disable the policy for the table's owner, use ALTER TABLE NO FORCE ROW LEVEL SECURITY.");
}

bool is_restricted(BindState& state, const WriteTarget& target) {
  const Scoped role(state.requirements.bound_as, target.checked_as);
  return is_restricted(state, *target.table);
}

LogicalPtr visible_rows(BindState& state, const TablePtr& table, const LogicalPtr& scan, std::initializer_list<PolicyCommand> commands) {
  QueryLevel level;
  add_row(level, table, scan->columns);
  Conjuncts texts;
  for (const PolicyCommand command : commands) add_using(policies_for(state, *table, command), texts);
  PolicyExpressions expressions(state, level, *table);
  std::vector<ExpressionPtr> conditions;
  for (const std::vector<std::string>& alternatives : texts) conditions.push_back(expressions.bind_any(alternatives));
  LogicalPtr rows = place_condition(state, level, scan, sql::conjunction(std::move(conditions)));
  if (rows->columns.size() != scan->columns.size()) {
    std::vector<ExpressionPtr> values = references(scan->columns, scan->columns.size());
    rows = make_logical(LogicalProject{std::move(rows), std::move(values)}, scan->columns);
  }
  return behind_barrier(std::move(rows));
}

LogicalPtr visible_rows(BindState& state, const TablePtr& table, const LogicalPtr& scan, bool locks) {
  if (!is_restricted(state, *table)) return scan;
  return locks ? visible_rows(state, table, scan, {PolicyCommand::kUpdate, PolicyCommand::kSelect})
               : visible_rows(state, table, scan, {PolicyCommand::kSelect});
}

LogicalPtr with_visible_target(BindState& state, const WriteTarget& target, const LogicalPtr& plan,
                               std::initializer_list<PolicyCommand> commands) {
  const Scoped role(state.requirements.bound_as, target.checked_as);
  return replaced(plan, target.scan, visible_rows(state, target.table, target.scan, commands));
}

PolicyCheckBinder::PolicyCheckBinder(BindState& state, const WriteTarget& target, const std::vector<LogicalColumn>& row)
    : state_(state), target_(target) {
  add_row(level_, target.table, row);
}

void PolicyCheckBinder::add(PolicyCommand command, PolicyCheck::Row row, bool by_using) {
  const Scoped role(state_.requirements.bound_as, target_.checked_as);
  const Policies policies = policies_for(state_, *target_.table, command);
  const auto text_of = [&](const PolicyDef& policy) { return !by_using && !policy.check_sql.empty() ? policy.check_sql : policy.using_sql; };
  PolicyExpressions expressions(state_, level_, *target_.table);
  std::vector<std::string> alternatives;
  for (const PolicyDef* policy : policies.permissive) {
    if (std::string text = text_of(*policy); !text.empty()) alternatives.push_back(std::move(text));
  }
  checks_.push_back({row, {}, expressions.bind_any(alternatives)});
  if (alternatives.empty()) return;
  for (const PolicyDef* policy : policies.restrictive) {
    if (const std::string text = text_of(*policy); !text.empty()) checks_.push_back({row, policy->name, expressions.bind(text)});
  }
}

bool PolicyCheckBinder::needs_values() const {
  return std::ranges::any_of(level_.subqueries, [](const PendingSubquery& pending) { return pending.comparison || !pending.correlations.empty(); });
}

std::vector<PolicyCheck> PolicyCheckBinder::place(LogicalPtr& source, const std::map<ColumnId, ExpressionPtr>& values) {
  const auto over_source = [&](const ExpressionPtr& expression) -> ExpressionPtr {
    if (!expression) return nullptr;
    return sql::map_columns(expression, [&](const sql::Expression& whole, const sql::ColumnRef& column) {
      const auto found = values.find(column.column);
      return found != values.end() ? found->second : sql::make_expression(whole.type, column, whole.offset);
    });
  };
  for (PendingSubquery& pending : level_.subqueries) {
    pending.comparison = over_source(pending.comparison);
    for (Correlation& correlation : pending.correlations) correlation.value = over_source(correlation.value);
  }
  std::vector<ExpressionPtr> conditions;
  for (const PolicyCheck& check : checks_) conditions.push_back(check.condition);
  source = place_subqueries(state_, level_, std::move(source), conditions);
  return std::move(checks_);
}

std::map<ColumnId, ExpressionPtr> computed_row(const sql::TableDef& table, const std::vector<LogicalColumn>& new_row,
                                               const std::vector<LogicalColumn>& old_row, const std::vector<Assignment>& values,
                                               const std::vector<Assignment>& generated) {
  std::map<ColumnId, ExpressionPtr> row;
  for (std::size_t i = 0; i < new_row.size(); ++i) {
    const auto given = std::ranges::find(values, table.columns[i].number, &Assignment::number);
    if (given != values.end()) {
      row[new_row[i].id] = given->value;
    } else if (i < old_row.size()) {
      row[new_row[i].id] = reference(old_row[i]);
    }
  }
  const std::map<ColumnId, ExpressionPtr> plain = row;  // no generated column reads another
  for (const Assignment& assignment : generated) {
    row[new_row[table.position(assignment.number)].id] =
        sql::map_columns(assignment.value, [&](const sql::Expression& whole, const sql::ColumnRef& column) {
          const auto found = plain.find(column.column);
          return found != plain.end() ? found->second : sql::make_expression(whole.type, column, whole.offset);
        });
  }
  return row;
}

bool reads_columns(std::span<const ExpressionPtr> expressions, const QueryLevel& level, const std::vector<LogicalColumn>& columns) {
  const auto is_read = [&](const ExpressionPtr& expression) {
    return expression && std::ranges::any_of(columns_in(*expression), [&](ColumnId id) {
      return std::ranges::find(columns, id, &LogicalColumn::id) != columns.end();
    });
  };
  return std::ranges::any_of(expressions, is_read) || std::ranges::any_of(level.subqueries, [&](const PendingSubquery& pending) {
    return is_read(pending.comparison) ||
           std::ranges::any_of(pending.correlations, [&](const Correlation& correlation) { return is_read(correlation.value); });
  });
}

bool reads_columns(const LogicalPtr& plan, const std::vector<LogicalColumn>& columns, const LogicalPtr& below) {
  if (plan == below) return false;
  const auto is_read = [&](ColumnId id) { return std::ranges::find(columns, id, &LogicalColumn::id) != columns.end(); };
  bool found = false;
  map_expressions(*plan, [&](const ExpressionPtr& expression) {
    found = found || std::ranges::any_of(columns_in(*expression), is_read);
    return expression;
  });
  if (const auto* apply = std::get_if<LogicalApply>(&plan->node)) {
    found = found || std::ranges::any_of(apply->correlations, [&](const auto& correlation) { return is_read(correlation.column); });
  }
  return found || std::ranges::any_of(inputs_of(*plan), [&](const LogicalPtr& input) { return reads_columns(input, columns, below); });
}

}  // namespace redquel::planner
