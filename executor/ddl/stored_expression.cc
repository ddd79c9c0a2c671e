#include "executor/ddl/stored_expression.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "parser/deparse.h"
#include "planner/bind/rewrite_text.h"

namespace redquel::executor {

namespace ast = parser::ast;
using planner::quoted_name;
using planner::TextChange;

namespace {

/// Names of columns replaced, by the last part of each.
std::string rewrite_columns(const std::string& text, const std::function<std::string(const std::string&)>& change) {
  return planner::rewrite_text(text, [&](const ast::Expression& expression) -> std::optional<TextChange> {
    const auto* column = std::get_if<ast::ColumnRef>(&expression.node);
    if (column == nullptr || column->star) return std::nullopt;
    return TextChange{quoted_name(column->names), parser::quote_identifier(change(column->names.back()))};
  });
}

}  // namespace

std::string stored_check(const ast::Expression& condition) {
  return rewrite_columns(parser::to_sql(condition), [](const std::string& name) { return name; });
}

std::string with_renamed_column(const std::string& expression_sql, std::string_view from, std::string_view to) {
  return rewrite_columns(expression_sql, [&](const std::string& name) { return name == from ? std::string(to) : name; });
}

std::string with_renamed_function(const std::string& expression_sql, const sql::FunctionDef& before, const ast::QualifiedName& name,
                                  const std::vector<std::string>& search_path) {
  const bool stays_visible = std::ranges::find(search_path, name.front()) != search_path.end();
  return planner::rewrite_text(expression_sql, [&](const ast::Expression& expression) -> std::optional<TextChange> {
    const auto* call = std::get_if<ast::FunctionCall>(&expression.node);
    if (call == nullptr || call->name.back() != before.name || call->arguments.size() > before.parameters.size()) return std::nullopt;
    const bool bare = call->name.size() == 1;
    if (!bare && call->name[call->name.size() - 2] != before.schema) return std::nullopt;
    const ast::QualifiedName shown = bare && stays_visible ? ast::QualifiedName{name.back()} : name;
    return TextChange{quoted_name(call->name), quoted_name(shown)};
  });
}

}  // namespace redquel::executor
