#pragma once

namespace redquel::server {

/// `redquel check`: looks at what redquel has stored in a Redis beside tables and names what it cannot use. Changes nothing. `argv[1]` is the
/// word check. Returns the exit code: 1 if something was found.
int run_check(int argc, const char* const* argv);

}  // namespace redquel::server
