#include "planner/cost/cost_model.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "planner/rules/cardinality.h"
#include "sql/catalog/mapping.h"
#include "sql/types/type.h"

namespace redquel::planner {

using sql::ExpressionPtr;

namespace {

// Microseconds of redquel and Redis together, measured with Redis 7.0 over the loopback device (bench/measurements.md, section "Costs").
constexpr double kRoundTrip = 60;
constexpr double kRowByKey = 2.5, kRowOfSet = 1.7, kRowOfWalk = 1.1, kForeignRow = 3, kScannedKey = 1.4;
constexpr double kElement = 0.3, kCardinality = 1, kValueOfIndex = 3, kMember = 0.15;
constexpr double kFence = 90, kCopiedRow = 0.013;
constexpr double kPassedRow = 0.02, kHashedRow = 0.06, kComparison = 0.02, kWrittenRow = 25;
constexpr double kRowsOfTrip = 1000;  // that one command reads
constexpr double kFirstWindow = 16;   // outer rows

// The guesses for tables that have not been counted.
constexpr double kUnknownTable = 100000, kUnknownSet = 500, kUnknownRange = 2000, kUnknownLimit = 100, kUnknownRows = 1000;
constexpr double kUnknownShare = 1.0 / 3, kRowsOfKey = 10;

double trips_for(double rows) { return std::max(1.0, std::ceil(rows / kRowsOfTrip)); }

double count_of(const ExpressionPtr& expression, double unknown) {
  const auto* constant = expression ? std::get_if<sql::Constant>(&expression->node) : nullptr;
  const auto* number = constant != nullptr ? std::get_if<std::int64_t>(&constant->value) : nullptr;
  return number != nullptr ? static_cast<double>(std::max<std::int64_t>(*number, 0)) : unknown;
}

double limited(const RowGoal& goal, double rows) {
  if (!goal.limit || goal.open) return rows;
  return std::min(rows, count_of(goal.limit, kUnknownLimit) + (goal.exact ? 0 : count_of(goal.offset, 0)));
}

/// The cost of the first so many rows.
Estimate first_of(const Estimate& all, double rows) {
  const double fraction = all.rows > 0 ? std::min(1.0, rows / all.rows) : 1;
  return {std::min(rows, all.rows), all.startup, all.startup + (all.total - all.startup) * fraction, std::max(std::min(1.0, all.trips), all.trips * fraction)};
}

/// Returns the number of different values, at least one, that an index over this column alone lists; nullopt: there is no such index.
std::optional<double> known_values(const TableSize& size, std::int16_t column) {
  const auto found = size.values.find(column);
  return found != size.values.end() ? std::optional(std::max(found->second, 1.0)) : std::nullopt;
}

double sorting(double rows) { return rows * std::log2(std::max(rows, 2.0)) * kComparison; }

/// `work` for rows that Redis gives in `trips`; the first ones come with the first trip.
Estimate read(double rows, double work, double trips) {
  const double total = work + trips * kRoundTrip;
  return {rows, std::min(total, kRoundTrip + work / trips), total, trips};
}

/// `input` with so much more work for its rows, of which it gives `rows`.
Estimate over(const Estimate& input, double rows, double work) { return {rows, input.startup, input.total + work, input.trips}; }

/// The same, where no row comes before all of the input's rows were read.
Estimate after(const Estimate& input, double rows, double work) { return {rows, input.total + work, input.total + work, input.trips}; }

}  // namespace

/// Estimates one node from those of its inputs.
struct NodeEstimate {
  CostModel& model;

  double rows_of(const PhysicalPlan& plan) const { return model.of(*plan).rows; }

  const TableSize* size_of(const sql::TableDef& table) const {
    if (model.sizes_ == nullptr) return nullptr;
    const auto found = model.sizes_->find(table.part_of != 0 ? table.part_of : table.oid);
    return found != model.sizes_->end() ? &found->second : nullptr;
  }
  double table_rows(const sql::TableDef& table) const {
    const TableSize* size = size_of(table);
    return size != nullptr ? size->rows : kUnknownTable;
  }

  /// The share of a table's rows for which a condition over its columns is true. `numbers`: the columns, by position.
  double share(const sql::TableDef& table, const std::vector<std::int16_t>& numbers, const ExpressionPtr& condition) const {
    if (!condition) return 1;
    const TableSize* size = size_of(table);
    Cardinality columns;
    for (std::size_t i = 0; i < numbers.size(); ++i) columns.add_column(static_cast<ColumnId>(i), table, numbers[i], size != nullptr ? *size : TableSize{kUnknownTable, {}});
    double all = 1;
    for (const ExpressionPtr& part : sql::split_conjunction(condition)) all *= columns.selectivity(*part);
    return all;
  }
  /// The rows that a read gives, `found` by an index.
  double passed(const TableRead& table_read, double found) const {
    if (size_of(*table_read.table) == nullptr || !table_read.condition) return found;
    return std::min(found, table_rows(*table_read.table) * share(*table_read.table, table_read.numbers, table_read.condition));
  }

