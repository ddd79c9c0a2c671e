#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql/catalog/catalog.h"
#include "sql/column.h"
#include "sql/evaluation_context.h"

namespace redquel::sql {

class RowWriter;

/// The schema whose tables show what Redis says of itself; only the executor knows their rows.
inline constexpr std::string_view kRedisSchema = "redis";

/// A table or view of pg_catalog or information_schema: its rows are computed from the catalog snapshot (and the session, where
/// they speak of it). Names, order and types of the columns and the oids of the tables are PostgreSQL 15's.
struct SystemTable {
  struct SystemColumn {
    std::string name;
    Type type;
    bool not_null = false;
  };
  std::string schema, name;
  std::vector<SystemColumn> columns;
  Oid oid = 0;
  char kind = 'r';  // pg_class.relkind: PostgreSQL has a table (r) or a view (v) here
  /// nullptr: redquel has none of these objects.
  void (*fill)(RowWriter&, const CatalogSnapshot&, const EvaluationContext&) = nullptr;

  /// Values that only Redis has: the rows are those of this query; empty: `fill` knows all.
  std::string_view query = {};

  /// All rows, columns in order.
  Batch rows(const CatalogSnapshot& catalog, const EvaluationContext& context) const;
};

/// nullptr: there is no such system table.
const SystemTable* find_system_table(std::string_view schema, std::string_view name);
/// nullptr: no system table has that oid.
const SystemTable* find_system_table(Oid oid);
std::span<const SystemTable> all_system_tables();
/// The type under a domain of information_schema, which stands for it; nullopt: there is no such domain.
std::optional<Type> information_schema_domain(std::string_view name);

}  // namespace redquel::sql
