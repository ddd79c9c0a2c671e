#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "sql/types/type.h"

namespace redquel::sql {

/// Bytes that keys take in Redis, estimated from samples. The executor loads them before a statement that calls pg_relation_size() or its
/// like (executor/storage/size_samples.h).
struct RelationSizes {
  std::map<Oid, std::int64_t> relations;            // a table's rows; an index's structures; a sequence
  std::map<Oid, std::int64_t> indexes;              // of a table: all structures together, each once, although indexes share some
  std::map<std::string, std::int64_t> databases;    // by name
};

/// The sizes that a statement asks for.
enum class SizesAsked : std::uint8_t { kNone, kRelations, kRelationsAndDatabases };

struct ScalarFunction;
/// Returns what a function asks for: pg_relation_size, pg_table_size, pg_indexes_size, pg_total_relation_size, pg_database_size.
SizesAsked sizes_asked_by(const ScalarFunction& function);

}  // namespace redquel::sql
