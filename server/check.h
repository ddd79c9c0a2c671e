#pragma once

namespace redquel::server {

/// `redquel check`: examines a configuration (configuration_check.h) and its Redis (doctor.h), or a Redis alone, and prints what it finds, as text
/// or JSON. Changes nothing. `argv[1]` is the word check. Returns the exit code: 1 if there is an error.
int run_check(int argc, const char* const* argv);

}  // namespace redquel::server
