#pragma once

#include <memory>

namespace redquel::parser::ast {

struct Expression;
struct FromItem;
struct GroupingSet;
struct Select;
struct Statement;
struct WindowDefinition;

}  // namespace redquel::parser::ast

// The nodes that others own are deleted in ast.cc. Otherwise every file that holds a pointer would compile the destructors of all
// kinds of nodes.

template <>
struct std::default_delete<const redquel::parser::ast::Expression> {
  void operator()(const redquel::parser::ast::Expression* node) const noexcept;
};
template <>
struct std::default_delete<const redquel::parser::ast::FromItem> {
  void operator()(const redquel::parser::ast::FromItem* node) const noexcept;
};
template <>
struct std::default_delete<const redquel::parser::ast::GroupingSet> {
  void operator()(const redquel::parser::ast::GroupingSet* node) const noexcept;
};
template <>
struct std::default_delete<const redquel::parser::ast::Select> {
  void operator()(const redquel::parser::ast::Select* node) const noexcept;
};
template <>
struct std::default_delete<const redquel::parser::ast::Statement> {
  void operator()(const redquel::parser::ast::Statement* node) const noexcept;
};
template <>
struct std::default_delete<const redquel::parser::ast::WindowDefinition> {
  void operator()(const redquel::parser::ast::WindowDefinition* node) const noexcept;
};
