#include "sql/definition_words.h"

#include "sql/catalog/function_text.h"
#include "sql/system_tables/relations.h"

namespace redquel::sql {

namespace {

DefinitionWords words;

bool can_tell(const EvaluationContext& context) {
  return words.written_default != nullptr && context.session != nullptr && context.catalog != nullptr;
}

}  // namespace

void set_definition_words(const DefinitionWords& given) { words = given; }

std::string written_default(const EvaluationContext& context, const std::string& text, Type type, const std::string& schema) {
  return can_tell(context) ? words.written_default(context, text, type, schema) : text;
}

std::string written_domain_check(const EvaluationContext& context, const std::string& text, const UserType& domain, bool pretty) {
  return can_tell(context) ? words.domain_check(context, text, domain, pretty) : text;
}

std::string written_body(const EvaluationContext& context, const FunctionDef& function) {
  if (!function.standard_body) return {};
  if (!can_tell(context)) return function_standard_body(function);
  return with_visible_names(*context.catalog, words.body(context, function), context.search_path);
}

std::vector<ViewDef::Reference> body_references(const EvaluationContext& context, const FunctionDef& function) {
  if (!function.standard_body || !can_tell(context)) return {};
  return words.body_references(context, function);
}

}  // namespace redquel::sql
