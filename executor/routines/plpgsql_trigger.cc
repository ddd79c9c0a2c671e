// Functions in PL/pgSQL that triggers call: NEW, OLD, the TG_ variables, and the row that is returned.

#include <fmt/format.h>

#include <algorithm>

#include "executor/routines/plpgsql_run.h"
#include "planner/bind/variable_scope.h"
#include "planner/tree/kept_rows.h"
#include "sql/sqlstate.h"
#include "sql/system_tables/trigger_words.h"
#include "sql/types/array_value.h"
#include "sql/types/row_value.h"
#include "sql/types/type_oids.h"

namespace redquel::executor {

using sql::Datum;
using sql::SqlError;
using sql::TriggerDef;

namespace {

const char* when_word(TriggerDef::Timing timing) {
  return timing == TriggerDef::Timing::kBefore ? "BEFORE" : timing == TriggerDef::Timing::kAfter ? "AFTER" : "INSTEAD OF";
}

const char* event_word(TriggerDef::Event event) {
  switch (event) {
    case TriggerDef::Event::kInsert: return "INSERT";
    case TriggerDef::Event::kDelete: return "DELETE";
    case TriggerDef::Event::kUpdate: return "UPDATE";
    case TriggerDef::Event::kTruncate: break;
  }
  return "TRUNCATE";
}

/// The arguments as an array that begins with 0; NULL: there are none.
Datum argument_array(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return {};
  sql::ArrayValue value;
  for (const std::string& argument : arguments) value.add(argument);
  value.make_vector(0);
  return sql::array_text(sql::oid::kTextArray, value);
}

Datum value_of_variable(TriggerVariable variable, const TriggerCall& call) {
  const TriggerDef& trigger = *call.trigger;
  switch (variable) {
    case TriggerVariable::kName: return trigger.name;
    case TriggerVariable::kWhen: return std::string(when_word(trigger.timing));
    case TriggerVariable::kLevel: return std::string(trigger.for_each_row ? "ROW" : "STATEMENT");
    case TriggerVariable::kOp: return std::string(event_word(call.change.event));
    case TriggerVariable::kRelid: return static_cast<std::int32_t>(call.table->oid);
    case TriggerVariable::kRelname:
    case TriggerVariable::kTableName: return call.table->name;
    case TriggerVariable::kTableSchema: return call.table->schema;
    case TriggerVariable::kNargs: return static_cast<std::int32_t>(trigger.arguments.size());
    case TriggerVariable::kArgv: return argument_array(trigger.arguments);
    case TriggerVariable::kNew:
    case TriggerVariable::kOld: break;
  }
  return {};
}

}  // namespace

void PlpgsqlRun::set_trigger_variables(const TriggerCall& call) {
  for (std::size_t i = 0; i < routine_.body.variables.size(); ++i) {
    const std::optional<std::size_t> argument = routine_.body.variables[i].argument;
    if (!argument) continue;
    const auto variable = static_cast<TriggerVariable>(*argument);
    if (variable != TriggerVariable::kNew && variable != TriggerVariable::kOld) {
      values()[i] = value_of_variable(variable, call);
      continue;
    }
    const std::optional<std::vector<Datum>>& row = variable == TriggerVariable::kNew ? call.change.new_row : call.change.old_row;
    if (!row) continue;
    // Generated columns of NEW are computed after the triggers BEFORE.
    const bool lacks_generated = variable == TriggerVariable::kNew && call.trigger->timing == TriggerDef::Timing::kBefore;
    std::vector<Datum>& fields = records_[i].values;
    std::size_t field = 0;
    for (std::size_t column = 0; column < call.table->columns.size(); ++column) {
      const sql::ColumnDef& definition = call.table->columns[column];
      if (definition.hidden) continue;
      if (!lacks_generated || definition.generated_sql.empty()) fields.at(field) = (*row)[column];
      ++field;
    }
  }
}

bool PlpgsqlRun::has_transition_tables() const {
  const TriggerCall* const call = call_.invocation.trigger;
  return call != nullptr && call->trigger->has_transition_tables();
}

void PlpgsqlRun::name_transition_tables(planner::VariableScope& scope) const {
  if (call_.invocation.trigger == nullptr) return;
  const TriggerCall& call = *call_.invocation.trigger;
  if (sql::maintains_view(*call.trigger)) scope.maintained_view = sql::maintained_view(*call.trigger);
  if (!call.trigger->old_table.empty()) scope.transition_tables.push_back({call.trigger->old_table, call.table, planner::kOldTableRows});
  if (!call.trigger->new_table.empty()) scope.transition_tables.push_back({call.trigger->new_table, call.table, planner::kNewTableRows});
}

std::optional<std::size_t> PlpgsqlRun::returned_variable(const pl::SqlText& text) const {
  if (text.uses.size() != 1 || !text.uses[0].field.empty() || text.uses[0].all_fields || !routine_.shapes[text.uses[0].variable].is_row()) return std::nullopt;
  std::string word;
  for (const char c : text.text) {
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') continue;
    word += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  }
  if (word != text.uses[0].name) return std::nullopt;
  return text.uses[0].variable;
}

boost::asio::awaitable<void> PlpgsqlRun::return_row(const pl::SqlText& text, TriggerCall& call) {
  call.result.reset();
  std::vector<sql::ResultColumn> fields;
  std::vector<Datum> values;
  const std::optional<std::size_t> variable = returned_variable(text);
  if (variable) {
    const RecordValue& record = records_[*variable];
    const std::optional<std::size_t> argument = routine_.body.variables[*variable].argument;
    const bool is_new = argument && *argument == static_cast<std::size_t>(TriggerVariable::kNew);
    const bool is_old = argument && *argument == static_cast<std::size_t>(TriggerVariable::kOld);
    const bool was_given = (is_new && call.change.new_row) || (is_old && call.change.old_row);
    const bool is_empty = std::ranges::all_of(record.values, [](const Datum& value) { return sql::is_null(value); });
    if (!record.assigned || (is_empty && !was_given)) co_return;
    fields = record.fields;
    values = record.values;
  } else {
    const TypedValue value = co_await evaluate(text);
    if (sql::is_null(value.value)) co_return;
    if (!sql::is_row_type(value.type.oid)) {
      throw SqlError(sqlstate::kDatatypeMismatch, "cannot return non-composite value from function returning composite type");
    }
    TypedRow row = row_of(value);
    fields = std::move(row.columns);
    values = std::move(row.values);
  }
  if (!call.trigger->for_each_row) co_return;
  std::vector<const sql::ColumnDef*> columns;
  for (const sql::ColumnDef& column : call.table->columns) {
    if (!column.hidden) columns.push_back(&column);
  }
  const auto mismatch = [](std::string detail) {
    return SqlError(sqlstate::kDatatypeMismatch, "returned row structure does not match the structure of the triggering table").detail(std::move(detail));
  };
  if (fields.size() != columns.size()) {
    throw mismatch(fmt::format("Number of returned columns ({}) does not match expected column count ({}).", fields.size(), columns.size()));
  }
  std::vector<Datum> result;
  std::size_t field = 0;
  const std::optional<std::vector<Datum>>& known = call.change.new_row ? call.change.new_row : call.change.old_row;
  for (std::size_t i = 0; i < call.table->columns.size(); ++i) {
    const sql::ColumnDef& column = call.table->columns[i];
    if (column.hidden) {
      result.push_back(known ? (*known)[i] : Datum());
      continue;
    }
    const sql::Type of_field = fields[field].type;
    const bool is_unknown = of_field.oid == sql::oid::kUnknown || sql::is_null(values[field]);
    if (of_field.oid != column.type.oid && !is_unknown) {
      throw mismatch(fmt::format("Returned type {} does not match expected type {} in column {}.", sql::format_type(of_field), sql::format_type(column.type), field + 1));
    }
    result.push_back(convert({values[field], of_field}, column.type, column.domain));
    ++field;
  }
  call.result = std::move(result);
}

}  // namespace redquel::executor
