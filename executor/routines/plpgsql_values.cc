// The values of variables in PL/pgSQL, and expressions over them.

#include <fmt/format.h>

#include <algorithm>

#include "executor/routines/plpgsql_run.h"
#include "executor/runtime/session_context.h"
#include "parser/parse.h"
#include "planner/bind/bind_value.h"
#include "sql/expressions/evaluate.h"
#include "sql/functions/array_kernels.h"
#include "sql/functions/array_subscript.h"
#include "sql/interrupts.h"
#include "sql/routine_sqlstate.h"
#include "sql/sqlstate.h"
#include "sql/types/array_value.h"
#include "sql/types/row_value.h"
#include "sql/types/text_io.h"
#include "sql/types/type_oids.h"

namespace redquel::executor {

using sql::Datum;
using sql::SqlError;

namespace {

SqlError not_assigned(const std::string& name) {
  return SqlError(sqlstate::kObjectNotInPrerequisiteState, fmt::format("record \"{}\" is not assigned yet", name))
      .detail("The tuple structure of a not-yet-assigned record is indeterminate.");
}

constexpr std::size_t kWhole = SIZE_MAX;

}  // namespace

// ---- texts ----

std::vector<BoundUse> PlpgsqlRun::bind_uses(const pl::SqlText& text, planner::VariableScope& scope) const {
  std::vector<BoundUse> uses;
  const auto place_of = [&](const BoundUse& use) {
    const auto found = std::ranges::find(uses, use);
    if (found != uses.end()) return static_cast<std::uint32_t>(found - uses.begin());
    uses.push_back(use);
    return static_cast<std::uint32_t>(uses.size() - 1);
  };
  for (const pl::VariableUse& use : text.uses) {
    const VariableShape& shape = routine_.shapes[use.variable];
    if (!shape.is_row()) {
      const auto of_case = case_types_.find(use.variable);
      const sql::Type type = of_case == case_types_.end() ? shape.type : of_case->second;
      if (use.field.empty()) scope.variables.push_back({use.block, use.name, {}, 0, place_of({use.variable, {}, type}), type});
      continue;
    }
    const RecordValue& record = records_[use.variable];
    scope.records.push_back(use.name);
    if (!use.field.empty() || use.all_fields) {
      for (std::size_t i = 0; i < record.fields.size(); ++i) {
        if (!use.all_fields && record.fields[i].name != use.field) continue;
        const sql::Type type = record.fields[i].type;
        scope.variables.push_back({use.block, use.name, record.fields[i].name, static_cast<std::uint32_t>(i), place_of({use.variable, i, type}), type});
      }
    }
    if (use.field.empty() && record.assigned) {
      scope.variables.push_back({use.block, use.name, {}, 0, place_of({use.variable, {}, shape.type}), shape.type});
    }
  }
  return uses;
}

TextPlanPtr PlpgsqlRun::plan(const pl::SqlText& text, bool is_expression) {
  TextPlanPtr& known = routine_.plans[text.number];
  if (known && known->is_fixed && known->catalog == catalog_) return known;
  auto scope = std::make_shared<planner::VariableScope>();
  scope->conflict = static_cast<planner::VariableScope::Conflict>(routine_.body.conflict);
  name_transition_tables(*scope);
  std::vector<BoundUse> uses = bind_uses(text, *scope);
  if (known && known->catalog == catalog_ && known->uses == uses) return known;
  auto made = std::make_shared<TextPlan>();
  made->catalog = catalog_;
  made->is_fixed = std::ranges::none_of(text.uses, [this](const pl::VariableUse& use) {
    return routine_.shapes[use.variable].kind == VariableShape::Kind::kRecord || case_types_.contains(use.variable);
  });
  std::vector<sql::Type> types;
  for (const BoundUse& use : uses) types.push_back(use.type);
  const std::string sql = is_expression ? "SELECT " + text.text : text.text;
  const std::shared_ptr<const parser::ast::Statement> statement = parser::parse_statement(sql);
  try {
    if (is_expression) {
      // The parameters of a simple expression are slots of the frame, so that nothing is copied for it.
      auto slots = std::make_shared<planner::VariableScope>(*scope);
      std::vector<sql::Type> of_slots;
      for (const BoundUse& use : uses) {
        std::uint32_t slot = static_cast<std::uint32_t>(use.variable);
        if (routine_.shapes[use.variable].is_row()) {
          const auto next = static_cast<std::uint32_t>(routine_.shapes.size() + routine_.extra_slots.size());
          slot = routine_.extra_slots.try_emplace({use.variable, use.field.value_or(kWhole)}, next).first->second;
          made->copies_fields = true;
        }
        made->slots.push_back(slot);
        if (of_slots.size() <= slot) of_slots.resize(slot + 1, sql::kText);
        of_slots[slot] = use.type;
      }
      for (planner::VariableScope::Variable& variable : slots->variables) variable.parameter = made->slots[variable.parameter];
      planner::BindSettings settings = bind_settings(session_, true);
      settings.variables = slots;
      const sql::InterruptScope interrupts(session_.backend_pid);
      const sql::KnownTypesScope known_types(catalog_->user_types);
      made->value = planner::bind_value(*statement, *catalog_, std::move(of_slots), settings);
      if (made->value) made->program = sql::ScalarProgram::compile(*made->value);
    }
    if (!made->value) made->statement = engine_.plan_in_routine(sql, statement, std::move(types), *catalog_, session_, {nullptr, scope});
  } catch (const SqlError& error) {
    const bool is_row = error.sqlstate() == sqlstate::kUndefinedColumn && error.message().starts_with("record \"");
    if (!is_row) throw;
    for (const pl::VariableUse& use : text.uses) {
      if (routine_.shapes[use.variable].kind == VariableShape::Kind::kRecord && !records_[use.variable].assigned) throw not_assigned(use.name);
    }
    throw;
  }
  made->uses = std::move(uses);
  known = made;
  return made;
}

boost::asio::awaitable<TextPlanPtr> PlpgsqlRun::planned(const pl::SqlText& text, bool is_expression) {
  std::exception_ptr failure;
  try {
    co_return plan(text, is_expression);
  } catch (const SqlError&) {
    failure = std::current_exception();
  }
  // Another process may have made what the text names.
  TextPlanPtr made;
  bool moved = false;
  const sql::CatalogPtr before = catalog_;
  follow_catalog();
  if (catalog_ == before && !session_.transaction) moved = co_await engine_.reload_catalog();
  if (!moved && catalog_ == before) std::rethrow_exception(failure);
  catalog_ = co_await engine_.catalog(session_);
  follow_catalog();
  co_return plan(text, is_expression);
}

Datum PlpgsqlRun::value_of(const BoundUse& use) const {
  if (!routine_.shapes[use.variable].is_row()) return values()[use.variable];
  if (use.field) return records_[use.variable].values.at(*use.field);
  return whole(use.variable).value;
}

std::vector<Datum> PlpgsqlRun::parameters_of(const TextPlan& plan) {
  std::vector<Datum> parameters;
  for (const BoundUse& use : plan.uses) parameters.push_back(value_of(use));
  return parameters;
}

TypedValue PlpgsqlRun::evaluate(const TextPlan& plan) {
  if (plan.copies_fields) {
    for (std::size_t i = 0; i < plan.uses.size(); ++i) {
      if (!routine_.shapes[plan.uses[i].variable].is_row()) continue;
      if (values().size() <= plan.slots[i]) values().resize(plan.slots[i] + 1);
      values()[plan.slots[i]] = value_of(plan.uses[i]);
    }
  }
  if (plan.program) return {plan.program->run(values()), plan.value->type};
  return {sql::evaluate_scalar(*plan.value, context_), plan.value->type};
}

std::optional<TypedValue> PlpgsqlRun::evaluate_now(const pl::SqlText& text) {
  const TextPlanPtr& known = routine_.plans[text.number];
  const bool is_good = known && known->value && known->catalog == catalog_ && !known->copies_fields;
  if (is_good) return evaluate(*known);
  if (!known || !known->value) return std::nullopt;
  const TextPlanPtr now = plan(text, true);
  if (!now->value) return std::nullopt;
  return evaluate(*now);
}

boost::asio::awaitable<TypedValue> PlpgsqlRun::evaluate(const pl::SqlText& text) {
  const TextPlanPtr ready = co_await planned(text, true);
  if (ready->value) co_return evaluate(*ready);
  std::optional<SqlError> failure;
  TypedValue result;
  try {
    const std::size_t columns = ready->statement->columns.size();
    if (columns != 1) throw SqlError(sqlstate::kSyntaxError, fmt::format("query returned {} column{}", columns, columns == 1 ? "" : "s"));
    Opened opened = co_await start(ready->statement, parameters_of(*ready));
    result.type = opened.columns.at(0).type;
    std::size_t rows = 0;
    while (std::optional<sql::Batch> batch = co_await opened.run->next()) {
      if (rows == 0 && batch->rows > 0) {
        const sql::ColumnPtr column = batch->columns.at(0);
        result.value = column->is_encoded() ? column->decode().datum(0) : column->datum(0);
      }
      rows += batch->rows;
    }
    follow_catalog();
    if (rows > 1) throw SqlError(sqlstate::kCardinalityViolation, "query returned more than one row");
  } catch (const SqlError& error) {
    failure = error;
  }
  if (failure) {
    const auto* assigned = current_ == nullptr ? nullptr : std::get_if<pl::Assign>(&current_->node);
    const bool is_assignment = assigned != nullptr && assigned->value.number == text.number;
    const std::string line = is_assignment ? fmt::format("PL/pgSQL assignment \"{} := {}\"", assigned->target.text, text.text)
                                           : fmt::format("SQL expression \"{}\"", text.text);
    throw SqlError(*failure).context(failure->context().empty() ? line : failure->context() + "\n" + line);
  }
  co_return result;
}

bool PlpgsqlRun::is_true(const TypedValue& value) {
  if (sql::is_null(value.value)) return false;
  if (const auto* flag = std::get_if<bool>(&value.value)) return *flag;
  return std::get<bool>(convert(value, sql::kBool));
}

boost::asio::awaitable<bool> PlpgsqlRun::is_true(const pl::SqlText& text) {
  const TypedValue value = co_await evaluate(text);
  co_return is_true(value);
}

// ---- conversions ----

Datum PlpgsqlRun::convert(TypedValue value, sql::Type type, sql::Oid domain) {
  if (value.type.oid == type.oid && (type.modifier < 0 || value.type == type) && domain == 0) return std::move(value.value);
  if (value.type.oid == sql::oid::kUnknown) value.type = sql::kText;  // a literal, or NULL
  const PlpgsqlRoutine::ConversionKey key{value.type, type, domain};
  PlpgsqlRoutine::Conversion& known = routine_.conversions[key];
  const sql::InterruptScope interrupts(session_.backend_pid);
  const sql::KnownTypesScope known_types(catalog_->user_types);
  if (!known.value || known.catalog != catalog_) {
    const sql::ExpressionPtr slot = sql::make_expression(value.type, sql::ParameterRef{0});
    known = {catalog_, planner::assigned_value(slot, type, domain, *catalog_, bind_settings(session_, true))};
  }
  conversion_context_.parameters.assign(1, std::move(value.value));
  return sql::evaluate_scalar(*known.value, conversion_context_);
}

std::string PlpgsqlRun::text_of(const TypedValue& value) const {
  std::string text;
  if (sql::is_null(value.value)) return text;
  if (sql::is_row_type(value.type.oid)) {
    sql::append_plain_row(sql::read_row(value.type.oid, std::get<std::string>(value.value)), text);
    return text;
  }
  if (value.type.oid == sql::oid::kUnknown) return std::get<std::string>(value.value);
  sql::format_value(value.type, value.value, session_.settings, text);
  return text;
}

// ---- rows ----

std::size_t PlpgsqlRun::field_of(std::size_t variable, const std::string& name) const {
  const std::string& record = routine_.body.variables[variable].name;
  if (!routine_.shapes[variable].is_row()) {
    throw SqlError(sqlstate::kDatatypeMismatch, fmt::format("cannot assign to field \"{}\" of variable \"{}\" because it is not of a composite type", name, record));
  }
  if (!records_[variable].assigned) throw not_assigned(record);
  const auto& fields = records_[variable].fields;
  const auto found = std::ranges::find(fields, name, &sql::ResultColumn::name);
  if (found == fields.end()) throw SqlError(sqlstate::kUndefinedColumn, fmt::format("record \"{}\" has no field \"{}\"", record, name));
  return static_cast<std::size_t>(found - fields.begin());
}

TypedValue PlpgsqlRun::whole(std::size_t variable) const {
  const sql::Type type = routine_.shapes[variable].type;
  const RecordValue& record = records_[variable];
  const bool is_empty = std::ranges::all_of(record.values, [](const Datum& value) { return sql::is_null(value); });
  if (!record.assigned || is_empty) return {{}, type};
  const sql::KnownTypesScope known_types(catalog_->user_types);
  sql::RowValue row;
  for (std::size_t i = 0; i < record.fields.size(); ++i) {
    const sql::Column column = sql::Column::constant(record.fields[i].type, record.values[i], 1);
    std::string text;
    row.add(sql::Type{record.fields[i].type.oid}, sql::element_at(column, 0, text), record.fields[i].name);
  }
  return {sql::row_text(type.oid, row), type};
}

TypedRow PlpgsqlRun::row_of(const TypedValue& value) const {
  TypedRow row;
  const sql::KnownTypesScope known_types(catalog_->user_types);
  if (sql::is_null(value.value)) return row;
  const sql::RowValue fields = sql::read_row(value.type.oid, std::get<std::string>(value.value));
  for (std::size_t i = 0; i < fields.fields.size(); ++i) {
    row.columns.push_back({fields.name_of(i), fields.types[i]});
    row.values.push_back(fields.fields[i] ? sql::stored_value(fields.types[i], *fields.fields[i]) : Datum());
  }
  return row;
}

TypedValue PlpgsqlRun::variable_value(std::size_t variable) const {
  if (routine_.shapes[variable].is_row()) return whole(variable);
  return {values()[variable], routine_.shapes[variable].type};
}

// ---- assignment ----

void PlpgsqlRun::set_null(std::size_t variable) {
  const VariableShape& shape = routine_.shapes[variable];
  RecordValue& record = records_[variable];
  values()[variable] = {};
  record = {};
  if (shape.kind != VariableShape::Kind::kRow) return;
  record.assigned = true;
  record.fields = shape.fields;
  record.values.resize(shape.fields.size());
}

void PlpgsqlRun::assign_row(std::size_t variable, const TypedRow& row) {
  const VariableShape& shape = routine_.shapes[variable];
  RecordValue& record = records_[variable];
  if (shape.kind == VariableShape::Kind::kRecord) {
    record = {true, row.columns, row.values};
    return;
  }
  set_null(variable);
  for (std::size_t i = 0; i < std::min(row.values.size(), record.fields.size()); ++i) {
    record.values[i] = convert({row.values[i], row.columns[i].type}, record.fields[i].type, shape.field_domains[i]);
  }
}

void PlpgsqlRun::assign_field(std::size_t variable, std::size_t field, TypedValue value) {
  const VariableShape& shape = routine_.shapes[variable];
  const sql::Type type = records_[variable].fields[field].type;
  const sql::Oid domain = field < shape.field_domains.size() ? shape.field_domains[field] : 0;
  Datum converted = convert(std::move(value), type, domain);
  records_[variable].values[field] = std::move(converted);
}

void PlpgsqlRun::assign(std::size_t variable, TypedValue value) {
  const VariableShape& shape = routine_.shapes[variable];
  const pl::Variable& declared = routine_.body.variables[variable];
  if (declared.not_null && sql::is_null(value.value)) {
    throw SqlError(sqlstate::kNullValueNotAllowed, fmt::format("null value cannot be assigned to variable \"{}\" declared NOT NULL", declared.name));
  }
  if (!shape.is_row()) {
    values()[variable] = convert(std::move(value), shape.type, shape.domain);
    return;
  }
  if (sql::is_null(value.value)) {
    // A record without a value keeps no fields, except those of the type of the value.
    set_null(variable);
    if (shape.kind == VariableShape::Kind::kRecord && sql::is_composite_type(value.type.oid)) {
      const VariableShape of_value = shape_of(value.type, 0, *catalog_);
      records_[variable] = {true, of_value.fields, std::vector<Datum>(of_value.fields.size())};
    }
    return;
  }
  if (!sql::is_row_type(value.type.oid)) {
    throw SqlError(sqlstate::kDatatypeMismatch, "cannot assign non-composite value to a record variable");
  }
  assign_row(variable, row_of(value));
}

boost::asio::awaitable<void> PlpgsqlRun::assign(const pl::Target& target, TypedValue value) {
  std::size_t step = 0;
  std::optional<std::size_t> field;
  if (target.steps.empty()) {
    assign(target.variable, std::move(value));
    co_return;
  }
  if (!target.steps[0].field.empty()) {
    field = field_of(target.variable, target.steps[0].field);
    ++step;
  }
  if (step == target.steps.size()) {
    assign_field(target.variable, *field, std::move(value));
    co_return;
  }
  const VariableShape& shape = routine_.shapes[target.variable];
  TypedValue before{values()[target.variable], shape.type};
  if (field) before = {records_[target.variable].values[*field], records_[target.variable].fields[*field].type};
  std::vector<const pl::Step*> subscripts;
  while (step < target.steps.size() && target.steps[step].field.empty()) subscripts.push_back(&target.steps[step++]);
  if (step < target.steps.size() || !sql::is_array_type(before.type.oid)) {
    if (sql::is_array_type(before.type.oid) || !subscripts.empty()) throw sql::not_supported(fmt::format("assignment to {}", target.text));
    throw sql::not_supported(fmt::format("assignment to a field of a field ({})", target.text));
  }
  const bool slice = std::ranges::any_of(subscripts, [](const pl::Step* one) { return one->slice; });
  const sql::Type element = sql::element_type_of(before.type);
  std::vector<sql::ExpressionPtr> arguments = {sql::make_expression(before.type, sql::ParameterRef{0})};
  std::vector<Datum> parameters = {before.value};
  std::int32_t omitted = 0;
  std::vector<Datum> bounds;
  for (std::size_t i = 0; i < subscripts.size(); ++i) {
    const auto bound = [&](const std::optional<pl::SqlText>& text) -> boost::asio::awaitable<Datum> {
      TypedValue number = co_await evaluate(*text);
      Datum converted = convert(std::move(number), sql::kInt4);
      if (sql::is_null(converted)) throw SqlError(sqlstate::kNullValueNotAllowed, "array subscript in assignment must not be null");
      co_return converted;
    };
    const pl::Step& one = *subscripts[i];
    if (!slice) {
      bounds.push_back(co_await bound(one.lower));
      continue;
    }
    const bool has_lower = one.lower && one.slice, has_upper = one.slice ? one.upper.has_value() : one.lower.has_value();
    if (!has_lower) omitted |= one.slice ? 1 << (2 * i) : 0;
    if (!has_upper) omitted |= 2 << (2 * i);
    Datum lower = std::int32_t{1}, upper = std::int32_t{1};
    if (has_lower) lower = co_await bound(one.lower);
    if (has_upper) upper = co_await bound(one.slice ? one.upper : one.lower);
    bounds.push_back(std::move(lower));
    bounds.push_back(std::move(upper));
  }
  if (slice) arguments.push_back(sql::make_constant(sql::kInt4, omitted));
  for (Datum& bound : bounds) {
    arguments.push_back(sql::make_expression(sql::kInt4, sql::ParameterRef{static_cast<std::uint32_t>(parameters.size())}));
    parameters.push_back(std::move(bound));
  }
  const sql::Type wanted = slice ? sql::Type{before.type.oid} : element;
  arguments.push_back(sql::make_expression(wanted, sql::ParameterRef{static_cast<std::uint32_t>(parameters.size())}));
  parameters.push_back(convert(std::move(value), wanted, slice ? 0 : 0));
  const sql::ScalarFunction& function = slice ? sql::array_with_slice() : sql::array_with_element();
  const sql::ExpressionPtr changed = sql::make_expression(before.type, sql::FunctionCall{&function, std::move(arguments)});
  conversion_context_.parameters = std::move(parameters);
  TypedValue after{sql::evaluate_scalar(*changed, conversion_context_), before.type};
  if (field) {
    records_[target.variable].values[*field] = std::move(after.value);
  } else if (shape.domain != 0) {
    values()[target.variable] = convert(std::move(after), shape.type, shape.domain);
  } else {
    values()[target.variable] = std::move(after.value);
  }
}

}  // namespace redquel::executor
