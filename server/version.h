#pragma once

namespace redquel::server {

/// The version of CMake's project(). Literals may follow it: `"redquel " REDQUEL_VERSION`.
inline constexpr char kVersion[] = REDQUEL_VERSION;
/// The value of server_version: PostgreSQL's version, whose behaviour this is, and redquel's own.
inline constexpr char kServerVersion[] = "15.0 (redquel " REDQUEL_VERSION ")";

}  // namespace redquel::server
