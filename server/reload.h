#pragma once

#include <optional>
#include <string>
#include <vector>

#include "executor/redis/shared_connection.h"
#include "server/configuration.h"
#include "server/reloadable.h"

namespace redquel::server {

/// Returns the part of the configuration that a reload replaces. Reads the certificates, keys and rules that it names. Throws
/// ConfigurationError.
Reloadable make_reloadable(const Configuration& configuration);

/// Returns how redquel connects to the Redis that the configuration names (not the embedded one). Throws ConfigurationError.
executor::ConnectionOptions redis_connection(const Configuration& configuration);
/// If the data is in a cluster, redquel's own keys have tags from now on (sql::use_cluster). Called before redis_connection.
void use_buckets(const Configuration& configuration);

/// Reads the configuration again, by the command line of the start.
class ConfigurationReload {
 public:
  ConfigurationReload(std::vector<std::string> command_line, Configuration at_start)
      : command_line_(std::move(command_line)), at_start_(std::move(at_start)) {}

  /// Reads all files whole. nullopt: one of them is wrong, which is logged; everything stays as it is. Logs the keys that need a restart.
  std::optional<Reloadable> operator()() const;

 private:
  std::vector<std::string> command_line_;
  Configuration at_start_;
};

}  // namespace redquel::server
