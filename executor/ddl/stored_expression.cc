#include "executor/ddl/stored_expression.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "parser/deparse.h"
#include "parser/parse.h"
#include "planner/bind/ast_walk.h"

namespace redquel::executor {

namespace ast = parser::ast;

namespace {

std::string quoted_name(const ast::QualifiedName& names) {
  std::string written;
  for (const std::string& name : names) written += (written.empty() ? "" : ".") + parser::quote_identifier(name);
  return written;
}

/// Replaces names in a deparsed text: `change` gives the new text of what stands at an expression's own place; nullopt: it stays.
std::string rewrite(const std::string& text,
                    const std::function<std::optional<std::pair<std::string, std::string>>(const ast::Expression&)>& change) {
  const ast::ExpressionPtr parsed = parser::parse_expression(text);
  std::map<std::size_t, std::pair<std::size_t, std::string>> replacements;  // offset → length, new text
  const std::function<void(const ast::Expression&)> visit = [&](const ast::Expression& expression) {
    if (const auto names = change(expression)) {
      const std::size_t offset = expression.offset - parser::kExpressionOffset;
      if (offset < text.size() && text.compare(offset, names->first.size(), names->first) == 0) {
        replacements[offset] = {names->first.size(), names->second};
      }
    }
    planner::for_each_child(expression, visit);
  };
  visit(*parsed);
  std::string result;
  std::size_t from = 0;
  for (const auto& [offset, replacement] : replacements) {
    result.append(text, from, offset - from).append(replacement.second);
    from = offset + replacement.first;
  }
  return result.append(text, from);
}

/// The same for every column reference, by the last part of its name.
std::string rewrite_columns(const std::string& text, const std::function<std::string(const std::string&)>& change) {
  return rewrite(text, [&](const ast::Expression& expression) -> std::optional<std::pair<std::string, std::string>> {
    const auto* column = std::get_if<ast::ColumnRef>(&expression.node);
    if (column == nullptr || column->star) return std::nullopt;
    return std::pair(quoted_name(column->names), parser::quote_identifier(change(column->names.back())));
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
  return rewrite(expression_sql, [&](const ast::Expression& expression) -> std::optional<std::pair<std::string, std::string>> {
    const auto* call = std::get_if<ast::FunctionCall>(&expression.node);
    if (call == nullptr || call->name.back() != before.name || call->arguments.size() > before.parameters.size()) return std::nullopt;
    const bool bare = call->name.size() == 1;
    if (!bare && call->name[call->name.size() - 2] != before.schema) return std::nullopt;
    const ast::QualifiedName shown = bare && stays_visible ? ast::QualifiedName{name.back()} : name;
    return std::pair(quoted_name(call->name), quoted_name(shown));
  });
}

}  // namespace redquel::executor
