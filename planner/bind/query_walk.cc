#include "planner/bind/query_walk.h"

#include <algorithm>

#include "planner/bind/ast_walk.h"
#include "sql/stack_depth.h"

namespace redquel::planner {

namespace ast = parser::ast;

namespace {

class Walk {
 public:
  explicit Walk(const std::string& name) : name_(name) {}

  std::vector<QueryReference> found;
  WrittenNames names;

  void query(const ast::Select& select, ReferencePlace place) {
    sql::check_stack_depth();
    if (select.with) {
      for (const ast::CommonTableExpression& definition : select.with->expressions) {
        if (const auto* inner = std::get_if<ast::Select>(&definition.statement->node)) query(*inner, place);
      }
      const bool hidden = std::ranges::any_of(select.with->expressions, [&](const auto& other) { return other.name == name_; });
      if (hidden) return;
    }
    if (select.left) {
      const bool intersects = select.set_operator == ast::SetOperator::kIntersect && select.set_all;
      const bool excludes = select.set_operator == ast::SetOperator::kExcept;
      const ReferencePlace both = intersects ? ReferencePlace::kIntersect : place;
      query(*select.left, excludes && select.set_all ? ReferencePlace::kExcept : both);
      query(*select.right, excludes ? ReferencePlace::kExcept : both);
    }
    for (const ast::Target& target : select.targets) expression(target.value);
    for (const ast::FromItem& from_item : select.from) item(from_item, place);
    expression(select.where);
    for (const ast::GroupElement& element : select.group_by) {
      if (const auto* key = std::get_if<ast::ExpressionPtr>(&element)) expression(*key);
    }
    expression(select.having);
    for (const ast::Expressions& row : select.values) std::ranges::for_each(row, [this](const auto& e) { expression(e); });
    for (const ast::SortKey& key : select.order_by) expression(key.value);
    expression(select.limit_count);
    expression(select.limit_offset);
  }

 private:
  void expression(const ast::ExpressionPtr& written) {
    if (written) expression(*written);
  }
  void expression(const ast::Expression& written) {
    sql::check_stack_depth();
    if (std::holds_alternative<ast::ColumnRef>(written.node)) names.columns.push_back(&written);
    if (const auto* link = std::get_if<ast::SubLink>(&written.node)) query(*link->query, ReferencePlace::kSubquery);
    for_each_child(written, [this](const ast::Expression& child) { expression(child); });
  }

  void item(const ast::FromItem& from_item, ReferencePlace place) {
    sql::check_stack_depth();
    note_alias(from_item);
    if (const auto* table = std::get_if<ast::TableRef>(&from_item.node)) {
      const ast::RelationName& name = table->name;
      if (name.schema.empty() && name.catalog.empty() && name.name == name_) found.push_back({place, name.offset});
    } else if (const auto* subquery = std::get_if<ast::SubqueryRef>(&from_item.node)) {
      query(*subquery->query, place);
    } else if (const auto* join = std::get_if<ast::Join>(&from_item.node)) {
      const auto kind = join->kind;
      const bool full = kind == ast::JoinKind::kFull;
      item(*join->left, full || kind == ast::JoinKind::kRight ? ReferencePlace::kOuterJoin : place);
      item(*join->right, full || kind == ast::JoinKind::kLeft ? ReferencePlace::kOuterJoin : place);
      expression(join->on);
    } else if (const auto* function = std::get_if<ast::FunctionRef>(&from_item.node)) {
      for (const ast::FunctionItem& call : function->functions) expression(call.call);
    }
  }

  void note_alias(const ast::FromItem& from_item) {
    if (const auto* table = std::get_if<ast::TableRef>(&from_item.node)) {
      names.relations.insert(table->alias ? table->alias->name : table->name.name);
    } else if (const auto* subquery = std::get_if<ast::SubqueryRef>(&from_item.node)) {
      if (subquery->alias) names.relations.insert(subquery->alias->name);
    } else if (const auto* join = std::get_if<ast::Join>(&from_item.node)) {
      if (join->alias) names.relations.insert(join->alias->name);
      if (!join->using_alias.empty()) names.relations.insert(join->using_alias);
    } else if (const auto* function = std::get_if<ast::FunctionRef>(&from_item.node)) {
      if (function->alias) names.relations.insert(function->alias->name);
    }
  }

  const std::string& name_;
};

}  // namespace

WrittenNames written_names(const ast::Select& query) {
  const std::string no_name;
  Walk walk(no_name);
  walk.query(query, ReferencePlace::kSubquery);
  return std::move(walk.names);
}

std::vector<QueryReference> references_to(const ast::Select& query, const std::string& name) {
  Walk walk(name);
  walk.query(query, ReferencePlace::kPlain);
  return std::move(walk.found);
}

}  // namespace redquel::planner
