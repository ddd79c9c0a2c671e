#include "planner/direct/direct_read.h"

#include <algorithm>
#include <numeric>

#include "planner/access/index_condition.h"
#include "planner/access/ordered_source.h"
#include "sql/catalog/table_keys.h"
#include "sql/functions/object_names.h"
#include "sql/types/type_oids.h"

namespace redquel::planner {

namespace {

using sql::ExpressionPtr;
using Kind = DirectRead::Kind;

/// Oids from here on are of types that users make.
constexpr sql::Oid kFirstUserType = 16384;

std::optional<DirectValue> value_of(const ExpressionPtr& expression) {
  if (const auto* parameter = std::get_if<sql::ParameterRef>(&expression->node)) return DirectValue{expression->type, parameter->slot};
  const auto* constant = std::get_if<sql::Constant>(&expression->node);
  if (constant == nullptr || sql::is_null(constant->value)) return std::nullopt;
  return DirectValue{expression->type, std::nullopt, constant->value};
}

/// A row count of LIMIT or OFFSET that is a constant.
std::optional<std::uint64_t> row_count(const ExpressionPtr& expression) {
  const auto* constant = std::get_if<sql::Constant>(&expression->node);
  const auto* number = constant == nullptr ? nullptr : std::get_if<std::int64_t>(&constant->value);
  if (number == nullptr || *number < 0) return std::nullopt;
  return static_cast<std::uint64_t>(*number);
}

/// Takes a plan apart from the top: columns that are picked, a LIMIT, the node that reads.
class Reader {
 public:
  explicit Reader(const PhysicalPlan& plan) : read_{.kind = Kind::kRow, .plan = plan, .source = nullptr, .table = nullptr} {}

  DirectReadPtr read() {
    const PhysicalNode* node = read_.plan.get();
    std::vector<std::size_t> picked(node->columns.size());
    std::iota(picked.begin(), picked.end(), std::size_t{0});
    while (true) {
      if (const auto* project = std::get_if<PhysicalProject>(&node->node)) {
        for (std::size_t& position : picked) {
          const auto* column = std::get_if<sql::ColumnRef>(&project->expressions[position]->node);
          if (column == nullptr) return nullptr;
          position = column->column;
        }
        node = project->input.get();
      } else if (const auto* limit = std::get_if<PhysicalLimit>(&node->node); limit != nullptr && !limit_) {
        if (limit->offset || !limit->limit || limit->with_ties) return nullptr;
        limit_ = row_count(limit->limit);
        if (!limit_ || *limit_ == 0) return nullptr;
        node = limit->input.get();
      } else {
        break;
      }
    }
    if (limit_) read_.most_rows = *limit_;
    read_.source = node;
    read_.outputs = std::move(picked);
    if (!std::visit([&](const auto& n) { return take(n); }, node->node)) return nullptr;
    const bool is_plain = read_.table->parts.empty() && read_.table->tag().empty() && !read_.table->security.enabled;
    if (!is_plain || !std::ranges::all_of(read_.plan->columns, shows_stored_value)) return nullptr;
    return std::make_shared<const DirectRead>(std::move(read_));
  }

 private:
  /// Returns true if the column's text needs nothing but the value and the session's settings.
  static bool shows_stored_value(const PhysicalColumn& column) {
    return column.type.oid < kFirstUserType && !sql::shows_object_names(column.type.oid);
  }

  template <class Node>
  bool take(const Node&) {
    return false;
  }

  bool take(const KeyLookup& lookup) {
    return lookup.keys.size() == 1 && !lookup.read.condition && take_values(lookup.read.table->primary_key, lookup.keys[0]) && take_row(lookup.read);
  }

  bool take(const UniqueLookup& lookup) {
    read_.kind = Kind::kUniqueRow;
    return lookup.values.size() == 1 && says_only(lookup.read, lookup.columns) && take_values(lookup.columns, lookup.values[0]) && take_row(lookup.read);
  }

