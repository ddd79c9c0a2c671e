#include "executor/tables/redis_scan.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <unordered_set>

#include "executor/context/memory_limit.h"
#include "executor/runtime/event_loop_turn.h"
#include "executor/roles/role_access.h"
#include "executor/tables/keyspace_steps.h"
#include "executor/tables/redis_rows.h"
#include "executor/tables/scan_budget.h"
#include "sql/catalog/key_pattern.h"
#include "sql/catalog/role_set.h"
#include "sql/expressions/evaluate.h"
#include "sql/system_tables.h"

namespace redquel::executor {

namespace {

constexpr std::size_t kScanCount = 1000;     // what one SCAN looks at: about 0.3 ms
constexpr std::size_t kKeysPerTrip = 200;    // keys that one pipeline asks about

/// The bounds' values of this run. No value (NULL): nothing satisfies the condition.
struct Bounds {
  bool is_empty = false;
  std::optional<std::vector<std::string>> names;
  std::optional<std::string> glob, type;
};

std::optional<std::string> text_of(const sql::ExpressionPtr& value, ExecutionContext& context) {
  const sql::Datum datum = sql::evaluate_scalar(*value, context.evaluation());
  if (sql::is_null(datum)) return std::nullopt;
  return std::get<std::string>(datum);
}

Bounds evaluate_bounds(const planner::RowBounds& plan, ExecutionContext& context) {
  Bounds bounds;
  if (!plan.names.empty()) {
    std::set<std::string> names;
    for (const sql::ExpressionPtr& value : plan.names) {
      if (std::optional<std::string> name = text_of(value, context)) names.insert(*std::move(name));
    }
    bounds.is_empty = names.empty();
    bounds.names.emplace(names.begin(), names.end());
  }
  if (plan.pattern) {
    const std::optional<std::string> pattern = text_of(plan.pattern, context);
    if (!pattern) bounds.is_empty = true;
    else bounds.glob = sql::glob_of_like(*pattern);
  }
  if (plan.type) {
    bounds.type = text_of(plan.type, context);
    bounds.is_empty = bounds.is_empty || !bounds.type;
  }
  return bounds;
}

sql::Oid relation_of(const planner::PhysicalSystemScan& plan) {
  const sql::SystemTable* table = sql::find_system_table(plan.schema, plan.name);
  return table == nullptr ? 0 : table->oid;
}

bool is_denied(const Reply& reply) { return reply.is_error() && reply.text.starts_with("NOPERM"); }

/// The common part of all tables of the schema: their rows and the bounds.
class RedisScanOperator : public Operator {
 public:
  RedisScanOperator(const planner::PhysicalNode& node, const planner::PhysicalSystemScan& plan, ExecutionContext& context)
      : plan_(plan), context_(context), counters_(node, context), rows_(plan) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    if (!bounds_) {
      co_await log_in();
      bounds_ = evaluate_bounds(plan_.bounds, context_);
    }
    if (bounds_->is_empty) co_return std::nullopt;
    while (rows_.size() == 0) {
      if (turn_.is_over()) co_await turn_.yield();
      const bool more = co_await read();
      if (!more && rows_.size() == 0) co_return std::nullopt;
    }
    co_return rows_.take();
  }

 protected:
  /// Adds rows; false: there are no more.
  virtual asio::awaitable<bool> read() = 0;

  asio::awaitable<RepliesPtr> ask(CommandBatch batch) {
    RedisClient& client = user_ ? user_->shared(context_.database) : context_.redis();
    return client.execute(std::move(batch), counters_.get());
  }

  /// Reads as the Redis user of the role, if it has a user mapping. Others have been granted the table (executor/roles/access.h), superusers
  /// alone what others wrote.
  asio::awaitable<void> log_in() {
    RoleAccess* const access = role_access(context_.access);
    if (access == nullptr) co_return;
    const sql::Oid role = access->checked_role(relation_of(plan_));
    user_ = co_await access->user_of_role(role);
    hides_arguments_ = !user_ && !sql::known_roles()->is_superuser(role);
  }

  const planner::PhysicalSystemScan& plan_;
  ExecutionContext& context_;
  NodeCounters counters_;
  EventLoopTurn turn_;
  RedisRows rows_;
  std::optional<Bounds> bounds_;
  RedisUserPtr user_;             // null: redquel's own login
  bool hides_arguments_ = false;  // of commands: they hold keys and values
};

/// A table that one command reads: CLIENT LIST, INFO and so on.
class ReportScanOperator final : public RedisScanOperator {
 public:
  using RedisScanOperator::RedisScanOperator;

