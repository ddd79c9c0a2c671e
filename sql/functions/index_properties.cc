// Properties of an index, one of its columns or its method (manual 9.26.4, "Index Column Properties" and the tables behind it).

#include "sql/functions/index_properties.h"

#include "sql/functions/lift.h"
#include "sql/functions/object_names.h"
#include "sql/system_tables/relations.h"
#include "sql/system_tables/type_layout.h"

namespace redquel::sql {
namespace {

using Property = std::optional<bool>;  // nullopt: NULL, there is no such object or property

bool is_ordered(IndexMethod method) { return method != IndexMethod::kHash && method != IndexMethod::kGin && !is_remembered(method); }

std::optional<Relation> find_index(Context context, std::int32_t oid) {
  std::optional<Relation> found = find_relation(catalog_of(context), static_cast<Oid>(oid));
  return found && found->index ? found : std::nullopt;
}

Property column_property(Context context, std::int32_t oid, std::int32_t column, Text property) {
  const std::optional<Relation> index = find_index(context, oid);
  if (!index || column < 1 || static_cast<std::size_t>(column) > index->index->parts.size() + index->index->included.size()) return std::nullopt;
  if (static_cast<std::size_t>(column) > index->index->parts.size()) {  // an included column can be read, and that is all
    if (property == "returnable") return true;
    for (const Text known : {"orderable", "distance_orderable"}) {
      if (property == known) return false;
    }
    return std::nullopt;
  }
  const IndexDef::Part& part = index->index->parts[static_cast<std::size_t>(column) - 1];
  const bool ordered = is_ordered(index->index->method);
  if (property == "asc") return ordered && !part.descending;
  if (property == "desc") return ordered && part.descending;
  if (property == "nulls_first") return ordered && part.nulls_first;
  if (property == "nulls_last") return ordered && !part.nulls_first;
  for (const Text known : {"orderable", "returnable", "search_array", "search_nulls"}) {
    if (property == known) return ordered;
  }
  if (property == "distance_orderable") return false;
  return std::nullopt;
}

Property index_property(Context context, std::int32_t oid, Text property) {
  const std::optional<Relation> index = find_index(context, oid);
  if (!index) return std::nullopt;
  if (property == "clusterable") return is_ordered(index->index->method);
  for (const Text known : {"index_scan", "bitmap_scan", "backward_scan"}) {
    if (property == known) return true;
  }
  return std::nullopt;
}

Property method_property(std::int32_t method, Text property) {
  const auto oid = static_cast<Oid>(method);
  if (oid != oid::kBtreeMethod && oid != oid::kHashMethod) return std::nullopt;
  if (property == "can_exclude") return true;
  for (const Text known : {"can_order", "can_unique", "can_multi_col", "can_include"}) {
    if (property == known) return oid == oid::kBtreeMethod;
  }
  return std::nullopt;
}

}  // namespace

std::vector<ScalarFunction> index_properties() {
  constexpr Volatility kStable = Volatility::kStable;
  return {
      scalar<column_property>("pg_index_column_has_property", {kRegclass, kInt4, kText}, kBool, kStable),
      scalar<index_property>("pg_index_has_property", {kRegclass, kText}, kBool, kStable),
      scalar<method_property>("pg_indexam_has_property", {kOidType, kText}, kBool, kStable),
  };
}

}  // namespace redquel::sql
