#include "executor/lock_table.h"

#include <fmt/format.h>

#include "executor/redis/script.h"
#include "executor/transaction/transaction.h"
#include "sql/error.h"
#include "sql/system_tables.h"

namespace redquel::executor {

namespace ast = parser::ast;

namespace {

// Argument 1: token, 2: mode. The row and value locks of others stand for the table locks that their statements have in PostgreSQL:
// ROW EXCLUSIVE for those of writes, ROW SHARE for the shared ones of SELECT.
const Script& lock_table_script() {
  static const Script kScript("lock_table", R"lua(
local call, token, wanted = redis.call, ARGV[1], tonumber(ARGV[2])
local living = {}
local function is_alive(of)
  local process = string.sub(of, 1, 16)
  if living[process] == nil then living[process] = call('EXISTS', 'redquel:process:' .. process) == 1 end
  return living[process]
end
if not is_alive(token) then return {'lost'} end
-- The weakest mode that conflicts with each; SHARE UPDATE EXCLUSIVE and the stronger ones except SHARE with themselves, too.
local weakest = {8, 7, 5, 4, 3, 3, 2, 1}
local function conflict(a, b)
  if a == 5 and b == 5 then return false end
  return b >= weakest[a]
end
local left, is_own = {}, false
for mode, holder in string.gmatch(call('HGET', KEYS[1], 't') or '', '(%d)(%S+)') do
  if holder == token then
    is_own = is_own or tonumber(mode) == wanted
    left[#left + 1] = mode .. holder
  elseif is_alive(holder) then
    if conflict(wanted, tonumber(mode)) then return {'locked', holder, 't'} end
    left[#left + 1] = mode .. holder
  end
end
if wanted >= 5 then
  local locks = call('HGETALL', KEYS[1])
  for i = 1, #locks, 2 do
    if locks[i] ~= 't' then
      for mode, holder in string.gmatch(locks[i + 1], '(%d)(%S+)') do
        if holder ~= token and (wanted >= 7 or tonumber(mode) >= 3) and is_alive(holder) then return {'locked', holder, locks[i]} end
      end
    end
  end
end
if not is_own then left[#left + 1] = wanted .. token end
call('HSET', KEYS[1], 't', table.concat(left, ' '))
return {'done'}
)lua");
  return kScript;
}

class LockTableExecution final : public Execution {
 public:
  LockTableExecution(RedisEngine& engine, PreparedPtr prepared, SessionState& session)
      : engine_(engine), prepared_(std::move(prepared)), session_(session) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    const auto& statement = std::get<ast::LockTable>(prepared_->statement->node);
    const std::shared_ptr<Transaction> transaction = session_.transaction;
    if (!transaction) throw sql::SqlError("25P01", "LOCK TABLE can only be used in transaction blocks");
    const sql::CatalogPtr catalog = co_await engine_.catalog(session_);
    std::vector<sql::CatalogSnapshot::TablePtr> tables;
    for (const ast::TableRef& written : statement.relations) {
      const std::vector<sql::CatalogSnapshot::TablePtr> named = tables_of(*catalog, written.name);
      tables.insert(tables.end(), named.begin(), named.end());
    }
    for (const auto& table : tables) {
      co_await engine_.prepare_locks(*transaction, session_);
      co_await lock(*transaction, *table, statement.mode, statement.no_wait);
    }
    co_return std::nullopt;
  }

  std::string command_tag() const override { return "LOCK TABLE"; }

 private:
  /// The table; of a view those that it reads.
  std::vector<sql::CatalogSnapshot::TablePtr> tables_of(const sql::CatalogSnapshot& catalog, const ast::RelationName& name) const {
    if (const auto table = catalog.find_table(name.schema, name.name, session_.search_path)) return {table};
    std::vector<sql::CatalogSnapshot::TablePtr> tables;
    if (const auto view = catalog.find_view(name.schema, name.name, session_.search_path)) {
      collect(catalog, *view, tables);
      return tables;
    }
    // Nothing of a system table can change.
    if (sql::find_system_table(name.schema.empty() ? "pg_catalog" : name.schema, name.name) != nullptr) return {};
    const std::string shown = name.schema.empty() ? name.name : name.schema + "." + name.name;
    const auto refuse = [&](const char* what) {
      return sql::SqlError("42809", fmt::format("cannot lock relation \"{}\"", name.name))
          .detail(fmt::format("This operation is not supported for {}.", what));
    };
    if (catalog.find_sequence(name.schema, name.name, session_.search_path)) throw refuse("sequences");
    if (catalog.find_index(name.schema, name.name, session_.search_path).first ||
        catalog.find_primary_key(name.schema, name.name, session_.search_path)) {
      throw refuse("indexes");
    }
    throw sql::SqlError("42P01", fmt::format("relation \"{}\" does not exist", shown));
  }

  static void collect(const sql::CatalogSnapshot& catalog, const sql::ViewDef& view, std::vector<sql::CatalogSnapshot::TablePtr>& tables) {
    for (const sql::ViewDef::Reference& reference : view.references) {
      if (const auto table = catalog.find_table(reference.relation)) tables.push_back(table);
      if (const auto inner = catalog.find_view(reference.relation)) collect(catalog, *inner, tables);
    }
  }

  asio::awaitable<void> lock(Transaction& transaction, const sql::TableDef& table, std::int32_t mode, bool no_wait) {
    const std::vector<std::string> keys{lock_key(table.oid)};
    while (true) {
      const std::vector<std::string> arguments{transaction.locks().token, std::to_string(mode)};
      RepliesPtr replies = co_await run_script(engine_.shared(), lock_table_script(), keys, arguments);
      const std::span<const Reply> reply = replies->array(0);
      if (reply.empty() || reply[0].text == "lost") throw lapsed_lock();
      if (reply[0].text == "done") break;
      if (no_wait) throw sql::SqlError("55P03", fmt::format("could not obtain lock on relation \"{}\"", table.name));
      LockConflict conflict{std::string(reply[1].text), keys[0], std::string(reply[2].text)};
      std::string token = transaction.locks().token;
      const LockWaitLimits limits{session_.lock_timeout, session_.deadlock_timeout};
      co_await wait_for_lock(engine_.shared(), std::move(conflict), std::move(token), limits, engine_.random());
    }
    transaction.locks().fields[table.oid].insert("t");
  }

  RedisEngine& engine_;
  PreparedPtr prepared_;
  SessionState& session_;
};

}  // namespace

std::unique_ptr<Execution> make_lock_table(RedisEngine& engine, PreparedPtr prepared, SessionState& session) {
  return std::make_unique<LockTableExecution>(engine, std::move(prepared), session);
}

}  // namespace redquel::executor
