#include "server/server_options.h"

#include "server/machine_memory.h"
#include "server/reload.h"

namespace redquel::server {

ServerOptions server_options_of(const Configuration& configuration) {
  ServerOptions options;
  static_cast<Reloadable&>(options) = make_reloadable(configuration);
  options.listen = configuration.listen;
  options.unix_sockets = configuration.unix_sockets;
  options.threads = configuration.threads;
  options.status_listen = configuration.status_listen;
  options.status_hosts = configuration.status_hosts;
  options.status_token_file = status_token_file_of(configuration);
  options.max_connections = configuration.max_connections;
  options.reserved_connections = configuration.reserved_connections;
  options.max_startups = configuration.max_startups;
  options.memory = {.process = configuration.memory.value_or(machine_memory() / 10 * 8),
                    .session = configuration.session_memory,
                    .clients = configuration.client_memory};
  options.drain_time = configuration.shutdown_timeout;
  options.drain_delay = configuration.drain_delay;
  options.reuse_port = configuration.reuse_port;
  options.handle_signals = true;
  return options;
}

}  // namespace redquel::server
