// Rows as values: ROW(…), a whole row of a relation, (row).field (manual 4.2.4, 4.2.13, 8.16).

#include <fmt/format.h>

#include <algorithm>

#include "planner/bind/expression_binder.h"
#include "planner/bind/name_lookup.h"
#include "planner/bind/name_uses.h"
#include "planner/bind/plan_nodes.h"
#include "planner/bind/row_shape.h"
#include "planner/bind/sql_function.h"
#include "sql/catalog/row_types.h"
#include "sql/error.h"
#include "sql/functions/row_functions.h"
#include "sql/sqlstate.h"
#include "sql/types/array_value.h"
#include "sql/types/row_value.h"
#include "sql/types/type_oids.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::ExpressionPtr;
using sql::SqlError;

namespace {

bool is_named_row(const sql::FunctionCall& call) {
  return call.function == &sql::named_row_constructor() || call.function == &sql::null_extended_row_constructor();
}

/// Makes a row of type record, or of a composite type with these fields.
ExpressionPtr constructed_row(sql::Type type, const std::vector<std::string>& names, std::vector<ExpressionPtr> values, bool null_extended,
                              std::optional<std::uint32_t> offset) {
  if (type.oid != sql::oid::kRecord && !null_extended) {
    return sql::make_expression(type, sql::FunctionCall{&sql::row_constructor(), std::move(values)}, offset);
  }
  std::string text;
  for (const std::string& name : names) sql::append_array_element(name, text);
  sql::finish_array_text(text);
  values.insert(values.begin(), sql::make_constant(sql::kTextArray, text));
  const sql::ScalarFunction& constructor = null_extended ? sql::null_extended_row_constructor() : sql::named_row_constructor();
  return sql::make_expression(type, sql::FunctionCall{&constructor, std::move(values)}, offset);
}

/// Returns the fields of a composite row that this very expression constructs; nullopt: it comes from elsewhere.
std::optional<std::vector<RowField>> constructed_fields(const sql::Expression& row, const std::vector<sql::CompositeField>& declared) {
  const auto* call = std::get_if<sql::FunctionCall>(&row.node);
  if (call == nullptr) return std::nullopt;
  const bool is_plain = call->function == &sql::row_constructor();
  if (!is_plain && !is_named_row(*call)) return std::nullopt;
  const std::size_t first = is_plain ? 0 : 1;
  if (call->arguments.size() != first + declared.size()) return std::nullopt;
  std::vector<RowField> fields;
  for (std::size_t i = 0; i < declared.size(); ++i) {
    if (call->arguments[first + i]->type.oid != declared[i].type.oid) return std::nullopt;
    fields.push_back({declared[i].name, call->arguments[first + i]});
  }
  return fields;
}

}  // namespace

std::optional<std::vector<RowField>> row_shape(const sql::Expression& row) {
  std::vector<RowField> fields;
  if (sql::is_composite_type(row.type.oid)) {
    const std::vector<sql::CompositeField>& declared = sql::user_type(row.type.oid).fields;
    if (auto made = constructed_fields(row, declared)) return made;
    std::int32_t place = 0;
    for (const sql::CompositeField& field : declared) {
      const ExpressionPtr at = sql::make_constant(sql::kInt4, place++);
      fields.push_back({field.name, sql::make_expression(field.type, sql::FunctionCall{&sql::row_field(),
                                                         {std::make_shared<const sql::Expression>(row), at}}, row.offset)});
    }
    return fields;
  }
  const auto* call = std::get_if<sql::FunctionCall>(&row.node);
  if (call == nullptr || row.type.oid != sql::oid::kRecord) return std::nullopt;
  if (call->function == &sql::row_constructor()) {
    for (const ExpressionPtr& value : call->arguments) fields.push_back({fmt::format("f{}", fields.size() + 1), value});
    return fields;
  }
  if (const auto columns = record_columns(*call)) {
    std::int32_t place = 0;
    for (const sql::ResultColumn& column : *columns) {
      const ExpressionPtr at = sql::make_constant(sql::kInt4, place++);
      fields.push_back({column.name, sql::make_expression(column.type, sql::FunctionCall{&sql::row_field(),
                                                          {std::make_shared<const sql::Expression>(row), at}}, row.offset)});
    }
    if (fields.empty()) return std::nullopt;
    return fields;
  }
  if (!is_named_row(*call)) return std::nullopt;
  const std::string& names = std::get<std::string>(std::get<sql::Constant>(call->arguments[0]->node).value);
  for (const auto& name : sql::read_array(sql::oid::kTextArray, names).elements) {
    fields.push_back({std::string(name.value_or("")), call->arguments[fields.size() + 1]});
  }
  return fields;
}

