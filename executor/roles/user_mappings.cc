#include "executor/roles/user_mappings.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <charconv>
#include <chrono>

#include "executor/runtime/failure.h"
#include "executor/runtime/known_types_executor.h"
#include "executor/runtime/random_version.h"
#include "sql/catalog/buckets.h"
#include "sql/catalog/stored_keys.h"
#include "sql/error.h"
#include "sql/privileges/held_rights.h"
#include "sql/privileges/permission_errors.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

using namespace std::chrono_literals;

/// Redis users of one thread that have connections at a time.
constexpr std::size_t kMostUsers = 32;
/// Connections that no statement has used for so long are closed.
constexpr std::chrono::seconds kIdleTime = 5min, kIdleLook = 30s;
/// The user of connections that do not log in. It may do everything in many Redis.
constexpr std::string_view kDefaultUser = "default";

/// Returns postgres_fdw's error for a mapping without a password.
sql::SqlError password_required(std::string_view detail) {
  return sql::SqlError(sqlstate::kRoutineProhibitedSqlStatement, "password is required").detail(std::string(detail));
}

}  // namespace

bool owns_foreign_server(const sql::ForeignServerDef& server, sql::Oid role, std::string_view database) {
  return sql::known_roles()->has_privileges_of(role, sql::owner_role(server.owner), database);
}

bool may_use_foreign_server(const sql::ForeignServerDef& server, sql::Oid role, std::string_view database) {
  const sql::Oid owner = sql::owner_role(server.owner);
  const sql::Acl acl = server.acl ? *server.acl : sql::default_acl(sql::AclKind::kForeignServer, owner);
  return (sql::held_rights(acl, sql::AclKind::kForeignServer, owner, role, *sql::known_roles(), database) & sql::right::kUsage) != 0;
}

bool may_define_foreign_tables(const sql::CatalogSnapshot& catalog, sql::Oid role) {
  return sql::known_roles()->is_superuser(role) || find_user_mapping(catalog.server, role) != nullptr;
}

sql::SqlError foreign_server_denied() {
  return sql::permission_denied("foreign server", "redis")
      .hint("Only superusers and roles with a user mapping define foreign tables.");
}

void require_mapping_change(const sql::ForeignServerDef& server, const sql::UserMappingDef& mapping, sql::Oid role, std::string_view database) {
  if (mapping.maker == sql::UserMappingDef::Maker::kRole || owns_foreign_server(server, role, database)) return;
  throw sql::SqlError(sqlstate::kInsufficientPrivilege, "must be owner of foreign server redis")
      .detail("A superuser has made the user mapping.");
}

void check_redis_user(std::string_view user, bool has_password, const RedisLogin& own) {
  if (user == kDefaultUser || user == own.user) {
    throw sql::SqlError(sqlstate::kInsufficientPrivilege, fmt::format("permission denied for Redis user \"{}\"", user))
        .detail("Only superusers map roles to Redis's user \"default\" and to redquel's own login.");
  }
  if (!has_password) throw password_required("Non-superusers must provide a password in the user mapping.");
}

std::string mapping_password_key(sql::Oid mapping) { return sql::home_key(sql::kMappingPasswordPrefix) + std::to_string(mapping); }

asio::awaitable<std::map<sql::Oid, std::string>> load_mapping_passwords(RedisClient& redis, std::vector<sql::UserMappingDef> mappings) {
  CommandBatch batch;
  for (const sql::UserMappingDef& mapping : mappings) batch.add("GET", mapping_password_key(mapping.oid));
  const RepliesPtr replies = co_await redis.execute(std::move(batch));
  std::map<sql::Oid, std::string> passwords;
  for (std::size_t i = 0; i < mappings.size(); ++i) {
    if (const auto password = replies->text(i)) passwords.emplace(mappings[i].oid, *password);
  }
  co_return passwords;
}

