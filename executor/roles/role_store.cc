#include "executor/roles/role_store.h"

#include "executor/redis/redis_error.h"
#include "executor/redis/script.h"
#include "executor/runtime/random_version.h"
#include "sql/catalog/role_json.h"

namespace redquel::executor {

void append_role_fetch(CommandBatch& batch) { batch.add("HGETALL", kRolesKey); }

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
  static const Script kScript("create_first_role", R"lua(
local roles, nonce, version = KEYS[1], KEYS[2], KEYS[3]
redis.call('SETNX', nonce, ARGV[3])
if redis.call('EXISTS', roles) == 1 then return 0 end
redis.call('HSET', roles, ARGV[1], ARGV[2], 'version', ARGV[4])
redis.call('SET', version, ARGV[4])
return 1
)lua");
  const std::vector<std::string> keys{std::string(kRolesKey), std::string(kMockNonceKey), "redquel:version"};
  const std::vector<std::string> arguments{sql::role_field(sql::kPostgresRole), sql::encode(*sql::built_in_roles()->find(sql::kPostgresRole)),
                                           random_version() + random_version(), random_version()};
  const RepliesPtr replies = co_await run_script(home, kScript, keys, arguments);
  co_return replies->integer(0) == 1;
}

namespace {

// Arguments: the expected and the new version, then lists, each with its length in front: fields to set and to delete, verifiers to set and
// to delete. The other logical databases are those of redquel:databases. A script that selects one leaves its caller's as it was.
const Script& commit_script() {
  static const Script kScript("commit_roles", R"lua(
local call = redis.call
local roles, verifiers, databases, version = unpack(KEYS)
local p = 3
local function list()
  local n = tonumber(ARGV[p])
  local from = p + 1
  p = from + n
  return from, p - 1
end

-- VERIFY
if (call('HGET', roles, 'version') or '') ~= ARGV[1] then return 'stale' end
call('HLEN', verifiers)
local numbers = call('HVALS', databases)

-- APPLY. (Redis whose memory is full refuses a script's first write only.)
call('UNLINK', 'redquel:none')
local function set(hash)
  local from, to = list()
  for i = from, to, 2 do call('HSET', hash, ARGV[i], ARGV[i + 1]) end
end
local function remove(hash)
  local from, to = list()
  for i = from, to do call('HDEL', hash, ARGV[i]) end
end
set(roles) remove(roles)
set(verifiers) remove(verifiers)
call('HSET', roles, 'version', ARGV[2])
call('SET', version, ARGV[2])
for _, number in ipairs(numbers) do
  if string.match(number, '^%d+$') and type(redis.pcall('SELECT', number)) == 'table' then redis.pcall('SET', version, ARGV[2]) end
end
return 'committed'
)lua");
  return kScript;
}

}  // namespace

asio::awaitable<bool> commit_roles(RedisClient& home, const sql::RoleSet& base, RoleChange change) {
  std::vector<std::string> arguments{base.version, random_version()};
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
  add_pairs(change.set_fields, itself);
  add_names(change.deleted_fields, itself);
  add_pairs(change.verifiers, number);
  add_names(change.dropped_verifiers, number);
  const std::vector<std::string> keys{std::string(kRolesKey), std::string(kVerifiersKey), "redquel:databases", "redquel:version"};
  const RepliesPtr replies = co_await run_script(home, commit_script(), keys, arguments);
  co_return replies->text(0).value_or("") == "committed";
}

}  // namespace redquel::executor
