#include "planner/bind/search_cycle.h"

#include <fmt/format.h>

#include <algorithm>

#include "parser/deparse.h"
#include "parser/parse.h"
#include "planner/bind/expression_binder.h"
#include "planner/bind/name_uses.h"
#include "planner/bind/recursive_with.h"
#include "sql/error.h"
#include "sql/functions/resolve.h"
#include "sql/sqlstate.h"

namespace redquel::planner {

namespace ast = parser::ast;
using parser::quote_identifier;
using sql::SqlError;

namespace {

/// Counts the rounds of SEARCH BREADTH FIRST; not visible to queries.
constexpr std::string_view kDepthColumn = "*DEPTH*";

bool has_column(const WithItem& item, std::string_view name) {
  return std::ranges::any_of(item.columns, [&](const LogicalColumn& column) { return column.name == name; });
}

void check_columns(const WithItem& item, const std::vector<std::string>& columns, std::string_view kind,
                   std::optional<std::uint32_t> offset) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!has_column(item, columns[i])) {
      throw SqlError(sqlstate::kSyntaxError, fmt::format("{} column \"{}\" not in WITH query column list", kind, columns[i])).at(offset);
    }
    if (std::find(columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(i), columns[i]) !=
        columns.begin() + static_cast<std::ptrdiff_t>(i)) {
      throw SqlError(sqlstate::kDuplicateColumn, fmt::format("{} column \"{}\" specified more than once", kind, columns[i])).at(offset);
    }
  }
}

void check_clauses(const BindState& state, const WithItem& item) {
  const ast::CommonTableExpression& definition = *item.definition;
  const auto check_free = [&](std::string_view what, const std::string& name, std::optional<std::uint32_t> offset) {
    if (has_column(item, name)) {
      throw SqlError(sqlstate::kSyntaxError, fmt::format("{} column name \"{}\" already used in WITH query column list", what, name)).at(offset);
    }
  };
  if (definition.search) {
    const auto offset = state.position(definition.search->offset);
    check_columns(item, definition.search->columns, "search", offset);
    check_free("search sequence", definition.search->sequence_column, offset);
  }
  if (definition.cycle) {
    const ast::CycleClause& cycle = *definition.cycle;
    const auto offset = state.position(cycle.offset);
    check_columns(item, cycle.columns, "cycle", offset);
    check_free("cycle mark", cycle.mark_column, offset);
    check_free("cycle path", cycle.path_column, offset);
    if (cycle.mark_column == cycle.path_column) {
      throw SqlError(sqlstate::kSyntaxError, "cycle mark column name and cycle path column name are the same").at(offset);
    }
  }
  if (definition.search && definition.cycle) {
    const auto offset = state.position(definition.search->offset);
    const auto refuse = [&](std::string_view what) {
      return SqlError(sqlstate::kSyntaxError, fmt::format("search sequence column name and cycle {} column name are the same", what)).at(offset);
    };
    if (definition.search->sequence_column == definition.cycle->mark_column) throw refuse("mark");
    if (definition.search->sequence_column == definition.cycle->path_column) throw refuse("path");
  }
}

/// Checks the marks of rows that close a cycle, and of other rows: of one type, which can be compared.
void check_marks(BindState& state, QueryLevel* outer_level, const ast::CycleClause& cycle) {
  QueryLevel level{.outer = outer_level};
  ExpressionBinder binder(state, level);
  std::vector<sql::ExpressionPtr> marks;
  for (const ast::Expression* written : {cycle.mark_value.get(), cycle.mark_default.get()}) marks.push_back(binder.bind(*written));
  const sql::Type type = common_type(marks, "CYCLE");
  for (const sql::ExpressionPtr& mark : marks) in_common_type(state, mark, type);
  sql::equality_operator(type, {});
}

