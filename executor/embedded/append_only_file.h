#pragma once

#include <filesystem>
#include <string>

namespace redquel::executor {

/// Cuts a torn append-only file (multi-part, Redis 7) back to its last complete unit, with redis-check-aof. To be run
/// after every unclean end, before the server is started: Redis itself (before valkey#4342) truncates *inside* a MULTI
/// block and, one restart later, loses or half applies what was acknowledged. The file as it was is kept beside, as
/// `.torn`. Gives what was done, for the log; empty when the file was whole or there is none. Throws std::runtime_error
/// when it cannot be repaired: a person must decide.
std::string repair_append_only_file(const std::filesystem::path& data_directory, const std::string& check_program);

}  // namespace redquel::executor
