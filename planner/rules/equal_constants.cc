#include "planner/rules/equal_constants.h"

#include <map>

#include "planner/tree/logical_walk.h"

namespace redquel::planner {

using sql::ExpressionPtr;

namespace {

/// a = b, both of one type; `right` is a column or an expression without columns.
struct PlainEquality {
  const sql::FunctionCall* call = nullptr;
  const sql::ColumnRef *left = nullptr, *right = nullptr;  // right null: a constant
};

std::optional<PlainEquality> match_plain_equality(const sql::Expression& condition) {
  const auto* call = std::get_if<sql::FunctionCall>(&condition.node);
  if (call == nullptr || call->function->name != "=" || call->arguments.size() != 2) return {};
  const auto* left = std::get_if<sql::ColumnRef>(&call->arguments[0]->node);
  const auto* right = std::get_if<sql::ColumnRef>(&call->arguments[1]->node);
  if (left == nullptr || call->arguments[0]->type.oid != call->arguments[1]->type.oid) return {};
  if (right == nullptr && (!columns_in(*call->arguments[1]).empty() || sql::is_volatile(*call->arguments[1]))) return {};
  return PlainEquality{call, left, right};
}

}  // namespace

std::vector<ExpressionPtr> equal_constants(const std::vector<ExpressionPtr>& conditions, const std::vector<ExpressionPtr>& equalities) {
  std::map<ColumnId, ExpressionPtr> constants;  // of columns
  std::vector<PlainEquality> links;
  for (const auto* list : {&conditions, &equalities}) {
    for (const ExpressionPtr& condition : *list) {
      const auto equality = match_plain_equality(*condition);
      if (!equality) continue;
      if (equality->right != nullptr) links.push_back(*equality);
      else if (list == &conditions) constants.emplace(equality->left->column, equality->call->arguments[1]);
    }
  }
  std::vector<ExpressionPtr> implied;
  for (bool grows = !constants.empty(); grows;) {
    grows = false;
    for (const PlainEquality& link : links) {
      for (const bool from_left : {true, false}) {
        const auto known = constants.find(from_left ? link.left->column : link.right->column);
        const sql::ColumnRef& other = from_left ? *link.right : *link.left;
        if (known == constants.end() || constants.contains(other.column)) continue;
        const ExpressionPtr& column = link.call->arguments[from_left ? 1 : 0];
        const ExpressionPtr constant = known->second;
        implied.push_back(sql::make_expression(sql::kBool, sql::FunctionCall{link.call->function, {column, constant}}));
        constants.emplace(other.column, constant);
        grows = true;
      }
    }
  }
  return implied;
}

}  // namespace redquel::planner
