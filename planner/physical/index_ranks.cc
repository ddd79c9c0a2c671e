#include <algorithm>

#include "planner/access/ordered_source.h"
#include "planner/access/set_algebra.h"
#include "planner/physical/physical_planner.h"
#include "planner/physical/plain_zset.h"
#include "planner/tree/logical_walk.h"
#include "sql/catalog/mapping.h"
#include "sql/functions/window_function.h"

namespace redquel::planner {

using sql::ExpressionPtr;
using Rank = IndexRanks::Rank;

namespace {

std::optional<Rank> rank_of(const WindowCall& call) {
  if (call.function == nullptr || call.filter) return std::nullopt;
  if (call.function->name == "rank") return Rank::kRank;
  if (call.function->name == "row_number") return Rank::kRowNumber;
  return std::nullopt;
}

/// A window over all rows of a table, or of one zset of a mapped table, in the order of a column that a zset has as its scores.
class RankedRows {
 public:
  explicit RankedRows(const LogicalWindow& window) : window_(window) {
    const Logical* input = window.input.get();
    while (const auto* sort = std::get_if<LogicalSort>(&input->node)) input = sort->input.get();
    const auto* filter = std::get_if<LogicalFilter>(&input->node);
    rows_ = filter == nullptr ? input : filter->input.get();
    scan_ = std::get_if<LogicalScan>(&rows_->node);
    if (filter != nullptr) conditions_ = sql::split_conjunction(filter->condition);
    is_hidden_ = filter != nullptr && filter->barrier;
  }

  const Logical& rows() const { return *rows_; }
  const LogicalScan& scan() const { return *scan_; }
  const std::vector<ExpressionPtr>& conditions() const { return conditions_; }

  /// Returns the ranks without their input; nullopt if no zset has them.
  std::optional<IndexRanks> ranks() const {
    if (scan_ == nullptr || is_hidden_ || !scan_->table->parts.empty() || scan_->table->rows_expire() || window_.order_by.size() != 1) return std::nullopt;
    const auto* column = std::get_if<sql::ColumnRef>(&window_.order_by.front().expression->node);
    const auto number = column == nullptr ? std::nullopt : number_of(*scan_, rows_->columns)(column->column);
    if (!number || *number <= 0) return std::nullopt;
    IndexRanks ranks;
    ranks.table = scan_->table;
    ranks.column = *number;
    ranks.descending = window_.order_by.front().descending;
    ranks.nulls_first = window_.order_by.front().nulls_first;
    for (const WindowCall& call : window_.functions) {
      const auto rank = rank_of(call);
      if (!rank) return std::nullopt;
      ranks.ranks.push_back(*rank);
    }
    const sql::Overloaded is_ranked{
        [&](const sql::ManagedRows&) { return is_own(ranks); },
        [&](const sql::MappedRows&) { return is_mapped(*number); },
    };
    return std::visit(is_ranked, ranks.table->storage) ? std::optional(std::move(ranks)) : std::nullopt;
  }

 private:
  bool is_mapped(std::int16_t number) const {
    const sql::KeyTemplate& key = scan_->table->mapping().key;
    const auto is_slot = [&](const ExpressionPtr& expression) {
      const auto* column = std::get_if<sql::ColumnRef>(&expression->node);
      const auto slot = column == nullptr ? std::nullopt : number_of(*scan_, rows_->columns)(column->column);
      return slot && key.has_slot(*slot);
    };
    const auto zset = plain_zset(*scan_, rows_->columns, conditions_);
    return zset && zset->score == number && !zset->lower && !zset->upper && std::ranges::all_of(window_.partition_by, is_slot);
  }

  bool is_own(IndexRanks& ranks) const {
    const sql::TableDef& table = *ranks.table;
    const auto source = ordered_source(table, ranks.column);
    if (!source || source->encoding != OrderedSource::Encoding::kScore || !conditions_.empty() || !window_.partition_by.empty()) return false;
    ranks.may_be_null = !table.find_column(ranks.column)->not_null && !table.in_primary_key(ranks.column);
    if (!ranks.may_be_null) return true;
    // NULLs have no order among themselves.
    if (std::ranges::find(ranks.ranks, Rank::kRowNumber) != ranks.ranks.end()) return false;
    return SetAlgebra(table).has(sql::Structure::Kind::kNulls, ranks.column);
  }

