#include "planner/bind/bind_expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "parser/deparse.h"
#include "parser/parse.h"
#include "planner/bind/ast_walk.h"
#include "planner/bind/column_name.h"
#include "planner/bind/computed_columns.h"
#include "planner/bind/domain.h"
#include "planner/bind/expression_binder.h"
#include "planner/bind/name_uses.h"
#include "sql/error.h"
#include "sql/expressions/evaluate.h"
#include "sql/functions/object_names.h"
#include "sql/types/array_value.h"
#include "sql/types/more_types.h"
#include "sql/types/range_value.h"
#include "sql/types/row_value.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::ExpressionPtr;
using sql::SqlError;

namespace {

BindSettings without_parameters(BindSettings settings) {
  settings.parameters = false;
  return settings;
}

/// Stored text was written under another search path: what its names mean must not depend on that of the session. They are looked for
/// where the table is, then in public, then where the session looks, then anywhere.
BindSettings for_stored_text(BindSettings settings, const std::string& schema, const sql::CatalogSnapshot& catalog) {
  std::vector<std::string> path = {schema, "public"};
  path.insert(path.end(), settings.search_path.begin(), settings.search_path.end());
  for (const auto& [name, definition] : catalog.schemas) path.push_back(name);
  settings.search_path.clear();
  for (std::string& name : path) {
    if (std::ranges::find(settings.search_path, name) == settings.search_path.end()) settings.search_path.push_back(std::move(name));
  }
  return settings;
}

/// A row of the table as the only thing that names can mean.
RelationPtr row_relation(const sql::TableDef& table, const std::vector<ColumnId>& ids) {
  auto relation = std::make_shared<Relation>(Relation{.name = table.name});
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const sql::ColumnDef& column = table.columns[i];
    if (!column.hidden) relation->columns.push_back({column.name, sql::make_column(column.type, ids[i], column.name)});
  }
  return relation;
}

}  // namespace

ExpressionPtr bind_default(const ast::Expression& expression, const sql::TableDef& table, const sql::ColumnDef& column,
                           const sql::CatalogSnapshot& catalog, const BindSettings& settings, bool stored) {
  BindSettings own = without_parameters(settings);
  if (stored) own = for_stored_text(std::move(own), table.schema, catalog);
  BindState state(catalog, own, {}, 0);
  state.keeps_positions = !stored;
  QueryLevel level{.clause = Clause::kDefault};
  const ExpressionPtr value = ExpressionBinder(state, level).bind(expression);
  if (ExpressionPtr converted = try_coerce(state, value, column.type, sql::CastContext::kAssignment)) {
    return column.domain == 0 ? converted : into_domain(state.catalog, state.settings, std::move(converted), column.domain);
  }
  throw SqlError(
      "42804", fmt::format("column \"{}\" is of type {} but default expression is of type {}", column.name,
                           sql::format_type(sql::Type{column.type.oid}), sql::format_type(sql::Type{value->type.oid})))
      .hint("You will need to rewrite or cast the expression.");
}

namespace {

template <class Bind>
ExpressionPtr bind_over_row(const sql::TableDef& table, const std::vector<ColumnId>& ids,
                            const sql::CatalogSnapshot& catalog, const BindSettings& settings, bool stored, Clause clause,
                            const Bind& bind) {
  BindSettings own = without_parameters(settings);
  if (stored) own = for_stored_text(std::move(own), table.schema, catalog);
  BindState state(catalog, own, {}, 0);
  state.keeps_positions = !stored;
  QueryLevel level{.clause = clause};
  const RelationPtr relation = row_relation(table, ids);
  level.names.push_back({.relation = relation});
  level.range_table.push_back(relation);
  return bind(state, ExpressionBinder(state, level));
}

}  // namespace

ExpressionPtr bind_check(const ast::Expression& expression, const sql::TableDef& table,
                         const std::vector<ColumnId>& ids, const sql::CatalogSnapshot& catalog,
                         const BindSettings& settings, bool stored) {
  return bind_over_row(table, ids, catalog, settings, stored, Clause::kCheck,
                       [&](BindState&, ExpressionBinder binder) { return binder.bind_boolean(expression, "CHECK"); });
}

ExpressionPtr bind_column_expression(const ast::Expression& expression, const sql::TableDef& table,
                                     const std::vector<ColumnId>& ids, const sql::CatalogSnapshot& catalog,
                                     const BindSettings& settings, bool stored) {
  return bind_over_row(table, ids, catalog, settings, stored, Clause::kCheck, [&](BindState& state, ExpressionBinder binder) {
    return resolve_unknown(state, binder.bind(expression));
  });
}

