#pragma once

#include <string_view>

namespace redquel::sql {

/// Returns true for a function of PostgreSQL 15 whose whole kind redquel leaves out: text search, XML, large objects, the server's own
/// files, its write-ahead log and replication.
bool is_left_out_function(std::string_view name);

}  // namespace redquel::sql
