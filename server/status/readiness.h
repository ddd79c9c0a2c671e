#pragma once

#include <string_view>
#include <vector>

#include "server/statistics/server_counts.h"

namespace redquel::server {

/// The answers of the health checks.
struct Readiness {
  bool is_live = true;         // every event loop has turned within two seconds
  bool redis_answers = false;  // within the last second, give or take a tick
  std::vector<std::string_view> reasons;  // why clients should not come; empty: they may
};

Readiness readiness_of(const ServerCounts& counts);

}  // namespace redquel::server
