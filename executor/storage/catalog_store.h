#pragma once

#include <boost/asio/awaitable.hpp>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "executor/redis/client.h"
#include "executor/storage/placed_table.h"
#include "executor/storage/removal.h"
#include "executor/storage/role_store.h"
#include "sql/catalog/catalog.h"
#include "sql/catalog/prefixes.h"

namespace redquel::executor {

namespace asio = boost::asio;

// The catalog of one database in Redis, shared by all redquel processes: "Definitions" in sql/catalog/stored_keys.h.

/// Everything that a change of definitions starts from.
struct LoadedCatalog {
  sql::CatalogPtr snapshot;
  sql::ReservedPrefixes prefixes;
  std::vector<Removal> removals;
  sql::Oid next_oid = sql::kFirstUserOid;  // 0: what Redis holds is no number, or one that definitions have already
};

/// Returns the error XX001 of a counter of oids that holds junk. Its hint has a number that no definition has.
sql::SqlError damaged_next_oid(const sql::CatalogSnapshot& catalog);
/// Returns true if no definition of the catalog has the oid, or a later one. (Types have random oids.)
bool is_behind_all(const sql::CatalogSnapshot& catalog, sql::Oid oid);

/// One atomic read. Throws SqlError XX001 for definitions that cannot be read, and Redis's errors.
asio::awaitable<LoadedCatalog> load_catalog(RedisClient& client, ExecutionCounters* counters = nullptr);

/// The changes of one statement to the definitions. `commit` sets the tables' versions.
struct CatalogChange {
  std::vector<sql::TableDef> tables;  // made, or as they are from now on
  std::vector<sql::Oid> dropped_tables;
  std::vector<sql::SequenceDef> sequences;
  std::vector<sql::Oid> dropped_sequences;
  std::vector<sql::ViewDef> views;
  std::vector<sql::Oid> dropped_views;
  std::vector<sql::UserTypePtr> types;
  std::vector<sql::Oid> dropped_types;
  std::vector<sql::FunctionDef> functions;
  std::vector<sql::Oid> dropped_functions;
  std::vector<sql::SchemaDef> schemas;
  std::vector<std::string> dropped_schemas;
  std::vector<sql::ExtensionDef> extensions;
  std::vector<sql::Oid> dropped_extensions;
  std::vector<sql::PublicationDef> publications;
  std::vector<sql::Oid> dropped_publications;
  std::vector<sql::DefaultAclDef> default_acls;
  std::vector<sql::Oid> dropped_default_acls;
  std::optional<sql::ForeignServerDef> server;
  std::map<std::pair<sql::Oid, sql::Oid>, sql::Acl> system_acls;  // by class and oid; as CatalogSnapshot has them
  std::vector<std::pair<std::string, std::string>> reserved_prefixes;  // prefix, what has it
  std::vector<std::string> freed_prefixes;
  std::vector<Removal> removals;
  std::vector<std::string> finished_removals;  // ids
  std::vector<std::string> deleted_keys;       // counters, the keys of a small table
  std::vector<std::pair<std::string, std::string>> renamed_keys;  // where they exist
  /// Counters of changes that must be as they were (empty: absent): nothing was written to these tables meanwhile.
  std::vector<std::pair<sql::Oid, std::string>> unchanged_tables;
  std::vector<sql::Oid> building;         // indexes whose build begins with this: their lease
  std::vector<sql::Oid> counted_changes;  // tables whose counter of changes goes up
  std::shared_ptr<const RoleChange> roles;  // null: none
  int database = 0;                         // the number of this logical database; where roles change
  std::vector<std::string> statements;    // that made this change, for a catalog that is kept as statements
  sql::Oid first_oid = 0, next_oid = 0;   // oids that it takes: from the first, which must still be free, to before the next; 0: none

  bool empty() const;
};

/// One script: nothing happens unless the catalog still has the version of `base`. Gives the new version; nullopt: stale (or a table
/// of `unchanged_tables` was written to).
asio::awaitable<std::optional<std::string>> commit_catalog(RedisClient& client, const sql::CatalogSnapshot& base,
                                                           CatalogChange change);

/// A change as a part of a program: the keys and arguments of commit_catalog.lua.
struct CatalogCommit {
  std::string new_version;
  std::vector<std::string> keys, arguments;
  /// Where tables of other buckets than the home bucket change: the part of each bucket, as prepare_commit.lua takes it. Then a commit over
  /// these buckets replaces the script.
  std::map<int, std::vector<std::string>> parts;
  std::vector<PlacedTable> tables;  // that the change defines anew, drops, or has read the rows of
};
/// `by_parts`: in a cluster also where the home bucket alone changes.
CatalogCommit encode_commit(const sql::CatalogSnapshot& base, CatalogChange change, bool by_parts = false);

/// Reserves so many oids, even if they are never used: returns the first. A change that would take them without a
/// reservation becomes stale. Returns 0 if Redis holds no number there.
asio::awaitable<sql::Oid> reserve_oids(RedisClient& client, sql::Oid count);

/// The time for which a build without a sign of life counts as alive.
inline constexpr std::size_t kBuildLeaseMilliseconds = 60'000;
std::string building_key(sql::Oid index);

}  // namespace redquel::executor
