#include "executor/storage/role_store.h"

#include <charconv>

#include "executor/redis/redis_error.h"
#include "executor/runtime/random_version.h"
#include "executor/scripts/scripts.h"
#include "sql/catalog/role_json.h"
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
  batch.add("HGET", sql::kRolesKey, sql::kRolesVersionField);
  const RepliesPtr replies = co_await home->execute(std::move(batch));
  const std::string_view version = replies->text(0).value_or("");
  if (!version.empty() && version == sql::known_roles()->version) co_return;
  sql::set_known_roles(co_await load_roles(*home));
}

void append_role_fetch(CommandBatch& batch) { batch.add("HGETALL", sql::kRolesKey); }

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
  const std::vector<std::string> keys{std::string(sql::kRolesKey), std::string(sql::kMockNonceKey), std::string(sql::kVersionKey)};
  const std::vector<std::string> arguments{sql::role_field(sql::kPostgresRole), sql::encode(*sql::built_in_roles()->find(sql::kPostgresRole)),
                                           random_version() + random_version(), random_version()};
  const RepliesPtr replies = co_await run_script(home, kCreateFirstRoleScript, keys, arguments);
  co_return replies->integer(0) == 1;
}

asio::awaitable<bool> commit_roles(RedisClient& home, const sql::RoleSet& base, RoleChange change) {
  std::vector<std::string> arguments{base.version, random_version(), std::to_string(home_database().number)};
  const auto add_pairs = [&](const auto& pairs, auto name) {
    arguments.push_back(std::to_string(2 * pairs.size()));
    for (const auto& [first, second] : pairs) {
      arguments.push_back(name(first));
      arguments.push_back(second);
    }
  };
  const auto add_names = [&](const auto& names, auto name) {
    arguments.push_back(std::to_string(names.size()));
    for (const auto& one : names) arguments.push_back(name(one));
  };
  const auto itself = [](const std::string& text) { return text; };
  const auto number = [](sql::Oid oid) { return std::to_string(oid); };
  add_pairs(change.unchanged_databases, [](int database) { return std::to_string(database); });
  add_pairs(change.set_fields, itself);
  add_names(change.deleted_fields, itself);
  add_pairs(change.verifiers, number);
  add_names(change.dropped_verifiers, number);
  const std::vector<std::string> keys{std::string(sql::kRolesKey), std::string(sql::kVerifiersKey), std::string(sql::kDatabasesKey), std::string(sql::kVersionKey)};
  const RepliesPtr replies = co_await run_script(home, kCommitRolesScript, keys, arguments);
  co_return replies->text(0).value_or("") == "committed";
}

asio::awaitable<sql::RoleSetPtr> load_roles(RedisClient& home) {
  CommandBatch batch;
  append_role_fetch(batch);
  const RepliesPtr replies = co_await home.execute(std::move(batch));
  co_return decode_role_set(*replies, 0);
}

asio::awaitable<std::map<sql::Oid, std::string>> load_verifiers(RedisClient& home) {
  CommandBatch batch;
  batch.add("HGETALL", sql::kVerifiersKey);
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
  batch.add("HGET", sql::kVerifiersKey, std::to_string(role));
  const RepliesPtr replies = co_await home.execute(std::move(batch));
  co_return std::string(replies->text(0).value_or(""));
}

}  // namespace redquel::executor
