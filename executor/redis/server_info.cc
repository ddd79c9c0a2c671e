#include "executor/redis/server_info.h"

#include <charconv>

namespace redquel::executor {

bool ServerInfo::is_another_server_than(const ServerInfo& other) const {
  if (run_id.empty() || other.run_id.empty()) return true;
  return run_id != other.run_id || replication_id != other.replication_id;
}

void parse_info(std::string_view info_text, ServerInfo& info) {
  info.replication = read_replication(info_text);
  bool is_rewriting = false, is_scheduled = false, was_rewritten = false, was_good = false;
  while (!info_text.empty()) {
    const std::size_t end = info_text.find('\n');
    std::string_view line = info_text.substr(0, end);
    info_text.remove_prefix(end == std::string_view::npos ? info_text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view name = line.substr(0, colon);
    const std::string_view value = line.substr(colon + 1);
    if (name == "redis_version") info.version = value;
    if (name == "run_id") info.run_id = value;
    if (name == "master_replid") info.replication_id = value;
    if (name == "role") info.role = value;
    if (name == "maxmemory_policy") info.maxmemory_policy = value;
    if (name == "loading") info.loading = value == "1";
    if (name == "aof_enabled") info.aof_enabled = value == "1";
    if (name == "cluster_enabled") info.cluster_enabled = value == "1";
    if (name == "redis_mode") info.is_sentinel = value == "sentinel";
    if (name == "server_time_usec") std::from_chars(value.data(), value.data() + value.size(), info.clock);
    if (name == "aof_rewrite_in_progress") is_rewriting = value == "1";
    if (name == "aof_rewrite_scheduled") is_scheduled = value == "1";
    if (name == "aof_last_rewrite_time_sec") was_rewritten = value != "-1";  // since its start
    if (name == "aof_last_bgrewrite_status") was_good = value == "ok";
  }
  info.aof_rewriting = is_rewriting || is_scheduled;
  info.aof_rewritten = was_rewritten && was_good;
}

std::optional<std::uint64_t> info_number(std::string_view info_text, std::string_view field) {
  for (std::size_t place = info_text.find(field); place != std::string_view::npos; place = info_text.find(field, place + 1)) {
    const bool is_begin = place == 0 || info_text[place - 1] == '\n';
    const std::string_view rest = info_text.substr(place + field.size());
    if (!is_begin || !rest.starts_with(':')) continue;
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(rest.data() + 1, rest.data() + rest.size(), number);
    return error == std::errc() ? std::optional(number) : std::nullopt;
  }
  return std::nullopt;
}

bool is_supported_version(std::string_view version) {
  constexpr int kOldestMajor = 7;
  int major = 0;
  const auto [rest, error] = std::from_chars(version.data(), version.data() + version.size(), major);
  return error == std::errc() && major >= kOldestMajor;
}

}  // namespace redquel::executor
