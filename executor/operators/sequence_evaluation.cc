#include "executor/operators/sequence_evaluation.h"

#include <fmt/format.h>

#include <algorithm>

#include "executor/context/setting.h"
#include "executor/operators/user_function.h"
#include "executor/roles/access.h"
#include "executor/roles/user_mappings.h"
#include "executor/runtime/session_exchange.h"
#include "executor/storage/catalog_store.h"
#include "executor/storage/sequences.h"
#include "executor/tables/mapped_access.h"
#include "executor/tables/redis_call.h"
#include "executor/transaction/transaction.h"
#include "sql/catalog/catalog_json.h"
#include "sql/error.h"
#include "sql/expressions/evaluate.h"
#include "sql/functions/certain_call.h"
#include "sql/functions/deferred_calls.h"
#include "sql/functions/signal_rights.h"

namespace redquel::executor {

namespace asio = boost::asio;

namespace {

std::size_t count_calls(const sql::Expression& expression) {
  const auto* call = std::get_if<sql::FunctionCall>(&expression.node);
  std::size_t count = call != nullptr && sql::is_deferred_function(*call->function) ? 1 : 0;
  sql::for_each_child(expression, [&](const sql::ExpressionPtr& child) { count += count_calls(*child); });
  return count;
}

std::size_t count_calls(std::span<const sql::ExpressionPtr> expressions) {
  std::size_t count = 0;
  for (const sql::ExpressionPtr& expression : expressions) count += expression ? count_calls(*expression) : 0;
  return count;
}

const sql::SequenceDef& sequence_of(sql::Oid oid, const ExecutionContext& context) {
  const auto found = context.catalog()->sequences.find(oid);
  if (found == context.catalog()->sequences.end()) throw StaleCatalog{};
  return found->second;
}

/// Returns the client of the counter: that of a mapped table may be in another logical database.
asio::awaitable<RedisClient*> client_of(const sql::SequenceDef& sequence, ExecutionContext& context) {
  const auto owner = context.catalog()->find_table(sequence.owner_table);
  if (owner && owner->is_mapped()) co_return co_await client_of(*owner, context);
  if (sequence.foreign) throw foreign_server_denied();  // an application's key, and no table says as whom it is written
  co_return &context.redis();
}

/// 25006 where the transaction only reads and the sequence is not its session's own.
void refuse_write(const char* function, const sql::SequenceDef& sequence, const ExecutionContext& context) {
  if (sql::is_temporary_schema(sequence.schema) || !is_on(context, "transaction_read_only")) return;
  throw sql::in_read_only_transaction(function);
}

/// 42501 unless the role has one of the rights.
void require_one(sql::Rights rights, const sql::SequenceDef& sequence, const ExecutionContext& context) {
  require_rights(context.evaluation(), sql::AclKind::kSequence, sequence.oid, rights);
}

// One overload for each kind of call.

asio::awaitable<sql::NextValues::Answer> answer(const sql::NextValues& call, sql::SessionSequences& session, ExecutionContext& context) {
  sql::NextValues::Answer answer;
  for (std::size_t next = 0; next < call.sequences.size();) {
    const sql::SequenceDef& sequence = sequence_of(call.sequences[next], context);
    if (!call.is_identity) require_one(sql::right::kUsage | sql::right::kUpdate, sequence, context);
    refuse_write("nextval()", sequence, context);
    std::size_t end = next + 1;
    while (end < call.sequences.size() && call.sequences[end] == sequence.oid) ++end;
    RedisClient* client = co_await client_of(sequence, context);
    const std::vector<std::int64_t> values = co_await next_values(*client, sequence, end - next, context, nullptr);
    answer.insert(answer.end(), values.begin(), values.end());
    session.note(call.sequences[next], values.back());
    next = end;
  }
  co_return answer;
}

asio::awaitable<sql::SetValues::Answer> answer(const sql::SetValues& call, sql::SessionSequences& session, ExecutionContext& context) {
  sql::SetValues::Answer answer;
  for (const sql::SetValues::Row& row : call.rows) {
    const sql::SequenceDef& sequence = sequence_of(row.sequence, context);
    require_one(sql::right::kUpdate, sequence, context);
    refuse_write("setval()", sequence, context);
    co_await context.confirm_catalog(nullptr);
    RedisClient* client = co_await client_of(sequence, context);
    co_await set_sequence(*client, sequence, row.value, row.is_called);
    session.ahead.erase(row.sequence);
    if (row.is_called) session.values[row.sequence] = row.value;
    answer.push_back(row.value);
  }
  co_return answer;
}

asio::awaitable<sql::LastValues::Answer> answer(const sql::LastValues& call, sql::SessionSequences&, ExecutionContext& context) {
  sql::LastValues::Answer answer;
  for (const sql::Oid oid : call.sequences) {
    const sql::SequenceDef& sequence = sequence_of(oid, context);
    require_one(sql::right::kUsage | sql::right::kSelect, sequence, context);
    RedisClient* client = co_await client_of(sequence, context);
    answer.push_back(co_await last_value(*client, sequence));
  }
  co_return answer;
}

asio::awaitable<sql::AdvisoryCall::Answer> answer(const sql::AdvisoryCall& call, sql::SessionSequences&, ExecutionContext& context) {
  if (!context.advisory) throw sql::not_supported("an advisory lock function in this place");
  sql::AdvisoryCall::Answer answer;
  for (const std::int64_t key : call.keys) {
    const bool is_true = co_await context.advisory(call.request, key);
    answer.push_back(is_true);
  }
  co_return answer;
}

asio::awaitable<sql::RedisCommands::Answer> answer(const sql::RedisCommands& call, sql::SessionSequences&, ExecutionContext& context) {
  sql::RedisCommands::Answer answer;
  for (const std::vector<std::string>& words : call.commands) answer.push_back(co_await call_redis(words, context));
  co_return answer;
}

asio::awaitable<sql::TimesToLive::Answer> answer(const sql::TimesToLive& call, sql::SessionSequences&, ExecutionContext& context) {
  CommandBatch batch;
  for (const std::string& key : call.keys) batch.add("PTTL", key);
  RepliesPtr replies = co_await context.redis().execute(std::move(batch));
  sql::TimesToLive::Answer answer;
  for (std::size_t row = 0; row < call.keys.size(); ++row) {
    const std::int64_t left = replies->integer(row);  // -1: does not expire, -2: no such row
    answer.push_back(left < 0 ? std::nullopt : std::optional(left));
  }
  co_return answer;
}

asio::awaitable<sql::UserFunctionCalls::Answer> answer(const sql::UserFunctionCalls& call, sql::SessionSequences&, ExecutionContext& context) {
  return run_user_function(call, context);
}

asio::awaitable<sql::SessionSignals::Answer> answer(const sql::SessionSignals& call, sql::SessionSequences&, ExecutionContext& context) {
  const std::vector<sql::SessionStatistics> sessions = co_await sessions_elsewhere();
  sql::SessionSignals::Answer answer;
  for (const std::int32_t process_id : call.process_ids) {
    const auto session = std::ranges::find(sessions, process_id, &sql::SessionStatistics::process_id);
    if (session != sessions.end()) sql::check_may_signal(context.evaluation(), session->role, call.ends_session);
    bool is_there = false;
    if (session != sessions.end()) is_there = co_await signal_elsewhere(process_id, call.ends_session);
    answer.push_back(is_there);
  }
  co_return answer;
}

template <class Call>
asio::awaitable<sql::DeferredAnswer> answer_as(const Call& call, sql::SessionSequences& session, ExecutionContext& context) {
  typename Call::Answer values = co_await answer(call, session, context);
  co_return sql::DeferredAnswer(std::move(values));
}

/// Evaluates until every call is answered.
asio::awaitable<std::vector<sql::ColumnPtr>> evaluate_once(std::span<const sql::ExpressionPtr> expressions, const sql::Batch& batch,
                                                           ExecutionContext& context) {
  if (context.sequences == nullptr) throw sql::not_supported("a sequence function in this place");
  sql::DeferredCalls calls(*context.sequences);
  // Not by an exception: an INSERT of a row has mostly this one call.
  if (const std::optional<sql::NextValues> known = sql::certain_next_values(expressions, batch.rows, context.evaluation())) {
    sql::DeferredAnswer answered = co_await answer_as(*known, calls.session(), context);
    calls.answer(std::move(answered));
  }
  while (true) {
    std::vector<sql::ColumnPtr> columns;
    bool is_pending = false;
    try {
      const sql::DeferredCalls::Evaluation evaluation(calls);
      for (const sql::ExpressionPtr& expression : expressions) {
        columns.push_back(sql::evaluate(*expression, batch, context.evaluation()));
      }
    } catch (const sql::DeferredCallPending&) {
      is_pending = true;
    }
    if (!is_pending) co_return columns;
    const sql::DeferredCall call = calls.pending();
    sql::DeferredAnswer answered = co_await std::visit([&](const auto& one) { return answer_as(one, calls.session(), context); }, call);
    calls.answer(std::move(answered));
  }
}

/// Returns how many values a session takes at a time. More than Lua counts exactly would be useless.
std::size_t cache_of(const sql::SequenceDef& sequence) {
  constexpr std::int64_t kMostAtOnce = std::int64_t{1} << 40;
  return static_cast<std::size_t>(std::min(sequence.cache, kMostAtOnce));
}

/// Returns the session's remaining values of a sequence (CACHE), if they are still valid.
SequenceRuns* values_ahead(sql::SessionSequences& session, const sql::SequenceDef& sequence, const RedisClient& client) {
  const auto found = session.ahead.find(sequence.oid);
  if (found == session.ahead.end()) return nullptr;
  sql::SessionSequences::Ahead& ahead = found->second;
  const bool is_good = ahead.key == sequence.key && ahead.changes == sequence.changes && ahead.generation == client.generation();
  return is_good && !ahead.runs.empty() ? &ahead.runs : nullptr;
}

/// StaleCatalog where the sequence is defined otherwise by now, and not only written otherwise by an older redquel.
asio::awaitable<void> refuse_old_definition(RedisClient& client, const sql::SequenceDef& sequence, ExecutionCounters* counters) {
  const LoadedCatalog now = co_await load_catalog(client, counters);
  const auto newest = now.snapshot->sequences.find(sequence.oid);
  const bool is_same = newest != now.snapshot->sequences.end() && sql::encode_sequence(newest->second) == sql::encode_sequence(sequence);
  if (!is_same) throw StaleCatalog{};
}

}  // namespace

asio::awaitable<std::vector<std::int64_t>> next_values(RedisClient& client, const sql::SequenceDef& sequence, std::size_t count,
                                                       ExecutionContext& context, ExecutionCounters* counters) {
  const TransactionCatalog* own = context.transaction() ? context.transaction()->catalog() : nullptr;
  const sql::SequenceDef* committed = &sequence;
  if (own != nullptr) {
    const auto found = own->base().sequences.find(sequence.oid);
    committed = found == own->base().sequences.end() ? nullptr : &found->second;
  }
  const std::string& version = own != nullptr ? own->base().version : context.catalog()->version;
  // A definition that the transaction has made is not shared; an application's counter is not stored with the definitions.
  const bool is_checked = &client == &context.redis() && committed != nullptr &&
                          (committed == &sequence || sql::encode_sequence(*committed) == sql::encode_sequence(sequence));
  const bool takes_ahead = sequence.cache > 1 && !sequence.foreign && context.sequences != nullptr;
  std::vector<std::int64_t> values;
  std::size_t ahead = 0;
  if (takes_ahead) {
    if (values_ahead(*context.sequences, sequence, client) != nullptr && is_checked) {
      const bool is_current = co_await is_defined_so(client, sequence, counters);
      if (!is_current) co_await refuse_old_definition(client, sequence, counters);
    }
    if (SequenceRuns* left = values_ahead(*context.sequences, sequence, client)) values = take_values(*left, sequence, count);
    if (values.size() == count) co_return values;
    const std::size_t cache = cache_of(sequence), missing = count - values.size();
    ahead = (cache - missing % cache) % cache;
  }
  const std::size_t missing = count - values.size();
  std::optional<SequenceRuns> runs = co_await allocate_runs(client, sequence, missing, ahead, is_checked ? &version : nullptr, counters);
  if (!runs) {
    co_await refuse_old_definition(client, sequence, counters);
    runs = co_await allocate_runs(client, sequence, missing, ahead, nullptr, counters);
  }
  const std::vector<std::int64_t> more = take_values(*runs, sequence, missing);
  values.insert(values.end(), more.begin(), more.end());
  if (takes_ahead) context.sequences->ahead[sequence.oid] = {sequence.key, sequence.changes, client.generation(), *std::move(runs)};
  co_return values;
}

bool calls_sequences(std::span<const sql::ExpressionPtr> expressions) { return count_calls(expressions) > 0; }

asio::awaitable<std::vector<sql::ColumnPtr>> evaluate_with_sequences(std::span<const sql::ExpressionPtr> expressions,
                                                                     const sql::Batch& batch, ExecutionContext& context) {
  if (count_calls(expressions) <= 1) co_return co_await evaluate_once(expressions, batch, context);
  std::vector<std::shared_ptr<sql::Column>> columns;
  for (const sql::ExpressionPtr& expression : expressions) columns.push_back(std::make_shared<sql::Column>(expression->type));
  for (std::uint32_t row = 0; row < batch.rows; ++row) {
    const sql::Batch one = batch.gather({&row, 1});
    const std::vector<sql::ColumnPtr> values = co_await evaluate_once(expressions, one, context);
    for (std::size_t i = 0; i < columns.size(); ++i) columns[i]->append_datum(values[i]->datum(0));
  }
  co_return std::vector<sql::ColumnPtr>(columns.begin(), columns.end());
}

}  // namespace redquel::executor