  /// How many rows sets have.
  double members(const sql::TableDef& table, const SetExpression& sets) const {
    using Kind = SetExpression::Kind;
    const TableSize* size = size_of(table);
    if (size == nullptr) return kUnknownSet;
    const double rows = size->rows;
    switch (sets.kind) {
      case Kind::kSet: {
        const auto values = sets.columns.size() == 1 ? known_values(*size, sets.columns[0]) : std::nullopt;
        return values ? rows / *values : std::min(rows, kUnknownSet);
      }
      case Kind::kNullSet: return rows / 20;
      case Kind::kRange: return rows / 3;
      case Kind::kEntries: return std::max(rows * Cardinality::kEntriesShare, 1.0);
      case Kind::kDifference: return members(table, sets.operands.front());
      case Kind::kUnion: {
        double sum = 0;
        for (const SetExpression& operand : sets.operands) sum += members(table, operand);
        return std::min(rows, sum);
      }
      case Kind::kIntersection: {
        double all = rows;
        for (const SetExpression& operand : sets.operands) all *= members(table, operand) / std::max(rows, 1.0);
        return std::max(all, 1.0);
      }
    }
    return rows;
  }
  /// The work of combining sets: members that Redis looks at.
  double combining(const sql::TableDef& table, const SetExpression& sets) const {
    if (sets.operands.empty()) return 0;
    double smallest = table_rows(table), sum = 0;
    for (const SetExpression& operand : sets.operands) {
      const double of_operand = members(table, operand);
      smallest = std::min(smallest, of_operand);
      sum += of_operand;
    }
    return kMember * (sets.kind == SetExpression::Kind::kIntersection ? smallest * static_cast<double>(sets.operands.size()) : sum);
  }

