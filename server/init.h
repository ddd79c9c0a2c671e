#pragma once

#include <string>

#include "executor/redis/redis_pool.h"

namespace redquel::server {

/// `redquel init`: gives a superuser its first password, also while redquel runs. `argv[1]` is the word init. Returns the exit code.
int run_init(int argc, const char* const* argv);

/// Reads a password from the first line of a file. Throws std::runtime_error that names the file.
std::string read_password_file(const std::string& path);

/// Gives role postgres this password unless it has one: --pwfile, REDQUEL_PASSWORD_FILE. Throws SqlError.
void set_first_password(executor::ConnectionOptions redis, const std::string& password);

}  // namespace redquel::server