  bool take(const IndexCount& count) {
    read_.kind = Kind::kCount;
    read_.table = count.table;
    if (count.terms.size() != 1 || limit_) return false;
    const CountTerm& term = count.terms[0];
    if (term.sign != 1) return false;
    if (term.kind == CountTerm::Kind::kAllRows) return true;
    if (term.kind != CountTerm::Kind::kSets || term.sets.kind != SetExpression::Kind::kSet) return false;
    return take_values(term.sets.columns, term.sets.values);
  }

  bool take(const OrderedScan& scan) {
    const bool is_whole = !scan.lower && !scan.upper && !scan.prefix && scan.leading.empty() && scan.in_order;
    if (!is_whole || scan.index_only || scan.most_rows > 0) return false;
    const OrderedSource source = *ordered_source(*scan.read.table, scan.column);
    if (scan.nulls != OrderedScan::Nulls::kNone) {
      if (scan.goal.exact) return false;  // an offset is divided between the rows with a value and those without one
      read_.null_rows = sql::TableKeys(*scan.read.table).null_set(scan.column);
      read_.nulls_first = scan.nulls == OrderedScan::Nulls::kFirst;
    }
    read_.proves_order = scan.otherwise != nullptr;
    return source.encoding == OrderedSource::Encoding::kScore && take_walk(scan, source.key);
  }

  bool take(const FullScan& scan) {
    return scan.key_start.empty() && !scan.index_only && take_walk(scan, sql::TableKeys(*scan.read.table).all_rows());
  }

  template <class Scan>
  bool take_walk(const Scan& scan, std::string zset) {
    read_.kind = Kind::kFirstRows;
    const TableRead& read = scan.read;
    if (read.condition || read.table->rows_expire() || !sql::TableKeys(*read.table).sort_get_is_safe()) return false;
    if (scan.goal.exact) {
      const std::optional<std::uint64_t> limit = scan.goal.limit ? row_count(scan.goal.limit) : std::nullopt;
      const std::optional<std::uint64_t> offset = scan.goal.offset ? row_count(scan.goal.offset) : std::optional<std::uint64_t>(0);
      if (!limit || !offset || limit_) return false;
      read_.most_rows = *limit;
      read_.offset = *offset;
    } else if (!limit_) {
      return false;
    }
    read_.zset = std::move(zset);
    read_.descending = scan.descending;
    return read_.most_rows > 0 && read_.most_rows <= kMostFirstRows && take_row(read);
  }

  bool take_values(const std::vector<std::int16_t>& columns, const std::vector<ExpressionPtr>& values) {
    read_.columns = columns;
    for (const ExpressionPtr& value : values) {
      std::optional<DirectValue> known = value_of(value);
      if (!known) return false;
      read_.values.push_back(*std::move(known));
    }
    return true;
  }

  bool take_row(const TableRead& read) {
    read_.table = read.table;
    read_.fields = read.fields ? read.fields : std::make_shared<const sql::RowFields>(sql::row_fields(*read.table, read.numbers));
    for (std::size_t& position : read_.outputs) position = static_cast<std::size_t>(read.outputs[position]);
    return true;
  }

  /// Returns true if the condition is an equality of each of these columns and nothing else.
  static bool says_only(const TableRead& read, const std::vector<std::int16_t>& columns) {
    if (!read.condition) return true;
    const ColumnNumber number = [&](ColumnId position) -> std::optional<std::int16_t> { return read.numbers[position]; };
    const Condition condition = analyse_condition(*read.condition, *read.table, number);
    std::vector<Condition> single;
    const std::vector<Condition>& parts = conjuncts(condition, single);
    std::vector<std::int16_t> seen;
    for (const Condition& part : parts) {
      if (part.kind != Condition::Kind::kColumn || part.column.kind != ColumnCondition::Kind::kEqual || !part.column.exact) return false;
      seen.push_back(part.column.column);
    }
    return seen.size() == columns.size() && std::ranges::is_permutation(seen, columns);
  }

  DirectRead read_;
  std::optional<std::uint64_t> limit_;  // of a node above the one that reads
};

}  // namespace

DirectReadPtr direct_read(const PhysicalPlan& plan) { return Reader(plan).read(); }

}  // namespace redquel::planner
