#include <algorithm>
#include <unordered_map>

#include "executor/runtime/row_store.h"
#include "executor/storage/row_buffer.h"
#include "executor/tables/key_values.h"
#include "executor/tables/lookup_pairs.h"
#include "executor/tables/mapped_reader.h"
#include "executor/tables/mapped_scan.h"
#include "executor/tables/mapped_structures.h"
#include "executor/tables/mapped_targets.h"
#include "sql/expressions/evaluate.h"

namespace redquel::executor {

namespace {

class MappedJoinOperator final : public Operator {
 public:
  MappedJoinOperator(const planner::PhysicalNode& node, const planner::MappedJoin& join, ExecutionContext& context)
      : context_(context), join_(join), reader_(join.inner.read, context), counters_(node, context), outer_(context.make_operator(*join.outer)) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    if (!is_started_) {
      fixed_ = fixed_keys(join_.inner.fixed, reader_.table(), context_.evaluation());
      if (!join_.inner.member.empty()) member_ = sql::KeyTemplate::parse_stored(join_.inner.member);
    }
    is_started_ = true;
    while (auto outer = co_await next_outer()) {
      const std::vector<std::optional<std::size_t>> key_of_row = take_keys(*outer);
      if (join_.inner.path == planner::MappedScan::Path::kKeys) add_targets();
      else co_await find_targets();
      while (!reader_.is_idle()) co_await reader_.step(counters_.get());
      std::vector<std::size_t> keys;
      counters_.add_rows(reader_.rows());
      sql::Batch inner = with_changed(reader_.take_all(keys), keys);
      if (join_.inner.read.condition && inner.rows > 0) {
        const std::vector<std::uint32_t> selected = sql::select_rows(*join_.inner.read.condition, inner, context_.evaluation());
        std::vector<std::size_t> kept;
        for (const std::uint32_t row : selected) kept.push_back(keys[row]);
        keys = std::move(kept);
        inner = inner.gather(selected);
      }
      const LookupRows rows{*outer, inner, key_of_row, keys, keys_.size()};
      sql::Batch joined = pair_up(join_.kind, join_.residual, rows, context_.evaluation());
      if (joined.rows > 0) co_return joined;
    }
    co_return std::nullopt;
  }

 private:
  /// The next outer rows, some at a time where each finds several rows: these are kept until they are joined.
  asio::awaitable<std::optional<sql::Batch>> next_outer() {
    constexpr std::size_t kOuterRows = 100;
    if (join_.inner.path != planner::MappedScan::Path::kSets) co_return co_await outer_->next();
    if (first_ == rest_.rows) {
      auto batch = co_await outer_->next();
      if (!batch) co_return std::nullopt;
      rest_ = *std::move(batch);
      first_ = 0;
    }
    const std::size_t count = std::min(kOuterRows, rest_.rows - first_);
    sql::Batch part = rest_.gather(row_range(first_, count));
    first_ += count;
    co_return part;
  }

  /// The keys as targets.
  void add_targets() {
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      for (const MappedKey& fixed : fixed_) {
        MappedTarget target{keys_[i], i};
        target.values.insert(fixed.begin(), fixed.end());
        reader_.add(std::move(target));
      }
    }
  }

  /// The rows as targets that the declared structure gives for the keys.
  asio::awaitable<void> find_targets() {
    const auto members = co_await structure_members(join_.inner.index, keys_, reader_, context_, counters_.get());
    for (std::size_t i = 0; i < members.size(); ++i) {
      for (const StructureMember& member : members[i]) {
        auto values = reader_.key_of_member(member_, member.text);
        if (!values) continue;
        values->insert(member.beside.begin(), member.beside.end());
        reader_.add({*std::move(values), i});
      }
    }
  }

  /// Takes the outer rows' keys, each distinct one once. Returns each row's.
  std::vector<std::optional<std::size_t>> take_keys(const sql::Batch& outer) {
    std::vector<sql::ColumnPtr> values;
    for (const auto& key : join_.keys) values.push_back(sql::evaluate(*key.value, outer, context_.evaluation()));
    std::unordered_map<std::string, std::size_t>& known = known_;
    known.clear();
    keys_.clear();
    std::vector<std::optional<std::size_t>> key_of_row(outer.rows);
    for (std::size_t row = 0; row < outer.rows; ++row) {
      MappedKey key;
      std::string name;
      bool is_complete = true;
      for (std::size_t i = 0; i < values.size() && is_complete; ++i) {
        const std::int16_t column = join_.keys[i].column;
        auto value = to_column_value(reader_.table().find_column(column)->type, values[i]->type(), values[i]->datum(row));
        is_complete = value.has_value();
        if (!is_complete) continue;
        key[column] = *std::move(value);
        append_name(key, column, name);
      }
      if (!is_complete) continue;
      const auto [found, is_new] = known.try_emplace(std::move(name), known.size());
      key_of_row[row] = found->second;
      if (is_new) keys_.push_back(std::move(key));
    }
    return key_of_row;
  }

  /// The rows that were read and those of the transaction, with their keys.
  sql::Batch with_changed(sql::Batch read, std::vector<std::size_t>& keys) {
    const std::shared_ptr<const TableChanges> changes = context_.changes(reader_.table().oid);
    if (!changes) return read;
    const sql::TableDef& table = reader_.table();
    std::vector<std::shared_ptr<sql::Column>> columns;
    for (const sql::ColumnPtr& column : read.columns) {
      columns.push_back(std::make_shared<sql::Column>(column->type()));
      for (std::size_t row = 0; row < read.rows; ++row) columns.back()->append_datum(column->datum(row));
    }
    TableChanges::Walk walk(*changes);
    while (const ChangeLog::VersionPtr changed = walk.next()) {
      const BufferedRow& row = changed->row;
      if (!row.current) continue;
      MappedKey key;
      std::string name;
      for (const auto& part : join_.keys) {
        key[part.column] = (*row.current)[table.position(part.column)];
        append_name(key, part.column, name);
      }
      const auto found = known_.find(name);
      if (found == known_.end()) continue;
      for (std::size_t i = 0; i < columns.size(); ++i) columns[i]->append_datum((*row.current)[table.position(join_.inner.read.numbers[i])]);
      keys.push_back(found->second);
    }
    sql::Batch all{.rows = keys.size(), .columns = {}};
    for (auto& column : columns) all.columns.push_back(std::move(column));
    return all;
  }

  void append_name(const MappedKey& key, std::int16_t column, std::string& name) const {
    const std::string text = reader_.text_of(key, column).value_or("");
    name += std::to_string(text.size()) + ":" + text;
  }

  ExecutionContext& context_;
  const planner::MappedJoin& join_;
  MappedReader reader_;
  NodeCounters counters_;
  OperatorPtr outer_;
  sql::Batch rest_;  // outer rows, of which those from `first_` on are to be joined
  std::size_t first_ = 0;
  std::vector<MappedKey> fixed_;
  std::unordered_map<std::string, std::size_t> known_;  // the batch's keys: positions in
  std::vector<MappedKey> keys_;
  sql::KeyTemplate member_;  // of the declared structure
  bool is_started_ = false;
};

}  // namespace

OperatorPtr make_mapped_join(const planner::PhysicalNode& node, const planner::MappedJoin& join, ExecutionContext& context) {
  return std::make_unique<MappedJoinOperator>(node, join, context);
}

}  // namespace redquel::executor
