#include "executor/transaction/transaction_catalog.h"

#include <algorithm>
#include <iterator>

#include "executor/catalog/catalog_conflict.h"
#include "executor/runtime/random_version.h"
#include "executor/storage/write_conflict.h"
#include "executor/transaction/transaction.h"
#include "sql/catalog/buckets.h"
#include "sql/catalog/row_types.h"
#include "sql/catalog/spread_table.h"
#include "sql/catalog/stored_keys.h"
#include "sql/catalog/table_keys.h"

namespace redquel::executor {

using TablePtr = sql::CatalogSnapshot::TablePtr;

namespace {

/// `before`: a snapshot that differs little.
sql::CatalogPtr snapshot_of(const CatalogDraft& draft, const std::string& base_version, const sql::CatalogSnapshot& before) {
  auto snapshot = std::make_shared<sql::CatalogSnapshot>(draft.catalog());
  snapshot->version = base_version + "/" + random_version();
  snapshot->user_types = sql::user_types_of(*snapshot, before);
  return snapshot;
}

bool has_place(const sql::CatalogSnapshot& catalog, const std::string& prefix) {
  return std::ranges::any_of(catalog.tables, [&](const auto& table) {
    const auto has_prefix = [&](const auto& part) { return part->prefix == prefix; };
    return table.second->prefix == prefix || std::ranges::any_of(table.second->parts, has_prefix);
  });
}

}  // namespace

namespace {

/// Counters of columns go along with tables that have another place now. Until the commit they stay where everybody finds them.
void move_counters(const sql::CatalogSnapshot& now, CatalogChange& change) {
  for (const Removal& removal : change.removals) {
    if (!removal.whole) continue;
    for (const auto& [oid, sequence] : now.sequences) {
      const RowBuffer::TablePtr table = sequence.owner_table != 0 ? now.find_table(sequence.owner_table) : nullptr;
      if (!table || table->prefix == removal.prefix || !sequence.key.starts_with(removal.prefix + ":")) continue;
      sql::SequenceDef moved = sequence;
      moved.key = table->prefix + sequence.key.substr(removal.prefix.size());
      change.renamed_keys.emplace_back(sequence.key, moved.key);
      std::erase_if(change.sequences, [&](const sql::SequenceDef& other) { return other.oid == moved.oid; });
      change.sequences.push_back(std::move(moved));
    }
  }
}

}  // namespace

TransactionCatalog::TransactionCatalog(LoadedCatalog base, const SessionState& session) {
  auto draft = std::make_shared<CatalogDraft>(base, session);
  draft->take_oids(base.next_oid, base.next_oid);  // those that it needs are reserved for it
  state_.base = std::make_shared<const LoadedCatalog>(std::move(base));
  state_.snapshot = snapshot_of(*draft, this->base().version, this->base());
  state_.draft = std::move(draft);
  initial_ = state_;
}

LoadedCatalog TransactionCatalog::view() const {
  LoadedCatalog view = *state_.base;
  view.snapshot = state_.snapshot;
  return view;
}

std::vector<sql::SqlError> TransactionCatalog::change(const MakeDraft& make) {
  CatalogDraft draft(*state_.draft);
  make(draft);
  return adopt(std::move(draft));
}

asio::awaitable<void> TransactionCatalog::reserve_oids(RedisClient& redis, const CatalogDraft& lacking) {
  const sql::Oid reserved = 2 * lacking.oids_taken_since(*state_.draft);  // the next statements take some, too
  const sql::Oid first = co_await executor::reserve_oids(redis, reserved);
  if (first == 0 || !is_behind_all(base(), first)) throw damaged_next_oid(base());
  CatalogDraft draft(*state_.draft);
  draft.take_oids(first, first + reserved);
  state_.draft = std::make_shared<const CatalogDraft>(std::move(draft));
}

std::vector<sql::SqlError> TransactionCatalog::adopt(CatalogDraft draft) {
  std::vector<sql::SqlError> notices = draft.take_notices();
  state_.snapshot = snapshot_of(draft, base().version, *state_.snapshot);
  state_.draft = std::make_shared<const CatalogDraft>(std::move(draft));
  return notices;
}

bool TransactionCatalog::rebase(LoadedCatalog now, const std::set<sql::Oid>& relied_on) {
  std::set<std::string> claimed;
  for (const Removal& claim : claims_) claimed.insert(claim.prefix);
  if (conflicts(*state_.draft, base(), now, relied_on, claimed)) return false;
  std::erase_if(now.removals, [&](const Removal& removal) { return is_claimed(removal.prefix); });
  auto snapshot = std::make_shared<sql::CatalogSnapshot>(*now.snapshot);
  // Changed rows point to the definitions that they were made by.
  sql::DefinitionMap<TablePtr>::for_each_difference(base().tables, now.snapshot->tables, [&](const auto* before, const auto* after) {
    if (before == nullptr || after == nullptr || before->second->version != after->second->version) return;
    snapshot->tables.insert_or_assign(before->first, before->second);
  });
  now.snapshot = std::move(snapshot);
  auto draft = std::make_shared<const CatalogDraft>(state_.draft->rebased(now));
  state_.base = std::make_shared<const LoadedCatalog>(std::move(now));
  state_.snapshot = snapshot_of(*draft, base().version, base());
  state_.draft = std::move(draft);
  return true;
}

bool TransactionCatalog::is_committed(const sql::TableDef& table) const {
  const TablePtr committed = base().find_table(table.oid);
  return committed && committed == state_.snapshot->find_table(table.oid);
}

bool TransactionCatalog::is_claimed(const std::string& prefix) const {
  return std::ranges::find(claims_, prefix, &Removal::prefix) != claims_.end();
}

void TransactionCatalog::restore(State state) {
  state_ = std::move(state);
  if (claims_.empty()) return;
  // In the claimed places lie rows that have been taken back.
  CatalogDraft draft(*state_.draft);
  for (const Removal& claim : claims_) draft.avoid_prefix(claim.prefix);
  state_.draft = std::make_shared<const CatalogDraft>(std::move(draft));
}

void TransactionCatalog::set_roles(RoleChange roles, int database) {
  state_.roles = roles.empty() ? nullptr : std::make_shared<const RoleChange>(std::move(roles));
  state_.database = database;
}

CatalogChange TransactionCatalog::take_change() const {
  CatalogDraft draft = *state_.draft;
  CatalogChange change = draft.take_change();
  change.roles = state_.roles;
  change.database = state_.database;
  // A structure whose index was dropped and made again keeps its keys.
  for (Removal& removal : change.removals) {
    if (removal.whole) continue;
    std::vector<TablePtr> tables;
    for (const auto& [oid, table] : draft.catalog().tables) std::ranges::copy(sql::own_stored_tables(table), std::back_inserter(tables));
    for (const TablePtr& table : tables) {
      if (table->prefix != removal.prefix) continue;
      const std::vector<Removal::Part> kept = removal_of_structures(*table, sql::structures_of(*table)).parts;
      std::erase_if(removal.parts, [&](const Removal::Part& part) {
        return std::any_of(kept.begin(), kept.end(),
                           [&](const Removal::Part& other) { return other.kind == part.kind && other.fields == part.fields; });
      });
    }
  }
  std::erase_if(change.removals, [](const Removal& removal) { return !removal.whole && removal.parts.empty(); });
  move_counters(draft.catalog(), change);
  for (const Removal& claim : claims_) {
    // A table that was dropped again has a removal of its own.
    const bool is_removed = std::ranges::any_of(change.removals, [&](const Removal& other) { return other.prefix == claim.prefix; });
    if (is_removed || has_place(draft.catalog(), claim.prefix)) change.finished_removals.push_back(claim.id);
  }
  return change;
}

asio::awaitable<bool> TransactionCatalog::claim(RedisClient& redis, TablePtr table, std::string owner) {
  Removal removal = removal_of_table(*table);
  for (const sql::Oid oid : state_.snapshot->sequences_of(table->oid)) {
    const std::string& key = state_.snapshot->sequences.at(oid).key;
    if (key.starts_with(table->prefix + ":")) removal.counters.push_back(key);
  }
  removal.owner = std::move(owner);
  const auto known = std::ranges::find(claims_, table->prefix, &Removal::prefix);
  CatalogChange change;
  if (known != claims_.end()) {
    Removal all = *known;
    if (!add_parts(all, removal)) co_return true;
    removal = std::move(all);
  } else {
    if (state_.base->prefixes.collide(table->prefix)) throw serialization_failure("change of definitions");
    change.reserved_prefixes.emplace_back(table->prefix, "transaction");
  }
  change.removals.push_back(removal);
  const std::optional<std::string> version = co_await commit_catalog(redis, base(), std::move(change));
  if (!version) co_return false;
  auto snapshot = std::make_shared<sql::CatalogSnapshot>(base());
  snapshot->version = *version;
  auto now = std::make_shared<LoadedCatalog>(*state_.base);
  now->snapshot = std::move(snapshot);
  state_.base = std::move(now);
  std::erase_if(claims_, [&](const Removal& claim) { return claim.prefix == removal.prefix; });
  claims_.push_back(std::move(removal));
  co_return true;
}

asio::awaitable<void> clear_unused_places(RedisClient& redis, const TransactionCatalog& catalog, std::vector<std::string> finished) {
  for (const Removal& claim : catalog.claims()) {
    if (std::ranges::find(finished, claim.id) == finished.end()) co_await run_removal(redis, claim);
  }
}

std::vector<std::pair<std::string, std::string>> TransactionCatalog::new_counters() const {
  std::vector<std::pair<std::string, std::string>> counters;
  const sql::CatalogSnapshot& now = state_.draft->catalog();
  for (const sql::Oid oid : state_.draft->touched_tables()) {
    const TablePtr table = now.find_table(oid);
    if (!table || !is_new_place(table->prefix)) continue;
    counters.emplace_back(table->prefix, sql::TableKeys(*table).row_counter());
    for (const sql::Oid owned : now.sequences_of(oid)) {
      const std::string& key = now.sequences.at(owned).key;
      if (key.starts_with(table->prefix + ":")) counters.emplace_back(table->prefix, key);
    }
  }
  for (const sql::Oid oid : state_.draft->touched_sequences()) {
    const sql::SequenceDef* sequence = now.sequences.get(oid);
    if (sequence == nullptr) continue;
    const std::string prefix = sequence->key.substr(0, sequence->key.rfind(':'));
    const sql::SequenceDef* committed = base().sequences.get(oid);
    const bool is_new = committed == nullptr || committed->key != sequence->key;
    if (is_new && is_new_place(prefix)) counters.emplace_back(prefix, sequence->key);
  }
  return counters;
}

asio::awaitable<std::reference_wrapper<TransactionCatalog>> transaction_catalog(DdlContext& context) {
  Transaction& transaction = *context.session.transaction;
  if (transaction.catalog() == nullptr) {
    LoadedCatalog base = co_await load_catalog(context.redis);
    transaction.set_catalog(std::make_unique<TransactionCatalog>(std::move(base), context.session));
  }
  co_return *transaction.catalog();
}

asio::awaitable<bool> follow_definitions_of_others(RedisClient& redis, Transaction& transaction) {
  TransactionCatalog& catalog = *transaction.catalog();
  CommandBatch batch;
  batch.add("GET", sql::home_key(sql::kVersionKey));
  const RepliesPtr replies = co_await redis.execute(std::move(batch));
  replies->or_throw();
  if (replies->text(0).value_or("") == catalog.base().version) co_return false;
  LoadedCatalog now = co_await load_catalog(redis);
  // Others wait before they redefine a table whose rows it has changed, unless it has only added to them (increments.h).
  std::set<sql::Oid> relied_on = transaction.changed_tables();
  for (const sql::Oid oid : transaction.changed_tables()) {
    const TablePtr table = catalog.base().find_table(oid);
    if (!table) continue;
    relied_on.insert(table->referencing.begin(), table->referencing.end());
    for (const sql::ForeignKeyDef& key : table->foreign_keys) relied_on.insert(key.referenced);
  }
  if (!catalog.rebase(std::move(now), relied_on)) throw serialization_failure("change of definitions");
  co_return true;
}

asio::awaitable<void> claim_place(RedisClient& redis, Transaction& transaction, TablePtr table) {
  const std::string owner = transaction.locks().process();
  while (true) {
    std::string process = owner;
    if (co_await transaction.catalog()->claim(redis, table, std::move(process))) co_return;
    co_await follow_definitions_of_others(redis, transaction);
  }
}

asio::awaitable<LoadedCatalog> load_definitions(DdlContext& context) {
  if (!context.session.transaction) co_return co_await load_committed(context);
  TransactionCatalog& catalog = co_await transaction_catalog(context);
  context.session.known_types->types = catalog.snapshot()->user_types;
  co_return catalog.view();
}

asio::awaitable<LoadedCatalog> load_committed(DdlContext& context) {
  LoadedCatalog loaded = co_await load_catalog(context.redis);
  const Transaction* transaction = context.session.transaction.get();
  const bool has_own_types = transaction != nullptr && transaction->catalog() != nullptr;
  if (!has_own_types) context.session.known_types->types = loaded.snapshot->user_types;
  co_return loaded;
}

}  // namespace redquel::executor
