#include "executor/storage/foreign_key_checks.h"

#include <algorithm>

#include "executor/redis/redis_error.h"
#include "executor/redis/script.h"

namespace redquel::executor {

using sql::SqlError;
using Action = sql::ForeignKeyDef::Action;

namespace {

std::string id_of(const ForeignKey& key, const std::string& place) { return std::to_string(key.definition().oid) + ":" + place; }

std::vector<sql::Datum> copy_of(ForeignKey::Row row) { return {row.begin(), row.end()}; }

}  // namespace

ForeignKeyChecks::ForeignKeyChecks(sql::CatalogPtr catalog, IsDeferred is_deferred)
    : catalog_(std::move(catalog)), is_deferred_(std::move(is_deferred)) {}

const ForeignKeyChecks::TableKeys& ForeignKeyChecks::keys_of(const TablePtr& table) {
  const auto [found, is_new] = tables_.try_emplace(table->oid);
  if (is_new) found->second = {foreign_keys_of(*catalog_, table), foreign_keys_to(*catalog_, table)};
  return found->second;
}

bool ForeignKeyChecks::is_deferred(const ForeignKey& key) const { return is_deferred_ && is_deferred_(key.definition()); }

void ForeignKeyChecks::add(const TablePtr& table, std::size_t change, Row before, Row after, bool may_give_way) {
  if (!table->has_foreign_keys()) return;
  const TableKeys& keys = keys_of(table);
  for (const ForeignKeyPtr& key : keys.own) need(*key, change, before, after, may_give_way);
  for (const ForeignKeyPtr& key : keys.to_it) release(*key, change, before, after);
}

void ForeignKeyChecks::need(const ForeignKey& key, std::size_t change, Row before, Row after, bool may_give_way) {
  std::optional<std::string> old_set, new_set;
  if (!before.empty()) old_set = key.own_set(before);
  if (!after.empty()) new_set = key.own_set(after);
  if (old_set) {
    const std::string member = member_of(*key.referencing(), before);
    if (old_set != new_set || member != member_of(*key.referencing(), after)) leaving_[*old_set].insert(member);
  }
  if (after.empty()) return;
  if (!new_set) {
    const bool is_mixed = key.definition().match_full && key.nulls_of(after) == ForeignKey::Nulls::kSome;
    const bool was_mixed = !before.empty() && key.nulls_of(before) == ForeignKey::Nulls::kSome;
    if (is_mixed && !was_mixed) needs_.push_back({std::nullopt, {}, &key, change, copy_of(after)});
    return;
  }
  if (old_set == new_set) return;
  std::optional<ReferencedPlace> place = key.place_of(after);
  if (!place) {
    needs_.push_back({std::nullopt, {}, &key, change, copy_of(after)});
  } else if (may_give_way || needed_.insert(id_of(key, place->id())).second) {
    needs_.push_back({std::move(place), key.lock_field(after), &key, change, copy_of(after)});
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
  }
  if (new_place) provided_[new_id].push_back(change);
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
  const auto is_provided = [&](const std::string& place) {
    const auto found = provided_.find(place);
    return found != provided_.end() && std::ranges::any_of(found->second, is_active);
  };
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
    if (const auto found = releases_.find(id_of(key, id)); found != releases_.end() && is_active(found->second.change)) {
      const Release& release = found->second;
      violate(release.change == need.change ? key.still_referenced(release.row, settings) : key.missing(need.row, settings));
      continue;
    }
    demands.locks.push_back({key.referenced()->oid, LockMode::kKeyShare, need.lock});
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
    if (!exists) demands.parents.push_back({*need.place, &key, &need.row});
  }
  for (const std::string& id : release_order_) {
    const Release& release = releases_.at(id);
    if (!is_active(release.change)) continue;
    const ForeignKey& key = *release.key;
    rely(key.referencing());
    const std::optional<ReferencedPlace> place = key.own_place(release.row);
    if (is_provided(place->id())) continue;
    if (place->field) demands.locks.push_back({key.referenced()->oid, LockMode::kUpdate, key.own_lock_field(release.row)});
    if (is_deferred(key)) continue;
    const std::optional<std::string> set = key.set_of_references(release.row);
    if (!set) continue;
    ForeignKeyDemands::Children children{*set, {}, &key, &release.row, release.is_update};
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

// The same looks as the write script's, at rows that are there already.
const Script& verify_script() {
  static const Script kScript("verify_foreign_keys", R"lua(
local call, p, k = redis.call, 1, 2
local function number()
  p = p + 1
  return tonumber(ARGV[p - 1])
end
for _ = 1, number() do
  if (call('HGET', KEYS[1], ARGV[p]) or '') ~= ARGV[p + 1] then return {'stale'} end
  p = p + 2
end
for i = 1, number() do
  local exists
  if ARGV[p] == 'row' then exists = call('EXISTS', KEYS[k]) else exists = call('HEXISTS', KEYS[k], ARGV[p + 1]) end
  if exists == 0 then return {'parent', i - 1} end
  p, k = p + 2, k + 1
end
for i = 1, number() do
  if call('SCARD', KEYS[k]) > 0 then return {'children', i - 1} end
  k = k + 1
end
return {'verified'}
)lua");
  return kScript;
}

/// Looks of one call: about 5 ms of Redis.
constexpr std::size_t kLooksPerCall = 5000;

}  // namespace

asio::awaitable<bool> ForeignKeyChecks::verify_written(RedisClient& redis, sql::SessionSettings settings,
                                                       ExecutionCounters* counters) const {
  const ForeignKeyDemands demands = this->demands(nullptr, [](std::size_t) { return true; }, settings);
  if (demands.violation) throw SqlError(*demands.violation);
  std::size_t parent = 0, children = 0;
  while (parent < demands.parents.size() || children < demands.children.size()) {
    std::vector<std::string> keys{"redquel:versions"}, arguments;
    // A table that this unit has for itself is known under another version.
    std::vector<TablePtr> relied;
    for (const TablePtr& table : demands.tables) {
      if (!tables_.contains(table->oid)) relied.push_back(table);
    }
    arguments.push_back(std::to_string(relied.size()));
    for (const TablePtr& table : relied) arguments.push_back(std::to_string(table->oid)), arguments.push_back(table->version);
    const std::size_t first_parent = parent, first_children = children;
    const std::size_t parents = std::min(kLooksPerCall, demands.parents.size() - parent);
    arguments.push_back(std::to_string(parents));
    for (; parent < first_parent + parents; ++parent) {
      const ReferencedPlace& place = demands.parents[parent].place;
      keys.push_back(place.key);
      arguments.push_back(place.field ? "value" : "row");
      arguments.push_back(place.field.value_or(""));
    }
    const std::size_t sets = std::min(kLooksPerCall - parents, demands.children.size() - children);
    arguments.push_back(std::to_string(sets));
    for (; children < first_children + sets; ++children) keys.push_back(demands.children[children].set);
    const std::vector<std::string_view> key_views(keys.begin(), keys.end()), argument_views(arguments.begin(), arguments.end());
    RepliesPtr replies = co_await run_script(redis, verify_script(), key_views, argument_views, counters);
    replies->or_throw();
    const std::span<const Reply> answer = replies->array(0);
    if (answer.empty() || !answer[0].is_text()) throw unexpected_reply("EVALSHA", "a result of the foreign key script");
    if (answer[0].text == "stale") co_return false;
    if (answer[0].text == "verified") continue;
    const auto index = static_cast<std::size_t>(answer[1].integer);
    if (answer[0].text == "parent") {
      const ForeignKeyDemands::Parent& missing = demands.parents[first_parent + index];
      throw missing.key->missing(*missing.row, settings);
    }
    const ForeignKeyDemands::Children& left = demands.children[first_children + index];
    throw left.key->still_referenced(*left.row, settings);
  }
  co_return true;
}

}  // namespace redquel::executor
