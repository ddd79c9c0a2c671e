#include "planner/bind/ast_walk.h"

namespace redquel::planner {

namespace ast = parser::ast;

void for_each_child(const ast::Expression& expression, const std::function<void(const ast::Expression&)>& visit) {
  const auto one = [&](const ast::ExpressionPtr& child) {
    if (child) visit(*child);
  };
  const auto all = [&](const ast::Expressions& children) {
    for (const ast::ExpressionPtr& child : children) one(child);
  };
  std::visit(
      [&](const auto& node) {
        using Node = std::remove_cvref_t<decltype(node)>;
        if constexpr (std::is_same_v<Node, ast::FunctionCall>) {
          for (const ast::Argument& argument : node.arguments) one(argument.value);
          for (const ast::SortKey& key : node.order_by) one(key.value);
          one(node.filter);
        } else if constexpr (std::is_same_v<Node, ast::Case>) {
          one(node.argument);
          for (const ast::CaseWhen& when : node.whens) one(when.condition), one(when.result);
          one(node.otherwise);
        } else if constexpr (std::is_same_v<Node, ast::Indirection>) {
          one(node.base);
        } else if constexpr (std::is_same_v<Node, ast::ArrayComparison>) {
          one(node.left);
          one(node.array);
        } else if constexpr (std::is_same_v<Node, ast::SubLink>) {
          one(node.test);
        } else {
          if constexpr (requires { node.left; }) one(node.left);
          if constexpr (requires { node.right; }) one(node.right);
          if constexpr (requires { node.argument; }) one(node.argument);
          if constexpr (requires { node.pattern; }) one(node.pattern), one(node.escape);
          if constexpr (requires { node.low; }) one(node.low), one(node.high);
          if constexpr (requires { node.items; }) all(node.items);
          if constexpr (requires { node.arguments; }) all(node.arguments);
        }
      },
      expression.node);
}

}  // namespace redquel::planner
