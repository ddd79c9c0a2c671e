#include "executor/storage/foreign_key_checks.h"

#include <algorithm>

#include "executor/redis/redis_error.h"
#include "executor/scripts/scripts.h"
#include "executor/storage/row_record.h"
#include "sql/catalog/buckets.h"
#include "sql/catalog/stored_keys.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

using sql::SqlError;
using Action = sql::ForeignKeyDef::Action;

namespace {

/// Each part of a referencing table in several buckets has releases of its own.
std::string id_of(const ForeignKey& key, const std::string& place) {
  return std::to_string(key.definition().oid) + ":" + std::to_string(key.referencing()->oid) + ":" + place;
}

std::string constraint_at(const ForeignKey& key, const std::string& place) { return std::to_string(key.definition().oid) + ":" + place; }

std::vector<sql::Datum> copy_of(ForeignKey::Row row) { return {row.begin(), row.end()}; }

/// Returns true if the row, of a table that refers to itself, leaves the place itself.
bool gives_up(const ForeignKey& key, const std::string& place, ForeignKey::Row before, ForeignKey::Row after) {
  if (!key.refers_to_itself() || before.empty()) return false;
  const std::optional<ReferencedPlace> old_place = key.own_place(before), new_place = key.own_place(after);
  return old_place && old_place->id() == place && !(new_place && new_place->id() == place);
}

/// The records of a journaled unit that are kept in memory.
constexpr std::size_t kNotedInMemory = 5000;

}  // namespace

void ForeignKeyDemands::keep_part(int bucket, bool references) {
  const auto is_there = [bucket](const sql::TableDef& table) { return PlacedTable(table).bucket() == bucket; };
  std::erase_if(parents, [&](const Parent& parent) { return references || !is_there(*parent.key->referenced()); });
  std::erase_if(children, [&](const Children& some) { return some.key->spans_buckets() != references || !is_there(*some.key->referencing()); });
  std::erase_if(tables, [&](const ForeignKey::TablePtr& table) { return !is_there(*table); });
  std::erase_if(locks, [&](const Lock& lock) { return references || lock.table.bucket() != bucket; });
}

ForeignKeyChecks::ForeignKeyChecks(sql::CatalogPtr catalog, sql::SessionSettings settings, IsDeferred is_deferred)
    : catalog_(std::move(catalog)), settings_(std::move(settings)), is_deferred_(std::move(is_deferred)) {}

const ForeignKeyChecks::TableKeys& ForeignKeyChecks::keys_of(const TablePtr& table) {
  const auto [found, is_new] = tables_.try_emplace(table->oid);
  if (is_new)
    found->second = {foreign_keys_by_part(*catalog_, table, settings_), foreign_keys_to(*catalog_, table, settings_)};
  return found->second;
}

bool ForeignKeyChecks::is_in_scope(const ForeignKey& key) const {
  return scope_ == ForeignKeyScope::kAll || key.spans_buckets() == (scope_ == ForeignKeyScope::kOverBuckets);
}

bool ForeignKeyChecks::is_deferred(const ForeignKey& key) const { return is_deferred_ && is_deferred_(key.definition()); }

void ForeignKeyChecks::add(const TablePtr& table, std::size_t change, Row before, Row after, bool may_give_way) {
  if (!table->has_foreign_keys()) return;
  const TableKeys& keys = keys_of(table);
  for (const ForeignKeyPtr& key : keys.own) {
    if (is_in_scope(*key)) need(*key, change, before, after, may_give_way);
  }
  for (const ForeignKeyPtr& key : keys.to_it) {
    if (is_in_scope(*key)) release(*key, change, before, after);
  }
  if (is_written_ && needs_.size() + releases_.size() >= kNotedInMemory) put_aside_written();
}