std::optional<std::vector<RowField>> row_shape(const BindState& state, const sql::Expression& row) {
  const auto* column = std::get_if<sql::ColumnRef>(&row.node);
  const auto known = column != nullptr ? state.record_fields.find(column->column) : state.record_fields.end();
  if (known == state.record_fields.end()) return row_shape(row);
  std::vector<RowField> fields;
  for (const sql::ResultColumn& field : known->second) {
    const ExpressionPtr at = sql::make_constant(sql::kInt4, static_cast<std::int32_t>(fields.size()));
    fields.push_back({field.name, sql::make_expression(field.type, sql::FunctionCall{&sql::row_field(),
                                                       {std::make_shared<const sql::Expression>(row), at}}, row.offset)});
  }
  return fields;
}

ExpressionPtr named_row(sql::Type type, const std::vector<std::string>& names, std::vector<ExpressionPtr> fields, bool null_extended,
                        std::optional<std::uint32_t> offset) {
  return constructed_row(type, names, std::move(fields), null_extended, offset);
}

ExpressionPtr table_row(BindState& state, const sql::TableDef& table, const ExpressionPtr& value, std::optional<std::uint32_t> offset) {
  std::vector<std::string> names;
  std::vector<ExpressionPtr> values;
  const auto* constant = std::get_if<sql::Constant>(&value->node);
  const auto* call = std::get_if<sql::FunctionCall>(&value->node);
  const bool is_null_literal = constant != nullptr && sql::is_null(constant->value);
  if (!is_null_literal && (call == nullptr || call->function != &sql::row_constructor())) {
    throw sql::not_supported("a cast to the row type of a table", offset);
  }
  const std::size_t count = table.shown_columns();
  for (std::size_t i = 0; i < count; ++i) {
    const sql::ColumnDef& column = table.columns[i];
    names.push_back(column.name);
    if (is_null_literal) {
      values.push_back(sql::make_constant(column.type, {}));
      continue;
    }
    const bool given = i < call->arguments.size();
    ExpressionPtr field = given ? try_coerce(state, call->arguments[i], column.type, sql::CastContext::kExplicit) : nullptr;
    if (!field || (i + 1 == count && call->arguments.size() > count)) {
      const std::string detail =
          !given ? "Input has too few columns."
          : field ? "Input has too many columns."
                  : fmt::format("Cannot cast type {} to {} in column {}.", sql::format_type(sql::Type{call->arguments[i]->type.oid}),
                                sql::format_type(sql::Type{column.type.oid}), i + 1);
      throw SqlError(sqlstate::kCannotCoerce, fmt::format("cannot cast type record to {}", table.name)).detail(detail).at(offset);
    }
    values.push_back(std::move(field));
  }
  return constructed_row(sql::Type{sql::oid::kRecord}, names, std::move(values), is_null_literal, offset);
}

ExpressionPtr ExpressionBinder::whole_row(const Relation& relation, bool null_extended, QueryLevel& level,
                                          std::optional<std::uint32_t> offset) {
  std::vector<std::string> names;
  std::vector<ExpressionPtr> values;
  mark_row_read(relation);
  for (const RelationColumn& column : relation.columns) {
    names.push_back(column.name);
    values.push_back(use(column.value, level, offset));
  }
  // Other names than the table's make another row of it.
  const bool is_row_of_table = relation.table && sql::is_row_type_current(*relation.table) &&
                               std::ranges::equal(names, relation.table->columns, {}, {}, &sql::ColumnDef::name);
  const sql::Type type{is_row_of_table ? relation.table->row_type : sql::oid::kRecord};
  return constructed_row(type, names, std::move(values), null_extended, offset);
}

ExpressionPtr ExpressionBinder::function_of_row(const ast::ColumnRef& column, const Whole& whole) {
  const ast::QualifiedName function = {column.names.back()};
  if (!is_sql_function(state_, function)) return nullptr;
  if (state_.names != nullptr) throw sql::not_supported("a function written as a column in a view", start(whole));
  ast::ColumnRef row;
  row.names.assign(column.names.begin(), column.names.end() - 1);
  row.star = true;
  ast::Argument argument;
  argument.value = std::make_unique<const ast::Expression>(ast::Expression{whole.offset, whole.start, std::move(row)});
  ast::FunctionCall call;
  call.name = function;
  call.arguments.push_back(std::move(argument));
  const auto written = std::make_shared<const ast::FunctionCall>(std::move(call));
  state_.keep_alive(written);
  try {
    return bind_sql_call(*written, whole);
  } catch (const SqlError& error) {
    if (error.sqlstate() != sqlstate::kUndefinedFunction) throw;
    return nullptr;
  }
}

