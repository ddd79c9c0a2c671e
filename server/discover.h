#pragma once

namespace redquel::server {

/// `redquel discover --redis URL [--pattern P] [--sample N] [--schema S]`: prints the statements that map the keys of a Redis to tables,
/// for a person to review (docs/discovery.md). `argv[1]` is "discover". The program's exit code; errors go to standard error.
int run_discover(int argc, const char* const* argv);

}  // namespace redquel::server
