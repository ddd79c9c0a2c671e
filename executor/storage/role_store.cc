#include "executor/storage/role_store.h"

#include <charconv>

#include "executor/redis/redis_error.h"
#include "executor/runtime/random_version.h"
#include "executor/scripts/scripts.h"
#include "executor/storage/version_copies.h"
#include "sql/catalog/buckets.h"
#include "sql/catalog/role_json.h"
#include "sql/catalog/role_scope.h"
#include "sql/catalog/stored_keys.h"

namespace redquel::executor {

HomeDatabase& home_database() {
  thread_local HomeDatabase home;
  return home;
}

asio::awaitable<void> refresh_known_roles() {
  RedisClient* home = home_database().client;
  if (home == nullptr) co_return;
  CommandBatch batch;
  batch.add("HGET", sql::home_key(sql::kRolesKey), sql::kRolesVersionField);
  const RepliesPtr replies = co_await home->execute(std::move(batch));
  const std::string_view version = replies->text(0).value_or("");
  if (!version.empty() && version == sql::committed_roles()->version) co_return;
  sql::set_known_roles(co_await load_roles(*home));
}

void append_role_fetch(CommandBatch& batch) { batch.add("HGETALL", sql::home_key(sql::kRolesKey)); }

sql::RoleSetPtr decode_role_set(const Replies& replies, std::size_t index) {
  std::vector<std::pair<std::string_view, std::string_view>> fields;
  const std::span<const Reply> texts = replies.array(index);
  for (std::size_t i = 0; i + 1 < texts.size(); i += 2) {
    if (texts[i].is_text() && texts[i + 1].is_text()) fields.emplace_back(texts[i].text, texts[i + 1].text);
  }
  if (fields.empty()) return sql::built_in_roles();
  return std::make_shared<const sql::RoleSet>(sql::decode_roles(fields));
}

asio::awaitable<bool> create_first_role(RedisClient& home) {
  const std::vector<std::string> keys{sql::home_key(sql::kRolesKey), sql::home_key(sql::kMockNonceKey), sql::home_key(sql::kVersionKey)};
  const std::vector<std::string> arguments{sql::role_field(sql::kPostgresRole), sql::encode(*sql::built_in_roles()->find(sql::kPostgresRole)),
                                           random_version() + random_version(), random_version()};
  const RepliesPtr replies = co_await run_script(home, kCreateFirstRoleScript, keys, arguments);
  co_return replies->integer(0) == 1;
}

namespace {

/// Fields of redquel:roles.
struct FieldChanges {
  std::vector<std::pair<std::string, std::string>> set;
  std::vector<std::string> removed;
};

/// Adds what differs between two maps.
template <typename Map, typename Name>
void add_differences(const Map& before, const Map& after, Name name, FieldChanges& changes) {
  for (const auto& [key, value] : after) {
    const auto found = before.find(key);
    if (found == before.end() || !(found->second == value)) changes.set.emplace_back(name(key), sql::encode(value));
  }
  for (const auto& [key, value] : before) {
    if (!after.contains(key)) changes.removed.push_back(name(key));
  }
}

FieldChanges field_changes(const sql::RoleSet& before, const sql::RoleSet& after) {
  FieldChanges changes;
  add_differences(before.roles(), after.roles(), [](sql::Oid oid) { return sql::role_field(oid); }, changes);
  add_differences(before.memberships(), after.memberships(), [](const auto& key) { return sql::membership_field(key.first, key.second); }, changes);
  add_differences(before.settings(), after.settings(), [](const auto& key) { return sql::setting_field(key.first, key.second); }, changes);
  add_differences(before.databases(), after.databases(), [](const std::string& name) { return sql::database_field(name); }, changes);
  if (after.next_oid != before.next_oid) changes.set.emplace_back(sql::kNextRoleField, std::to_string(after.next_oid));
  return changes;
}

/// Appends a list with its length in front; `add` appends the words of one entry.
template <typename Range, typename Add>
void append_list(std::vector<std::string>& arguments, const Range& entries, Add add) {
  const std::size_t count_at = arguments.size();
  arguments.emplace_back();
  for (const auto& entry : entries) add(entry);
  arguments[count_at] = std::to_string(arguments.size() - count_at - 1);
}

}  // namespace

bool RoleChange::empty() const {
  const FieldChanges changes = field_changes(*committed, *roles);
  return changes.set.empty() && changes.removed.empty() && verifiers.empty();
}

RoleCommit encode_commit(const RoleChange& change) {
  RoleCommit commit;
  commit.keys = {sql::home_key(sql::kRolesKey), sql::home_key(sql::kVerifiersKey), sql::home_key(sql::kDatabasesKey)};
  std::vector<std::string>& arguments = commit.arguments;
  arguments = {change.committed->version, random_version(), std::to_string(home_database().number)};
  const auto add_pair = [&](const auto& pair) {
    arguments.push_back(pair.first);
    arguments.push_back(pair.second);
  };
  append_list(arguments, change.unchanged_databases, [&](const auto& pair) {
    arguments.push_back(std::to_string(pair.first));
    arguments.push_back(pair.second);
  });
  const FieldChanges fields = field_changes(*change.committed, *change.roles);
  append_list(arguments, fields.set, add_pair);
  append_list(arguments, fields.removed, [&](const std::string& field) { arguments.push_back(field); });
  append_list(arguments, change.verifiers, [&](const auto& pair) {
    if (!pair.second.empty()) add_pair(std::pair(std::to_string(pair.first), pair.second));
  });
  append_list(arguments, change.verifiers, [&](const auto& pair) {
    if (pair.second.empty()) arguments.push_back(std::to_string(pair.first));
  });
  return commit;
}

void append_change(DefinitionParts& parts, const RoleChange& change) {
  const std::string roles = sql::home_key(sql::kRolesKey), verifiers = sql::home_key(sql::kVerifiersKey), field(sql::kRolesVersionField);
  parts.expect_field(roles, field, change.committed->version);
  for (const auto& [database, version] : change.unchanged_databases) parts.expect_value(sql::home_key(sql::kVersionKey), version);
  const FieldChanges fields = field_changes(*change.committed, *change.roles);
  std::vector<std::string> set{field, random_version()};
  for (const auto& [name, value] : fields.set) set.insert(set.end(), {name, value});
  parts.run_pieces("HSET", roles, set);
  parts.run_pieces("HDEL", roles, {fields.removed.begin(), fields.removed.end()});
  std::vector<std::string> new_verifiers, old_verifiers;
  for (const auto& [role, verifier] : change.verifiers) {
    if (verifier.empty()) old_verifiers.push_back(std::to_string(role));
    else new_verifiers.insert(new_verifiers.end(), {std::to_string(role), verifier});
  }
  parts.run_pieces("HSET", verifiers, new_verifiers);
  parts.run_pieces("HDEL", verifiers, old_verifiers);
}

asio::awaitable<bool> commit_roles(RedisClient& home, const RoleChange& change) {
  RoleCommit commit = encode_commit(change);
  commit.keys.push_back(sql::home_key(sql::kVersionKey));
  const RepliesPtr replies = co_await run_script(home, kCommitRolesScript, commit.keys, commit.arguments);
  if (replies->text(0).value_or("") != "committed") co_return false;
  co_await publish_version(home);
  co_return true;
}

asio::awaitable<sql::RoleSetPtr> load_roles(RedisClient& home) {
  CommandBatch batch;
  append_role_fetch(batch);
  const RepliesPtr replies = co_await home.execute(std::move(batch));
  co_return decode_role_set(*replies, 0);
}

asio::awaitable<std::map<sql::Oid, std::string>> load_verifiers(RedisClient& home) {
  CommandBatch batch;
  batch.add("HGETALL", sql::home_key(sql::kVerifiersKey));
  const RepliesPtr replies = co_await home.execute(std::move(batch));
  const std::span<const Reply> texts = replies->array(0);
  std::map<sql::Oid, std::string> verifiers;
  for (std::size_t i = 0; i + 1 < texts.size(); i += 2) {
    sql::Oid role = 0;
    std::from_chars(texts[i].text.data(), texts[i].text.data() + texts[i].text.size(), role);
    if (role != 0 && texts[i + 1].is_text()) verifiers.emplace(role, texts[i + 1].text);
  }
  co_return verifiers;
}

asio::awaitable<std::string> load_verifier(RedisClient& home, sql::Oid role) {
  CommandBatch batch;
  batch.add("HGET", sql::home_key(sql::kVerifiersKey), std::to_string(role));
  const RepliesPtr replies = co_await home.execute(std::move(batch));
  co_return std::string(replies->text(0).value_or(""));
}

}  // namespace redquel::executor
