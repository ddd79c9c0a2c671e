#include "executor/replication/publisher.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <charconv>
#include <set>

#include "executor/redis/redis_error.h"
#include "executor/redis/server_info.h"
#include "executor/runtime/random_version.h"
#include "sql/catalog/stored_keys.h"
#include "sql/catalog/table_keys.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

using namespace std::chrono_literals;

namespace {

constexpr auto kCheckpointPause = 50ms;
constexpr auto kTick = 100ms;
constexpr auto kLeaseRenewal = 1s;
constexpr std::size_t kMostCheckpoints = 10'000;
constexpr std::size_t kMostOutputBytes = std::size_t{4} << 20;  // beyond, the stream waits for the subscriber
constexpr std::size_t kRowsOfOneRead = 500;
constexpr int kFenceAttempts = 100;
constexpr auto kFencePause = 100ms;
constexpr auto kDropPause = 100ms;

/// The state of Redis as a source of the stream.
struct Source {
  StreamPosition end;
  bool has_backlog = false;
};

std::string_view info_field(std::string_view info, std::string_view name) {
  for (std::size_t at = info.find(name); at != std::string_view::npos; at = info.find(name, at + 1)) {
    const bool is_field = (at == 0 || info[at - 1] == '\n') && info.substr(at + name.size()).starts_with(':');
    if (!is_field) continue;
    const std::string_view value = info.substr(at + name.size() + 1);
    return value.substr(0, value.find_first_of("\r\n"));
  }
  return {};
}

void check_way(const ReplicationWay& way) {
  if (way.client == nullptr) throw sql::not_supported("replication of a Redis that is only looked at");
  if (way.options.topology || !way.options.url.cluster.empty()) throw sql::not_supported("replication of a Redis Cluster");
  if (way.options.url.sentinels) throw sql::not_supported("replication of a Redis behind Sentinel");
}

asio::awaitable<Source> find_source(ReplicationWay way) {
  check_way(way);
  CommandBatch batch;
  batch.add("INFO", "replication");
  const RepliesPtr replies = co_await way.client->execute(std::move(batch));
  replies->or_throw();
  const std::string_view info = (*replies)[0].text;
  if (!info_field(info, "min_slaves_good_slaves").empty()) {
    throw sql::SqlError(sqlstate::kObjectNotInPrerequisiteState, "the replication stream of this Redis cannot be read")
        .detail("Redis counts replicas before it writes (min-replicas-to-write), and would count redquel among them.");
  }
  Source source;
  source.end.history = std::string(info_field(info, "master_replid"));
  source.end.offset = info_number(info, "master_repl_offset").value_or(0);
  source.has_backlog = info_field(info, "repl_backlog_active") == "1";
  co_return source;
}

/// A place between two commits, with what was true there.
struct Fence {
  std::shared_ptr<ReplicationLink> link;  // its parser stands behind the fence
  StreamPosition position;
  StreamDecoder::State state;
};

std::vector<sql::Oid> tables_of(const StoredDefinitions& definitions) {
  std::vector<sql::Oid> oids;
  constexpr std::string_view kTable = "table:";
  for (auto found = definitions.lower_bound(kTable); found != definitions.end() && found->first.starts_with(kTable); ++found) {
    sql::Oid oid = 0;
    const std::string_view digits = std::string_view(found->first).substr(kTable.size());
    std::from_chars(digits.data(), digits.data() + digits.size(), oid);
    oids.push_back(oid);
  }
  return oids;
}

StoredDefinitions definitions_in(const Replies& replies, std::size_t index) {
  StoredDefinitions definitions;
  const auto& fields = replies.array(index);
  for (std::size_t at = 0; at + 1 < fields.size(); at += 2) {
    if (is_published_definition(fields[at].text)) definitions.emplace(fields[at].text, fields[at + 1].text);
  }
  return definitions;
}

/// Reads the stream up to the command that sets the key to the value, and up to the end of its block.
asio::awaitable<void> read_to_fence(ReplicationLink& link, std::string key, std::string value) {
  bool is_in_block = false, is_found = false;
  while (true) {
    StreamCommand command;
    while (link.parser().next(command)) {
      const auto& words = command.words;
      if (words[0] == "MULTI" || words[0] == "multi") is_in_block = true;
      if (words[0] == "EXEC" || words[0] == "exec") is_in_block = false;
      if (words.size() > 2 && words[1] == key && words[2] == value) is_found = true;
      if (is_found && !is_in_block) co_return;
    }
    co_await link.read_more();
  }
}

/// Sets a fence of which nothing of another commit is under way. The counters and definitions are those at the fence.
asio::awaitable<Fence> set_fence(ReplicationWay way, std::shared_ptr<ReplicationLink> link, std::string history, std::string name) {
  const std::string key = std::string(sql::kSlotFencePrefix) + name;
  for (int attempt = 0; attempt < kFenceAttempts; ++attempt) {
    CommandBatch question;
    question.add("HGETALL", sql::kCatalogKey);
    const RepliesPtr known = co_await way.client->execute(std::move(question));
    known->or_throw();
    const std::vector<sql::Oid> tables = tables_of(definitions_in(*known, 0));
    std::vector<std::string> counters{std::string(sql::kNoKey)};
    for (const sql::Oid oid : tables) counters.push_back(std::string(sql::kChangesPrefix) + std::to_string(oid));
    const std::string value = random_version();
    CommandBatch batch;
    batch.add("SET", key, value, "PX", 60'000);
    batch.add("HGETALL", sql::kCatalogKey);
    batch.add("HLEN", sql::kExclusiveKey);
    batch.add("MGET", counters);
    const RepliesPtr replies = co_await way.client->execute_atomic(std::move(batch));
    replies->or_throw();
    co_await read_to_fence(*link, key, value);
    StoredDefinitions definitions = definitions_in(*replies, 1);
    if (replies->integer(2) == 0 && tables_of(definitions) == tables) {
      Fence fence{.link = link, .position = {std::move(history), link->parser().offset()}, .state = {}};
      fence.state.database = way.database;
      const auto& values = replies->array(3);
      for (std::size_t index = 0; index < tables.size(); ++index) {
        std::uint64_t count = 0;
        const Reply& counter = values[index + 1];
        if (counter.is_text()) std::from_chars(counter.text.data(), counter.text.data() + counter.text.size(), count);
        if (count != 0) fence.state.counts[tables[index]] = count;
      }
      fence.state.definitions = std::make_shared<const StoredDefinitions>(std::move(definitions));
      co_return fence;
    }
    asio::steady_timer pause(way.executor, kFencePause);
    co_await pause.async_wait(asio::as_tuple(asio::use_awaitable));
  }
  throw sql::SqlError(sqlstate::kLockNotAvailable, "a statement of many rows did not end while the replication slot waited for a place between two commits");
}

/// Attaches to the present end of the stream.
asio::awaitable<Fence> fence_at_end(ReplicationWay way, std::string name) {
  const Source source = co_await find_source(way);
  auto link = std::make_shared<ReplicationLink>(way.executor, way.options);
  std::exception_ptr failure;
  try {
    std::optional<StreamPosition> end;
    if (source.has_backlog) end = source.end;
    const ReplicationLink::Attached attached = co_await link->attach(std::move(end));
    co_return co_await set_fence(way, link, attached.position.history, std::move(name));
  } catch (...) {
    failure = std::current_exception();
  }
  link->close();
  std::rethrow_exception(failure);
}

std::int64_t microseconds_now() {
  constexpr std::int64_t kSecondsTo2000 = 946'684'800;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count() - kSecondsTo2000 * 1'000'000;
}

}  // namespace

asio::awaitable<StreamEnd> find_stream_end(ReplicationWay way) {
  const Source source = co_await find_source(way);
  SlotStore slots(*way.client);
  const Lsn base = co_await slots.base_of(source.end.history, std::nullopt);
  StreamEnd end;
  end.lsn = base + source.end.offset;
  end.system = co_await slots.system_identifier();
  co_return end;
}

asio::awaitable<Lsn> create_slot(ReplicationWay way, std::string name) {
  check_slot_name(name);
  check_way(way);
  SlotStore slots(*way.client);
  const bool exists = (co_await slots.find(name)).has_value();
  if (exists) throw sql::SqlError(sqlstate::kDuplicateObject, fmt::format("replication slot \"{}\" already exists", name));
  const Fence fence = co_await fence_at_end(way, name);
  fence.link->close();
  ReplicationSlot slot;
  slot.name = name;
  slot.position = fence.position;
  slot.state = fence.state;
  slot.base = co_await slots.base_of(fence.position.history, std::nullopt);
  slot.confirmed = slot.base + fence.position.offset;
  const Lsn confirmed = slot.confirmed;
  co_await slots.create(std::move(slot));
  co_return confirmed;
}

asio::awaitable<void> drop_slot(ReplicationWay way, std::string name, bool waits) {
  check_way(way);
  SlotStore slots(*way.client);
  while (true) {
    const std::string holder = co_await slots.holder(name);
    if (holder.empty()) break;
    if (!waits) throw active_slot(name, holder);
    asio::steady_timer pause(way.executor, kDropPause);
    co_await pause.async_wait(asio::as_tuple(asio::use_awaitable));
  }
  co_await slots.drop(std::move(name));
}

asio::awaitable<void> note_copy(ReplicationWay way) {
  const StreamEnd end = co_await find_stream_end(way);
  SlotStore slots(*way.client);
  co_await slots.note_copied(end.lsn);
}

Publisher::Publisher(ReplicationWay way, std::vector<std::string> publications, std::string process, std::function<void()> wake)
    : way_(std::move(way)),
      slots_(*way_.client),
      publications_(std::move(publications)),
      token_(random_version() + " " + process),
      wake_(std::move(wake)),
      pause_(way_.executor),
      tick_(way_.executor) {}

asio::awaitable<void> Publisher::start(std::string name, Lsn from) {
  check_way(way_);
  const auto found = co_await slots_.find(name);
  if (!found) throw undefined_slot(name);
  const std::string holder = co_await slots_.lease(name, token_);
  if (!holder.empty()) throw active_slot(name, holder);
  has_lease_ = true;
  slot_ = *found;
  std::exception_ptr failure;
  try {
    co_await resume(slot_, from);
  } catch (...) {
    failure = std::current_exception();
  }
  if (failure) {
    if (link_) link_->close();
    co_await slots_.give_back(name, token_);
    has_lease_ = false;
    std::rethrow_exception(failure);
  }
  written_definitions_ = slot_.state.definitions;
  position_ = slot_.base + slot_.position.offset;
  upserts_ = std::max(upserts_, co_await slots_.copied());
  decoder_ = std::make_unique<StreamDecoder>(way_.database, slot_.state, publications_);
  asio::co_spawn(way_.executor, read(shared_from_this()), asio::detached);
  asio::co_spawn(way_.executor, keep(shared_from_this()), asio::detached);
}

asio::awaitable<void> Publisher::resume(ReplicationSlot& slot, Lsn from) {
  const Source source = co_await find_source(way_);
  link_ = std::make_shared<ReplicationLink>(way_.executor, way_.options);
  skipped_ = std::max(from, slot.confirmed);
  const ReplicationLink::Attached attached = co_await link_->attach(slot.position);
  if (attached.is_continued) {
    // After a failover the same history has another name.
    if (attached.position.history != slot.position.history) co_await slots_.base_of(attached.position.history, slot.base);
    slot.position.history = attached.position.history;
    co_return;
  }
  if (attached.position.history == slot.position.history) {
    throw lost_changes(fmt::format("Redis has the stream from offset {} on, the slot is at {}.", attached.position.offset, slot.position.offset))
        .hint("Raise repl-backlog-size and repl-backlog-ttl of Redis, and make the subscription anew.");
  }
  // Another history: Redis has started again. If the slot's own record was not lost, all that was sent before it was not lost either, and
  // equal counters say that nothing has come since.
  const Lsn base = co_await slots_.base_of(attached.position.history, std::nullopt);
  Fence fence = co_await set_fence(way_, link_, attached.position.history, slot.name);
  if (from > slot.confirmed) {
    throw lost_changes(fmt::format("Redis has started again, and may have lost what the subscriber has: it is at {}, the slot at {}.",
                                   lsn_text(from), lsn_text(slot.confirmed)));
  }
  if (fence.state.counts != slot.state.counts) throw lost_changes("Redis has started again, and tables have changed between its stream of before and that of now.");
  spdlog::info("replication slot {} goes on in another history of Redis, from {}", slot.name, lsn_text(base + fence.position.offset));
  slot.position = fence.position;
  slot.state = fence.state;
  slot.base = base;
  slot.confirmed = skipped_ = base + fence.position.offset;
  co_await slots_.advance(slot, true, slot.confirmed);
}

std::vector<ReplicationMessage> Publisher::take() {
  if (failure_ && output_.empty()) std::rethrow_exception(failure_);
  output_bytes_ = 0;
  taken_ = position_;
  pause_.cancel();
  return std::exchange(output_, {});
}

void Publisher::confirm(Lsn flushed) {
  while (!checkpoints_.empty() && checkpoints_.front().lsn <= flushed) {
    unwritten_ = std::move(checkpoints_.front());
    checkpoints_.pop_front();
  }
  const Lsn noted = unwritten_ ? unwritten_->lsn : 0;
  if (latest_ && latest_->lsn <= flushed && latest_->lsn > noted) unwritten_ = std::exchange(latest_, std::nullopt);
}

asio::awaitable<void> Publisher::write_record() {
  if (!unwritten_) co_return;
  const Checkpoint checkpoint = *std::exchange(unwritten_, std::nullopt);
  if (checkpoint.lsn <= slot_.confirmed) co_return;
  slot_.position.offset = checkpoint.offset;
  slot_.state = checkpoint.state;
  slot_.confirmed = checkpoint.lsn;
  const bool with_definitions = written_definitions_ != slot_.state.definitions;
  written_definitions_ = slot_.state.definitions;
  co_await slots_.advance(slot_, with_definitions, position_);
}

asio::awaitable<void> Publisher::stop() {
  is_stopped_ = true;
  wake_ = [] {};
  if (link_) link_->close();
  pause_.cancel();
  tick_.cancel();
  if (!std::exchange(has_lease_, false)) co_return;
  co_await write_record();
  co_await slots_.give_back(slot_.name, token_);
}

void Publisher::fail(std::exception_ptr failure) {
  if (is_stopped_) return;
  if (!failure_) failure_ = std::move(failure);
  wake_();
}

asio::awaitable<void> Publisher::read(std::shared_ptr<Publisher> self) {
  std::exception_ptr failure;
  try {
    co_await self->read_stream();
  } catch (...) {
    failure = std::current_exception();
  }
  if (failure) self->fail(failure);
}

asio::awaitable<void> Publisher::keep(std::shared_ptr<Publisher> self) {
  std::exception_ptr failure;
  auto renewed = std::chrono::steady_clock::now();
  try {
    while (!self->is_stopped_) {
      self->tick_.expires_after(kTick);
      co_await self->tick_.async_wait(asio::as_tuple(asio::use_awaitable));
      if (self->is_stopped_) co_return;
      if (self->waits_for_stream_) self->note_checkpoint();
      co_await self->write_record();
      if (std::chrono::steady_clock::now() - renewed < kLeaseRenewal) continue;
      renewed = std::chrono::steady_clock::now();
      if (!self->is_stopped_) co_await self->slots_.renew(self->slot_.name, self->token_);
      self->wake_();
    }
  } catch (...) {
    failure = std::current_exception();
  }
  if (failure) self->fail(failure);
}

void Publisher::note_checkpoint() {
  if (!decoder_->may_restart_here()) return;
  position_ = slot_.base + link_->parser().offset();
  const auto now = std::chrono::steady_clock::now();
  if (now - last_checkpoint_ < kCheckpointPause) return;
  last_checkpoint_ = now;
  if (checkpoints_.size() >= kMostCheckpoints) checkpoints_.pop_back();
  checkpoints_.push_back({position_, link_->parser().offset(), decoder_->state()});
}

asio::awaitable<void> Publisher::read_stream() {
  while (!is_stopped_) {
    StreamCommand command;
    while (link_->parser().next(command)) {
      const auto& words = command.words;
      if (words.size() > 3 && words[1] == sql::kSlotsKey && words[2] == kCopiedField) upserts_ = std::max(upserts_, co_await slots_.copied());
      std::optional<StreamTransaction> transaction = decoder_->feed(command);
      if (!transaction) continue;
      if (slot_.base + transaction->end <= skipped_) continue;
      co_await send(*std::move(transaction));
      if (decoder_->may_restart_here()) latest_ = Checkpoint{slot_.base + command.end, command.end, decoder_->state()};
      if (is_stopped_) co_return;
    }
    note_checkpoint();
    while (output_bytes_ > kMostOutputBytes && !is_stopped_) {
      pause_.expires_after(kLeaseRenewal);
      co_await pause_.async_wait(asio::as_tuple(asio::use_awaitable));
    }
    if (is_stopped_) co_return;
    waits_for_stream_ = true;
    co_await link_->read_more();
    waits_for_stream_ = false;
  }
}

asio::awaitable<void> Publisher::send(StreamTransaction transaction) {
  co_await complete(transaction);
  std::vector<ReplicationMessage> messages = encoder_.encode(transaction, slot_.base, microseconds_now());
  if (messages.empty()) co_return;
  const bool was_empty = output_.empty();
  for (ReplicationMessage& message : messages) {
    output_bytes_ += message.body.size();
    output_.push_back(std::move(message));
  }
  if (was_empty) wake_();
}

asio::awaitable<void> Publisher::complete(StreamTransaction& transaction) {
  std::vector<TableChange> changes;
  const Lsn upserts = upserts_;
  for (TableChange& change : transaction.changes) {
    switch (change.kind) {
      case TableChange::Kind::kReadTable:
        co_await read_table(change.table, changes);
        continue;
      case TableChange::Kind::kReadRow: {
        std::vector<std::string> members{change.member};
        co_await read_rows(change.table, std::move(members), true, changes);
        continue;
      }
      case TableChange::Kind::kInsert:
      case TableChange::Kind::kUpdate: {
        const bool is_there = co_await read_values(change);
        if (!is_there) continue;  // its removal follows
        break;
      }
      case TableChange::Kind::kDelete:
      case TableChange::Kind::kTruncate:
        break;
    }
    if (change.kind == TableChange::Kind::kInsert && slot_.base + transaction.end <= upserts_) {
      changes.push_back(change);
      changes.back().kind = TableChange::Kind::kDelete;
    }
    changes.push_back(std::move(change));
  }
  transaction.changes = std::move(changes);
  if (upserts_ > upserts) co_await note_upserts();
}

asio::awaitable<void> Publisher::note_upserts() {
  // A restart behind this transaction must know it, too.
  const Lsn known = co_await slots_.copied();
  if (known < upserts_) co_await slots_.note_copied(upserts_);
}

asio::awaitable<bool> Publisher::read_values(TableChange& change) {
  std::vector<std::size_t> unread;
  std::vector<std::string> fields;
  for (std::size_t column = 0; column < change.values.size(); ++column) {
    if (change.values[column].kind != ChangedValue::Kind::kUnread) continue;
    unread.push_back(column);
    fields.push_back(change.table->columns()[column]->field);
  }
  if (unread.empty()) co_return true;
  const std::string key = change.table->row_of(change.member);
  CommandBatch batch;
  batch.add("EXISTS", key);
  batch.add("HMGET", key, fields);
  const RepliesPtr replies = co_await way_.client->execute_atomic(std::move(batch));
  replies->or_throw();
  if (replies->integer(0) == 0) co_return false;
  const auto& values = replies->array(1);
  for (std::size_t index = 0; index < unread.size(); ++index) {
    ChangedValue& value = change.values[unread[index]];
    if (values[index].is_text()) value = {ChangedValue::Kind::kText, std::string(values[index].text)};
    else value = {ChangedValue::Kind::kNull, {}};
  }
  co_return true;
}

asio::awaitable<void> Publisher::read_rows(const PublishedTablePtr& table, std::vector<std::string> members, bool replaces,
                                           std::vector<TableChange>& changes) {
  CommandBatch batch;
  for (const std::string& member : members) batch.add("HGETALL", table->row_of(member));
  batch.add("INFO", "replication");
  const RepliesPtr replies = co_await way_.client->execute(std::move(batch));
  replies->or_throw();
  for (std::size_t index = 0; index < members.size(); ++index) {
    StreamRow image(table, members[index]);
    const auto& fields = replies->array(index);
    for (std::size_t at = 0; at + 1 < fields.size(); at += 2) image.set(fields[at].text, std::string(fields[at + 1].text));
    if (replaces) changes.push_back(image.removal());
    if (!fields.empty()) changes.push_back(std::move(image).insertion());
  }
  // Changes of these rows up to now come again.
  const auto now = info_number((*replies)[members.size()].text, "master_repl_offset");
  upserts_ = std::max(upserts_, slot_.base + now.value_or(0));
}

asio::awaitable<void> Publisher::read_table(const PublishedTablePtr& table, std::vector<TableChange>& changes) {
  const std::string key = sql::TableKeys(table->definition()).all_rows();
  std::set<std::string> seen;  // ZSCAN may list a member twice
  std::string cursor = "0";
  do {
    CommandBatch batch;
    batch.add("ZSCAN", key, cursor, "COUNT", kRowsOfOneRead);
    const RepliesPtr replies = co_await way_.client->execute(std::move(batch));
    replies->or_throw();
    const auto& answer = replies->array(0);
    cursor = std::string(answer[0].text);
    std::vector<std::string> members;
    const auto& pairs = answer[1].children();
    for (std::size_t at = 0; at + 1 < pairs.size(); at += 2) {
      if (seen.emplace(pairs[at].text).second) members.emplace_back(pairs[at].text);
    }
    if (!members.empty()) co_await read_rows(table, std::move(members), false, changes);
  } while (cursor != "0");
}

}  // namespace redquel::executor
