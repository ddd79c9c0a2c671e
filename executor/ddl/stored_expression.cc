#include "executor/ddl/stored_expression.h"

#include <functional>
#include <map>

#include "parser/deparse.h"
#include "parser/parse.h"
#include "planner/bind/ast_walk.h"

namespace redquel::executor {

namespace ast = parser::ast;

namespace {

/// Replaces every column reference of a deparsed text by the name that `change` makes of its last part.
std::string rewrite(const std::string& text, const std::function<std::string(const std::string&)>& change) {
  const ast::ExpressionPtr parsed = parser::parse_expression(text);
  std::map<std::size_t, std::pair<std::size_t, std::string>> replacements;  // offset → length, new text
  const std::function<void(const ast::Expression&)> visit = [&](const ast::Expression& expression) {
    if (const auto* column = std::get_if<ast::ColumnRef>(&expression.node); column != nullptr && !column->star) {
      std::string written;
      for (const std::string& name : column->names) written += (written.empty() ? "" : ".") + parser::quote_identifier(name);
      const std::size_t offset = expression.offset - parser::kExpressionOffset;
      if (offset < text.size() && text.compare(offset, written.size(), written) == 0) {
        replacements[offset] = {written.size(), parser::quote_identifier(change(column->names.back()))};
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

}  // namespace

std::string stored_check(const ast::Expression& condition) {
  return rewrite(parser::to_sql(condition), [](const std::string& name) { return name; });
}

std::string with_renamed_column(const std::string& expression_sql, std::string_view from, std::string_view to) {
  return rewrite(expression_sql, [&](const std::string& name) { return name == from ? std::string(to) : name; });
}

}  // namespace redquel::executor
