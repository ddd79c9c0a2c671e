#include "server/session_places.h"

#include <fmt/format.h>

#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::server {

namespace {

template <class Key>
std::size_t count_of(const std::map<Key, std::size_t>& counts, const Key& key) {
  const auto found = counts.find(key);
  return found == counts.end() ? 0 : found->second;
}

template <class Key>
void lower_count(std::map<Key, std::size_t>& counts, const Key& key) {
  const auto found = counts.find(key);
  if (found != counts.end() && --found->second == 0) counts.erase(found);
}

bool is_reached(std::int32_t limit, std::size_t count) { return limit >= 0 && count >= static_cast<std::size_t>(limit); }

}  // namespace

void SessionPlaces::take(const Place& place, const Limits& limits) {
  const std::lock_guard lock(mutex_);
  const auto refuse = [](std::string message) { return sql::SqlError(sqlstate::kTooManyConnections, std::move(message)); };
  if (count_ >= limits.sessions) throw refuse("sorry, too many clients already");
  if (!place.is_superuser) {
    if (is_reached(place.role_limit, count_of(roles_, place.role))) {
      throw refuse(fmt::format("too many connections for role \"{}\"", place.role_name));
    }
    if (count_ + limits.reserved >= limits.sessions) {
      throw refuse("remaining connection slots are reserved for non-replication superuser connections");
    }
    if (is_reached(place.database_limit, count_of(databases_, place.database))) {
      throw refuse(fmt::format("too many connections for database \"{}\"", place.database));
    }
  }
  ++count_;
  ++roles_[place.role];
  ++databases_[place.database];
}

void SessionPlaces::give_back(const Place& place) {
  const std::lock_guard lock(mutex_);
  --count_;
  lower_count(roles_, place.role);
  lower_count(databases_, place.database);
}

std::size_t SessionPlaces::count() const {
  const std::lock_guard lock(mutex_);
  return count_;
}

}  // namespace redquel::server
