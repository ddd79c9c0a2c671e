// The column lists of system tables.

#include <algorithm>
#include <cassert>

#include "sql/system_tables/families.h"

namespace redquel::sql {
namespace {

struct Substitute {
  std::string_view name;
  Type type;
};

/// Domains of information_schema, which clients see as their base types.
constexpr Substitute kDomains[] = {
    {"sql_identifier", kName},
    {"character_data", kVarchar},
    {"cardinal_number", kInt4},
    {"yes_or_no", {oid::kVarchar, 3 + 4}},
    {"time_stamp", {oid::kTimestamptz, 2}},
};

/// Types that redquel has not built yet, as those that print alike.
constexpr Substitute kSubstitutes[] = {
    {"anyarray", kText},
    {"pg_ndistinct", kText},
    {"pg_dependencies", kText},
    {"pg_mcv_list", kText},
    {"_pg_statistic", kText},
};

Type column_type(std::string_view name) {
  if (const std::optional<Type> domain = information_schema_domain(name)) return *domain;
  for (const Substitute& substitute : kSubstitutes) {
    if (substitute.name == name) return substitute.type;
  }
  const TypeInfo* info = find_type(name);
  assert(info != nullptr);
  return Type{info->oid};
}

}  // namespace

std::optional<Type> information_schema_domain(std::string_view name) {
  const auto* found = std::ranges::find(kDomains, name, &Substitute::name);
  return found == std::end(kDomains) ? std::nullopt : std::optional(found->type);
}

SystemTable make_system_table(const SystemTableDefinition& definition) {
  SystemTable table;
  table.schema = definition.schema;
  table.name = definition.name;
  table.oid = definition.oid;
  table.kind = definition.kind;
  table.fill = definition.fill;
  table.query = definition.query;
  std::string_view rest = definition.columns;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(", ");
    std::string_view written = rest.substr(0, comma);
    rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 2);
    SystemTable::SystemColumn column;
    column.not_null = written.ends_with('!');
    if (column.not_null) written.remove_suffix(1);
    const std::size_t blank = written.find(' ');
    column.name = written.substr(0, blank);
    column.type = column_type(blank == std::string_view::npos ? "sql_identifier" : written.substr(blank + 1));
    table.columns.push_back(std::move(column));
  }
  return table;
}

}  // namespace redquel::sql
