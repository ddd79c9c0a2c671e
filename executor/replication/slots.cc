#include "executor/replication/slots.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>

#include "executor/redis/redis_error.h"
#include "executor/runtime/random_version.h"
#include "sql/catalog/stored_keys.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace json = boost::json;

namespace {

constexpr std::string_view kTopField = "%top", kSystemField = "%system", kBasePrefix = "%base:";
constexpr std::int64_t kLeaseMilliseconds = 5000;
/// The slot records are written often enough that nothing beyond this distance from `%top` was sent.
constexpr Lsn kMostUnnoted = Lsn{1} << 26;
constexpr Lsn kHistoryStep = Lsn{1} << 24;

std::string lease_key(const std::string& name) { return std::string(sql::kSlotLeasePrefix) + name; }
std::string definitions_key(const std::string& name) { return std::string(sql::kSlotDefinitionsPrefix) + name; }

std::uint64_t number_in(std::string_view text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}
std::uint64_t number_or_zero(const Reply& reply) { return reply.is_text() ? number_in(reply.text) : 0; }

std::string encode_slot(const ReplicationSlot& slot) {
  json::object counts;
  for (const auto& [oid, count] : slot.state.counts) counts[std::to_string(oid)] = count;
  const json::object record{{"plugin", "pgoutput"},
                            {"history", slot.position.history},
                            {"offset", slot.position.offset},
                            {"database", slot.state.database},
                            {"base", slot.base},
                            {"confirmed", slot.confirmed},
                            {"counts", std::move(counts)}};
  return json::serialize(record);
}

ReplicationSlot decode_slot(std::string name, std::string_view text) {
  try {
    const json::value value = json::parse(json::string_view(text.data(), text.size()));
    const json::object& record = value.as_object();
    ReplicationSlot slot;
    slot.name = std::move(name);
    slot.position.history = std::string(record.at("history").as_string());
    slot.position.offset = record.at("offset").to_number<std::uint64_t>();
    slot.base = record.at("base").to_number<std::uint64_t>();
    slot.confirmed = record.at("confirmed").to_number<std::uint64_t>();
    slot.state.database = record.at("database").to_number<int>();
    for (const auto& [oid, count] : record.at("counts").as_object()) {
      slot.state.counts[static_cast<sql::Oid>(number_in(std::string_view(oid.data(), oid.size())))] = count.to_number<std::uint64_t>();
    }
    return slot;
  } catch (const std::exception&) {
    throw sql::SqlError(sqlstate::kDataCorrupted, "a replication slot in redquel:slots cannot be read");
  }
}

void add_definitions(CommandBatch& batch, const std::string& name, const StoredDefinitions& definitions) {
  batch.add("DEL", definitions_key(name));
  if (definitions.empty()) return;
  batch.begin(2 + 2 * definitions.size()).arg("HSET").arg(definitions_key(name));
  for (const auto& [field, value] : definitions) batch.arg(field).arg(value);
}

}  // namespace

void check_slot_name(const std::string& name) {
  constexpr std::size_t kMostBytes = 63;
  if (name.empty()) throw sql::SqlError(sqlstate::kInvalidName, "replication slot name \"\" is too short");
  if (name.size() > kMostBytes) throw sql::SqlError(sqlstate::kNameTooLong, fmt::format("replication slot name \"{}\" is too long", name));
  const auto is_allowed = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  if (std::ranges::all_of(name, is_allowed)) return;
  throw sql::SqlError(sqlstate::kInvalidName, fmt::format("replication slot name \"{}\" contains invalid character", name))
      .hint("Replication slot names may only contain lower case letters, numbers, and the underscore character.");
}

sql::SqlError undefined_slot(const std::string& name) {
  return sql::SqlError(sqlstate::kUndefinedObject, fmt::format("replication slot \"{}\" does not exist", name));
}
sql::SqlError active_slot(const std::string& name, const std::string& process) {
  return sql::SqlError(sqlstate::kObjectInUse, fmt::format("replication slot \"{}\" is active for PID {}", name, process));
}

asio::awaitable<std::optional<ReplicationSlot>> SlotStore::find(std::string name) {
  CommandBatch batch;
  batch.add("HGET", sql::kSlotsKey, name);
  batch.add("HGETALL", definitions_key(name));
  const RepliesPtr replies = co_await client_.execute_atomic(std::move(batch));
  replies->or_throw();
  if (!(*replies)[0].is_text()) co_return std::nullopt;
  ReplicationSlot slot = decode_slot(name, (*replies)[0].text);
  auto definitions = std::make_shared<StoredDefinitions>();
  const auto& fields = replies->array(1);
  for (std::size_t index = 0; index + 1 < fields.size(); index += 2) definitions->emplace(fields[index].text, fields[index + 1].text);
  slot.state.definitions = std::move(definitions);
  co_return slot;
}

asio::awaitable<std::vector<ReplicationSlot>> SlotStore::list() {
  CommandBatch batch;
  batch.add("HGETALL", sql::kSlotsKey);
  const RepliesPtr replies = co_await client_.execute(std::move(batch));
  const auto& fields = replies->array(0);
  std::vector<ReplicationSlot> slots;
  for (std::size_t index = 0; index + 1 < fields.size(); index += 2) {
    if (!fields[index].text.starts_with('%')) slots.push_back(decode_slot(std::string(fields[index].text), fields[index + 1].text));
  }
  std::ranges::sort(slots, {}, &ReplicationSlot::name);
  co_return slots;
}

