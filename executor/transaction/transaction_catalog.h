#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>
#include <vector>

#include "executor/ddl/catalog_draft.h"

namespace redquel::executor {

/// The definitions as a transaction has made them: one draft that grows with its statements and is committed with its rows.
class TransactionCatalog {
 public:
  /// Work that follows the commit: an index to fill, a prefix to give back.
  using Sequel = std::function<asio::awaitable<void>(DdlContext&)>;

  TransactionCatalog(LoadedCatalog base, const SessionState& session);

  /// What the transaction started from; it must still be so at commit.
  const sql::CatalogSnapshot& base() const { return *base_.snapshot; }
  /// For plans. Its version is like no committed one.
  const sql::CatalogPtr& snapshot() const { return state_.snapshot; }
  /// As a statement would load it.
  LoadedCatalog view() const;

  /// One statement's changes: all of them, or none when `make` throws. Gives its notices.
  std::vector<sql::SqlError> change(const MakeDraft& make);
  void add_sequel(Sequel sequel) { state_.sequels.push_back(std::move(sequel)); }

  CatalogChange take_change() const;

  // A new place is a prefix that nobody has without this transaction: of a table that it has made or truncated. Rows that are written
  // there before the commit are seen by nobody else, but it must be claimed first.
  bool is_new_place(const std::string& prefix) const { return !base_.prefixes.contains(prefix); }
  /// From now on the prefix is taken, for as long as the process lives whose token `owner` is, or until the commit. False: definitions have
  /// been changed by others.
  asio::awaitable<bool> claim(RedisClient& redis, std::string prefix, std::string owner);
  const std::vector<Removal>& claims() const { return claims_; }
  const std::vector<Sequel>& sequels() const { return state_.sequels; }
  /// Counters that statements may have made under prefixes that nobody has without this transaction: (prefix, key).
  std::vector<std::pair<std::string, std::string>> new_counters() const;

  /// For savepoints.
  struct State {
    std::shared_ptr<const CatalogDraft> draft;
    sql::CatalogPtr snapshot;
    std::vector<Sequel> sequels;
  };
  const State& state() const { return state_; }
  /// As the transaction found the definitions.
  const State& initial() const { return initial_; }
  void restore(State state) { state_ = std::move(state); }

 private:
  LoadedCatalog base_;
  std::vector<Removal> claims_;  // what is to be done about each of them without a commit
  State state_, initial_;
};

/// Deletes what lies in claimed places but for those that a commit has finished with (CatalogChange::finished_removals).
asio::awaitable<void> clear_unused_places(RedisClient& redis, const TransactionCatalog& catalog, std::vector<std::string> finished);

/// The definitions as the statement sees them: committed ones, or its transaction's.
asio::awaitable<LoadedCatalog> load_definitions(DdlContext& context);
/// The transaction's own definitions, begun if it has none yet. Only while a transaction is open.
asio::awaitable<std::reference_wrapper<TransactionCatalog>> transaction_catalog(DdlContext& context);

}  // namespace redquel::executor
