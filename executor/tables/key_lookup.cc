#include <algorithm>
#include <unordered_set>

#include "executor/scripts/scripts.h"
#include "executor/storage/row_buffer.h"
#include "executor/storage/seen_commits.h"
#include "executor/tables/key_values.h"
#include "executor/tables/read_scripts.h"
#include "executor/tables/source_operator.h"

namespace redquel::executor {

namespace {

/// pk = c, pk IN (…): a pipeline of HMGET.
class KeyLookupOperator final : public SourceOperator {
 public:
  KeyLookupOperator(const planner::PhysicalNode& node, const planner::KeyLookup& lookup, ExecutionContext& context)
      : SourceOperator(node, lookup.read, context), lookup_(lookup), changes_(context.changes(lookup.read.table->oid)) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    while (position_ < lookup_.keys.size()) {
      std::vector<std::string> members;
      for (; position_ < lookup_.keys.size() && members.size() < context_.limits.chunk_rows; ++position_) {
        auto key = evaluate_key(reader_.table(), reader_.table().primary_key, lookup_.keys[position_], context_.evaluation());
        if (!key) continue;
        std::string member = reader_.keys().member(*key);
        if (changes_ && changes_->contains(member)) continue;  // the transaction's own comes behind
        if (lookup_.keys.size() == 1 || seen_.insert(member).second) members.push_back(std::move(member));
      }
      if (members.empty()) continue;
      sql::Batch batch = co_await fetch(std::move(members));
      if (batch.rows > 0) co_return batch;
    }
    co_return std::nullopt;
  }

  bool is_at_end() const override { return position_ == lookup_.keys.size(); }

 private:
  const planner::KeyLookup& lookup_;
  TableChangesPtr changes_;
  std::size_t position_ = 0;
  std::unordered_set<std::string> seen_;  // IN (1, 1) gives one row
};

/// Looks at a value that commits move all the time.
constexpr int kMostLooks = 20;

/// unique = c: the row's key from the uniques hash and the row itself, in one script. Of a table in several buckets: the key from the bucket that the
/// hash of the value chooses, then the row.
class UniqueLookupOperator final : public SourceOperator {
 public:
  UniqueLookupOperator(const planner::PhysicalNode& node, const planner::UniqueLookup& lookup, ExecutionContext& context)
      : SourceOperator(node, lookup.read, context), lookup_(lookup) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    while (position_ < lookup_.values.size()) {
      std::vector<std::string> fields;
      for (; position_ < lookup_.values.size() && fields.size() < context_.limits.chunk_rows; ++position_) {
        auto key = evaluate_key(reader_.table(), lookup_.columns, lookup_.values[position_], context_.evaluation());
        if (!key) continue;
        std::string field = reader_.keys().unique_field(lookup_.columns, *key);
        if (lookup_.values.size() == 1 || seen_.insert(field).second) fields.push_back(std::move(field));
      }
      if (fields.empty()) continue;
      sql::Batch batch = co_await look_up(fields);
      if (batch.rows > 0) co_return batch;
    }
    co_return std::nullopt;
  }

  bool is_at_end() const override { return position_ == lookup_.values.size(); }

 private:
  asio::awaitable<sql::Batch> look_up(const std::vector<std::string>& fields) {
    if (!reader_.table().parts.empty()) co_return co_await look_up_by_value(fields);
    context_.note_read(reader_.table());
    CommandBatch batch;
    append_unique_rows(batch, reader_.keys().uniques(lookup_.columns), fields, row_arguments(reader_));
    RepliesPtr replies = co_await context_.ask_script(kUniqueRowsScript, std::move(batch), counters());
    const std::optional<FlatRows> rows = decode_unique_rows((*replies)[0], reader_.fields().size());
    if (!rows) {
      std::vector<std::string> members = co_await members_of(fields);
      if (members.empty()) co_return sql::Batch{};
      co_return co_await fetch(std::move(members));
    }
    for (std::size_t i = 0; i < rows->size(); ++i) reader_.add(rows->member(i), rows->fields(i));
    reader_.keep_alive(replies);
    co_return take();
  }

  /// The value's bucket and the row's are not asked at one moment. If a value has no row, a commit may have come in between: it is looked up again.
  asio::awaitable<sql::Batch> look_up_by_value(const std::vector<std::string>& fields) {
    context_.note_read(reader_.table());
    for (int look = 0;; ++look) {
      const RepliesPtr owners = co_await owners_of(fields);
      auto members = std::make_shared<std::vector<std::string>>();
      for (std::size_t index = 0; index < fields.size(); ++index) {
        const std::optional<std::string_view> member = owners->text(index);
        if (member && !is_changed(*member)) members->emplace_back(*member);
      }
      if (members->empty()) co_return sql::Batch{};
      context_.note_turns(reader_.table());
      CommandBatch rows;
      for (const std::string& member : *members) reader_.append_fetch(rows, member);
      const RepliesPtr replies = co_await context_.ask(std::move(rows), counters());
      for (std::size_t index = 0; index < members->size(); ++index) reader_.add((*members)[index], (*replies)[index].children());
      reader_.keep_alive(members);
      reader_.keep_alive(replies);
      sql::Batch batch = take();
      if (batch.rows == members->size() || look == kMostLooks || !co_await has_moved(fields, *owners)) co_return batch;
    }
  }

  asio::awaitable<RepliesPtr> owners_of(const std::vector<std::string>& fields) {
    CommandBatch entries;
    for (const std::string& field : fields) entries.add("HGET", reader_.keys().uniques_with(lookup_.columns, field), field);
    co_return co_await context_.ask(std::move(entries), counters());
  }

  /// Returns true if a value has another owner by now, or a commit that is applied in some buckets only may have been met.
  asio::awaitable<bool> has_moved(const std::vector<std::string>& fields, const Replies& owners) {
    const RepliesPtr now = co_await owners_of(fields);
    for (std::size_t index = 0; index < fields.size(); ++index) {
      if (now->text(index) != owners.text(index)) co_return true;
    }
    SeenCommits commits(reader_.table().parts);
    co_return co_await commits.are_torn(context_.redis());
  }

  /// Returns true for a row that the transaction has changed: it comes behind those of Redis.
  bool is_changed(std::string_view member) const {
    return std::ranges::any_of(reader_.table().parts, [&](const auto& part) {
      const TableChangesPtr changes = context_.changes(part->oid);
      return changes && changes->contains(member);
    });
  }

  asio::awaitable<std::vector<std::string>> members_of(const std::vector<std::string>& fields) {
    CommandBatch batch;
    batch.add("HMGET", reader_.keys().uniques(lookup_.columns), fields);
    RepliesPtr replies = co_await context_.ask(std::move(batch), counters());
    std::vector<std::string> members;
    for (const Reply& member : replies->array(0)) {
      if (member.is_text()) members.emplace_back(member.text);
    }
    co_return members;
  }

  const planner::UniqueLookup& lookup_;
  std::size_t position_ = 0;
  std::unordered_set<std::string> seen_;
};

}  // namespace

OperatorPtr make_key_lookup(const planner::PhysicalNode& node, const planner::KeyLookup& lookup, ExecutionContext& context) {
  return std::make_unique<KeyLookupOperator>(node, lookup, context);
}

OperatorPtr make_unique_lookup(const planner::PhysicalNode& node, const planner::UniqueLookup& lookup, ExecutionContext& context) {
  return std::make_unique<UniqueLookupOperator>(node, lookup, context);
}

}  // namespace redquel::executor
