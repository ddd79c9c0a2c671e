#pragma once

#include <string>
#include <string_view>

namespace redquel::executor {

/// What a Redis tells about itself (INFO) and allows us (trial calls at connection; a read-only ACL user has less).
struct ServerInfo {
  std::string version;  // "7.0.15"
  std::string run_id;
  std::string replication_id;  // master_replid
  std::string role;            // "master" or "slave"
  std::string maxmemory_policy;
  bool loading = false;
  bool aof_enabled = false;
  bool cluster_enabled = false;

  bool may_info = true;         // INFO
  bool may_multi = true;        // MULTI and EXEC
  bool may_script_read = true;  // EVAL_RO, hence EVALSHA_RO
  bool may_sort_get = true;     // SORT_RO … GET: needs read permission on every key

  /// True when `other` may hold other data than this one did: restart, failover, or nobody can tell.
  bool is_another_server_than(const ServerInfo& other) const;
};

/// Fills the fields that stand in the text of INFO.
void parse_info(std::string_view info_text, ServerInfo& info);

/// Is "major.minor.patch" at least 7.0?
bool is_supported_version(std::string_view version);

}  // namespace redquel::executor