void check_shape(const ast::Select& query) {
  const auto is_union = [](const ast::Select& side) { return side.set_operator != ast::SetOperator::kNone; };
  if (is_union(*query.left)) {
    throw SqlError(sqlstate::kFeatureNotSupported, "with a SEARCH or CYCLE clause, the left side of the UNION must be a SELECT");
  }
  if (is_union(*query.right)) throw SqlError(sqlstate::kSyntaxError, "with a SEARCH or CYCLE clause, the right side of the UNION must be a SELECT");
  if (query.with) throw sql::not_supported("SEARCH or CYCLE over a query with a WITH clause of its own");
}

/// Returns the alias of the FROM item that reads the WITH query; empty: there is none.
std::string reference_name(const ast::FromItem& item, const std::string& with_name) {
  if (const auto* table = std::get_if<ast::TableRef>(&item.node)) {
    if (!table->name.schema.empty() || table->name.name != with_name) return {};
    return table->alias ? table->alias->name : with_name;
  }
  if (const auto* join = std::get_if<ast::Join>(&item.node)) {
    std::string name = reference_name(*join->left, with_name);
    return name.empty() ? reference_name(*join->right, with_name) : name;
  }
  return {};
}

/// The text of the query with the columns that the clauses add.
class Rewriting {
 public:
  Rewriting(const WithItem& item, const ast::Select& query, const parser::QueryNames& names)
      : item_(item), definition_(*item.definition), query_(query), names_(names) {}

  std::string text() const {
    const std::string first = parser::to_sql(*query_.left, names_, parser::QueryLayout::kCompact);
    std::string text = select(first_values(), "(" + first + ") AS q(" + aliases({}) + ")");
    text += query_.set_all ? " UNION ALL " : " UNION ";
    return text + select(next_values(), "(" + next_rows() + ") AS q(" + aliases(carried()) + ")");
  }

 private:
  struct Value {
    std::string expression, name;
  };

  bool is_breadth() const { return definition_.search && definition_.search->breadth_first; }

  /// The positions of the columns, as names that nothing else has.
  std::string aliases(const std::vector<std::string>& more) const {
    std::string text;
    for (std::size_t i = 0; i < item_.columns.size(); ++i) text += fmt::format("{}\"{}\"", i == 0 ? "" : ", ", i + 1);
    for (const std::string& name : more) text += ", " + quote_identifier(name);
    return text;
  }
  std::string columns(const std::vector<std::string>& names) const {
    std::string text;
    for (const std::string& name : names) {
      const auto found = std::ranges::find(item_.columns, name, &LogicalColumn::name);
      text += fmt::format("{}q.\"{}\"", text.empty() ? "" : ", ", found - item_.columns.begin() + 1);
    }
    return text;
  }
  std::string mark(const std::string& condition) const {
    return fmt::format("CASE WHEN {} THEN {} ELSE {} END", condition, parser::to_sql(*definition_.cycle->mark_value),
                       parser::to_sql(*definition_.cycle->mark_default));
  }

  std::vector<Value> first_values() const {
    std::vector<Value> values;
    if (definition_.search) {
      const std::string keys = columns(definition_.search->columns);
      values.push_back({is_breadth() ? "ROW(0::pg_catalog.int8, " + keys + ")" : "ARRAY[ROW(" + keys + ")]", definition_.search->sequence_column});
    }
    if (definition_.cycle) {
      values.push_back({mark("false"), definition_.cycle->mark_column});
      values.push_back({"ARRAY[ROW(" + columns(definition_.cycle->columns) + ")]", definition_.cycle->path_column});
    }
    if (is_breadth()) values.push_back({"0::pg_catalog.int8", std::string(kDepthColumn)});
    return values;
  }

  /// Columns of the round before that the next one needs.
  std::vector<std::string> carried() const {
    std::vector<std::string> names;
    if (definition_.search && !is_breadth()) names.push_back(definition_.search->sequence_column);
    if (definition_.cycle) names.push_back(definition_.cycle->path_column);
    if (is_breadth()) names.emplace_back(kDepthColumn);
    return names;
  }

