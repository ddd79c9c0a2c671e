#include "parser/ast.h"

void std::default_delete<const redquel::parser::ast::Expression>::operator()(const redquel::parser::ast::Expression* node) const noexcept {
  delete node;
}
void std::default_delete<const redquel::parser::ast::FromItem>::operator()(const redquel::parser::ast::FromItem* node) const noexcept {
  delete node;
}
void std::default_delete<const redquel::parser::ast::GroupingSet>::operator()(const redquel::parser::ast::GroupingSet* node) const noexcept {
  delete node;
}
void std::default_delete<const redquel::parser::ast::Select>::operator()(const redquel::parser::ast::Select* node) const noexcept {
  delete node;
}
void std::default_delete<const redquel::parser::ast::Statement>::operator()(const redquel::parser::ast::Statement* node) const noexcept {
  delete node;
}
void std::default_delete<const redquel::parser::ast::WindowDefinition>::operator()(const redquel::parser::ast::WindowDefinition* node) const noexcept {
  delete node;
}
