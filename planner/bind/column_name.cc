#include "planner/bind/column_name.h"

#include <string_view>

namespace redquel::planner {

namespace ast = parser::ast;

namespace {

/// The quality of a name: a weak one (a type's, "case") yields to one further in.
enum class Strength { kNone, kWeak, kStrong };
struct Name {
  Strength strength = Strength::kNone;
  std::string text;
};
Name strong(std::string_view text) { return {Strength::kStrong, std::string(text)}; }

std::string_view value_function_name(ast::ValueFunction function) {
  switch (function) {
    case ast::ValueFunction::kCurrentDate:
      return "current_date";
    case ast::ValueFunction::kCurrentTime:
      return "current_time";
    case ast::ValueFunction::kCurrentTimestamp:
      return "current_timestamp";
    case ast::ValueFunction::kLocalTime:
      return "localtime";
    case ast::ValueFunction::kLocalTimestamp:
      return "localtimestamp";
    case ast::ValueFunction::kCurrentRole:
      return "current_role";
    case ast::ValueFunction::kCurrentUser:
      return "current_user";
    case ast::ValueFunction::kUser:
      return "user";
    case ast::ValueFunction::kSessionUser:
      return "session_user";
    case ast::ValueFunction::kCurrentCatalog:
      return "current_catalog";
    case ast::ValueFunction::kCurrentSchema:
      return "current_schema";
  }
  return "";
}

class Namer {
 public:
  explicit Namer(const BindState& state) : state_(state) {}

  Name name(const ast::Expression& expression) const {
    return std::visit([this](const auto& node) { return of(node); }, expression.node);
  }

 private:
  template <class Node>
  Name of(const Node&) const {
    return {};
  }
  Name of(const ast::ColumnRef& node) const {
    return node.names.empty() ? Name{} : strong(node.names.back());  // of t.*, a value where it stands alone, that of t
  }
  Name of(const ast::FunctionCall& node) const { return strong(node.name.back()); }
  Name of(const ast::NullIf&) const { return strong("nullif"); }
  Name of(const ast::Coalesce&) const { return strong("coalesce"); }
  Name of(const ast::MinMax& node) const { return strong(node.greatest ? "greatest" : "least"); }
  Name of(const ast::ArrayLiteral&) const { return strong("array"); }
  Name of(const ast::Row&) const { return strong("row"); }
  Name of(const ast::GroupingCall&) const { return strong("grouping"); }
  Name of(const ast::Collate& node) const { return name(*node.argument); }
  Name of(const ast::SqlValueFunction& node) const { return strong(value_function_name(node.function)); }
  Name of(const ast::TypeCast& node) const {
    Name inner = name(*node.argument);
    if (inner.strength == Strength::kStrong) return inner;
    return {Strength::kWeak, node.type.names.back()};
  }
  Name of(const ast::Case& node) const {
    Name inner = node.otherwise ? name(*node.otherwise) : Name{};
    if (inner.strength == Strength::kStrong) return inner;
    return {Strength::kWeak, "case"};
  }
  Name of(const ast::SubLink& node) const {
    switch (node.kind) {
      case ast::SubLinkKind::kExists:
        return strong("exists");
      case ast::SubLinkKind::kArray:
        return strong("array");
      case ast::SubLinkKind::kScalar: {
        const auto found = state_.subquery_names.find(&node);
        return found == state_.subquery_names.end() ? Name{} : strong(found->second);
      }
      default:
        return {};
    }
  }
  Name of(const ast::Indirection& node) const {
    for (auto step = node.steps.rbegin(); step != node.steps.rend(); ++step) {
      if (const auto* field = std::get_if<ast::FieldStep>(&*step)) return strong(field->name);
    }
    return name(*node.base);
  }

  const BindState& state_;
};

}  // namespace

std::string default_column_name(const BindState& state, const ast::Expression& expression) {
  Name name = Namer(state).name(expression);
  return name.strength == Strength::kNone ? "?column?" : name.text;
}

}  // namespace redquel::planner
