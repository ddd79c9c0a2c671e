#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "sql/types/type.h"

namespace redquel::sql {

/// The numbers of rows of tables, which pg_class and pg_stat_user_tables show while this object lives. They are in no snapshot: the executor
/// asks Redis for them where these tables are read.
class ShownRowCounts {
 public:
  using Counts = std::map<Oid, std::int64_t>;
  explicit ShownRowCounts(const Counts& counts);
  ~ShownRowCounts();
  ShownRowCounts(const ShownRowCounts&) = delete;
  ShownRowCounts& operator=(const ShownRowCounts&) = delete;

  /// Returns the position of the column of a system table that shows numbers of rows; nullopt: it has none.
  static std::optional<std::size_t> column_of(std::string_view system_table);
  /// Returns the number of rows of a table; -1: it is not known.
  static std::int64_t of(Oid table);
};

}  // namespace redquel::sql
