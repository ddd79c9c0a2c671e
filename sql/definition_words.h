#pragma once

#include <string>
#include <vector>

#include "sql/catalog/catalog.h"
#include "sql/evaluation_context.h"

namespace redquel::sql {

/// Parts of definitions in the words of PostgreSQL's catalog functions, which know what names and operators mean: the binder's business.
/// `EvaluationContext::session` is theirs.
struct DefinitionWords {
  std::string (*written_default)(const EvaluationContext&, const std::string& text, Type, const std::string& schema) = nullptr;
  std::string (*domain_check)(const EvaluationContext&, const std::string& text, const UserType& domain, bool pretty) = nullptr;
  std::string (*body)(const EvaluationContext&, const FunctionDef&) = nullptr;
  std::vector<ViewDef::Reference> (*body_references)(const EvaluationContext&, const FunctionDef&) = nullptr;
};

/// Before any statement runs.
void set_definition_words(const DefinitionWords&);

// Return the text in PostgreSQL's words, or as it is stored if it cannot be bound.

/// A DEFAULT of something of this type, which lies in this schema: 'x'::text.
std::string written_default(const EvaluationContext&, const std::string& text, Type, const std::string& schema);
/// A domain's condition: (VALUE > 0).
std::string written_domain_check(const EvaluationContext&, const std::string& text, const UserType& domain, bool pretty);
/// RETURN … or BEGIN ATOMIC … END; nothing of a function whose body was written as a string.
std::string written_body(const EvaluationContext&, const FunctionDef&);
/// Returns the relations and functions of a body in SQL-standard form; empty for a body in a string literal.
std::vector<ViewDef::Reference> body_references(const EvaluationContext&, const FunctionDef&);

}  // namespace redquel::sql
