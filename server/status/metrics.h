#pragma once

#include <cstddef>
#include <string>

#include "server/statistics/server_counts.h"

namespace redquel::server {

/// Returns the process's figures in Prometheus's text format. Labels hold names of databases, kinds and SQLSTATE classes; no statement's
/// text, user or address. `max_sessions`: max_connections.
std::string metrics_text(const ServerCounts& counts, std::size_t max_sessions);

}  // namespace redquel::server
