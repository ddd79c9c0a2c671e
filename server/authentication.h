#pragma once

#include <string_view>

namespace redquel::server {

class Connection;

/// Who may come in. Without configuration: whoever is on this machine, under the name they give (PostgreSQL's `trust`).
/// Password methods will stand here, between the startup packet and AuthenticationOk.
/// Throws 28000 in PostgreSQL's words.
void authenticate(const Connection& connection, std::string_view user, std::string_view database);

}  // namespace redquel::server
