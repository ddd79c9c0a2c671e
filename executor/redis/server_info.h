#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "executor/redis/replica_set.h"

namespace redquel::executor {

/// The facts that a Redis reports about itself (INFO) and the rights that it gives us (trial calls at connection; a read-only ACL user has
/// fewer).
struct ServerInfo {
  std::string version;  // "7.0.15"
  std::string run_id;
  std::string replication_id;  // master_replid
  std::string role;            // "master" or "slave"
  std::string maxmemory_policy;
  bool loading = false;
  bool aof_enabled = false;
  bool aof_rewriting = false;  // a rewrite of the append-only file is under way, or about to be
  bool aof_rewritten = false;  // the last one since the server's start came to its end
  std::int64_t clock = 0;      // microseconds since 1970; 0: not told
  ReplicationInfo replication;
  bool cluster_enabled = false;
  bool is_sentinel = false;

  bool may_info = true;         // INFO
  bool may_multi = true;        // MULTI and EXEC
  bool may_script_read = true;  // EVAL_RO, hence EVALSHA_RO
  bool may_sort_get = true;     // SORT_RO … GET: needs read permission on every key

  /// Returns true if `other` may hold other data than this one did: restart, failover, or unknown.
  bool is_another_server_than(const ServerInfo& other) const;
  /// Redis before valkey#4342 cuts a torn append-only file inside of a MULTI block and writes on behind it: writes that it then
  /// acknowledges are lost at its next start, unless the file is rewritten first. Redis does not report that the file was torn, only that
  /// it was not rewritten yet.
  bool may_append_to_torn_file() const { return aof_enabled && role == "master" && !aof_rewritten; }
  /// Redis may throw away any key: rows vanish, and with entries of unique indexes the rows that they keep out come in.
  bool may_evict_rows() const { return maxmemory_policy.starts_with("allkeys-"); }
};

/// Fills the fields that stand in the text of INFO.
void parse_info(std::string_view info_text, ServerInfo& info);

/// Returns the number of a field in the text of INFO; nullopt: it has none.
std::optional<std::uint64_t> info_number(std::string_view info_text, std::string_view field);

/// Returns true if "major.minor.patch" is at least 7.0.
bool is_supported_version(std::string_view version);

}  // namespace redquel::executor
