#include "server/reload.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include "executor/redis/url.h"
#include "executor/storage/version_copies.h"
#include "sql/catalog/buckets.h"
#include "sql/catalog/stored_keys.h"

namespace redquel::server {

namespace {

template <auto member>
bool is_same(const Configuration& one, const Configuration& other) {
  return one.*member == other.*member;
}

/// A key that only a start takes over, and the run-time parameters that show it.
struct StartKey {
  std::string_view key;
  bool (*is_same)(const Configuration& one, const Configuration& other);
  std::vector<std::string> parameters = {};
};

const StartKey kStartKeys[] = {
    {"server.listen", is_same<&Configuration::listen>, {"listen_addresses", "port"}},
    {"server.unix_socket_directories, unix_socket_permissions, unix_socket_group", is_same<&Configuration::unix_sockets>,
     {"unix_socket_directories", "unix_socket_permissions", "unix_socket_group"}},
    {"status.listen", is_same<&Configuration::status_listen>},
    {"status.token_file", is_same<&Configuration::status_token_file>},
    {"status.hosts", is_same<&Configuration::status_hosts>},
    {"log.format", is_same<&Configuration::json_log>},
    {"server.threads", is_same<&Configuration::threads>},
    {"server.shutdown_timeout", is_same<&Configuration::shutdown_timeout>},
    {"server.drain_delay", is_same<&Configuration::drain_delay>},
    {"server.reuse_port", is_same<&Configuration::reuse_port>},
    {"redis.url", is_same<&Configuration::redis_url>},
    {"redis.synchronous_replicas", is_same<&Configuration::synchronous_replicas>},
    {"redis.replica_timeout", is_same<&Configuration::replica_timeout>},
    {"redis.move_timeout", is_same<&Configuration::move_timeout>},
    {"redis.aof_repair", is_same<&Configuration::aof_repair>},
    {"redis.allow_eviction", is_same<&Configuration::allow_eviction>},
    {"redis.unrestricted_call", is_same<&Configuration::unrestricted_call>},
    {"embedded.enabled", is_same<&Configuration::embedded>},
    {"embedded.data_dir", is_same<&Configuration::data_directory>},
    {"embedded.redis_server", is_same<&Configuration::redis_server>},
    {"limits.max_connections", is_same<&Configuration::max_connections>, {"max_connections"}},
    {"limits.superuser_reserved_connections", is_same<&Configuration::reserved_connections>, {"superuser_reserved_connections"}},
    {"limits.max_startups", is_same<&Configuration::max_startups>},
    {"limits.client_memory", is_same<&Configuration::client_memory>},
    {"limits.memory", is_same<&Configuration::memory>},
    {"limits.session_memory", is_same<&Configuration::session_memory>},
    {"limits.script_rows", is_same<&Configuration::script_rows>},
    {"limits.lock_lease", is_same<&Configuration::lock_lease>},
};

SessionLimits session_limits(const Configuration& configuration) {
  SessionLimits limits;
  limits.startup_time = configuration.authentication_timeout;
  limits.statement_bytes = configuration.max_statement_bytes;
  // A Bind message may carry many values of a statement's size.
  limits.message_bytes = std::max(std::size_t{64} << 20, configuration.max_statement_bytes) + (std::size_t{1} << 20);
  limits.work_mem_bytes = configuration.work_mem_max;
  limits.temporary_bytes = configuration.temp_file_limit;
  limits.login_delay = configuration.authentication_delay;
  limits.server_values = {{"authentication_timeout", std::to_string(configuration.authentication_timeout.count())},
                          {"hba_file", configuration.hba_file.string()},
                          {"ident_file", configuration.ident_file.string()},
                          {"work_mem", std::to_string(configuration.work_mem >> 10)},
                          {"ssl_cert_file", configuration.tls.certificate.string()},
                          {"ssl_key_file", configuration.tls.key.string()},
                          {"ssl_ca_file", configuration.tls.client_ca.string()},
                          {"ssl_crl_file", configuration.tls.crl.string()},
                          {"ssl_ciphers", configuration.tls.ciphers},
                          {"ssl_ecdh_curve", configuration.tls.groups},
                          {"ssl_min_protocol_version", "TLSv" + configuration.tls.min_version}};
  for (const auto& [name, value] : configuration.log_parameters) limits.server_values.emplace_back(name, value);
  if (configuration.temp_file_limit) {
    limits.server_values.emplace_back("temp_file_limit", std::to_string(*configuration.temp_file_limit >> 10));
  }
  return limits;
}

/// `protocol`: of ALPN.
executor::TlsContextPtr client_tls(const Configuration& configuration, const std::string& protocol) {
  executor::TlsServerSettings settings = configuration.tls;
  settings.application_protocol = protocol;
  if (settings.certificate.empty() != settings.key.empty()) {
    const std::string key = settings.key.empty() ? "tls.certificate" : "tls.key";
    throw key_error(configuration, key, "tls.certificate and tls.key need each other");
  }
  if (settings.certificate.empty()) return nullptr;
  try {
    return executor::TlsContext::for_server(settings);
  } catch (const executor::TlsConfigurationError& error) {
    throw key_error(configuration, "tls." + error.setting(), error.what());
  }
}

executor::RedisLogin redis_login(const Configuration& configuration) {
  const executor::RedisUrl url = executor::parse_redis_url(configuration.redis_url);
  executor::RedisLogin login{.user = url.user, .password = configuration.redis_password, .tls = nullptr};
  if (login.password.empty()) login.password = url.password;
  if (!url.tls) return login;
  executor::TlsClientSettings settings = configuration.redis_tls;
  // Behind sentinels each connection compares the host that it connects to.
  if (settings.server_name.empty() && !url.sentinels && url.cluster.empty()) settings.server_name = std::get<executor::TcpPlace>(url.place).host;
  try {
    login.tls = executor::TlsContext::for_client(settings);
  } catch (const executor::TlsConfigurationError& error) {
    throw key_error(configuration, "redis.tls." + error.setting(), error.what());
  }
  return login;
}

}  // namespace

Reloadable make_reloadable(const Configuration& configuration) {
  Reloadable reloadable;
  try {
    reloadable.rules = RuleSet::load({.hba_file = configuration.hba_file,
                                      .ident_file = configuration.ident_file,
                                      .rules = configuration.rules,
                                      .tls_is_on = !configuration.tls.certificate.empty()});
  } catch (const std::runtime_error& error) {
    throw ConfigurationError(error.what());
  }
  reloadable.limits = session_limits(configuration);
  reloadable.tls = client_tls(configuration, "postgresql");
  if (!configuration.status_listen.empty()) reloadable.status_tls = client_tls(configuration, "http/1.1");
  if (!configuration.embedded) reloadable.redis = redis_login(configuration);
  return reloadable;
}

void use_buckets(const Configuration& configuration) {
  if (!executor::parse_redis_url(configuration.redis_url).cluster.empty()) sql::use_cluster();
}

executor::ConnectionOptions redis_connection(const Configuration& configuration) {
  executor::ConnectionOptions options;
  options.url = executor::parse_redis_url(configuration.redis_url);
  if (sql::uses_cluster()) {
    for (const std::string& tag : executor::placement_tags()) options.node_version_keys.push_back(tag + std::string(sql::kVersionKey));
    options.bucket_key = [](int bucket) { return std::string(sql::bucket_tag(bucket)).append(sql::kNoKey); };
  }
  options.login = std::make_shared<executor::RedisLogin>(redis_login(configuration));
  options.repairs_append_only_file = configuration.aof_repair;
  options.synchronous_replicas = configuration.synchronous_replicas;
  options.replica_timeout = configuration.replica_timeout;
  options.move_timeout = configuration.move_timeout;
  options.refuses_eviction = !configuration.allow_eviction;
  return options;
}

std::optional<Reloadable> ConfigurationReload::operator()() const {
  try {
    std::vector<const char*> words;
    for (const std::string& word : command_line_) words.push_back(word.c_str());
    std::optional<Configuration> now = read_configuration(static_cast<int>(words.size()), words.data());
    if (!now) return std::nullopt;
    std::vector<std::string_view> keys;
    std::vector<std::string> parameters;
    for (const StartKey& row : kStartKeys) {
      if (row.is_same(at_start_, *now)) continue;
      keys.push_back(row.key);
      parameters.insert(parameters.end(), row.parameters.begin(), row.parameters.end());
    }
    // The Redis stays the one of the start, and with it the name that its certificate must have.
    now->redis_url = at_start_.redis_url;
    now->embedded = at_start_.embedded;
    Reloadable reloadable = make_reloadable(*now);
    reloadable.pending_restart = std::move(parameters);
    if (!keys.empty()) spdlog::warn("configuration: a restart is needed for {}", fmt::join(keys, ", "));
    spdlog::set_level(spdlog::level::from_str(now->log_level));
    spdlog::info("configuration reloaded");
    return reloadable;
  } catch (const std::exception& error) {
    spdlog::error("configuration not reloaded, the old one stays in force: {}", error.what());
    return std::nullopt;
  }
}

}  // namespace redquel::server