 private:
  asio::awaitable<bool> read() override {
    if (std::exchange(done_, true)) co_return false;
    std::optional<std::string> name;
    if (bounds_->names && bounds_->names->size() == 1) name = bounds_->names->front();
    if (name && plan_.name == "config") name = sql::glob_of_text(*name);
    CommandBatch batch = report_command(plan_.name, name);
    const RepliesPtr replies = co_await ask(std::move(batch));
    add_report(plan_.name, *replies, hides_arguments_, rows_);
    co_return true;
  }

  bool done_ = false;
};

/// Tables with a row per key. Keys come from the condition or from SCAN, each once, though SCAN may give one twice.
class KeyScanOperator : public RedisScanOperator {
 public:
  using RedisScanOperator::RedisScanOperator;

 protected:
  /// Asks about these keys and adds their rows.
  virtual asio::awaitable<void> read_keys(std::span<const std::string> keys) = 0;
  /// Returns how many commands ask about a key.
  virtual std::size_t commands_of_key() const = 0;
  virtual std::string_view scanned_type() const { return bounds_->type ? std::string_view(*bounds_->type) : std::string_view(); }

  asio::awaitable<bool> read() override {
    if (next_ == keys_.size()) co_await find_keys();
    if (next_ == keys_.size()) co_return !ended_;
    const std::size_t count = std::min({kKeysPerTrip, context_.limits.chunk_rows, keys_.size() - next_});
    const std::span<const std::string> keys = std::span<const std::string>(keys_).subspan(next_, count);
    next_ += count;
    co_await read_keys(keys);
    co_return true;
  }

 private:
  asio::awaitable<void> find_keys() {
    keys_.clear();
    next_ = 0;
    if (ended_) co_return;
    if (bounds_->names) {
      keys_ = *bounds_->names;
      ended_ = true;
      co_return;
    }
    if (!std::exchange(is_announced_, true)) {
      ScanAnnouncement announcement{.what = "the keyspace is scanned", .commands = 1 + commands_of_key(), .only_if_long = true};
      co_await announce_scan(context_, std::move(announcement));
    }
    const std::size_t looked_at = std::min(kScanCount, context_.limits.chunk_rows);
    co_await count_scanned_keys(context_, looked_at, "Name the keys in WHERE.");
    const std::string type(scanned_type());
    if (!walk_) walk_ = walk_keyspace(context_, context_.database, user_ ? user_->name() : "", {bounds_->glob.value_or("*"), type});
    const AskRedis ask = [&](CommandBatch batch) { return this->ask(std::move(batch)); };
    KeyspacePasses::Found found = co_await next_keys(*walk_, looked_at, ask);
    std::erase_if(found.keys, [&](const std::string& key) { return !seen_.insert(std::hash<std::string_view>()(key)).second; });
    keys_ = std::move(found.keys);
    if (!found.is_typed) keys_ = co_await keys_of_type(std::move(keys_), type, ask);
    ended_ = walk_->is_over();
    MemoryLimit(context_, "scan of keys").check_bound(seen_.size() * 3 * sizeof(std::size_t));
  }

  std::unique_ptr<KeyspacePasses::Walk> walk_;
  bool ended_ = false, is_announced_ = false;
  std::vector<std::string> keys_;
  std::size_t next_ = 0;
  std::unordered_set<std::size_t> seen_;  // hashes of keys
};

class KeysScanOperator final : public KeyScanOperator {
 public:
  using KeyScanOperator::KeyScanOperator;

 private:
  /// A key of the condition must be shown to exist; SCAN's keys exist. SCAN shows a user also the names of keys that he may not read.
  bool asks_type() const { return bounds_->names || user_ || (rows_.wants("type") && !bounds_->type); }

  std::size_t commands_of_key() const override {
    return (asks_type() ? 1u : 0u) + rows_.wants("ttl") + rows_.wants("encoding") + rows_.wants("memory");
  }