  std::vector<Value> next_values() const {
    std::vector<Value> values;
    const auto before = [](std::string_view name) { return "q." + quote_identifier(name); };
    if (definition_.search) {
      const std::string keys = columns(definition_.search->columns);
      const std::string& name = definition_.search->sequence_column;
      values.push_back({is_breadth() ? fmt::format("ROW({} + 1, {})", before(kDepthColumn), keys) : fmt::format("{} || ROW({})", before(name), keys), name});
    }
    if (definition_.cycle) {
      const std::string keys = columns(definition_.cycle->columns);
      const std::string path = before(definition_.cycle->path_column);
      values.push_back({mark(fmt::format("ROW({}) = ANY ({})", keys, path)), definition_.cycle->mark_column});
      values.push_back({fmt::format("{} || ROW({})", path, keys), definition_.cycle->path_column});
    }
    if (is_breadth()) values.push_back({before(kDepthColumn) + " + 1", std::string(kDepthColumn)});
    return values;
  }

  /// The recursive term, which passes those columns on and stops where the cycle is found.
  std::string next_rows() const {
    std::string text = parser::to_sql(*query_.right, names_, parser::QueryLayout::kCompact);
    const std::shared_ptr<ast::Statement> statement = std::move(parser::parse(text).at(0).statement);
    auto& select = std::get<ast::Select>(statement->node);
    std::string reference;
    for (const ast::FromItem& item : select.from) {
      if (reference.empty()) reference = reference_name(item, item_.name);
    }
    if (reference.empty()) {
      throw SqlError(sqlstate::kFeatureNotSupported,
                     fmt::format("with a SEARCH or CYCLE clause, the recursive reference to WITH query \"{}\" must be at the top "
                                 "level of its right-hand SELECT",
                                 item_.name));
    }
    const auto column = [&](std::string_view name) { return quote_identifier(reference) + "." + quote_identifier(name); };
    for (const std::string& name : carried()) {
      ast::Target& target = select.targets.emplace_back();
      target.value = parser::parse_expression(column(name));
    }
    if (definition_.cycle) {
      std::string condition = fmt::format("{} <> {}", column(definition_.cycle->mark_column), parser::to_sql(*definition_.cycle->mark_value));
      if (select.where) condition = "(" + parser::to_sql(*select.where) + ") AND " + condition;
      select.where = parser::parse_expression(condition);
    }
    return parser::to_sql(select);
  }

  std::string select(const std::vector<Value>& more, const std::string& from) const {
    std::string text = "SELECT ";
    for (std::size_t i = 0; i < item_.columns.size(); ++i) {
      text += fmt::format("{}q.\"{}\" AS {}", i == 0 ? "" : ", ", i + 1, quote_identifier(item_.columns[i].name));
    }
    for (const Value& value : more) text += fmt::format(", {} AS {}", value.expression, quote_identifier(value.name));
    return text + " FROM " + from;
  }

  const WithItem& item_;
  const ast::CommonTableExpression& definition_;
  const ast::Select& query_;
  const parser::QueryNames& names_;
};

}  // namespace

void bind_with_search_or_cycle(BindState& state, QueryLevel* outer_level, WithItem& item, const ast::Select& query) {
  // The query as it was written, for its errors, its columns, and the meaning of its names.
  WithItem written = item;
  if (state.names != nullptr) bind_recursive(state, outer_level, written, query);
  NameUses uses;
  written = item;
  {
    const Scoped<NameUses*> names(state.names, &uses);
    bind_recursive(state, outer_level, written, query);
  }
  check_shape(query);
  check_clauses(state, written);
  if (written.definition->cycle) check_marks(state, outer_level, *written.definition->cycle);
  const parser::QueryNames names = uses.names_in(state.catalog);
  auto statement = parser::parse_statement(Rewriting(written, query, names).text());
  state.keep_alive(statement);
  const Scoped positions(state.keeps_positions, false);
  const Scoped<NameUses*> no_names(state.names, nullptr);
  bind_recursive(state, outer_level, item, std::get<ast::Select>(statement->node));
  if (item.columns.back().name == kDepthColumn) item.columns.pop_back();
}

}  // namespace redquel::planner
