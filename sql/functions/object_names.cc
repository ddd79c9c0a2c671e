#include "sql/functions/object_names.h"

#include <algorithm>
#include <vector>

#include "sql/catalog/catalog.h"
#include "sql/error.h"
#include "sql/functions/characters.h"
#include "sql/functions/quote.h"
#include "sql/types/number_text.h"

namespace redquel::sql {
namespace {

/// `a."B c"` → a, B c.
std::vector<std::string> split_name(std::string_view text) {
  std::vector<std::string> parts(1);
  const auto invalid = [] { return SqlError("42602", "invalid name syntax"); };
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == '"') {
      for (++i;; ++i) {
        if (i >= text.size()) throw invalid();
        if (text[i] == '"') {
          if (i + 1 >= text.size() || text[i + 1] != '"') break;
          ++i;
        }
        parts.back() += text[i];
      }
      ++i;
    } else {
      while (i < text.size() && text[i] != '.' && text[i] != '"') parts.back() += to_lower(text[i++]);
    }
    if (i < text.size() && text[i] == '.') {
      parts.emplace_back();
      ++i;
    }
  }
  if (std::ranges::any_of(parts, &std::string::empty)) throw invalid();
  return parts;
}

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

struct RelationName {
  std::string schema, name;
};

std::optional<RelationName> name_of(const CatalogSnapshot& catalog, Oid relation) {
  if (const CatalogSnapshot::TablePtr table = catalog.find_table(relation)) return RelationName{table->schema, table->name};
  for (const auto& [oid, table] : catalog.tables) {
    if (table->primary_key_oid == relation) return RelationName{table->schema, table->primary_key_name};
    for (const IndexDef& index : table->indexes) {
      if (index.oid == relation) return RelationName{table->schema, index.name};
    }
  }
  const auto sequence = catalog.sequences.find(relation);
  if (sequence == catalog.sequences.end()) return std::nullopt;
  return RelationName{sequence->second.schema, sequence->second.name};
}

std::optional<Oid> oid_of(const CatalogSnapshot& catalog, std::string_view schema, std::string_view name,
                          const std::vector<std::string>& path) {
  if (const CatalogSnapshot::TablePtr table = catalog.find_table(schema, name, path)) return table->oid;
  if (const auto [table, index] = catalog.find_index(schema, name, path); index != nullptr) return index->oid;
  if (const CatalogSnapshot::TablePtr table = catalog.find_primary_key(schema, name, path)) return table->primary_key_oid;
  if (const SequenceDef* sequence = catalog.find_sequence(schema, name, path)) return sequence->oid;
  return std::nullopt;
}

}  // namespace

std::optional<Oid> find_relation(std::string_view text, const EvaluationContext& context) {
  if (text == "-") return Oid{0};
  if (is_number(text)) return static_cast<Oid>(parse_oid(text));
  const std::vector<std::string> parts = split_name(text);
  if (parts.size() > 2) throw SqlError("0A000", "cross-database references are not implemented: \"" + std::string(text) + "\"");
  if (context.catalog == nullptr) return std::nullopt;
  return oid_of(*context.catalog, parts.size() == 2 ? parts[0] : "", parts.back(), context.search_path);
}

Oid relation_named(std::string_view text, const EvaluationContext& context) {
  if (const std::optional<Oid> found = find_relation(text, context)) return *found;
  std::string name;
  for (const std::string& part : split_name(text)) name += (name.empty() ? "" : ".") + part;
  throw SqlError("42P01", "relation \"" + name + "\" does not exist");
}

std::string relation_name(Oid relation, const EvaluationContext& context) {
  if (relation == 0) return "-";
  const std::optional<RelationName> found =
      context.catalog == nullptr ? std::nullopt : name_of(*context.catalog, relation);
  if (!found) return std::to_string(relation);
  std::string text;
  if (oid_of(*context.catalog, "", found->name, context.search_path) != relation) {
    text = quote_identifier(found->schema) + ".";
  }
  append_quoted_identifier(found->name, text);
  return text;
}

}  // namespace redquel::sql