  const LogicalWindow& window_;
  const Logical* rows_;
  const LogicalScan* scan_;
  std::vector<ExpressionPtr> conditions_;  // below the window
  bool is_hidden_ = false;
};

/// Returns true if the plan finds its rows by keys, so that there are few.
bool finds_few_rows(const PhysicalNode& node) {
  constexpr std::size_t kMostRows = 1000;
  if (const auto* lookup = std::get_if<KeyLookup>(&node.node)) return lookup->keys.size() <= kMostRows;
  if (const auto* lookup = std::get_if<UniqueLookup>(&node.node)) return lookup->values.size() <= kMostRows;
  const auto* mapped = std::get_if<MappedScan>(&node.node);
  if (mapped == nullptr || mapped->path != MappedScan::Path::kKeys) return false;
  const std::int16_t member = mapped->read.table->mapping().with_role(sql::Mapping::Role::kMember)->number;
  const auto found = std::ranges::find(mapped->fixed, member, &MappedScan::Fixed::column);
  return found != mapped->fixed.end() && found->values.size() <= kMostRows;
}

}  // namespace

std::optional<Planned> PhysicalPlanner::plan_index_ranks(const LogicalPtr& node, const ExpressionPtr& condition, const std::optional<std::set<ColumnId>>& needed) {
  const auto* window = std::get_if<LogicalWindow>(&node->node);
  if (window == nullptr || !index_answers_ || !rules_.allow(AccessRule::kIndexRanks)) return std::nullopt;
  const RankedRows ranked(*window);
  std::optional<IndexRanks> ranks = ranked.ranks();
  if (!ranks || changed_tables_.contains(ranks->table->oid)) return std::nullopt;

  std::vector<LogicalColumn> columns = ranked.rows().columns;
  std::vector<ExpressionPtr> conditions = ranked.conditions();
  const std::vector<ColumnId> ids = column_ids(columns);
  for (const ExpressionPtr& part : sql::split_conjunction(condition)) {
    const bool is_of_rows = std::ranges::all_of(columns_in(*part), [&](ColumnId id) { return std::ranges::find(ids, id) != ids.end(); });
    if (is_of_rows && !sql::is_volatile(*part)) conditions.push_back(part);
  }
  LogicalScan scan = ranked.scan();
  const sql::TableDef& table = *ranks->table;
  // The row's place is asked for by its key.
  std::vector<std::int16_t> keys = table.is_mapped() ? sql::identity_columns(table.mapping()) : table.primary_key;
  if (table.has_hidden_key()) keys = {0};
  for (const std::int16_t key : keys) {
    if (std::ranges::find(scan.numbers, key) != scan.numbers.end()) continue;
    const sql::ColumnDef* column = key == 0 ? nullptr : table.find_column(key);
    columns.push_back({next_column_++, column == nullptr ? std::string() : column->name, column == nullptr ? sql::kInt8 : column->type});
    scan.numbers.push_back(key);
  }
  const Planned rows = plan_access(columns, scan, conditions, {});
  if (!finds_few_rows(*rows.plan)) return std::nullopt;
  ranks->input = rows.plan;
  const std::size_t outputs = node->columns.size() - window->functions.size();
  std::vector<LogicalColumn> given;
  for (std::size_t i = 0; i < node->columns.size(); ++i) {
    const LogicalColumn& column = node->columns[i];
    if (i < outputs && needed && !needed->contains(column.id)) continue;
    given.push_back(column);
    if (i < outputs) ranks->outputs.push_back(position_of(column.id, rows.ids));
  }
  for (const ColumnId id : rows.ids) ranks->numbers.push_back(*number_of(scan, columns)(id));
  index_answers_ = false;
  ranks->fallback = arrange(plan(node), given).plan;
  index_answers_ = true;
  return Planned{make_physical(*std::move(ranks), physical_columns(given)), column_ids(given)};
}

}  // namespace redquel::planner
