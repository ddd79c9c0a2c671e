#include "executor/writes/unread_update.h"

#include <algorithm>

#include "executor/operators/gather.h"
#include "executor/redis/redis_error.h"
#include "executor/scripts/scripts.h"
#include "executor/storage/locks.h"
#include "executor/storage/row_image.h"
#include "executor/storage/write_conflict.h"
#include "executor/storage/write_unit.h"
#include "executor/tables/key_values.h"
#include "executor/writes/increment.h"
#include "planner/physical/increment.h"
#include "sql/catalog/buckets.h"
#include "sql/catalog/stored_keys.h"
#include "sql/expressions/evaluate.h"

namespace redquel::executor {

namespace {

class UnreadUpdate final : public Operator {
 public:
  UnreadUpdate(const planner::PhysicalNode& node, const planner::PhysicalUpdate& update, ExecutionContext& context)
      : update_(update), context_(context), counters_(node, context) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    const planner::KeyLookup& lookup = *planner::row_lookup(update_);
    const auto key = evaluate_key(*update_.table, update_.table->primary_key, lookup.keys[0], context_.evaluation());
    if (!key) co_return std::nullopt;
    stored_ = stored_table();
    encoder_ = encoder_of(stored_);
    const sql::TableDef& table = *stored_;
    std::vector<sql::Datum> row(table.columns.size());
    for (std::size_t part = 0; part < key->size(); ++part) row[table.position(table.primary_key[part])] = (*key)[part];
    for (const std::size_t position : update_.added_unread) {  // what becomes of nothing is what is added
      row[position] = table.columns[position].type.oid == sql::oid::kInt4 ? sql::Datum(std::int32_t{0}) : sql::Datum(std::int64_t{0});
    }
    const sql::Batch looked_up_row = looked_up(update_, row);
    if (!is_selected(update_, looked_up_row, context_.evaluation())) co_return std::nullopt;
    take_values(looked_up_row, row);
    encode(row);

    CommandBatch batch;
    kUpdateRowScript.append_call(batch, keys_, arguments_);
    std::vector<const Script*> scripts{&kUpdateRowScript};
    const RepliesPtr replies = co_await run_scripts(context_.redis(), std::move(scripts), std::move(batch), counters_.get());
    const std::span<const Reply> answer = replies->array(0);
    const std::string_view word = answer.empty() ? std::string_view() : answer[0].text;
    if (word == "stale") throw StaleCatalog{};
    if (word == "unknown") throw WriteConflict{};
    if (word == "locked" && answer.size() == 4) {
      throw LockedByOther{{std::string(answer[1].text), std::string(answer[2].text), std::string(answer[3].text)}};
    }
    if (word != "absent" && word != "applied") throw unexpected_reply("EVALSHA", "a result of the update script");
    if (word == "applied") context_.count_written(*update_.table, {.updated = 1});
    co_return std::nullopt;
  }

 private:
  /// The new values. What is wrong with them is an error only if there is such a row.
  void take_values(const sql::Batch& source, std::vector<sql::Datum>& row) {
    const sql::TableDef& table = *update_.table;
    is_assigned_.assign(table.columns.size(), false);
    try {
      for (const planner::Assignment& assignment : update_.assignments) {
        const std::size_t position = table.position(assignment.number);
        row[position] = update_.added_unread.empty() ? sql::evaluate_scalar(*assignment.value, context_.evaluation())
                                              : sql::evaluate(*assignment.value, source, context_.evaluation())->datum(0);
        is_assigned_[position] = true;
        const bool is_hopeless = update_.added_unread.empty() ? table.columns[position].not_null && sql::is_null(row[position]) : !is_far_from_bounds(row[position]);
        if (is_hopeless) throw WriteConflict{};
      }
    } catch (const sql::SqlError&) {
      throw WriteConflict{};
    }
  }

