#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sql/catalog/catalog.h"

namespace redquel::sql {

/// The wrapper and the server of all mapped tables.
inline constexpr Oid kRedisWrapper = 8110, kRedisServer = 8111;

/// Returns true if wrapper and server are shown: where a table needs them. They are the extension's (dependency_tables.cc), so pg_dump does
/// not write them down.
bool has_foreign_tables(const CatalogSnapshot& catalog);

/// The options of a mapped table (column 0) or of one of its columns as the system catalogs have them: {layout=hash,key=theme:{id}}.
std::optional<std::string> option_array(const CatalogSnapshot& catalog, const TableDef& table, std::int16_t column);

}  // namespace redquel::sql
