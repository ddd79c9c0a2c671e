#pragma once

namespace redquel::server {

/// `redquel look`: serves a Redis that it only reads. Definitions are kept in memory or in a file. Returns the exit status.
int run_look(int argc, const char* const* argv);

}  // namespace redquel::server
