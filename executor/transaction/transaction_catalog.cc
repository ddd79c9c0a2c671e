#include "executor/transaction/transaction_catalog.h"

#include <algorithm>

#include "executor/storage/random_version.h"
#include "executor/transaction/transaction.h"
#include "sql/catalog/table_keys.h"

namespace redquel::executor {

namespace {

sql::CatalogPtr snapshot_of(const CatalogDraft& draft, const std::string& base_version) {
  auto snapshot = std::make_shared<sql::CatalogSnapshot>(draft.catalog());
  snapshot->version = base_version + "/" + random_version();
  return snapshot;
}

bool has_place(const sql::CatalogSnapshot& catalog, const std::string& prefix) {
  return std::ranges::any_of(catalog.tables, [&](const auto& table) { return table.second->prefix == prefix; });
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

TransactionCatalog::TransactionCatalog(LoadedCatalog base, const SessionState& session) : base_(std::move(base)) {
  state_.draft = std::make_shared<const CatalogDraft>(base_, session);
  state_.snapshot = snapshot_of(*state_.draft, base_.snapshot->version);
  initial_ = state_;
}

LoadedCatalog TransactionCatalog::view() const {
  LoadedCatalog view = base_;
  view.snapshot = state_.snapshot;
  return view;
}

std::vector<sql::SqlError> TransactionCatalog::change(const MakeDraft& make) {
  auto draft = std::make_shared<CatalogDraft>(*state_.draft);
  make(*draft);
  std::vector<sql::SqlError> notices = draft->take_notices();
  state_.snapshot = snapshot_of(*draft, base_.snapshot->version);
  state_.draft = std::move(draft);
  return notices;
}

CatalogChange TransactionCatalog::take_change() const {
  CatalogDraft draft = *state_.draft;
  CatalogChange change = draft.take_change();
  // A structure whose index was dropped and made again keeps its keys.
  for (Removal& removal : change.removals) {
    if (removal.whole) continue;
    for (const auto& [oid, table] : draft.catalog().tables) {
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

asio::awaitable<bool> TransactionCatalog::claim(RedisClient& redis, std::string prefix, std::string owner) {
  if (std::ranges::find(claims_, prefix, &Removal::prefix) != claims_.end()) co_return true;
  Removal removal{random_version(), prefix, true, {}, std::move(owner)};
  CatalogChange change;
  change.reserved_prefixes.emplace_back(std::move(prefix), "transaction");
  change.removals.push_back(removal);
  const std::optional<std::string> version = co_await commit_catalog(redis, *base_.snapshot, std::move(change));
  if (!version) co_return false;
  auto base = std::make_shared<sql::CatalogSnapshot>(*base_.snapshot);
  base->version = *version;
  base_.snapshot = std::move(base);
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
  for (const auto& [oid, table] : now.tables) {
    if (base_.prefixes.contains(table->prefix)) continue;
    counters.emplace_back(table->prefix, sql::TableKeys(*table).row_counter());
    for (const auto& [sequence_oid, sequence] : now.sequences) {
      if (sequence.owner_table == oid && sequence.key.starts_with(table->prefix + ":")) {
        counters.emplace_back(table->prefix, sequence.key);
      }
    }
  }
  for (const auto& [oid, sequence] : now.sequences) {
    const std::string prefix = sequence.key.substr(0, sequence.key.rfind(':'));
    if (!base().sequences.contains(oid) && !base_.prefixes.contains(prefix)) counters.emplace_back(prefix, sequence.key);
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

asio::awaitable<LoadedCatalog> load_definitions(DdlContext& context) {
  if (!context.session.transaction) co_return co_await load_catalog(context.redis);
  TransactionCatalog& catalog = co_await transaction_catalog(context);
  co_return catalog.view();
}

}  // namespace redquel::executor