asio::awaitable<void> SlotStore::create(ReplicationSlot slot) {
  CommandBatch first;
  first.add("HSETNX", sql::kSlotsKey, slot.name, encode_slot(slot));
  const RepliesPtr made = co_await client_.execute(std::move(first));
  made->or_throw();
  if (made->integer(0) == 0) {
    throw sql::SqlError(sqlstate::kDuplicateObject, fmt::format("replication slot \"{}\" already exists", slot.name));
  }
  co_await advance(std::move(slot), true, 0);
}

asio::awaitable<void> SlotStore::advance(ReplicationSlot slot, bool with_definitions, Lsn top) {
  CommandBatch batch;
  batch.add("HSET", sql::kSlotsKey, slot.name, encode_slot(slot), kTopField, std::max(top, slot.confirmed));
  if (with_definitions) add_definitions(batch, slot.name, *slot.state.definitions);
  const RepliesPtr replies = co_await client_.execute_atomic(std::move(batch));
  replies->or_throw();
}

asio::awaitable<void> SlotStore::drop(std::string name) {
  CommandBatch batch;
  batch.add("HDEL", sql::kSlotsKey, name);
  batch.add("DEL", definitions_key(name));
  const RepliesPtr replies = co_await client_.execute_atomic(std::move(batch));
  replies->or_throw();
  if (replies->integer(0) == 0) throw undefined_slot(name);
}

asio::awaitable<std::string> SlotStore::lease(std::string name, std::string token) {
  CommandBatch batch;
  batch.add("SET", lease_key(name), token, "NX", "PX", kLeaseMilliseconds);
  const RepliesPtr replies = co_await client_.execute(std::move(batch));
  replies->or_throw();
  if ((*replies)[0].is_text()) co_return std::string();
  std::string other = co_await holder(name);
  co_return other.empty() ? std::string("0") : other;
}

asio::awaitable<void> SlotStore::renew(std::string name, std::string token) {
  CommandBatch batch;
  batch.add("SET", lease_key(name), token, "PX", kLeaseMilliseconds);
  (co_await client_.execute(std::move(batch)))->or_throw();
}

asio::awaitable<void> SlotStore::give_back(std::string name, std::string token) {
  CommandBatch question;
  question.add("GET", lease_key(name));
  const RepliesPtr replies = co_await client_.execute(std::move(question));
  if (!(*replies)[0].is_text() || (*replies)[0].text != token) co_return;
  CommandBatch batch;
  batch.add("DEL", lease_key(name));
  (co_await client_.execute(std::move(batch)))->or_throw();
}

asio::awaitable<std::string> SlotStore::holder(std::string name) {
  CommandBatch batch;
  batch.add("GET", lease_key(name));
  const RepliesPtr replies = co_await client_.execute(std::move(batch));
  replies->or_throw();
  if (!(*replies)[0].is_text()) co_return std::string();
  const std::string_view token = (*replies)[0].text;
  co_return std::string(token.substr(token.find(' ') + 1));
}

asio::awaitable<Lsn> SlotStore::base_of(std::string history, std::optional<Lsn> same_as) {
  const std::string field = std::string(kBasePrefix) + history;
  CommandBatch question;
  question.add("HMGET", sql::kSlotsKey, field, kTopField);
  const RepliesPtr known = co_await client_.execute(std::move(question));
  known->or_throw();
  const auto& values = known->array(0);
  if (values[0].is_text()) co_return number_in(values[0].text);
  Lsn base = 0;
  if (same_as) base = *same_as;
  else if (values[1].is_text()) base = (number_in(values[1].text) + kMostUnnoted) / kHistoryStep * kHistoryStep + kHistoryStep;
  CommandBatch batch;
  batch.add("HSETNX", sql::kSlotsKey, field, base);  // another process may be faster
  batch.add("HGET", sql::kSlotsKey, field);
  const RepliesPtr replies = co_await client_.execute(std::move(batch));
  replies->or_throw();
  co_return number_or_zero((*replies)[1]);
}

asio::awaitable<Lsn> SlotStore::copied() {
  CommandBatch batch;
  batch.add("HGET", sql::kSlotsKey, kCopiedField);
  const RepliesPtr replies = co_await client_.execute(std::move(batch));
  replies->or_throw();
  co_return number_or_zero((*replies)[0]);
}

asio::awaitable<void> SlotStore::note_copied(Lsn lsn) {
  CommandBatch batch;
  batch.add("HSET", sql::kSlotsKey, kCopiedField, lsn);
  (co_await client_.execute(std::move(batch)))->or_throw();
}

asio::awaitable<std::string> SlotStore::system_identifier() {
  const std::uint64_t random = std::stoull(random_version(), nullptr, 16) >> 1;
  CommandBatch batch;
  batch.add("HSETNX", sql::kSlotsKey, kSystemField, random);
  batch.add("HGET", sql::kSlotsKey, kSystemField);
  const RepliesPtr replies = co_await client_.execute(std::move(batch));
  replies->or_throw();
  co_return std::string((*replies)[1].text);
}

}  // namespace redquel::executor
