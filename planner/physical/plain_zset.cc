#include "planner/physical/plain_zset.h"

#include <algorithm>

#include "sql/catalog/mapping.h"

namespace redquel::planner {

using sql::Mapping;
using Kind = ColumnCondition::Kind;

namespace {

/// Returns true if the values of the column are the scores as Redis has them.
bool is_plain_score(const Mapping::Column& column, const sql::TableDef& table) {
  const sql::Oid type = table.find_column(column.number)->type.oid;
  return column.format == Mapping::Format::kText && (type == sql::oid::kFloat8 || sql::is_integer_type(type));
}

/// Returns true if every member is a row: texts have one form only.
bool is_any_member(const Mapping::Column& column, const sql::TableDef& table) {
  return column.format == Mapping::Format::kText && column.width == 0 && table.find_column(column.number)->type.oid == sql::oid::kText;
}

/// Adds a condition on the score to the range; false: it is none, or there is such a bound already.
bool add_bound(const ColumnCondition& condition, PlainZset& zset) {
  const auto add = [&](std::optional<RangeBound>& bound, bool inclusive) {
    if (bound) return false;
    bound = RangeBound{condition.values.front(), inclusive};
    return true;
  };
  switch (condition.kind) {
    case Kind::kEqual:
      return add(zset.lower, true) && add(zset.upper, true);
    case Kind::kLess:
    case Kind::kLessEqual:
      return add(zset.upper, condition.kind == Kind::kLessEqual);
    case Kind::kGreater:
    case Kind::kGreaterEqual:
      return add(zset.lower, condition.kind == Kind::kGreaterEqual);
    default:
      return false;
  }
}

}  // namespace

std::optional<PlainZset> plain_zset(const LogicalScan& scan, const std::vector<LogicalColumn>& columns, const std::vector<sql::ExpressionPtr>& conditions) {
  const sql::TableDef& table = *scan.table;
  if (!table.is_mapped() || table.mapping().layout != Mapping::Layout::kZset) return std::nullopt;
  const sql::KeyTemplate& key = table.mapping().key;
  const Mapping::Column* score = table.mapping().with_role(Mapping::Role::kScore);
  const Mapping::Column* member = table.mapping().with_role(Mapping::Role::kMember);
  if (score == nullptr || member == nullptr || !is_plain_score(*score, table) || !is_any_member(*member, table)) return std::nullopt;

  PlainZset zset;
  zset.score = score->number;
  const Condition condition = analyse_conditions(conditions, table, number_of(scan, columns));
  std::vector<Condition> single;
  if (!conditions.empty()) {
    for (const Condition& part : conjuncts(condition, single)) {
      if (part.kind != Condition::Kind::kColumn || !part.column.exact) return std::nullopt;
      const ColumnCondition& known = part.column;
      if (known.column == score->number) {
        if (!add_bound(known, zset)) return std::nullopt;
        continue;
      }
      const bool is_known = std::ranges::find(zset.fixed, known.column, &MappedScan::Fixed::column) != zset.fixed.end();
      if (known.kind != Kind::kEqual || !key.has_slot(known.column) || is_known) return std::nullopt;
      zset.fixed.push_back({known.column, known.values});
    }
  }
  if (zset.fixed.size() != key.slots().size()) return std::nullopt;
  return zset;
}

}  // namespace redquel::planner