namespace {

/// The owner of a thread's users outlives its connections' event loop only after it has cancelled the timer.
asio::awaitable<void> close_idle_users(RedisUsers& users) {
  const std::shared_ptr<asio::steady_timer> timer = users.timer;
  while (true) {
    timer->expires_after(kIdleLook);
    boost::system::error_code cancelled;
    co_await timer->async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
    if (cancelled) co_return;
    const auto limit = std::chrono::steady_clock::now() - kIdleTime;
    std::erase_if(users.entries, [&](const auto& entry) {
      return entry.second.user.use_count() == 1 && (entry.second.last_use < limit || entry.second.user->is_refused());
    });
    if (users.entries.empty()) {
      users.timer.reset();
      co_return;
    }
  }
}

/// Makes room for another user.
void close_oldest(RedisUsers& users) {
  if (users.entries.size() < kMostUsers) return;
  const auto oldest = std::ranges::min_element(users.entries, {}, [](const auto& entry) {
    return std::pair(entry.second.user.use_count() > 1, entry.second.last_use);
  });
  if (oldest->second.user.use_count() > 1) {
    throw sql::SqlError(sqlstate::kTooManyConnections, fmt::format("statements of {} user mappings run already", kMostUsers));
  }
  users.entries.erase(oldest);
}

/// Returns true if Redis lets the user in with a password that is not his: his own one proves nothing.
asio::awaitable<bool> takes_any_password(RedisLogins& logins, std::string user, int database) {
  const RedisLogin guess{.user = std::move(user), .password = random_version(), .tls = nullptr};
  const std::unique_ptr<RedisClient> connection = logins.log_in(guess, database, "-user-proof");
  CommandBatch batch;
  batch.add("PING");
  const Attempt<RepliesPtr> login = co_await attempt(connection->execute(std::move(batch)));
  if (!login.failure) co_return true;
  try {
    std::rethrow_exception(login.failure);
  } catch (const sql::SqlError& error) {
    if (error.sqlstate() != sqlstate::kInvalidAuthorizationSpecification) throw;
  }
  co_return false;
}

}  // namespace

asio::awaitable<RedisUserPtr> mapped_user(RedisAccess& own, int database, std::string catalog_version, sql::UserMappingDef mapping, sql::Oid role) {
  RedisLogins& logins = logins_of(own);
  RedisUsers& users = logins.users();
  const std::pair<int, std::uint32_t> key{database, mapping.oid};
  const auto find_known = [&]() -> RedisUsers::Entry* {
    const auto found = users.entries.find(key);
    const bool is_known = found != users.entries.end() && found->second.user->name() == mapping.user && !found->second.user->is_refused();
    return is_known ? &found->second : nullptr;
  };
  RedisUsers::Entry* known = find_known();
  if (known == nullptr || known->catalog_version != catalog_version) {
    CommandBatch batch;
    batch.add("GET", mapping_password_key(mapping.oid));
    const RepliesPtr replies = co_await own.shared(database).execute(std::move(batch));
    const std::string password(replies->text(0).value_or(""));
    known = find_known();  // another statement may have been faster
    if (known == nullptr || known->user->login().password != password) {
      users.entries.erase(key);
      close_oldest(users);
      known = &users.entries[key];
      known->user = std::make_shared<RedisUser>(own, mapping.user, password);
    }
    known->catalog_version = std::move(catalog_version);
  }
  known->last_use = std::chrono::steady_clock::now();
  const RedisUserPtr user = known->user;
  const bool is_vouched_for = mapping.maker == sql::UserMappingDef::Maker::kSuperuser || sql::known_roles()->is_superuser(role);
  if (!is_vouched_for) {
    check_redis_user(mapping.user, !user->login().password.empty(), logins.own_login());
    if (!user->takes_any_password) user->takes_any_password = co_await takes_any_password(logins, mapping.user, database);
    if (*user->takes_any_password) {
      throw password_required("Non-superuser cannot connect if the server does not request a password.")
          .hint("Give the Redis user a password, or let a superuser make the user mapping.");
    }
  }
  if (!users.timer) {
    const asio::any_io_executor executor = without_known_types(co_await asio::this_coro::executor);
    users.timer = std::make_shared<asio::steady_timer>(executor);
    asio::co_spawn(executor, close_idle_users(users), asio::detached);
  }
  co_return user;
}

void forget_other_users(RedisAccess& own, int database, const sql::ForeignServerDef& server) {
  auto* const logins = dynamic_cast<RedisLogins*>(&own);
  if (logins == nullptr) return;
  std::erase_if(logins->users().entries, [&](const auto& entry) {
    if (entry.first.first != database) return false;
    const auto found = std::ranges::find(server.mappings, entry.first.second, &sql::UserMappingDef::oid);
    return found == server.mappings.end() || found->user != entry.second.user->name();
  });
}

}  // namespace redquel::executor