  asio::awaitable<void> read_keys(std::span<const std::string> keys) override {
    const bool asks_type = this->asks_type();
    const bool asks_ttl = rows_.wants("ttl"), asks_encoding = rows_.wants("encoding"), asks_memory = rows_.wants("memory");
    CommandBatch batch;
    for (const std::string& key : keys) {
      if (asks_type) batch.add("TYPE", key);
      if (asks_ttl) batch.add("TTL", key);
      if (asks_encoding) batch.add("OBJECT", "ENCODING", key);
      if (asks_memory) batch.add("MEMORY", "USAGE", key);
    }
    const RepliesPtr replies = co_await ask(std::move(batch));
    std::size_t at = 0;
    for (const std::string& key : keys) {
      std::string type = bounds_->type.value_or("");
      std::optional<std::string> ttl, encoding, memory;
      bool exists = true;
      if (asks_type && user_ && is_denied((*replies)[at])) {
        at += 1u + asks_ttl + asks_encoding + asks_memory;
        continue;
      }
      if (asks_type) type = replies->text(at++).value_or("none");
      if (asks_ttl) {
        const std::int64_t seconds = replies->integer(at++);
        if (seconds >= 0) ttl = std::to_string(seconds);
        exists = exists && seconds != -2;
      }
      if (asks_encoding) {
        const std::optional<std::string_view> found = replies->text(at++);
        if (found) encoding = readable(*found);
      }
      if (asks_memory) {
        const Reply& found = replies->checked(at++);
        if (found.kind == Reply::Kind::integer) memory = std::to_string(found.integer);
      }
      if (!exists || type == "none" || (asks_type && bounds_->type && type != *bounds_->type)) continue;
      rows_.add([&](std::string_view column) -> std::optional<std::string> {
        if (column == "key") return readable(key);
        if (column == "type") return type;
        if (column == "ttl") return ttl;
        return column == "encoding" ? encoding : memory;
      });
    }
  }
};

/// Just how many keys there are.
class KeyCountOperator final : public RedisScanOperator {
 public:
  using RedisScanOperator::RedisScanOperator;

 private:
  asio::awaitable<bool> read() override {
    if (!left_) {
      CommandBatch batch;
      batch.add("DBSIZE");
      const RepliesPtr replies = co_await ask(std::move(batch));
      left_ = static_cast<std::size_t>(std::max<std::int64_t>(replies->integer(0), 0));
    }
    const std::size_t count = std::min(*left_, sql::kBatchRows);
    for (std::size_t i = 0; i < count; ++i) rows_.add([](std::string_view) { return std::nullopt; });
    *left_ -= count;
    co_return count > 0;
  }

  std::optional<std::size_t> left_;
};

/// Streams, or the consumer groups of streams: what XINFO says of them.
class StreamsScanOperator final : public KeyScanOperator {
 public:
  using KeyScanOperator::KeyScanOperator;

 private:
  std::size_t commands_of_key() const override { return 0; }  // few keys are streams
  std::string_view scanned_type() const override { return "stream"; }

  asio::awaitable<void> read_keys(std::span<const std::string> keys) override {
    const bool are_groups = plan_.name == "groups";
    CommandBatch batch;
    for (const std::string& key : keys) batch.add("XINFO", are_groups ? "GROUPS" : "STREAM", key);
    const RepliesPtr replies = co_await ask(std::move(batch));
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if ((*replies)[i].is_error()) continue;  // gone meanwhile, or no stream
      if (!are_groups) add_row(keys[i], replies->array(i));
      for (const Reply& group : replies->array(i)) {
        if (are_groups) add_row(keys[i], group.children());
      }
    }
  }

  /// `parts`: names and values.
  void add_row(const std::string& key, std::span<const Reply> parts) {
    rows_.add([&](std::string_view column) -> std::optional<std::string> {
      if (column == "key") return readable(key);
      const bool is_entry = column == "first_entry_id" || column == "last_entry_id";
      std::string name(is_entry ? column.substr(0, column.size() - 3) : column);
      std::ranges::replace(name, '_', '-');
      for (std::size_t at = 0; at + 1 < parts.size(); at += 2) {
        if (parts[at].text != name) continue;
        const Reply& value = parts[at + 1];
        if (value.kind == Reply::Kind::integer) return std::to_string(value.integer);
        if (value.is_array() && value.child_count > 0) return readable(value.children()[0].text);
        return value.is_text() ? std::optional(readable(value.text)) : std::nullopt;
      }
      return std::nullopt;
    });
  }
};

}  // namespace

OperatorPtr make_redis_scan(const planner::PhysicalNode& node, const planner::PhysicalSystemScan& plan, ExecutionContext& context) {
  if (plan.name == "streams" || plan.name == "groups") return std::make_unique<StreamsScanOperator>(node, plan, context);
  if (plan.name != "keys") return std::make_unique<ReportScanOperator>(node, plan, context);
  // The number of all keys is not that of a user's keys.
  const RoleAccess* access = role_access(context.access);
  const bool is_mapped = access != nullptr && access->is_mapped(access->checked_role(relation_of(plan)));
  const bool counts = plan.positions.empty() && plan.bounds.names.empty() && !plan.bounds.pattern && !plan.bounds.type && !is_mapped;
  if (counts) return std::make_unique<KeyCountOperator>(node, plan, context);
  return std::make_unique<KeysScanOperator>(node, plan, context);
}

}  // namespace redquel::executor
