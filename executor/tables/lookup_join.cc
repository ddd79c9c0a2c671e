#include "executor/tables/lookup_join.h"

#include <numeric>
#include <unordered_map>

#include "executor/scripts/scripts.h"
#include "executor/tables/lookup_keys.h"
#include "executor/tables/lookup_pairs.h"
#include "executor/tables/member_rows.h"
#include "executor/tables/set_program.h"
#include "executor/tables/set_scripts.h"
#include "executor/tables/small_sets.h"
#include "executor/tables/source_operator.h"
#include "sql/expressions/evaluate.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

using By = planner::LookupJoin::By;

/// A script reads the rows of fewer sets than these, in one round trip.
constexpr std::size_t kManySets = 4;
/// For so many keys a round trip to a set pays: the set says which rows satisfy the condition.
constexpr std::size_t kManyKeys = 32;

class LookupJoinOperator final : public SourceOperator {
 public:
  LookupJoinOperator(const planner::PhysicalNode& node, const planner::LookupJoin& join, OperatorPtr outer, ExecutionContext& context)
      : SourceOperator(node, join.read, context), join_(join), outer_(std::move(outer)), set_(planner::set_of_condition(join)) {}

  /// The outer input, which is not read yet, is a set that may be read together with the rows.
  void read_with(std::optional<planner::MemberLookup> members) { members_ = members; }

  asio::awaitable<std::optional<sql::Batch>> next() override {
    if (members_) {
      const planner::MemberLookup members = *std::exchange(members_, std::nullopt);
      std::optional<sql::Batch> joined = co_await read_member_rows(join_, members, context_.limits.script_rows, context_, counters());
      has_all_ = joined.has_value();
      if (has_all_ && joined->rows > 0) co_return joined;
    }
    if (has_all_) co_return std::nullopt;
    while (auto outer = co_await outer_->next()) {
      LookupKeys keys = lookup_keys(join_, reader_.keys(), *outer, context_.evaluation());
      names_ = std::move(keys.names);
      ends_ = std::move(keys.ends);
      keys_of_rows_.clear();
      if (!names_.empty()) co_await look_up();
      sql::Batch inner = reader_.take_all();
      count_rows(inner.rows);
      filter_inner(inner);
      sql::Batch joined = pair_up(join_.kind, join_.residual, {*outer, inner, keys.of_rows, keys_of_rows_, names_.size()}, context_.evaluation());
      if (joined.rows > 0) co_return joined;
    }
    co_return std::nullopt;
  }

 private:
  asio::awaitable<void> look_up() {
    context_.note_read(reader_.table());
    if (join_.by == By::kSet) {
      co_await look_up_sets();
      co_return;
    }
    if (join_.by == By::kKeyStart) {
      co_await look_up_key_starts();
      co_return;
    }
    auto members = std::make_shared<std::vector<std::string>>(names_);
    std::vector<std::size_t> key_of_member(names_.size());
    for (std::size_t i = 0; i < names_.size(); ++i) key_of_member[i] = i;
    if (join_.by == By::kUnique) {
      CommandBatch batch;
      const bool is_spread = !reader_.table().parts.empty();  // then the values lie in the buckets that their hashes choose
      if (!is_spread) batch.add("HMGET", reader_.keys().uniques(join_.columns), names_);
      for (std::size_t i = 0; is_spread && i < names_.size(); ++i) batch.add("HGET", reader_.keys().uniques_with(join_.columns, names_[i]), names_[i]);
      RepliesPtr replies = co_await context_.ask(std::move(batch), counters());
      replies->or_throw();
      members->clear();
      key_of_member.clear();
      const std::span<const Reply> found = is_spread ? replies->all() : replies->array(0);
      for (std::size_t i = 0; i < found.size(); ++i) {
        if (!found[i].is_text()) continue;
        members->emplace_back(found[i].text);
        key_of_member.push_back(i);
      }
      context_.note_turns(reader_.table());
    }
    if (set_ && members->size() >= kManyKeys) co_await keep_those_in_set(*members, key_of_member);
    co_await fetch_members(std::move(members), std::move(key_of_member));
  }

