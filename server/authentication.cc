#include "server/authentication.h"

#include <fmt/format.h>

#include "server/connection.h"
#include "sql/error.h"

namespace redquel::server {

void authenticate(const Connection& connection, std::string_view user, std::string_view database) {
  if (connection.security().is_unix_socket || connection.security().client_address.is_loopback()) return;
  throw sql::SqlError("28000",
                      fmt::format("no pg_hba.conf entry for host \"{}\", user \"{}\", database \"{}\", no encryption",
                                  connection.peer_address(), user, database));
}

}  // namespace redquel::server
