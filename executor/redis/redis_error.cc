#include "executor/redis/redis_error.h"

#include <string>

#include "executor/redis/executor_counts.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

struct ErrorCode {
  std::string_view code;  // the first word of the error reply
  std::string_view sqlstate;
};

constexpr ErrorCode kErrorCodes[] = {
    {"OOM", sqlstate::kOutOfMemory},                           // out_of_memory: maxmemory reached, the command was refused
    {"READONLY", sqlstate::kReadOnlyTransaction},              // read_only_sql_transaction: a replica
    {"WRONGTYPE", sqlstate::kDataCorrupted},                   // data_corrupted: the key does not hold what the catalog says
    {"NOAUTH", sqlstate::kInvalidAuthorizationSpecification},  // invalid_authorization_specification
    {"WRONGPASS", sqlstate::kInvalidAuthorizationSpecification},
    {"NOPERM", sqlstate::kInsufficientPrivilege},  // insufficient_privilege
    {"LOADING", sqlstate::kCannotConnectNow},      // cannot_connect_now
    {"BUSY", sqlstate::kCannotConnectNow},         // a script runs for too long
    {"MASTERDOWN", sqlstate::kCannotConnectNow},   // replica without its master, stale reads refused
    {"CLUSTERDOWN", sqlstate::kCannotConnectNow},
    {"TRYAGAIN", sqlstate::kCannotConnectNow},
    {"NOREPLICAS", sqlstate::kCannotConnectNow},  // min-replicas-to-write
    {"MISCONF", sqlstate::kIoError},              // io_error: Redis cannot write its files and refuses writes
    {"MOVED", sqlstate::kFeatureNotSupported},    // a cluster node: keys of a statement must be on one node
    {"CROSSSLOT", sqlstate::kFeatureNotSupported},
};

bool has_code(std::string_view text, std::string_view code) {
  return text.starts_with(code) && (text.size() == code.size() || text[code.size()] == ' ');
}

/// Messages must be valid UTF-8 on the client's side, even if a script or a proxy wrote other bytes.
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
  counts_of_thread().note_error(error_text);
  // An old login error has no code of its own.
  std::string_view sqlstate =
      error_text.starts_with("ERR invalid password") ? sqlstate::kInvalidAuthorizationSpecification : sqlstate::kInternalError;
  if (error_text.starts_with("ERR max number of clients")) sqlstate = sqlstate::kTooManyConnections;
  if (error_text.starts_with("ERR The user executing the script can't")) sqlstate = sqlstate::kInsufficientPrivilege;  // Redis 7.0's NOPERM
  if (error_text.find("option of SORT denied") != std::string_view::npos) {
    sqlstate = sqlstate::kInsufficientPrivilege;  // the user may not read all keys
  }
  for (const ErrorCode& known : kErrorCodes) {
    if (has_code(error_text, known.code)) sqlstate = known.sqlstate;
  }
  return sql::SqlError(sqlstate, "Redis refused " + printable(command) + ": " + printable(error_text));
}

sql::SqlError connection_lost(std::string_view reason) {
  return sql::SqlError(sqlstate::kConnectionFailure, "connection to Redis lost: " + printable(reason));
}

sql::SqlError connection_failed(std::string_view address, std::string_view reason) {
  return sql::SqlError(sqlstate::kConnectionFailure, "could not connect to Redis at " + printable(address) + ": " + printable(reason));
}

sql::SqlError certificate_refused(std::string_view address, std::string_view reason) {
  return sql::SqlError(sqlstate::kInvalidAuthorizationSpecification, "Redis at " + printable(address) + ": " + printable(reason));
}

sql::SqlError unexpected_reply(std::string_view command, std::string_view expected) {
  return sql::SqlError(sqlstate::kInternalError, "unexpected reply of Redis to " + printable(command) + ": not " + std::string(expected));
}

}  // namespace redquel::executor