void ForeignKeyChecks::need(const ForeignKey& key, std::size_t change, Row before, Row after, bool may_give_way) {
  std::optional<std::string> old_set, new_set;
  if (!before.empty()) old_set = key.own_set(before);
  if (!after.empty()) new_set = key.own_set(after);
  // A row that moves to another part may refer to the value that it referred to before.
  const bool refers_alike = old_set && new_set && sql::without_tag(*old_set) == sql::without_tag(*new_set);
  if (old_set && !is_written_) {
    const std::string member = member_of(*key.referencing(), before);
    const bool has_another_key = refers_alike && (old_set != new_set || member != member_of(*key.referencing(), after));
    if (!refers_alike || has_another_key) leaving_[*old_set].insert(member);
    if (has_another_key) staying_[*old_set].push_back(change);
  }
  if (after.empty()) return;
  if (!new_set) {
    const bool is_mixed = key.definition().match_full && key.nulls_of(after) == ForeignKey::Nulls::kSome;
    const bool was_mixed = !before.empty() && key.nulls_of(before) == ForeignKey::Nulls::kSome;
    if (is_mixed && !was_mixed && key.is_of_first_part()) needs_.push_back({std::nullopt, {}, &key, change, copy_of(after)});
    return;
  }
  if (refers_alike || !key.concerns(after)) return;
  std::optional<ReferencedPlace> place = key.place_of(after);
  if (!place) {
    needs_.push_back({std::nullopt, {}, &key, change, copy_of(after)});
  } else if (is_written_ && gives_up(key, place->id(), before, after)) {
    return;  // what it gives up is looked at, too
  } else if (may_give_way || needed_.insert(id_of(key, place->id())).second) {
    needs_.push_back({std::move(place), key.lock_field(after), &key, change, copy_of(after), may_give_way});
  }
}

void ForeignKeyChecks::release(const ForeignKey& key, std::size_t change, Row before, Row after) {
  std::optional<ReferencedPlace> old_place, new_place;
  if (!before.empty()) old_place = key.own_place(before);
  if (!after.empty()) new_place = key.own_place(after);
  const std::string old_id = old_place ? old_place->id() : "", new_id = new_place ? new_place->id() : "";
  if (old_id == new_id) return;
  if (old_place && releases_.try_emplace(id_of(key, old_id), Release{change, &key, copy_of(before), !after.empty()}).second) {
    release_order_.push_back(id_of(key, old_id));
    given_up_.try_emplace(constraint_at(key, old_id), id_of(key, old_id));
  }
  if (new_place && !is_written_) provided_[new_id].push_back(change);
}

