#include "sql/functions/operator_names.h"

#include <algorithm>
#include <vector>

#include "sql/error.h"
#include "sql/functions/object_names.h"
#include "sql/functions/quote.h"
#include "sql/sqlstate.h"
#include "sql/system_tables/facts.h"
#include "sql/system_tables/type_layout.h"
#include "sql/types/array_value.h"
#include "sql/types/range_value.h"
#include "sql/types/row_value.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

struct CatalogOperator {
  Oid oid;
  std::string_view name;
  Oid left, right;
};

const std::vector<CatalogOperator>& catalog_operators() {
  static const std::vector<CatalogOperator> operators = [] {
    const FactTable& facts = operator_facts();
    const std::size_t oid = facts.column("oid"), name = facts.column("oprname"), left = facts.column("oprleft"), right = facts.column("oprright");
    std::vector<CatalogOperator> made;
    for (const std::string_view line : facts.lines()) {
      const std::vector<FactValue> row = facts.values(line);
      made.push_back({fact_oid(row[oid]), *row[name], fact_oid(row[left]), fact_oid(row[right])});
    }
    return made;
  }();
  return operators;
}

const CatalogOperator* find_operator(Oid op) {
  const auto found = std::ranges::find(catalog_operators(), op, &CatalogOperator::oid);
  return found == catalog_operators().end() ? nullptr : &*found;
}

std::string_view without_blanks(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

/// Returns the name without pg_catalog; a name in another schema matches no operator.
std::string_view bare_operator(std::string_view text) {
  constexpr std::string_view kSchema = "pg_catalog.";
  text = without_blanks(text);
  return text.starts_with(kSchema) ? text.substr(kSchema.size()) : text;
}

struct NamedCollation {
  Oid oid;
  std::string_view name;
};
constexpr NamedCollation kCollations[] = {{oid::kDefaultCollation, "default"},
                                          {oid::kCCollation, "C"},
                                          {oid::kPosixCollation, "POSIX"},
                                          {oid::kUcsBasicCollation, "ucs_basic"}};

}  // namespace

Oid operator_named(std::string_view text) {
  const std::string_view name = bare_operator(text);
  Oid found = 0;
  for (const CatalogOperator& entry : catalog_operators()) {
    if (entry.name != name) continue;
    if (found != 0) throw SqlError(sqlstate::kAmbiguousFunction, "more than one operator named " + std::string(text));
    found = entry.oid;
  }
  if (found == 0) throw SqlError(sqlstate::kUndefinedFunction, "operator does not exist: " + std::string(text));
  return found;
}

Oid operator_with_types_named(std::string_view text, const EvaluationContext& context) {
  const auto [written, types] = parse_name_with_types(text, true, context);
  if (types.size() == 1) {
    throw SqlError(sqlstate::kUndefinedParameter, "missing argument").hint("Use NONE to denote the missing argument of a unary operator.");
  }
  if (types.size() != 2) throw SqlError(sqlstate::kTooManyArguments, "too many arguments").hint("Provide two argument types for operator.");
  const std::string_view name = bare_operator(written);
  const Oid left = types[0], right = types[1];
  const auto found = std::ranges::find_if(catalog_operators(), [&](const CatalogOperator& entry) {
    return entry.name == name && entry.left == left && entry.right == right;
  });
  if (found == catalog_operators().end()) throw SqlError(sqlstate::kUndefinedFunction, "operator does not exist: " + std::string(text));
  return found->oid;
}

std::string operator_name(Oid op) {
  const CatalogOperator* found = find_operator(op);
  if (found == nullptr) return {};
  const bool unique = std::ranges::count(catalog_operators(), found->name, &CatalogOperator::name) == 1;
  return (unique ? "" : "pg_catalog.") + std::string(found->name);
}

std::string operator_name_with_types(Oid op) {
  const CatalogOperator* found = find_operator(op);
  if (found == nullptr) return {};
  const auto type_text = [](Oid type) { return type == 0 ? std::string("NONE") : format_type(Type{type}); };
  return std::string(found->name) + "(" + type_text(found->left) + "," + type_text(found->right) + ")";
}

Oid collation_named(std::string_view text) {
  const std::vector<std::string> parts = split_name(text);
  const bool in_catalog = parts.size() == 1 || (parts.size() == 2 && parts[0] == "pg_catalog");
  for (const NamedCollation& collation : kCollations) {
    if (in_catalog && collation.name == parts.back()) return collation.oid;
  }
  std::string written;
  for (const std::string& part : parts) written += (written.empty() ? "" : ".") + part;
  throw SqlError(sqlstate::kUndefinedObject, "collation \"" + written + "\" for encoding \"UTF8\" does not exist");
}

std::string collation_name(Oid collation) {
  const auto found = std::ranges::find(kCollations, collation, &NamedCollation::oid);
  return found == std::end(kCollations) ? std::string() : quote_identifier(found->name);
}

}  // namespace redquel::sql
