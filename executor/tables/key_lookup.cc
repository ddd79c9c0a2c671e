#include <unordered_set>

#include "executor/scripts/scripts.h"
#include "executor/storage/row_buffer.h"
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

/// unique = c: the row's key from the uniques hash and the row itself, in one script.
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