namespace {

/// Types whose text form settings, the clock or the catalog touch, as PostgreSQL's pg_proc has it for their input functions.
bool reads_surroundings(sql::Oid type) {
  return sql::is_array_type(type) || sql::is_range_type(type) || sql::is_multirange_type(type) || sql::is_row_type(type) ||
         sql::is_enum_type(type) || sql::is_object_name_type(type) || type == sql::oid::kDate || type == sql::oid::kTime ||
         type == sql::oid::kTimetz || type == sql::oid::kTimestamp || type == sql::oid::kTimestamptz || type == sql::oid::kInterval;
}
/// The same of output functions: those of a time of day always print the same.
bool prints_surroundings(sql::Oid type) {
  return reads_surroundings(type) && type != sql::oid::kTime && type != sql::oid::kTimetz;
}

/// text || any: PostgreSQL inlines it, so that the argument's output function decides.
bool joins_immutable_texts(const sql::FunctionCall& call) {
  if (call.function->name != "||" || call.function->volatility != sql::Volatility::kStable) return false;
  return std::ranges::none_of(call.arguments, [](const ExpressionPtr& argument) { return prints_surroundings(argument->type.oid); });
}

bool is_immutable(const sql::Expression& expression) {
  const auto* call = std::get_if<sql::FunctionCall>(&expression.node);
  const auto* cast = std::get_if<sql::CastCall>(&expression.node);
  if (call != nullptr && call->function->volatility != sql::Volatility::kImmutable && !joins_immutable_texts(*call)) return false;
  if (cast != nullptr && cast->function != nullptr && cast->function->volatility != sql::Volatility::kImmutable) return false;
  if (cast != nullptr && cast->method == sql::CastCall::Method::kInputOutput &&
      (reads_surroundings(expression.type.oid) || prints_surroundings(cast->operand->type.oid))) {
    return false;
  }
  bool result = true;
  sql::for_each_child(expression, [&](const ExpressionPtr& child) { result = result && is_immutable(*child); });
  return result;
}

}  // namespace

ExpressionPtr bind_generation(const ast::Expression& expression, const sql::TableDef& table, const sql::ColumnDef& column,
                              const std::vector<ColumnId>& ids, const sql::CatalogSnapshot& catalog,
                              const BindSettings& settings, bool stored) {
  return bind_over_row(table, ids, catalog, settings, stored, Clause::kGenerated, [&](BindState& state, ExpressionBinder binder) {
    const ExpressionPtr value = binder.bind(expression);
    std::vector<std::uint32_t> used;
    sql::collect_columns(*value, used);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (std::ranges::find(used, ids[i]) == used.end()) continue;
      if (table.columns[i].generated_sql.empty() && table.columns[i].number != column.number) continue;
      throw SqlError("42P17", fmt::format("cannot use generated column \"{}\" in column generation expression", table.columns[i].name))
          .detail("A generated column cannot reference another generated column.");
    }
    const ExpressionPtr converted = try_coerce(state, value, column.type, sql::CastContext::kAssignment);
    if (!converted) {
      throw SqlError("42804", fmt::format("column \"{}\" is of type {} but default expression is of type {}", column.name,
                                          sql::format_type(sql::Type{column.type.oid}), sql::format_type(sql::Type{value->type.oid})))
          .hint("You will need to rewrite or cast the expression.");
    }
    if (!is_immutable(*converted)) throw SqlError("42P17", "generation expression is not immutable");
    if (column.domain != 0) return into_domain(state.catalog, state.settings, converted, column.domain);
    return converted;
  });
}

ExpressionPtr bind_new_index_expression(const ast::Expression& written, const sql::TableDef& table,
                                        const sql::CatalogSnapshot& catalog, const BindSettings& settings, bool predicate) {
  std::vector<ColumnId> ids;
  for (std::size_t i = 0; i < table.columns.size(); ++i) ids.push_back(static_cast<ColumnId>(i));
  const Clause clause = predicate ? Clause::kIndexPredicate : Clause::kIndexExpression;
  const ExpressionPtr bound = bind_over_row(table, ids, catalog, settings, false, clause, [&](BindState& state, ExpressionBinder binder) {
    return predicate ? binder.bind_boolean(written, "WHERE") : resolve_unknown(state, binder.bind(written));
  });
  if (!is_immutable(*bound)) {
    throw SqlError("42P17", fmt::format("functions in index {} must be marked IMMUTABLE", predicate ? "predicate" : "expression"));
  }
  return bound;
}

ExpressionPtr bind_indexed(std::string_view text, const sql::TableDef& table, const std::vector<ColumnId>& ids) {
  static const sql::CatalogSnapshot kNoCatalog;
  static const BindSettings kDefaults;
  const ast::ExpressionPtr parsed = parser::parse_expression(std::string(text));
  const ExpressionPtr bound = bind_column_expression(*parsed, table, ids, kNoCatalog, kDefaults, true);
  sql::EvaluationContext context;
  context.settings = &kDefaults.session;
  return sql::fold_constants(bound, context);
}

