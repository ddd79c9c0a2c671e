#pragma once

#include <string_view>

namespace redquel::server {

/// The version of CMake's project(). Literals may follow it: `"redquel " REDQUEL_VERSION`.
inline constexpr char kVersion[] = REDQUEL_VERSION;
/// The value of server_version: PostgreSQL's version, whose behaviour this is, and redquel's own.
inline constexpr char kServerVersion[] = "15.0 (redquel " REDQUEL_VERSION ")";

/// Returns the commit that was built, 12 hex digits; "unknown" if it was built without a repository.
std::string_view commit();

}  // namespace redquel::server
