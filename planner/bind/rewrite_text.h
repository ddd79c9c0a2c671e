#pragma once

#include <functional>
#include <optional>
#include <string>

#include "parser/ast.h"

namespace redquel::planner {

/// A replacement of text at an expression's own place.
struct TextChange {
  std::string before, after;
};

/// A deparsed expression with parts replaced: `change` is asked of every expression in it; nullopt, or a text that does not stand there:
/// it stays as it is.
std::string rewrite_text(const std::string& text, const std::function<std::optional<TextChange>(const parser::ast::Expression&)>& change);

/// `a."B"`, as it stands in deparsed texts.
std::string quoted_name(const parser::ast::QualifiedName& names);

}  // namespace redquel::planner
