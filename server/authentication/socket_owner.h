#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace redquel::server {

struct ConnectionSecurity;

/// Returns the operating-system user that owns the client's end of a connection of this machine: SO_PEERCRED of a unix socket; for TCP the
/// kernel's answer by sock_diag, or /proc/net/tcp where that is refused. nullopt: the kernel knows no open socket of that client.
std::optional<std::uint32_t> socket_owner(const ConnectionSecurity& connection);

/// Returns true for redquel's own operating-system user and root. The user that stands for all users beyond a user namespace is neither.
bool is_own_or_root(std::uint32_t user);

/// A line of /proc/net/tcp or tcp6, if it is an established socket with these ends, each as the kernel writes it ("0100007F:1538").
/// Returns its owner.
std::optional<std::uint32_t> owner_in_line(std::string_view line, std::string_view local, std::string_view remote);

}  // namespace redquel::server
