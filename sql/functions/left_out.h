#pragma once

#include <string_view>

namespace redquel::sql {

/// Is it the name of a function of PostgreSQL 15 that redquel leaves out with all its kind: text search, XML, large objects, the server's
/// own files, its write-ahead log and replication?
bool is_left_out_function(std::string_view name);

}  // namespace redquel::sql
