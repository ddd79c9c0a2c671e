#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "sql/types/type.h"

namespace redquel::server {

/// The places of logged-in sessions: max_connections, and CONNECTION LIMIT of roles and databases. Any thread may call.
class SessionPlaces {
 public:
  struct Place {
    sql::Oid role = 0;
    std::string role_name, database;
    bool is_superuser = false;
    std::int32_t role_limit = -1, database_limit = -1;  // -1: none
  };
  struct Limits {
    std::size_t sessions = 0;
    std::size_t reserved = 0;  // of `sessions`, for superusers alone
  };

  /// Throws 53300 in PostgreSQL's words if there is no place.
  void take(const Place& place, const Limits& limits);
  void give_back(const Place& place);
  std::size_t count() const;

 private:
  mutable std::mutex mutex_;
  std::size_t count_ = 0;
  std::map<sql::Oid, std::size_t> roles_;
  std::map<std::string, std::size_t> databases_;
};

}  // namespace redquel::server
