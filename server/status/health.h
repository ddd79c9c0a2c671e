#pragma once

namespace redquel::server {

/// `redquel health`: asks a running redquel for /health/live or, with --ready, /health/ready, and prints the answer. `argv[1]` is the word
/// health. Returns the exit code: 0 if the answer is 200, 1 if it is not or there is none.
int run_health(int argc, const char* const* argv);

}  // namespace redquel::server
