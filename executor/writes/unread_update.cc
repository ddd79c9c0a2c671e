#include "executor/writes/unread_update.h"

#include <algorithm>

#include "executor/context/show_program.h"
#include "executor/operators/gather.h"
#include "executor/scripts/scripts.h"
#include "executor/storage/locks.h"
#include "executor/storage/row_image.h"
#include "executor/storage/write_conflict.h"
#include "executor/storage/write_program.h"
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
    const WriteProgram program = program_of(row);
    if (const ShowProgram show = show_program(context_)) show(program);
    const RepliesPtr replies = co_await run_program(context_.redis(), kWriteScript, program, stored_->tag(), counters_.get());
    const std::span<const Reply> answer = replies->array(0);
    const bool is_applied = !answer.empty() && answer[0].text == "applied";
    if (is_applied) context_.count_written(*update_.table, {.updated = 1});
    else end_by(stop_of(program, answer));
    co_return std::nullopt;
  }

 private:
  /// There is no such row, or the run ends.
  void end_by(const ProgramStop& stop) const {
    switch (stop.step.kind) {
      case StepKind::kTake: return;
      case StepKind::kVersion: throw StaleCatalog{};
      case StepKind::kRespect: throw LockedByOther{{stop.found.at(0), std::string(stop.step.words[0]), stop.found.at(1)}};
      default: throw WriteConflict{};  // the row has to be read
    }
  }

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
    return update_.table->parts[gather->numbers[parts_read(*gather, context_.evaluation()).front()]];
  }

  WriteProgram program_of(const std::vector<sql::Datum>& row) {
    const sql::TableDef& table = *stored_;
    const RowImage image = encoder_->encode(row, words_);
    std::vector<std::string_view> read{encoder_->presence_field()}, set, removed;
    const auto place_of = [&](std::size_t position) {
      const auto field = std::ranges::find(read, std::string_view(*encoder_->field(position)));
      const std::size_t place = static_cast<std::size_t>(field - read.begin()) + 1;
      if (field == read.end()) read.push_back(*encoder_->field(position));
      return words_.number(place);
    };
    WriteProgram sums, effects;
    effects.add(StepKind::kCount, {words_.store(encoder_->keys().changes())});
    for (std::size_t position = 0; position < is_assigned_.size(); ++position) {
      if (!is_assigned_[position]) continue;
      const std::string_view text = words_[image.texts + position], field = *encoder_->field(position);
      if (!update_.added_unread.empty()) {
        const std::int64_t bound = encoder_->type(position).oid == sql::oid::kInt4 ? std::int64_t{INT32_MAX} : kIncrementBound;
        effects.add(StepKind::kHincr, {image.key, field, text, words_.store(std::to_string(bound))});
      } else if (is_null(text)) {
        removed.push_back(field);
      } else {
        set.insert(set.end(), {field, text});
      }
    }
    if (!set.empty()) effects.add(StepKind::kHset, {image.key}, set);
    if (!removed.empty()) effects.add(StepKind::kHdel, {image.key}, removed);
    for (std::size_t index = 0; index < encoder_->structures().size(); ++index) {
      const RowEncoder::StructureKeys& structure = encoder_->structures()[index];
      const std::size_t position = structure.positions[0];
      if (structure.positions.size() != 1 || position >= is_assigned_.size() || !is_assigned_[position]) continue;
      const std::string_view text = words_[image.texts + position], place = place_of(position);
      const bool is_added = !update_.added_unread.empty();
      const std::string_view value = is_added ? kSum : is_null(text) ? kAbsent : text;
      if (is_added) sums.add(StepKind::kSum, {place, text});
      if (structure.kind->lists_values()) {
        effects.add(StepKind::kMove, {structure.key, value, image.member, place});
      } else if (structure.kind->form().type == sql::kZsetForm.type) {
        effects.add(StepKind::kRescore, {structure.key, RowEncoder::entry(words_, image, index).second, image.member, place, value});
      } else {
        effects.add(StepKind::kMark, {structure.key, image.member, place, value});
      }
    }
    WriteProgram program;
    program.add(StepKind::kVersion, {words_.number(table.oid), table.version});
    program.add(StepKind::kTake, {image.key}, read);
    const std::string_view lock = words_.store(row_lock_field(image.member));
    program.add(StepKind::kRespect, {words_.store(lock_key(table)), "", "3"}, std::span(&lock, 1));
    program.append(sums, StepInfo::Phase::kGuard);
    program.append(effects, StepInfo::Phase::kEffect);
    return program;
  }

  static constexpr std::string_view kAbsent{"\0", 1}, kSum{"\1", 1};

  const planner::PhysicalUpdate& update_;
  ExecutionContext& context_;
  std::shared_ptr<const sql::TableDef> stored_;
  std::shared_ptr<const RowEncoder> encoder_;
  std::vector<bool> is_assigned_;  // by position
  Words words_;
  NodeCounters counters_;
};

}  // namespace

OperatorPtr make_unread_update(const planner::PhysicalNode& node, const planner::PhysicalUpdate& update, ExecutionContext& context) {
  if (!context.allows_unread_increments || !update.may_write_unread || context.transaction()) return nullptr;
  return std::make_unique<UnreadUpdate>(node, update, context);
}

}  // namespace redquel::executor