ForeignKeyDemands ForeignKeyChecks::demands(const RowBuffer* buffer, const IsActive& is_active,
                                            const sql::SessionSettings& settings) const {
  ForeignKeyDemands demands;
  std::set<sql::Oid> relied;
  const auto rely = [&](const TablePtr& table) {
    if (relied.insert(table->oid).second) demands.tables.push_back(table);
  };
  const auto violate = [&](SqlError error) {
    if (!demands.violation) demands.violation = std::move(error);
  };
  const auto any_active = [&](const auto& changes, const std::string& id) {
    const auto found = changes.find(id);
    return found != changes.end() && std::ranges::any_of(found->second, is_active);
  };
  const auto is_provided = [&](const std::string& place) { return any_active(provided_, place); };
  for (const Need& need : needs_) {
    if (!is_active(need.change)) continue;
    const ForeignKey& key = *need.key;
    rely(key.referenced());
    if (is_deferred(key)) continue;
    if (!need.place) {
      violate(key.missing(need.row, settings));
      continue;
    }
    const std::string id = need.place->id();
    if (is_provided(id)) continue;
    const auto given_up = given_up_.find(constraint_at(key, id));
    if (given_up != given_up_.end() && is_active(releases_.at(given_up->second).change)) {
      const Release& release = releases_.at(given_up->second);
      violate(release.change == need.change ? key.still_referenced(release.row, settings) : key.missing(need.row, settings));
      continue;
    }
    demands.locks.push_back({*key.referenced(), LockMode::kKeyShare, need.lock});
    std::optional<bool> exists;
    if (buffer != nullptr) {
      if (need.place->field) {
        if (!buffer->owners(need.place->key, *need.place->field).empty()) {
          exists = true;
        } else if (buffer->former_owner(need.place->key, *need.place->field)) {
          exists = false;
        }
      } else if (const std::optional<BufferedRow> row = buffer->find(key.referenced()->oid, std::string_view(need.lock).substr(1))) {
        exists = row->current != nullptr;
      }
    }
    if (exists && !*exists) violate(key.missing(need.row, settings));
    if (!exists) demands.parents.push_back({*need.place, &key, &need.row, need.change});
  }
  for (const std::string& id : release_order_) {
    const Release& release = releases_.at(id);
    if (!is_active(release.change)) continue;
    const ForeignKey& key = *release.key;
    rely(key.referencing());
    const std::optional<ReferencedPlace> place = key.own_place(release.row);
    if (is_provided(place->id())) continue;
    if (place->field) demands.locks.push_back({key.own_lock_table(release.row), LockMode::kUpdate, key.own_lock_field(release.row)});
    if (is_deferred(release)) continue;
    const std::optional<std::string> set = key.set_of_references(release.row);
    if (!set) continue;
    if (any_active(staying_, *set)) violate(key.still_referenced(release.row, settings));
    ForeignKeyDemands::Children children{*set, {}, &key, &release.row, release.is_update, release.change};
    const auto leaving = leaving_.find(*set);
    if (leaving != leaving_.end()) children.gone.assign(leaving->second.begin(), leaving->second.end());
    if (buffer != nullptr) {
      if (const RowBuffer::References* changed = buffer->references(*set)) {
        for (const std::string& member : changed->arrived) {
          const bool goes = leaving != leaving_.end() && leaving->second.contains(member);
          if (!goes) violate(key.still_referenced(release.row, settings));
        }
        for (const std::string& member : changed->left) {
          if (leaving == leaving_.end() || !leaving->second.contains(member)) children.gone.push_back(member);
        }
      }
    }
    demands.children.push_back(std::move(children));
  }
  return demands;
}

namespace {

/// Looks of one call: about 5 ms of Redis.
constexpr std::size_t kLooksPerCall = 5000;

}  // namespace

void ForeignKeyChecks::expect_written(std::set<sql::Oid> exclusive) {
  is_written_ = true;
  exclusive_ = std::move(exclusive);
  provided_.clear();
  leaving_.clear();
  staying_.clear();
}

const ForeignKey& ForeignKeyChecks::known_key(sql::Oid oid, sql::Oid referencing, sql::Oid referenced) const {
  for (const auto& [table, keys] : tables_) {
    for (const std::vector<ForeignKeyPtr>* some : {&keys.own, &keys.to_it}) {
      for (const ForeignKeyPtr& key : *some) {
        if (key->definition().oid == oid && key->referencing()->oid == referencing && key->referenced()->oid == referenced) return *key;
      }
    }
  }
  throw SqlError(sqlstate::kInternalError, "a foreign key is not known any more");
}

void ForeignKeyChecks::put_aside_written() {
  std::string block;
  const auto put_key = [&](const ForeignKey& key) {
    for (const sql::Oid oid : {key.definition().oid, key.referencing()->oid, key.referenced()->oid}) put_number(block, oid);
  };
  put_number(block, static_cast<std::uint32_t>(needs_.size()));
  for (const Need& need : needs_) {
    put_key(*need.key);
    put_number(block, need.may_give_way ? 1 : 0);
    put_row(block, *need.key->referencing(), need.row);
  }
  put_number(block, static_cast<std::uint32_t>(release_order_.size()));
  for (const std::string& id : release_order_) {
    const Release& release = releases_.at(id);
    put_key(*release.key);
    put_number(block, release.is_update ? 1 : 0);
    put_row(block, *release.key->referenced(), release.row);
  }
  if (!file_) file_ = std::make_shared<SpillFile>();
  written_.push_back(file_->write(block));
  needs_.clear();
  needed_.clear();
  releases_.clear();
  release_order_.clear();
  given_up_.clear();
}