ExpressionPtr ExpressionBinder::relation_value(const ast::ColumnRef& name, const FoundRelation& found,
                                               std::optional<std::uint32_t> offset) {
  const Relation& relation = *found.relation;
  if (relation.is_scalar) {
    const RelationColumn& scalar = relation.columns[0];
    if (state_.names != nullptr) state_.names->note_column(name, relation, scalar.name, *found.level);
    return use(scalar.value, *found.level, offset);
  }
  if (state_.names != nullptr) state_.names->note_row(name, relation);
  return whole_row(relation, found.null_extended, *found.level, offset);
}

ExpressionBinder::Operands ExpressionBinder::row_items(const ast::Expressions& written, bool keeps_default) {
  Operands items;
  for (const ast::ExpressionPtr& item : written) {
    if (keeps_default && std::holds_alternative<ast::DefaultValue>(item->node)) {
      items.push_back(nullptr);
      continue;
    }
    if (const auto* steps = std::get_if<ast::Indirection>(&item->node); steps != nullptr && std::holds_alternative<ast::StarStep>(steps->steps.back())) {
      for (const RowField& field : expanded_row(*steps, start(*item))) items.push_back(field.value);
      continue;
    }
    const auto* column = std::get_if<ast::ColumnRef>(&item->node);
    if (column == nullptr || !column->star || column->names.empty()) {
      items.push_back(bind(*item));
      continue;
    }
    // Texts of views name every column, and no column as part of a row.
    if (state_.names != nullptr) throw sql::not_supported("t.* among the items of a row in a view", start(*item));
    const ExpressionPtr relation = bind(*item);  // t.*
    const std::optional<std::vector<RowField>> fields = row_shape(*relation);
    if (!fields) {
      items.push_back(relation);  // of a function that returns a scalar
      continue;
    }
    for (const RowField& field : *fields) items.push_back(field.value);
  }
  return items;
}

/// (row).*
std::vector<RowField> ExpressionBinder::expanded_row(const ast::Indirection& written, std::optional<std::uint32_t> offset) {
  const ExpressionPtr row = follow_steps(written, written.steps.size() - 1, offset);
  auto fields = row_shape(*row);
  if (fields) return *std::move(fields);
  if (row->type.oid == sql::oid::kRecord) throw sql::not_supported("row expansion of a record whose fields are not known", offset);
  throw SqlError(sqlstate::kWrongObjectType, fmt::format("type {} is not composite", sql::format_type(sql::Type{row->type.oid})));
}

ExpressionPtr ExpressionBinder::node(const ast::Row& row, const Whole& whole) {
  constexpr std::size_t kEntries = 1664;
  Operands items = row_items(row.items);
  if (items.size() > kEntries) {
    throw SqlError(sqlstate::kTooManyColumns, fmt::format("ROW expressions can have at most {} entries", kEntries)).at(start(whole));
  }
  for (ExpressionPtr& item : items) {
    // Literals wait for a composite type that the row may become.
    if (!std::holds_alternative<sql::Constant>(item->node)) item = resolve_unknown(state_, item);
  }
  return sql::make_expression(sql::Type{sql::oid::kRecord}, sql::FunctionCall{&sql::row_constructor(), std::move(items)}, start(whole));
}

ExpressionPtr ExpressionBinder::select_field(const ExpressionPtr& row, const std::string& name, std::optional<std::uint32_t> offset) {
  if (!sql::is_row_type(row->type.oid)) {
    throw SqlError(sqlstate::kWrongObjectType, fmt::format("column notation .{} applied to type {}, which is not a composite type", name,
                                                           sql::format_type(sql::Type{row->type.oid})))
        .at(offset);
  }
  const auto fields = row_shape(state_, *row);
  if (!fields) throw sql::not_supported("a field of a record whose fields are not known", offset);
  const auto found = std::ranges::find(*fields, name, &RowField::name);
  if (found != fields->end()) return with_offset(found->value, offset);
  if (row->type.oid == sql::oid::kRecord) {
    throw SqlError(sqlstate::kUndefinedColumn, fmt::format("could not identify column \"{}\" in record data type", name)).at(offset);
  }
  throw SqlError(sqlstate::kUndefinedColumn, fmt::format("column \"{}\" not found in data type {}", name, sql::format_type(row->type))).at(offset);
}

}  // namespace redquel::planner
