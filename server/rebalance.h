#pragma once

namespace redquel::server {

/// `redquel rebalance`: shows how the keys of a Redis Cluster lie at its masters, and moves slots. Returns the exit status.
int run_rebalance(int argc, const char* const* argv);

}  // namespace redquel::server
