#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "executor/catalog/catalog_draft.h"
#include "executor/catalog/ddl_context.h"

namespace redquel::executor {

class Transaction;

/// The definitions as a transaction has made them: one draft that grows with its statements and is committed with its rows.
class TransactionCatalog {
 public:
  /// Work that follows the commit: an index to fill, a prefix to give back.
  using Sequel = std::function<asio::awaitable<void>(DdlContext&)>;

  TransactionCatalog(LoadedCatalog base, const SessionState& session);

  /// Returns the base of its changes: the committed definitions that it knows.
  const sql::CatalogSnapshot& base() const { return *state_.base->snapshot; }
  /// For plans. Its version is like no committed one.
  const sql::CatalogPtr& snapshot() const { return state_.snapshot; }
  /// Returns the definitions as a statement would load them.
  LoadedCatalog view() const;

  /// One statement's changes: all of them, or none when `make` throws. Gives its notices.
  std::vector<sql::SqlError> change(const MakeDraft& make);
  /// Oids for drafts that take as many as `lacking`, made from `state().draft`, has: it can be made again then.
  asio::awaitable<void> reserve_oids(RedisClient& redis, const CatalogDraft& lacking);
  /// Like change(), for a draft that was made from `state().draft`.
  std::vector<sql::SqlError> adopt(CatalogDraft draft);
  /// From now on its changes are changes of `now`. False, and nothing has changed: others have been at what it has changed, what its
  /// changes depend on, or a table in `relied_on`.
  bool rebase(LoadedCatalog now, const std::set<sql::Oid>& relied_on);
  /// Returns true if the table is unchanged since it was committed.
  bool is_committed(const sql::TableDef& table) const;
  void add_sequel(Sequel sequel) { state_.sequels.push_back(std::move(sequel)); }

  /// The roles as the transaction has made them; null: it has changed none.
  const std::shared_ptr<const RoleChange>& roles() const { return state_.roles; }
  /// `database`: the number of the transaction's logical database.
  void set_roles(RoleChange roles, int database);

  CatalogChange take_change() const;

  // A new place is a prefix that no other session has: of a table that this transaction has made or truncated. Rows that are written there
  // before the commit are not visible to other sessions, but the place must be claimed first.
  bool is_new_place(const std::string& prefix) const { return is_claimed(prefix) || !state_.base->prefixes.contains(prefix); }
  /// From now on the table's prefix is taken, for as long as the process lives whose token `owner` is, or until the commit. Rows may be
  /// written there with the structures that this definition has. False: definitions have been changed by others; the transaction must
  /// follow them first. 40001 where they have the prefix.
  asio::awaitable<bool> claim(RedisClient& redis, sql::CatalogSnapshot::TablePtr table, std::string owner);
  const std::vector<Removal>& claims() const { return claims_; }
  const std::vector<Sequel>& sequels() const { return state_.sequels; }
  /// Returns the counters that statements may have made under prefixes of new places: (prefix, key).
  std::vector<std::pair<std::string, std::string>> new_counters() const;

  /// For savepoints.
  struct State {
    std::shared_ptr<const LoadedCatalog> base;
    std::shared_ptr<const CatalogDraft> draft;
    sql::CatalogPtr snapshot;
    std::vector<Sequel> sequels;
    std::shared_ptr<const RoleChange> roles;
    int database = 0;
  };
  const State& state() const { return state_; }
  /// Returns the definitions at the start of the transaction.
  const State& initial() const { return initial_; }
  void restore(State state);

 private:
  bool is_claimed(const std::string& prefix) const;

  std::vector<Removal> claims_;  // what is to be done about each of them without a commit
  State state_, initial_;
};

/// Deletes what lies in claimed places but for those that a commit has finished with (CatalogChange::finished_removals).
asio::awaitable<void> clear_unused_places(RedisClient& redis, const TransactionCatalog& catalog, std::vector<std::string> finished);

/// The definitions as the statement sees them: committed ones, or its transaction's. The session knows their types from now on.
asio::awaitable<LoadedCatalog> load_definitions(DdlContext& context);
/// Like load_definitions(), without those of the transaction.
asio::awaitable<LoadedCatalog> load_committed(DdlContext& context);
/// Definitions that others have committed become known to a transaction that has some of its own; false: there are none. 40001 where they
/// are in each other's way.
asio::awaitable<bool> follow_definitions_of_others(RedisClient& redis, Transaction& transaction);
/// Calls TransactionCatalog::claim, after definitions of others if there are any.
asio::awaitable<void> claim_place(RedisClient& redis, Transaction& transaction, sql::CatalogSnapshot::TablePtr table);
/// The transaction's own definitions, begun if it has none yet. Only while a transaction is open.
asio::awaitable<std::reference_wrapper<TransactionCatalog>> transaction_catalog(DdlContext& context);

}  // namespace redquel::executor