  Estimate operator()(const KeyLookup& n) const {
    const double keys = static_cast<double>(n.keys.size());
    return read(passed(n.read, keys), keys * kRowByKey, trips_for(keys));
  }
  Estimate operator()(const UniqueLookup& n) const {
    const double keys = static_cast<double>(n.values.size());
    return read(passed(n.read, keys), keys * (kRowByKey + kCardinality), trips_for(keys));
  }
  Estimate operator()(const SetScan& n) const {
    const double found = members(*n.read.table, n.sets), wanted = limited(n.goal, found);
    // The first rows in an order: a walk that meets enough members, or the places of all members.
    const double walk = kElement * wanted * table_rows(*n.read.table) / std::max(found, 1.0);
    const double work = combining(*n.read.table, n.sets) + (n.first ? std::min(kMember * found, walk) : 0) + wanted * kRowOfSet;
    return read(limited(n.goal, passed(n.read, found)), work, trips_for(wanted));
  }
  Estimate operator()(const OrderedScan& n) const {
    const bool is_range = (n.lower && n.upper) || n.prefix;
    const double whole = table_rows(*n.read.table);
    double found = size_of(*n.read.table) == nullptr ? (is_range ? kUnknownRange : whole) : whole;
    if (!n.leading.empty()) found = members(*n.read.table, {SetExpression::Kind::kSet, n.leading.columns, {}, {}});
    if (size_of(*n.read.table) != nullptr && (n.lower || n.upper || n.prefix)) found = std::min(found, passed(n.read, found));
    return walked(n.read, n.goal, found, n.index_only);
  }
  Estimate operator()(const FullScan& n) const {
    const double found = n.key_start.empty() ? table_rows(*n.read.table) : std::min(table_rows(*n.read.table), kUnknownSet);
    return walked(n.read, n.goal, found, n.index_only);
  }
  /// A walk over so many elements. It ends when enough rows have passed the condition.
  Estimate walked(const TableRead& table_read, const RowGoal& goal, double found, bool index_only) const {
    const double passing = passed(table_read, found), rows = limited(goal, passing);
    const double wanted = passing > 0 ? std::min(found, found * rows / passing) : found;
    return read(rows, wanted * (index_only ? kElement : kRowOfWalk), trips_for(index_only ? wanted / 4 : wanted));
  }
  Estimate operator()(const MemoryScan& n) const {
    const Estimate otherwise = model.of(*n.otherwise);
    const double work = kFence + kRoundTrip + table_rows(*n.read.table) * kCopiedRow;
    if (n.is_part && otherwise.total < work) return otherwise;
    return {otherwise.rows, kFence + kRoundTrip, work, 1};
  }
  Estimate operator()(const MappedScan& n) const {
    using Path = MappedScan::Path;
    if (n.path == Path::kScan) return read(limited(n.goal, kUnknownTable), kUnknownTable * (kScannedKey + kForeignRow), trips_for(kUnknownTable));
    double keys = n.path == Path::kLookup ? static_cast<double>(n.lookups.size()) : n.path == Path::kSets || n.path == Path::kRange ? kUnknownSet : 1;
    for (const MappedScan::Fixed& fixed : n.fixed) keys *= static_cast<double>(fixed.values.size());
    const double found = sql::has_one_row(n.read.table->mapping().layout) ? keys : keys * 50;
    const double wanted = limited(n.goal, found);
    return read(wanted, wanted * kForeignRow, trips_for(wanted));
  }
  Estimate operator()(const MappedJoin& n) const {
    const Estimate outer = model.of(*n.outer);
    const bool finds_one = n.inner.path != MappedScan::Path::kSets && sql::has_one_row(n.inner.read.table->mapping().layout);
    const double rows = outer.rows * (finds_one ? 1 : kRowsOfKey);
    return looked_up(outer, rows, rows * kForeignRow);
  }
  /// The outer rows with what was looked up for them, a batch at a time.
  static Estimate looked_up(const Estimate& outer, double rows, double work) {
    const double trips = trips_for(outer.rows);
    const double first = outer.rows > 0 ? std::min(1.0, kFirstWindow / outer.rows) : 1;
    return {rows, outer.startup + kRoundTrip + work * first, outer.total + work + trips * kRoundTrip, outer.trips + trips};
  }
  Estimate operator()(const IndexCount& n) const {
    double work = kCardinality * static_cast<double>(n.terms.size());
    for (const CountTerm& term : n.terms) {
      if (!term.sets.operands.empty()) work += combining(*n.table, term.sets);
    }
    return read(1, work, 1);
  }
  Estimate operator()(const IndexMinMax& n) const { return read(1, static_cast<double>(n.ends.size()) * kRowByKey, 1); }
  Estimate operator()(const IndexGroups& n) const {
    const double values = values_of(*n.table, n.column, 100);
    return cheaper_of(read(values, values * (n.counts || !n.among.empty() ? kValueOfIndex : kMember), 1), n.fallback);
  }
  /// A copy answers where an index has too many values.
  Estimate cheaper_of(const Estimate& by_index, const PhysicalPlan& fallback) const {
    const Estimate otherwise = model.of(*fallback);
    return model.sizes_ != nullptr && otherwise.total < by_index.total ? Estimate{by_index.rows, otherwise.startup, otherwise.total, otherwise.trips} : by_index;
  }
  Estimate operator()(const IndexKeys& n) const {
    const double found = members(*n.table, n.sets);
    return read(found, combining(*n.table, n.sets) + found * kElement, 1);
  }
  Estimate operator()(const IndexValues& n) const {
    const double rows = table_rows(*n.table);
    if (!n.values.empty()) {
      const double values = static_cast<double>(n.values.size());
      return read(std::min(rows, values * (size_of(*n.table) != nullptr ? rows / values_of(*n.table, n.column, 100) : kUnknownSet)), values * kCardinality, 1);
    }
    return cheaper_of(read(rows, values_of(*n.table, n.column, 100) * kValueOfIndex + rows * kPassedRow, 1), n.fallback);
  }
  double values_of(const sql::TableDef& table, std::int16_t column, double unknown) const {
    const TableSize* size = size_of(table);
    return size != nullptr ? known_values(*size, column).value_or(unknown) : unknown;
  }
  Estimate operator()(const IndexRanks& n) const {
    const Estimate input = model.of(*n.input);
    return looked_up(input, input.rows, input.rows * kCardinality * static_cast<double>(1 + n.ranks.size()));
  }
  Estimate operator()(const MappedCount&) const { return read(1, kCardinality, 1); }
  Estimate operator()(const AdaptiveJoin& n) const {
    const Estimate lookup = model.of(*n.lookup), hash = model.of(*n.hash);
    const Estimate& cheaper = lookup.total < hash.total ? lookup : hash;
    return {rows_of(n.outer), cheaper.startup, cheaper.total, cheaper.trips};
  }
  Estimate operator()(const Choice& n) const {
    const Estimate all = model.of(*n.walk), otherwise = model.of(*n.otherwise), walk = first_of(all, limited(n.goal, all.rows));
    Estimate cheaper = walk.total < otherwise.total ? walk : otherwise;
    cheaper.rows = otherwise.rows;
    return cheaper;
  }
  /// A part is estimated by the size of the whole table.
  Estimate operator()(const Gather& n) const {
    Estimate all = model.of(*n.parts.front());
    const auto equal = std::ranges::find_if(n.limits, [](const PartLimit& limit) { return !limit.equal.empty(); });
    const double values = equal == n.limits.end() ? static_cast<double>(n.numbers.size()) : static_cast<double>(equal->equal.size());
    const double share = std::min(1.0, values / static_cast<double>(n.table->parts.size()));
    const bool is_one_row = n.combine == Gather::Combine::kAdd && n.group_columns == 0;
    all.rows = is_one_row ? 1 : all.rows * share;
    all.total = all.startup + (all.total - all.startup) * share;
    return all;
  }
  Estimate operator()(const PhysicalValues& n) const {
    const double rows = static_cast<double>(n.rows.size());
    return {rows, 0, rows * kPassedRow, 0};
  }
  Estimate operator()(const PhysicalFunctionScan&) const { return {kUnknownRows, 0, kUnknownRows * kPassedRow, 0}; }
  Estimate operator()(const PhysicalSystemScan&) const { return {kUnknownRows, 0, kUnknownRows * kPassedRow, 0}; }
  Estimate operator()(const PhysicalSharedScan&) const { return {kUnknownRows, 0, kUnknownRows * kPassedRow, 0}; }
  Estimate operator()(const PhysicalFilter& n) const {
    const Estimate input = model.of(*n.input);
    return over(input, input.rows * kUnknownShare, input.rows * kPassedRow);
  }
  Estimate operator()(const PhysicalProject& n) const {
    const Estimate input = model.of(*n.input);
    return over(input, input.rows, input.rows * kPassedRow);
  }
  Estimate operator()(const HashJoin& n) const {
    const Estimate left = model.of(*n.left), right = model.of(*n.right);
    const double rows = std::max(left.rows, right.rows);
    return {rows, left.startup + right.total + right.rows * kHashedRow, left.total + right.total + (left.rows + right.rows) * kHashedRow, left.trips + right.trips};
  }
  Estimate operator()(const NestedLoopJoin& n) const {
    const Estimate left = model.of(*n.left), right = model.of(*n.right);
    const double pairs = left.rows * right.rows;
    return {pairs, left.startup + right.total, left.total + right.total + pairs * kPassedRow, left.trips + right.trips};
  }
  Estimate operator()(const LookupJoin& n) const {
    const Estimate outer = model.of(*n.outer);
    const bool finds_several = n.by == LookupJoin::By::kSet || n.by == LookupJoin::By::kKeyStart;
    double found = finds_several ? kRowsOfKey : 1;
    if (finds_several && n.columns.size() == 1 && size_of(*n.read.table) != nullptr) {
      found = table_rows(*n.read.table) / values_of(*n.read.table, n.columns[0], table_rows(*n.read.table) / kRowsOfKey);
    }
    const double rows = outer.rows * found, work = rows * kRowByKey + (finds_several ? outer.rows * kCardinality : 0);
    return looked_up(outer, rows * share(*n.read.table, n.read.numbers, n.read.condition), work);
  }
  /// A subquery that depends on the outer rows runs for batches of them.
  Estimate operator()(const PhysicalApply& n) const {
    const Estimate input = model.of(*n.input), subquery = model.of(*n.subquery);
    const double runs = n.correlations.empty() ? 1 : std::max(input.rows, 1.0);
    const double work = (subquery.total - subquery.trips * kRoundTrip) * runs, trips = subquery.trips * (runs > 1 ? trips_for(runs) : 1);
    const double rows = input.rows * (n.kind == LogicalApply::Kind::kLateral ? std::max(subquery.rows, 1.0) : 1);
    return {model.sizes_ != nullptr ? rows : input.rows, input.startup + subquery.total, input.total + work + trips * kRoundTrip, input.trips + trips};
  }
  Estimate operator()(const PhysicalAggregate& n) const {
    const Estimate input = model.of(*n.input);
    const double rows = n.scalar ? 1 : groups(*n.input, n.group_by, input.rows), work = input.rows * kHashedRow;
    return n.in_order ? over(input, rows, work) : after(input, rows, work);
  }
  Estimate operator()(const PhysicalWindow& n) const {
    const Estimate input = model.of(*n.input);
    return after(input, input.rows, input.rows * kHashedRow);
  }
  Estimate operator()(const PhysicalSort& n) const {
    const Estimate input = model.of(*n.input);
    const double rows = limited(n.goal, input.rows);
    if (n.presorted == 0) return after(input, rows, sorting(input.rows));
    // Rows that are equal so far are sorted together.
    const double equal = model.sizes_ != nullptr ? input.rows / values_of(*n.input, n.keys.front().expression).value_or(std::max(input.rows, 1.0)) : 0;
    Estimate first = first_of(over(input, input.rows, sorting(input.rows) / 2), rows + equal);
    first.rows = rows;
    return first;
  }
  /// Returns the number of different values of a column of a node; nullopt: no index of its table lists them.
  std::optional<double> values_of(const PhysicalNode& input, const ExpressionPtr& expression) const {
    const auto* reference = std::get_if<sql::ColumnRef>(&expression->node);
    if (reference == nullptr || reference->column >= input.columns.size() || model.sizes_ == nullptr) return {};
    const PhysicalColumn& column = input.columns[reference->column];
    const auto size = model.sizes_->find(column.table);
    return size != model.sizes_->end() ? known_values(size->second, column.attribute) : std::nullopt;
  }
  double groups(const PhysicalNode& input, const std::vector<ExpressionPtr>& keys, double rows) const {
    double product = 1;
    for (const ExpressionPtr& key : keys) {
      const std::optional<double> values = values_of(input, key);
      if (!values) return rows / 10;
      product *= *values;
    }
    return std::min(rows, product);
  }
  Estimate operator()(const PhysicalLockRows& n) const {
    const Estimate input = model.of(*n.input);
    return over(input, input.rows, input.rows * kWrittenRow);
  }
  /// Only so much of the input is read as its first rows need.
  Estimate operator()(const PhysicalLimit& n) const {
    const Estimate input = model.of(*n.input);
    const double offset = n.offset ? count_of(n.offset, 0) : 0;
    const double rows = n.limit ? std::min(input.rows, count_of(n.limit, kUnknownLimit)) : std::max(input.rows - offset, 0.0);
    Estimate first = first_of(input, rows + offset);
    first.rows = rows;
    return first;
  }
  Estimate operator()(const PhysicalDistinct& n) const {
    const Estimate input = model.of(*n.input);
    return over(input, input.rows, input.rows * kHashedRow);
  }
  Estimate operator()(const PhysicalSetOperation& n) const {
    const Estimate left = model.of(*n.left), right = model.of(*n.right);
    const double rows = left.rows + right.rows;
    return {rows, left.startup, left.total + right.total + (n.all ? 0 : rows * kHashedRow), left.trips + right.trips};
  }
  Estimate operator()(const PhysicalShare& n) const {
    const Estimate input = model.of(*n.input), source = model.of(*n.source);
    return {input.rows, input.startup + source.total, input.total + source.total, input.trips + source.trips};
  }
  Estimate operator()(const PhysicalRecursiveUnion& n) const {
    const Estimate left = model.of(*n.left), right = model.of(*n.right);
    return {10 * left.rows, left.startup, left.total + 10 * right.total, left.trips + 10 * right.trips};
  }
  Estimate operator()(const OneOf<PhysicalInsert, PhysicalUpdate, PhysicalDelete, PhysicalMerge> auto& n) const {
    const Estimate source = model.of(*n.source);
    const double total = source.total + source.rows * kWrittenRow + kRoundTrip;
    return {source.rows, total, total, source.trips + 1};
  }
  Estimate operator()(const PhysicalViewWrite& n) const { return model.of(*n.source); }
};

Estimate CostModel::of(const PhysicalNode& node) {
  if (const auto found = known_.find(&node); found != known_.end()) return found->second;
  Estimate estimate = std::visit(NodeEstimate{*this}, node.node);
  // PostgreSQL never expects less than one row.
  if (sizes_ != nullptr) estimate.rows = std::max(1.0, estimate.rows);
  known_.emplace(&node, estimate);
  return estimate;
}

std::size_t width_of(const PhysicalNode& node) {
  constexpr std::size_t kUnknownWidth = 32;
  std::size_t width = 0;
  for (const PhysicalColumn& column : node.columns) {
    const sql::TypeInfo* type = sql::find_type(column.type.oid);
    width += type != nullptr && type->length > 0 ? static_cast<std::size_t>(type->length) : kUnknownWidth;
  }
  return width;
}

}  // namespace redquel::planner
