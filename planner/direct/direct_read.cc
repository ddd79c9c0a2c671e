#include "planner/direct/direct_read.h"

#include <algorithm>
#include <numeric>

#include "planner/access/index_condition.h"
#include "planner/access/ordered_source.h"
#include "sql/catalog/member_form.h"
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

/// Takes a plan apart from the top: columns that are picked, a LIMIT, an order, the node that reads.
class Reader {
 public:
  explicit Reader(const PhysicalPlan& plan) : read_{.kind = Kind::kRow, .plan = plan, .source = nullptr, .table = nullptr} {}

  DirectReadPtr read() {
    const PhysicalNode* node = read_.plan.get();
    std::vector<std::size_t> picked(node->columns.size());
    std::iota(picked.begin(), picked.end(), std::size_t{0});
    while (true) {
      if (const auto* project = std::get_if<PhysicalProject>(&node->node)) {
        const auto pass = [&](std::size_t& position) {
          const auto* column = std::get_if<sql::ColumnRef>(&project->expressions[position]->node);
          if (column != nullptr) position = column->column;
          return column != nullptr;
        };
        if (!std::ranges::all_of(picked, pass)) return nullptr;
        if (!std::ranges::all_of(read_.order, [&](DirectRead::Order& key) { return pass(key.column); })) return nullptr;
        node = project->input.get();
      } else if (const auto* limit = std::get_if<PhysicalLimit>(&node->node); limit != nullptr && limit_ == nullptr && sort_ == nullptr) {
        if (!limit->limit || limit->with_ties) return nullptr;
        limit_ = limit;
        if (!take_page(limit->limit, limit->offset)) return nullptr;
        node = limit->input.get();
      } else if (const auto* sort = std::get_if<PhysicalSort>(&node->node); sort != nullptr && sort_ == nullptr) {
        sort_ = sort;
        if (!take_order(sort->keys)) return nullptr;
        node = sort->input.get();
      } else {
        break;
      }
    }
    read_.source = node;
    read_.outputs = std::move(picked);
    if (!std::visit([&](const auto& n) { return take(n); }, node->node)) return nullptr;
    const bool may_be_ordered = read_.kind == Kind::kFirstRows || read_.kind == Kind::kSetRows;
    if (!may_be_ordered && (read_.offset || sort_ != nullptr)) return nullptr;
    const bool is_plain = read_.table->parts.empty() && read_.table->tag().empty() && !read_.table->security.enabled;
    if (!is_plain || !std::ranges::all_of(read_.plan->columns, shows_stored_value)) return nullptr;
    return std::make_shared<const DirectRead>(std::move(read_));
  }

 private:
  /// Returns true if the column's text needs nothing but the value and the session's settings.
  static bool shows_stored_value(const PhysicalColumn& column) {
    return column.type.oid < kFirstUserType && !sql::shows_object_names(column.type.oid);
  }

  bool take_page(const ExpressionPtr& limit, const ExpressionPtr& offset) {
    read_.limit = value_of(limit);
    if (offset) read_.offset = value_of(offset);
    return read_.limit && (!offset || read_.offset);
  }

  bool take_order(const std::vector<SortKey>& keys) {
    for (const SortKey& key : keys) {
      const auto* column = std::get_if<sql::ColumnRef>(&key.expression->node);
      if (column == nullptr || key.expression->type.oid >= kFirstUserType) return false;
      read_.order.push_back({column->column, key.expression->type, key.descending, key.nulls_first});
    }
    return true;
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
    if (count.terms.size() != 1 || limit_ != nullptr) return false;
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
    if (sort_ != nullptr && (sort_->presorted != 1 || sort_->presorted_by_form)) return false;
    read_.proves_order = scan.otherwise != nullptr;
    return source.encoding == OrderedSource::Encoding::kScore && take_walk(scan, source.key);
  }

  bool take(const FullScan& scan) {
    return sort_ == nullptr && scan.key_start.empty() && !scan.index_only && take_walk(scan, sql::TableKeys(*scan.read.table).all_rows());
  }

  bool take(const SetScan& scan) {
    read_.kind = Kind::kSetRows;
    const SetExpression& set = scan.sets;
    const bool is_set = set.kind == SetExpression::Kind::kSet && !set.entries && !sql::omitted_parts(*scan.read.table, set.columns).any();
    return is_set && sql::TableKeys(*scan.read.table).sort_get_is_safe() && says_only(scan.read, set.columns) &&
           take_values(set.columns, set.values) && take_row(scan.read);
  }

  /// Few rows of a set cost one turn, as the proof that a copy is current does.
  bool take(const MemoryScan& scan) {
    const auto* sets = std::get_if<SetScan>(&scan.otherwise->node);
    return scan.is_part && sets != nullptr && take(*sets);
  }

  template <class Scan>
  bool take_walk(const Scan& scan, std::string zset) {
    read_.kind = Kind::kFirstRows;
    const TableRead& read = scan.read;
    if (read.condition || read.table->rows_expire() || !sql::TableKeys(*read.table).sort_get_is_safe()) return false;
    if (scan.goal.exact) {
      if (sort_ != nullptr) return false;
      if (!scan.goal.limit || limit_ != nullptr || !take_page(scan.goal.limit, scan.goal.offset)) return false;
    } else if (limit_ == nullptr || (read_.offset && sort_ == nullptr)) {
      return false;
    }
    read_.zset = std::move(zset);
    read_.descending = scan.descending;
    const auto* rows = std::get_if<std::int64_t>(&read_.limit->constant);
    const bool is_known_large = rows != nullptr && static_cast<std::uint64_t>(*rows) > kMostFirstRows;
    return !is_known_large && take_row(read);
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
    for (DirectRead::Order& key : read_.order) key.column = static_cast<std::size_t>(read.outputs[key.column]);
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
  const PhysicalLimit* limit_ = nullptr;  // above the node that reads
  const PhysicalSort* sort_ = nullptr;    // below the limit
};

}  // namespace

DirectReadPtr direct_read(const PhysicalPlan& plan) { return Reader(plan).read(); }

}  // namespace redquel::planner
