#include "planner/bind/rewrite_text.h"

#include <map>

#include "parser/deparse.h"
#include "parser/parse.h"
#include "planner/bind/ast_walk.h"

namespace redquel::planner {

namespace ast = parser::ast;

std::string rewrite_text(const std::string& text, const std::function<std::optional<TextChange>(const ast::Expression&)>& change) {
  const ast::ExpressionPtr parsed = parser::parse_expression(text);
  std::map<std::size_t, TextChange> changes;  // by offset
  const std::function<void(const ast::Expression&)> visit = [&](const ast::Expression& expression) {
    if (auto found = change(expression)) {
      const std::size_t offset = expression.offset - parser::kExpressionOffset;
      if (offset < text.size() && text.compare(offset, found->before.size(), found->before) == 0) changes[offset] = *std::move(found);
    }
    for_each_child(expression, visit);
  };
  visit(*parsed);
  std::string result;
  std::size_t from = 0;
  for (const auto& [offset, found] : changes) {
    result.append(text, from, offset - from).append(found.after);
    from = offset + found.before.size();
  }
  return result.append(text, from);
}

std::string quoted_name(const ast::QualifiedName& names) {
  std::string written;
  for (const std::string& name : names) written += (written.empty() ? "" : ".") + parser::quote_identifier(name);
  return written;
}

}  // namespace redquel::planner