  /// Leaves out keys whose rows do not satisfy the condition: to look at one in a set costs a tenth of reading its row.
  asio::awaitable<void> keep_those_in_set(std::vector<std::string>& members, std::vector<std::size_t>& key_of_member) {
    const std::optional<std::string> set = evaluate_set_key(*set_, reader_.table(), context_.evaluation());
    if (!set) co_return members.clear();
    context_.note_turns(reader_.table());
    CommandBatch batch;
    batch.add("SMISMEMBER", *set, members);
    const RepliesPtr replies = co_await context_.ask(std::move(batch), counters());
    const std::span<const Reply> flags = replies->array(0);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < members.size() && i < flags.size(); ++i) {
      if (flags[i].integer == 0) continue;
      if (kept != i) members[kept] = std::move(members[i]);
      key_of_member[kept++] = key_of_member[i];
    }
    members.resize(kept);
    key_of_member.resize(kept);
  }

  asio::awaitable<void> fetch_members(std::shared_ptr<std::vector<std::string>> members, std::vector<std::size_t> key_of_member) {
    if (members->empty()) co_return;
    CommandBatch batch;
    for (const std::string& member : *members) reader_.append_fetch(batch, member);
    RepliesPtr replies;
    if (reader_.table().parts.empty()) {
      replies = co_await context_.ask_atomic(std::move(batch), counters());
    } else {  // no transaction of Redis reaches several buckets
      context_.note_turns(reader_.table());
      replies = co_await context_.ask(std::move(batch), counters());
    }
    for (std::size_t i = 0; i < members->size(); ++i) {
      if (reader_.add((*members)[i], (*replies)[i].children())) keys_of_rows_.push_back(key_of_member[i]);
    }
    reader_.keep_alive(members);
    reader_.keep_alive(replies);
  }

  /// Reads the rows of small sets. Returns the keys of the others.
  asio::awaitable<std::vector<std::size_t>> look_up_small_sets() {
    std::vector<std::size_t> others, small;
    CommandBatch sizes, batch;
    for (const std::string& name : names_) sizes.add("SCARD", name);
    const RepliesPtr counted = co_await context_.ask(std::move(sizes), counters());
    for (std::size_t key = 0; key < names_.size(); ++key) {
      const std::int64_t size = counted->integer(key);
      if (size > kSmallSet) others.push_back(key);
      if (size == 0 || size > kSmallSet) continue;
      append_sorted_set(batch, reader_, names_[key], ends_of(key));
      small.push_back(key);
    }
    if (small.empty()) co_return others;
    const RepliesPtr replies = co_await context_.ask_unchecked(std::move(batch), false, counters());
    for (std::size_t i = 0; i < small.size(); ++i) {
      const std::size_t key = small[i];
      if (!add_sorted_set(reader_, replies, i, ends_of(key), [&] { keys_of_rows_.push_back(key); })) others.push_back(key);
    }
    reader_.keep_alive(replies);
    co_return others;
  }

  sql::MemberEnds ends_of(std::size_t key) const { return ends_.empty() ? sql::MemberEnds() : ends_[key]; }

  asio::awaitable<void> look_up_sets() {
    std::vector<std::size_t> wanted(names_.size());  // keys
    std::iota(wanted.begin(), wanted.end(), 0);
    if (names_.size() >= kManySets && may_sort_sets(reader_)) wanted = co_await look_up_small_sets();
    if (names_.size() > 1) context_.note_turns(reader_.table());
    if (wanted.empty()) co_return;
    CommandBatch batch;
    for (const std::size_t key : wanted) {
      SetProgram program{{names_[key]}, {"s"}};
      if (!ends_.empty()) program.tokens = {"c", ends_[key].head, ends_[key].tail};
      append_rows_of_sets(batch, program, row_arguments(reader_), context_.limits.set_members, context_.limits.script_rows);
    }
    RepliesPtr replies = co_await context_.ask_script(kRowsOfSetsScript, std::move(batch), counters());
    auto members = std::make_shared<std::vector<std::string>>();
    std::vector<std::size_t> key_of_member;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const std::size_t key = wanted[i];
      const std::optional<RowsOfSets> found = decode_rows_of_sets((*replies)[i], reader_.fields().size());
      if (!found && context_.runs_together) throw AskAlone{};
      if (!found) {
        co_await scan_set(key, *members, key_of_member);
        continue;
      }
      for (std::size_t row = 0; row < found->rows.size(); ++row) {
        if (reader_.add(found->rows.member(row), found->rows.fields(row))) keys_of_rows_.push_back(key);
      }
      for (const Reply& member : found->members) {
        members->emplace_back(member.text);
        key_of_member.push_back(key);
      }
    }
    reader_.keep_alive(replies);
    co_await fetch_members(std::move(members), std::move(key_of_member));
  }

  asio::awaitable<void> look_up_key_starts() {
    auto members = std::make_shared<std::vector<std::string>>();
    std::vector<std::size_t> key_of_member, open(names_.size());
    std::vector<std::string> from;
    for (std::size_t key = 0; key < names_.size(); ++key) open[key] = key, from.push_back("[" + names_[key]);
    while (!open.empty()) {
      CommandBatch batch;
      for (const std::size_t key : open) {
        batch.add("ZRANGE", reader_.keys().all_rows(), from[key], end_of_start(names_[key]), "BYLEX", "LIMIT", 0, context_.limits.chunk_rows);
      }
      const RepliesPtr replies = co_await context_.ask(std::move(batch), counters());
      context_.note_turns(reader_.table());
      std::vector<std::size_t> still_open;
      for (std::size_t i = 0; i < open.size(); ++i) {
        const auto found = replies->array(i);
        for (const Reply& member : found) {
          members->emplace_back(member.text);
          key_of_member.push_back(open[i]);
        }
        if (found.size() < context_.limits.chunk_rows) continue;
        from[open[i]] = "(" + members->back();
        still_open.push_back(open[i]);
      }
      open = std::move(still_open);
    }
    co_await fetch_members(std::move(members), std::move(key_of_member));
  }

  asio::awaitable<void> scan_set(std::size_t key, std::vector<std::string>& members, std::vector<std::size_t>& key_of_member) {
    std::string cursor = "0";
    std::unordered_map<std::string, bool> seen;
    do {
      CommandBatch batch;
      batch.add("SSCAN", names_[key], cursor, "COUNT", context_.limits.chunk_rows);
      RepliesPtr replies = co_await context_.ask(std::move(batch), counters());
      auto parts = replies->array(0);
      if (parts.size() != 2) throw sql::SqlError(sqlstate::kInternalError, "unexpected reply of SSCAN");
      cursor = std::string(parts[0].text);
      for (const Reply& member : parts[1].children()) {
        if (!seen.try_emplace(std::string(member.text)).second) continue;
        members.push_back(ends_.empty() ? std::string(member.text) : ends_[key].whole(member.text));
        key_of_member.push_back(key);
      }
    } while (cursor != "0");
  }

  void filter_inner(sql::Batch& inner) {
    if (!join_.read.condition || inner.rows == 0) return;
    std::vector<std::uint32_t> selected = sql::select_rows(*join_.read.condition, inner, context_.evaluation());
    std::vector<std::size_t> keys;
    for (std::uint32_t row : selected) keys.push_back(keys_of_rows_[row]);
    keys_of_rows_ = std::move(keys);
    inner = inner.gather(selected);
  }

  const planner::LookupJoin& join_;
  OperatorPtr outer_;
  std::vector<std::string> names_;
  std::vector<sql::MemberEnds> ends_;  // parallel to `names_`, or empty
  std::vector<std::size_t> keys_of_rows_;  // of each inner row in the reader
  std::optional<planner::MemberLookup> members_;  // until it has been tried
  const std::optional<planner::SetExpression> set_;  // of the rows that satisfy the condition
  bool has_all_ = false;                          // by it
};

}  // namespace

OperatorPtr make_lookup_join(const planner::PhysicalNode& node, const planner::LookupJoin& join, ExecutionContext& context) {
  auto made = std::make_unique<LookupJoinOperator>(node, join, context.make_operator(*join.outer), context);
  made->read_with(planner::member_lookup(join));
  return made;
}

OperatorPtr make_lookup_join(const planner::PhysicalNode& node, const planner::LookupJoin& join, OperatorPtr outer,
                             ExecutionContext& context) {
  return std::make_unique<LookupJoinOperator>(node, join, std::move(outer), context);
}

}  // namespace redquel::executor
