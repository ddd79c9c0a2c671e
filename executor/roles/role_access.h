#pragma once

#include <map>
#include <memory>
#include <vector>

#include "executor/redis/redis_user.h"
#include "planner/tree/requirement.h"
#include "sql/catalog/catalog.h"

namespace redquel::executor {

/// The ways to Redis of one run for one role. Keys of foreign tables and the schema redis are read and written as the Redis user of the role
/// whose rights are checked, if it has a user mapping; everything else by redquel's own login.
class RoleAccess final : public RedisAccess {
 public:
  /// `database`: the logical one of the catalog.
  RoleAccess(RedisAccess& own, int database, sql::CatalogPtr catalog, sql::Oid role);

  RedisClient& shared(int database) override { return own_.shared(database); }
  RedisClient& bulk(int database) override { return own_.bulk(database); }
  std::unique_ptr<Subscription> subscribe(std::string channel, std::function<void(std::string_view message)> take) override;

  RedisAccess& own() { return own_; }
  /// From now on the rights of the requirements' roles are checked for their relations: those of owners of views that name them.
  void check_as(const std::vector<planner::Requirement>& requirements);
  /// From now on the rights of the table's owner are checked for it, unless a superuser owns it: for work on keys that the owner has chosen
  /// and the role of the run has not named.
  void check_as_owner(const sql::TableDef& table);
  /// Returns the role whose rights are checked for the relation.
  sql::Oid checked_role(sql::Oid relation) const;
  bool is_mapped(sql::Oid role) const;
  /// Returns the Redis user of the run's role, or of another one; null: it has no user mapping.
  asio::awaitable<RedisUserPtr> user() { return user_of_role(role_); }
  asio::awaitable<RedisUserPtr> user_of_role(sql::Oid role);
  /// Returns true if the role whose rights are checked needs a user mapping for the table and has none.
  bool lacks_mapping(const sql::TableDef& table) const;
  /// Returns the Redis user as whom a foreign table is read and written; null: redquel's own login. Throws 42704 if lacks_mapping().
  asio::awaitable<RedisUserPtr> user_of(const sql::TableDef& table);

 private:
  RedisAccess& own_;
  int database_;
  sql::CatalogPtr catalog_;
  sql::Oid role_;
  std::map<sql::Oid, sql::Oid> checked_roles_;  // by relation
  std::map<sql::Oid, RedisUserPtr> users_;      // by role, as far as they were asked for
};

/// Returns null if the run has no role: then redquel's own login does everything.
RoleAccess* role_access(RedisAccess* access);

}  // namespace redquel::executor