ExpressionPtr bind_arbiter_expression(const ast::Expression& written, const sql::TableDef& table, const std::vector<ColumnId>& ids,
                                      const sql::CatalogSnapshot& catalog, const BindSettings& settings, bool predicate) {
  const Clause clause = predicate ? Clause::kIndexPredicate : Clause::kIndexExpression;
  const ExpressionPtr bound = bind_over_row(table, ids, catalog, settings, false, clause, [&](BindState& state, ExpressionBinder binder) {
    return predicate ? binder.bind_boolean(written, "WHERE") : resolve_unknown(state, binder.bind(written));
  });
  sql::EvaluationContext context;
  context.settings = &settings.session;
  return sql::fold_constants(bound, context);
}

std::vector<ExpressionPtr> bind_computed(const sql::TableDef& table, const std::vector<ColumnId>& ids) {
  std::vector<ExpressionPtr> computed;
  for (const sql::ColumnDef& column : table.computed) computed.push_back(bind_indexed(column.generated_sql, table, ids));
  return computed;
}

std::string index_column_name(const ast::Expression& written, const sql::CatalogSnapshot& catalog, const BindSettings& settings) {
  const BindSettings own = without_parameters(settings);
  const BindState state(catalog, own, {}, 0);
  std::string name = default_column_name(state, written);
  return name == "?column?" ? "expr" : name;
}

namespace {

using SearchPath = std::vector<std::string>;

/// A type's name, with its schema where the search path does not find it.
std::string visible_name(const sql::UserType& type, const sql::CatalogSnapshot& catalog, const SearchPath& search_path) {
  const auto found = catalog.find_user_type("", type.name, search_path);
  const std::string schema = found && found->oid == type.oid ? "" : parser::quote_identifier(type.schema) + ".";
  return schema + parser::quote_identifier(type.name);
}

/// The same of a text that format_type() gave: of a type, or of an array of it.
std::string visible_type(const std::string& shown, const sql::CatalogSnapshot& catalog, const SearchPath& search_path) {
  for (const auto& [oid, type] : catalog.types) {
    const std::string name = sql::format_type(sql::Type{oid});
    if (!shown.starts_with(name) || (shown.size() != name.size() && shown.substr(name.size()) != "[]")) continue;
    return visible_name(*type, catalog, search_path) + shown.substr(name.size());
  }
  return shown;
}

/// A stored text with the types that it casts to as this search path calls them.
std::string with_visible_casts(const std::string& text, const sql::CatalogSnapshot& catalog, const SearchPath& search_path,
                               const SearchPath& stored_path) {
  const ast::ExpressionPtr parsed = parser::parse_expression(text);
  std::map<std::size_t, std::pair<std::size_t, std::string>> replacements;  // where → length, new text
  const std::function<void(const ast::Expression&)> visit = [&](const ast::Expression& expression) {
    const auto* cast = std::get_if<ast::TypeCast>(&expression.node);
    if (cast != nullptr && cast->type.names.size() <= 2) {
      const ast::QualifiedName& names = cast->type.names;
      const auto type = catalog.find_user_type(names.size() == 2 ? names[0] : "", names.back(), stored_path);
      std::string written = "::";
      for (const std::string& name : names) written += (written.size() > 2 ? "." : "") + parser::quote_identifier(name);
      const std::size_t at = expression.offset - parser::kExpressionOffset;
      if (type && at < text.size() && text.compare(at, written.size(), written) == 0) {
        replacements[at] = {written.size(), "::" + visible_name(*type, catalog, search_path)};
      }
    }
    for_each_child(expression, visit);
  };
  visit(*parsed);
  std::string result;
  std::size_t from = 0;
  for (const auto& [at, replacement] : replacements) {
    result.append(text, from, at - from).append(replacement.second);
    from = at + replacement.first;
  }
  return result.append(text, from);
}

}  // namespace

std::string written_expression(const std::string& text, const sql::TableDef& table, const sql::CatalogSnapshot& catalog,
                               BindSettings settings, bool pretty) {
  NameUses uses;
  settings.names = &uses;
  std::vector<ColumnId> ids;
  for (std::size_t i = 0; i < table.columns.size(); ++i) ids.push_back(static_cast<ColumnId>(i));
  try {
    const SearchPath search_path = settings.search_path;
    settings = for_stored_text(std::move(settings), table.schema, catalog);
    const ast::ExpressionPtr parsed = parser::parse_expression(with_visible_casts(text, catalog, search_path, settings.search_path));
    bind_column_expression(*parsed, table, ids, catalog, settings);
    parser::QueryNames names = uses.names_in(catalog);
    for (auto* types : {&names.literal_types, &names.casts}) {
      for (auto& [offset, type] : *types) type = visible_type(type, catalog, search_path);
    }
    names.functions.clear();  // calls are shown as they are stored: they follow renames already
    names.columns.clear();  // there is one table: its name says nothing
    return parser::to_sql(*parsed, names, pretty ? parser::QueryLayout::kPretty : parser::QueryLayout::kPlain);
  } catch (const SqlError&) {
    return text;
  }
}

}  // namespace redquel::planner