  /// Returns the table, or the part of it that has the row.
  std::shared_ptr<const sql::TableDef> stored_table() const {
    const auto* gather = std::get_if<planner::Gather>(&update_.source->node);
    if (gather == nullptr) return update_.table;
    return update_.table->parts[parts_read(*gather, context_.evaluation()).front()];
  }

  /// The call's keys and arguments.
  void encode(const std::vector<sql::Datum>& row) {
    const sql::TableDef& table = *stored_;
    const RowImage image = encoder_->encode(row, words_);
    const std::string lock = row_lock_field(image.member), locks = lock_key(table);
    keys_ = {table.tag().empty() ? sql::kVersionsKey : words_.store(own_key(table.tag(), sql::kVersionsKey)), words_.store(encoder_->keys().changes()), words_.store(locks), image.key};
    arguments_ = {words_.number(table.oid), table.version, words_.store(lock), image.member};

    std::vector<std::string_view> read{encoder_->presence_field()}, set, removed, added;
    const auto number_of = [&](std::size_t position) {
      const auto field = std::ranges::find(read, std::string_view(*encoder_->field(position)));
      const std::size_t number = static_cast<std::size_t>(field - read.begin()) + 1;
      if (field == read.end()) read.push_back(*encoder_->field(position));
      return words_.number(number);
    };
    for (std::size_t position = 0; position < is_assigned_.size(); ++position) {
      if (!is_assigned_[position]) continue;
      const std::string_view text = words_[image.texts + position];
      if (!update_.added_unread.empty()) {
        const std::int64_t bound = encoder_->type(position).oid == sql::oid::kInt4 ? std::int64_t{INT32_MAX} : kIncrementBound;
        added.insert(added.end(), {*encoder_->field(position), number_of(position), text, words_.store(std::to_string(bound))});
      } else if (is_null(text)) {
        removed.push_back(*encoder_->field(position));
      } else {
        set.insert(set.end(), {*encoder_->field(position), text});
      }
    }
    std::vector<std::string_view> structures;
    for (std::size_t index = 0; index < encoder_->structures().size(); ++index) {
      const RowEncoder::StructureKeys& structure = encoder_->structures()[index];
      const std::size_t position = structure.positions[0];
      if (structure.positions.size() != 1 || position >= is_assigned_.size() || !is_assigned_[position]) continue;
      const auto [first, second] = RowEncoder::entry(words_, image, index);
      const std::string_view text = words_[image.texts + position];
      const std::string_view value = !update_.added_unread.empty() ? kSum : is_null(text) ? kAbsent : text;
      keys_.push_back(structure.key);
      if (structure.kind->lists_values()) keys_.push_back(is_null(first) ? std::string_view(structure.key) : first);
      const sql::ScriptMove move = structure.kind->script_move(structure, second);
      structures.insert(structures.end(), {move.letter, number_of(position), value, move.word});
    }
    for (const auto* list : {&read, &set, &removed, &added}) {
      arguments_.push_back(words_.number(list->size()));
      arguments_.insert(arguments_.end(), list->begin(), list->end());
    }
    arguments_.insert(arguments_.end(), structures.begin(), structures.end());
  }

  static constexpr std::string_view kAbsent{"\0", 1}, kSum{"\1", 1};

  const planner::PhysicalUpdate& update_;
  ExecutionContext& context_;
  std::shared_ptr<const sql::TableDef> stored_;
  std::shared_ptr<const RowEncoder> encoder_;
  std::vector<bool> is_assigned_;  // by position
  Words words_;
  std::vector<std::string_view> keys_, arguments_;
  NodeCounters counters_;
};

}  // namespace

OperatorPtr make_unread_update(const planner::PhysicalNode& node, const planner::PhysicalUpdate& update, ExecutionContext& context) {
  if (!context.allows_unread_increments || !update.may_write_unread || context.transaction()) return nullptr;
  return std::make_unique<UnreadUpdate>(node, update, context);
}

}  // namespace redquel::executor
