#include "executor/context/execution_context.h"

#include "executor/storage/known_keys.h"
#include "executor/storage/seen_commits.h"
#include "executor/transaction/transaction.h"
#include "sql/catalog/buckets.h"
#include "sql/catalog/stored_keys.h"
#include "sql/memory_account.h"

namespace redquel::executor {

namespace {

/// Replies with fewer bytes are not charged.
constexpr std::size_t kChargedReplies = 64 * 1024;

/// Returns the replies. Large ones charge the session's account as long as the pointer or a copy of it lives. Throws 53200.
RepliesPtr charged(RepliesPtr replies, const std::shared_ptr<sql::SessionMemory>& account) {
  if (!account || replies->bytes() < kChargedReplies) return replies;
  struct Charge {
    std::shared_ptr<sql::SessionMemory> account;
    sql::HeldBytes bytes;
    RepliesPtr replies;
  };
  sql::HeldBytes bytes(*account, replies->bytes(), sql::MemoryPart::kStatements);
  auto charge = std::make_shared<Charge>(Charge{account, std::move(bytes), std::move(replies)});
  const Replies* inner = charge->replies.get();
  return {std::move(charge), inner};
}

}  // namespace

NodeCounters::~NodeCounters() {
  if (session_) *session_ += counters_;
  if (!statistics_) return;
  planner::NodeRun& run = (*statistics_)[&node_];
  run.round_trips += counters_.round_trips;
  run.commands += counters_.commands;
  run.bytes_sent += counters_.bytes_sent;
  run.bytes_received += counters_.bytes_received;
}

void ExecutionContext::count_written(const sql::TableDef& table, const WrittenRows& rows) {
  affected_rows += rows.all();
  if (relation_counts == nullptr) return;
  sql::TableCounts& counts = relation_counts->table(table.oid);
  counts.inserted.add(rows.inserted);
  counts.updated.add(rows.updated);
  counts.deleted.add(rows.deleted);
}

bool ExecutionContext::is_of_known_catalog(const Replies& replies) const {
  const std::optional<std::string>& version = replies.catalog_version();
  if (later_version_ && version == later_version_) return true;
  const TransactionCatalog* own = transaction_ ? transaction_->catalog() : nullptr;
  return (version ? std::string_view(*version) : std::string_view()) == (own != nullptr ? own->base().version : catalog_->version);
}

asio::awaitable<void> ExecutionContext::check_version(const Replies& replies) {
  if (is_of_known_catalog(replies)) co_return;
  if (!tables_hold) throw StaleCatalog{};
  const bool holds = co_await tables_hold();
  if (!holds) throw StaleCatalog{};
  later_version_ = replies.catalog_version();
}

void ExecutionContext::note_read(const sql::TableDef& table) {
  const bool is_first_of_part = table.part_of != 0 && read_parts_.insert(table.oid).second;
  if (is_first_of_part && !read_parts_.insert(table.part_of).second) return;
  if (++read_commands_ > 1) multi_turn_tables_.insert(table.oid);
}

void ExecutionContext::take_notes(const ExecutionContext& copy) {
  read_commands_ = std::max(read_commands_, copy.read_commands_);
  multi_turn_tables_.insert(copy.multi_turn_tables_.begin(), copy.multi_turn_tables_.end());
  read_parts_.insert(copy.read_parts_.begin(), copy.read_parts_.end());
  is_confirmed_ = is_confirmed_ || copy.is_confirmed_;
}

std::shared_ptr<const TableChanges> ExecutionContext::changes(sql::Oid table) const {
  if (frozen_changes_) {
    const auto found = frozen_changes_->find(table);
    return found == frozen_changes_->end() ? nullptr : found->second;
  }
  return transaction_ ? transaction_->buffer().changes(table) : nullptr;
}

void ExecutionContext::freeze_changes() {
  frozen_changes_.emplace();
  for (TableChangesPtr& changes : transaction_->buffer().all_changes()) {
    const sql::Oid table = changes->table->oid;
    frozen_changes_->emplace(table, std::move(changes));
  }
}

std::shared_ptr<KnownKeys> ExecutionContext::changed_rows(sql::Oid table) {
  if (!frozen_changes_) return nullptr;
  auto& rows = changed_rows_[table];
  if (!rows) rows = std::make_shared<KnownKeys>();
  return rows;
}

bool ExecutionContext::is_known_cheap(const void* node) const {
  if (!cheapness) return false;
  auto found = cheapness->find(node);
  return found != cheapness->end() && std::chrono::steady_clock::now() - found->second < std::chrono::seconds(1);
}

void ExecutionContext::remember_cheap(const void* node) {
  if (!cheapness) return;
  if (cheapness->size() >= 10000) cheapness->clear();
  (*cheapness)[node] = std::chrono::steady_clock::now();
}

asio::awaitable<RepliesPtr> ExecutionContext::checked(asio::awaitable<RepliesPtr> asked, bool may_hold_errors) {
  RepliesPtr replies = co_await std::move(asked);
  if (!is_of_known_catalog(*replies)) co_await check_version(*replies);
  if (!may_hold_errors) replies->or_throw();
  co_return charged(std::move(replies), account);
}

std::shared_ptr<ExecutionCounters> ExecutionContext::counters_of_read() const { return commits_ != nullptr ? std::make_shared<ExecutionCounters>() : nullptr; }

asio::awaitable<RepliesPtr> ExecutionContext::note(asio::awaitable<RepliesPtr> asked, bool is_bulk, std::shared_ptr<ExecutionCounters> own,
                                                   ExecutionCounters* counters) {
  SeenCommits& commits = *commits_;
  commits.note_read(!is_bulk);
  RepliesPtr replies = co_await std::move(asked);
  commits.note_answer(own->round_trips);
  if (counters != nullptr) *counters += *own;
  co_return replies;
}

asio::awaitable<RepliesPtr> ExecutionContext::noted(asio::awaitable<RepliesPtr> asked, bool is_bulk, std::shared_ptr<ExecutionCounters> own,
                                                    ExecutionCounters* counters) {
  if (!own) return asked;
  return note(std::move(asked), is_bulk, std::move(own), counters);
}

asio::awaitable<RepliesPtr> ExecutionContext::ask(CommandBatch batch, ExecutionCounters* counters) {
  const std::shared_ptr<ExecutionCounters> own = counters_of_read();
  return checked(noted(redis_.execute(std::move(batch), own ? own.get() : counters), false, own, counters));
}

asio::awaitable<RepliesPtr> ExecutionContext::ask_unchecked(CommandBatch batch, bool atomic, ExecutionCounters* counters) {
  const std::shared_ptr<ExecutionCounters> own = counters_of_read();
  ExecutionCounters* const counts = own ? own.get() : counters;
  return checked(noted(atomic ? redis_.execute_atomic(std::move(batch), counts) : redis_.execute(std::move(batch), counts), false, own, counters), true);
}

asio::awaitable<RepliesPtr> ExecutionContext::ask_atomic(CommandBatch batch, ExecutionCounters* counters) {
  const std::shared_ptr<ExecutionCounters> own = counters_of_read();
  return checked(noted(redis_.execute_atomic(std::move(batch), own ? own.get() : counters), false, own, counters));
}

asio::awaitable<RepliesPtr> ExecutionContext::ask_bulk(CommandBatch batch, ExecutionCounters* counters) {
  const std::shared_ptr<ExecutionCounters> own = counters_of_read();
  return checked(noted(bulk_.execute(std::move(batch), own ? own.get() : counters), true, own, counters));
}

asio::awaitable<RepliesPtr> ExecutionContext::ask_script(const Script& script, CommandBatch batch, ExecutionCounters* counters) {
  const std::shared_ptr<ExecutionCounters> own = counters_of_read();
  return checked(noted(run_scripts(redis_, {&script}, std::move(batch), own ? own.get() : counters), false, own, counters));
}

std::unique_ptr<RedisRequest> ExecutionContext::start_bulk(CommandBatch batch, ExecutionCounters* counters) {
  if (commits_ != nullptr) commits_->note_read(false);
  return bulk_.start_atomic(std::move(batch), counters);
}

asio::awaitable<RepliesPtr> ExecutionContext::replies_of(RedisRequest& request) { return checked(request.replies()); }

asio::awaitable<void> ExecutionContext::confirm_catalog(ExecutionCounters* counters) {
  if (is_confirmed_) co_return;
  CommandBatch batch;
  batch.add("EXISTS", sql::home_key(sql::kVersionKey));  // every turn returns the version
  co_await ask(std::move(batch), counters);
  is_confirmed_ = true;
}

}  // namespace redquel::executor