/// In place of what is noted now.
void ForeignKeyChecks::take_up_written(const std::string& block) {
  RecordReader record(block, 0);
  const auto next_key = [&]() -> const ForeignKey& {
    const sql::Oid oid = record.number(), referencing = record.number(), referenced = record.number();
    return known_key(oid, referencing, referenced);
  };
  needs_.clear();
  for (std::uint32_t count = record.number(); count > 0; --count) {
    const ForeignKey& key = next_key();
    const bool may_give_way = record.number() == 1;
    std::vector<sql::Datum> row = *record.row(*key.referencing());
    std::optional<ReferencedPlace> place = key.own_set(row) ? key.place_of(row) : std::nullopt;
    needs_.push_back({std::move(place), {}, &key, 0, std::move(row), may_give_way});
  }
  releases_.clear();
  release_order_.clear();
  given_up_.clear();
  for (std::uint32_t count = record.number(); count > 0; --count) {
    const ForeignKey& key = next_key();
    const bool is_update = record.number() == 1;
    std::vector<sql::Datum> row = *record.row(*key.referenced());
    release_order_.push_back(id_of(key, key.own_place(row)->id()));
    releases_.insert_or_assign(release_order_.back(), Release{0, &key, std::move(row), is_update});
  }
}

/// One call looks at one bucket.
void ForeignKeyChecks::order_by_bucket() {
  if (!sql::uses_cluster()) return;
  std::ranges::stable_sort(needs_, {}, [](const Need& need) { return need.key->referenced()->tag(); });
  std::ranges::stable_sort(release_order_, {}, [this](const std::string& id) { return releases_.at(id).key->referencing()->tag(); });
}

asio::awaitable<bool> ForeignKeyChecks::verify_written(RedisClient& redis, sql::SessionSettings settings, ExecutionCounters* counters) {
  if (!written_.empty()) put_aside_written();
  if (written_.empty()) order_by_bucket();
  if (written_.empty()) co_return co_await verify_noted(redis, settings, counters);
  for (const SpillFile::Block block : written_) {
    const std::shared_ptr<const std::string> bytes = file_->read(block);
    take_up_written(*bytes);
    order_by_bucket();
    if (!co_await verify_noted(redis, settings, counters)) co_return false;
  }
  co_return true;
}

/// ON CONFLICT: returns true if the row is not one of those that refer to its place.
asio::awaitable<bool> ForeignKeyChecks::has_given_way(RedisClient& redis, const Need& need, ExecutionCounters* counters) {
  if (!need.may_give_way) co_return false;
  const std::optional<std::string> set = need.key->own_set(need.row);
  if (!set) co_return false;
  CommandBatch batch;
  const std::string member = member_of(*need.key->referencing(), need.row);
  batch.add("SISMEMBER", *set, need.key->name_in_set(member));
  const RepliesPtr replies = co_await redis.execute(std::move(batch), counters);
  replies->or_throw();
  co_return replies->integer(0) == 0;
}

/// Rows that are referred to over two buckets and are given up: another row must have the place, or none refer to it.
asio::awaitable<void> ForeignKeyChecks::verify_released(RedisClient& redis, const std::vector<const Release*>& releases,
                                                        const sql::SessionSettings& settings, ExecutionCounters* counters) const {
  CommandBatch batch;
  std::vector<const Release*> looked;
  for (const Release* release : releases) {
    const std::optional<std::string> set = release->key->set_of_references(release->row);
    if (!set) continue;
    const ReferencedPlace place = *release->key->own_place(release->row);
    batch.add("SCARD", *set);
    if (place.field) batch.add("HEXISTS", place.key, *place.field);
    else batch.add("EXISTS", place.key);
    looked.push_back(release);
  }
  if (looked.empty()) co_return;
  const RepliesPtr replies = co_await redis.execute(std::move(batch), counters);
  replies->or_throw();
  for (std::size_t index = 0; index < looked.size(); ++index) {
    if (replies->integer(2 * index) > 0 && replies->integer(2 * index + 1) == 0) throw looked[index]->key->still_referenced(looked[index]->row, settings);
  }
}

