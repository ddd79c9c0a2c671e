#include "executor/redis/redis_error.h"

#include <string>

namespace redquel::executor {

namespace {

struct ErrorCode {
  std::string_view code;  // the first word of the error reply
  std::string_view sqlstate;
};

constexpr ErrorCode kErrorCodes[] = {
    {"OOM", "53200"},          // out_of_memory: maxmemory reached, the command was refused
    {"READONLY", "25006"},     // read_only_sql_transaction: a replica
    {"WRONGTYPE", "XX001"},    // data_corrupted: the key does not hold what the catalog says
    {"NOAUTH", "28000"},       // invalid_authorization_specification
    {"WRONGPASS", "28000"},    //
    {"NOPERM", "42501"},       // insufficient_privilege
    {"LOADING", "57P03"},      // cannot_connect_now
    {"BUSY", "57P03"},         // a script runs for too long
    {"MASTERDOWN", "57P03"},   // replica without its master, stale reads refused
    {"CLUSTERDOWN", "57P03"},  //
    {"TRYAGAIN", "57P03"},     //
    {"NOREPLICAS", "57P03"},   // min-replicas-to-write
    {"MISCONF", "58030"},      // io_error: Redis cannot write its files and refuses writes
    {"MOVED", "0A000"},        // a cluster node: keys of a statement must be on one node
    {"CROSSSLOT", "0A000"},    //
};

bool has_code(std::string_view text, std::string_view code) {
  return text.starts_with(code) && (text.size() == code.size() || text[code.size()] == ' ');
}

/// Messages of ours must be valid UTF-8 on the client's side, whatever a script or a proxy between wrote.
std::string printable(std::string_view text) {
  constexpr std::size_t kLongest = 500;
  std::string shown(text.substr(0, kLongest));
  for (char& character : shown) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte < ' ' || byte >= 0x7F) character = '?';
  }
  return shown;
}

}  // namespace

sql::SqlError redis_error(std::string_view error_text, std::string_view command) {
  // An old login error has no code of its own.
  std::string_view sqlstate = error_text.starts_with("ERR invalid password") ? "28000" : "XX000";
  if (error_text.starts_with("ERR max number of clients")) sqlstate = "53300";
  if (error_text.find("option of SORT denied") != std::string_view::npos) sqlstate = "42501";  // the user may not read all keys
  for (const ErrorCode& known : kErrorCodes) {
    if (has_code(error_text, known.code)) sqlstate = known.sqlstate;
  }
  return sql::SqlError(sqlstate, "Redis refused " + printable(command) + ": " + printable(error_text));
}

sql::SqlError connection_lost(std::string_view reason) {
  return sql::SqlError("08006", "connection to Redis lost: " + printable(reason));
}

sql::SqlError connection_failed(std::string_view address, std::string_view reason) {
  return sql::SqlError("08006", "could not connect to Redis at " + printable(address) + ": " + printable(reason));
}

sql::SqlError certificate_refused(std::string_view address, std::string_view reason) {
  return sql::SqlError("28000", "Redis at " + printable(address) + ": " + printable(reason));
}

sql::SqlError unexpected_reply(std::string_view command, std::string_view expected) {
  return sql::SqlError("XX000",
                       "unexpected reply of Redis to " + printable(command) + ": not " + std::string(expected));
}

}  // namespace redquel::executor