asio::awaitable<bool> ForeignKeyChecks::verify_noted(RedisClient& redis, const sql::SessionSettings& settings, ExecutionCounters* counters) const {
  std::size_t first_need = 0, first_release = 0;
  while (first_need < needs_.size() || first_release < release_order_.size()) {
    // A table that this unit has for itself is known under another version.
    std::map<sql::Oid, std::string> relied;
    std::optional<std::string_view> tag;  // of the bucket that this call looks at
    // Returns false for a table of another bucket, which another call looks at.
    const auto rely = [&](const TablePtr& table) {
      if (tag && *tag != table->tag()) return false;
      tag = table->tag();
      if (!tables_.contains(table->oid) && !exclusive_.contains(table->oid)) relied.emplace(table->oid, table->version);
      return true;
    };
    std::vector<std::string> places, looks;  // keys and arguments
    const auto look = [&](const ReferencedPlace& place) {
      places.push_back(place.key);
      looks.insert(looks.end(), {place.field ? "value" : "row", place.field.value_or("")});
    };
    std::vector<const Need*> needs;
    for (; first_need < needs_.size() && needs.size() < kLooksPerCall; ++first_need) {
      const Need& need = needs_[first_need];
      if (!rely(need.key->referenced())) break;
      if (is_deferred(*need.key)) continue;
      if (!need.place) throw need.key->missing(need.row, settings);
      look(*need.place);
      needs.push_back(&need);
    }
    std::vector<const Release*> releases;
    std::vector<const Release*> over_buckets;
    std::vector<std::string> sets;
    for (; first_release < release_order_.size() && needs.size() + releases.size() < kLooksPerCall; ++first_release) {
      const Release& release = releases_.at(release_order_[first_release]);
      if (release.key->spans_buckets()) {
        if (!is_deferred(release)) over_buckets.push_back(&release);
        continue;
      }
      if (!rely(release.key->referencing())) break;
      if (is_deferred(release)) continue;
      const std::optional<std::string> set = release.key->set_of_references(release.row);
      if (!set) continue;
      look(*release.key->own_place(release.row));
      sets.push_back(*set);
      releases.push_back(&release);
    }
    if (!over_buckets.empty()) co_await verify_released(redis, over_buckets, settings, counters);
    if (!tag) continue;
    std::vector<std::string> keys{own_key(tag.value_or(std::string_view()), sql::kVersionsKey)}, arguments{std::to_string(relied.size())};
    for (const auto& [oid, version] : relied) arguments.insert(arguments.end(), {std::to_string(oid), version});
    keys.insert(keys.end(), places.begin(), places.end());
    keys.insert(keys.end(), sets.begin(), sets.end());
    arguments.push_back(std::to_string(needs.size()));
    arguments.push_back(std::to_string(releases.size()));
    arguments.insert(arguments.end(), looks.begin(), looks.end());
    const std::vector<std::string_view> key_views(keys.begin(), keys.end()), argument_views(arguments.begin(), arguments.end());
    RepliesPtr replies = co_await run_script(redis, kVerifyForeignKeysScript, key_views, argument_views, counters);
    replies->or_throw();
    const std::span<const Reply> answer = replies->array(0);
    if (answer.empty() || !answer[0].is_text()) throw unexpected_reply("EVALSHA", "a result of the foreign key script");
    if (answer[0].text == "stale") co_return false;
    for (std::size_t number = 1; number < answer.size(); ++number) {
      const auto index = static_cast<std::size_t>(answer[number].integer);
      if (index >= needs.size()) {
        const Release& release = *releases[index - needs.size()];
        throw release.key->still_referenced(release.row, settings);
      }
      const Need& need = *needs[index];
      if (!co_await has_given_way(redis, need, counters)) throw need.key->missing(need.row, settings);
    }
  }
  co_return true;
}

}  // namespace redquel::executor
