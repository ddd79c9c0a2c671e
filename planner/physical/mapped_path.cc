#include "planner/physical/mapped_path.h"

#include <algorithm>

#include "planner/access/index_condition.h"
#include "planner/access/set_algebra.h"
#include "planner/access/value_product.h"
#include "planner/physical/plain_zset.h"
#include "sql/catalog/mapping.h"

namespace redquel::planner {

using sql::ExpressionPtr;
using sql::Mapping;
using ColumnKind = ColumnCondition::Kind;

namespace {

/// More keys than this are not worth being named one by one.
constexpr std::size_t kMaxKeys = 100000;

/// A superset of the same rows that names no other structures than sets: applications keep no zset of all keys, nor sets of NULLs. It takes no
/// set away from another one: a member that a writer has left behind would hide its row.
std::optional<SetExpression> of_sets_alone(SetExpression sets) {
  using Kind = SetExpression::Kind;
  if (sets.operands.empty()) return sets.kind == Kind::kSet ? std::optional(std::move(sets)) : std::nullopt;
  if (sets.kind == Kind::kDifference) return of_sets_alone(std::move(sets.operands.front()));
  std::vector<SetExpression> kept;
  for (SetExpression& part : sets.operands) {
    std::optional<SetExpression> operand = of_sets_alone(std::move(part));
    if (!operand && sets.kind == Kind::kUnion) return std::nullopt;
    if (operand) kept.push_back(*std::move(operand));
  }
  if (kept.empty()) return std::nullopt;
  if (kept.size() == 1) return std::move(kept.front());
  sets.operands = std::move(kept);
  return sets;
}

class MappedPathChooser {
 public:
  MappedPathChooser(const LogicalScan& scan, const std::vector<LogicalColumn>& columns, const std::vector<ExpressionPtr>& conditions)
      : table_(*scan.table), mapping_(scan.table->mapping()), number_(number_of(scan, columns)) {
    condition_ = analyse_conditions(conditions, table_, number_);
    scan_.read.table = scan.table;
    scan_.read.alias = scan.alias;
    scan_.read.numbers = scan.numbers;
    scan_.read.condition = resolve(sql::conjunction(conditions), column_ids(columns));
    for (std::size_t i = 0; i < columns.size(); ++i) scan_.read.outputs.push_back(static_cast<std::int16_t>(i));
    fix_columns();
  }

  bool all_slots_fixed(const std::map<std::int16_t, ExpressionPtr>& more = {}) const {
    std::size_t product = 1;
    for (const std::int16_t slot : mapping_.key.slots()) {
      if (slot <= 0 || more.contains(slot)) continue;
      const auto found = std::find_if(scan_.fixed.begin(), scan_.fixed.end(), [&](const auto& fixed) { return fixed.column == slot; });
      if (found == scan_.fixed.end()) return false;
      product *= found->values.size();
      if (product > kMaxKeys) return false;
    }
    return true;
  }

  MappedScan choose(const Wish& wish, RuleChoices& rules) {
    if (all_slots_fixed()) {
      scan_.path = MappedScan::Path::kKeys;
      if (rules.allow(AccessRule::kForeignScores)) {
        by_scores(wish);
        by_positions(wish);
      }
    } else if (!rules.allow(AccessRule::kForeignStructure) || (!lookup() && !sets() && !order(wish) && !range())) {
      scan_.path = mapping_.ohm ? MappedScan::Path::kSets : MappedScan::Path::kScan;
      if (mapping_.ohm) {
        scan_.sets = SetExpression{SetExpression::Kind::kSet, {}, {}, {}};  // of all ids
        scan_.member = sql::joined_slots(table_.primary_key);
      }
    }
    by_entries();
    const bool has_positions = scan_.path == MappedScan::Path::kScores && mapping_.layout == Mapping::Layout::kList;
    const bool has_goal = scan_.path == MappedScan::Path::kOrder || has_positions || scan_.wants_order;
    if (!has_goal && wish.order.empty()) {
      scan_.goal = wish.goal;
      scan_.goal.exact = false;
    }
    return std::move(scan_);
  }

  /// The columns of a declared lookup or set, with the values that outer rows and conditions give them; nullopt: there is none. Sets
  /// `path` and `index`.
  std::optional<std::vector<std::pair<std::int16_t, ExpressionPtr>>> join_structure(const std::map<std::int16_t, ExpressionPtr>& values) {
    for (const sql::IndexMethod method : {sql::IndexMethod::kLookup, sql::IndexMethod::kSet}) {
      for (const sql::IndexDef& index : table_.indexes) {
        // A join has no place for rows that a structure which writes leave alone may lack.
        if (index.method != method || !index.mapped().maintained || !sql::is_believed(index) || (method == sql::IndexMethod::kSet && !sql::index_key(index).has_slots())) continue;
        std::vector<std::pair<std::int16_t, ExpressionPtr>> keys;
        bool is_joined = false;
        for (const sql::IndexDef::Part& part : index.parts) {
          const auto joined = values.find(part.column);
          const std::vector<ExpressionPtr>* constants = joined == values.end() ? values_of(part.column) : nullptr;
          if (joined != values.end()) keys.emplace_back(part.column, joined->second);
          else if (constants != nullptr && constants->size() == 1) keys.emplace_back(part.column, constants->front());
          is_joined = is_joined || joined != values.end();
        }
        if (!is_joined || keys.size() < index.parts.size()) continue;
        scan_.path = method == sql::IndexMethod::kLookup ? MappedScan::Path::kLookup : MappedScan::Path::kSets;
        scan_.index = index.oid;
        scan_.member = sql::index_member(table_, index).stored_text();
        scan_.fixed.clear();
        return keys;
      }
    }
    return std::nullopt;
  }

  MappedScan take() { return std::move(scan_); }

 private:
  const std::vector<ExpressionPtr>* values_of(std::int16_t column) const { return equal_values(condition_, column); }

  void fix_columns() {
    for (const Mapping::Column& column : mapping_.columns) {
      const bool is_part = column.role == Mapping::Role::kSlot || column.role == Mapping::Role::kMember || column.role == Mapping::Role::kName;
      if (!is_part) continue;
      if (const auto* values = values_of(column.number)) scan_.fixed.push_back({column.number, *values});
    }
  }

  bool lookup() {
    for (const sql::IndexDef& index : table_.indexes) {
      if (index.method != sql::IndexMethod::kLookup || !sql::is_believed(index)) continue;
      std::vector<std::int16_t> columns;
      for (const sql::IndexDef::Part& part : index.parts) columns.push_back(part.column);
      auto product = value_product(condition_, columns, kMaxKeys);
      if (!product) continue;
      scan_.path = MappedScan::Path::kLookup;
      scan_.index = index.oid;
      scan_.member = sql::index_member(table_, index).stored_text();
      scan_.lookups = *std::move(product);
      return true;
    }
    return false;
  }

  /// Returns true if the WHERE clause fixes all slots of a structure's key that identify rows. Its members do not.
  bool says_rows_slots(const sql::IndexDef& index) {
    const std::vector<std::int16_t> slots = sql::index_key(index).slots();
    return std::all_of(slots.begin(), slots.end(), [&](std::int16_t slot) { return !table_.in_primary_key(slot) || values_of(slot) != nullptr; });
  }

  /// Sets whose members say the same columns can be combined.
  bool sets() {
    std::map<std::string, std::vector<sql::Structure>> structures;
    std::vector<std::string> members;  // in the order in which they were declared
    for (const sql::IndexDef& index : table_.indexes) {
      if (index.method != sql::IndexMethod::kSet || !sql::is_believed(index)) continue;
      if (!sql::index_key(index).has_slots() || !says_rows_slots(index)) continue;
      std::vector<std::int16_t> columns;
      for (const sql::IndexDef::Part& part : index.parts) columns.push_back(part.column);
      const std::string member = sql::index_member(table_, index).stored_text();
      if (!structures.contains(member)) members.push_back(member);
      structures[member].push_back({sql::Structure::Kind::kSets, std::move(columns), true});
    }
    for (const std::string& member : members) {
      const SetAlgebra algebra(table_, structures.at(member));
      std::optional<SetExpression> superset = algebra.superset(condition_);
      if (superset) scan_.sets = of_sets_alone(*std::move(superset));
      if (!scan_.sets) continue;
      scan_.path = MappedScan::Path::kSets;
      scan_.member = member;
      return true;
    }
    return false;
  }

  /// Takes the bounds that an AND puts on the order of a column's values.
  void bound(std::int16_t number) {
    scan_.ordered_by = number;
    for (const Condition& condition : conjuncts(condition_, single_)) {
      if (condition.kind != Condition::Kind::kColumn || condition.column.column != number) continue;
      const ColumnKind kind = condition.column.kind;
      const bool is_equal = kind == ColumnKind::kEqual;
      const bool is_inclusive = is_equal || kind == ColumnKind::kGreaterEqual || kind == ColumnKind::kLessEqual;
      if (is_equal || kind == ColumnKind::kGreater || kind == ColumnKind::kGreaterEqual) {
        if (!scan_.lower) scan_.lower = RangeBound{condition.column.values[0], is_inclusive};
      }
      if (is_equal || kind == ColumnKind::kLess || kind == ColumnKind::kLessEqual) {
        if (!scan_.upper) scan_.upper = RangeBound{condition.column.values[0], is_inclusive};
      }
    }
  }

  void forget_bounds() {
    scan_.lower.reset();
    scan_.upper.reset();
    scan_.lookups.clear();
    scan_.ordered_by = 0;
  }

  /// One value for each slot of a structure's key.
  bool fix_structure(const sql::IndexDef& index) {
    std::vector<ExpressionPtr> values;
    for (const std::int16_t slot : sql::index_key(index).slots()) {
      const std::vector<ExpressionPtr>* found = values_of(slot);
      if (found == nullptr || found->size() != 1) return false;
      values.push_back(found->front());
    }
    scan_.lookups.clear();
    if (!values.empty()) scan_.lookups.push_back(std::move(values));
    return true;
  }

  /// A zset that is declared over a column which the conditions bound.
  bool range() {
    for (const sql::IndexDef& index : table_.indexes) {
      if (index.method != sql::IndexMethod::kZset || !sql::is_believed(index) || is_foreign_score(index)) continue;
      forget_bounds();
      bound(sql::ordered_column(index));
      if ((!scan_.lower && !scan_.upper) || !fix_structure(index)) continue;
      scan_.path = MappedScan::Path::kRange;
      scan_.index = index.oid;
      scan_.member = sql::index_member(table_, index).stored_text();
      return true;
    }
    forget_bounds();
    return false;
  }

  /// An application may have a zset of all keys whose scores are something else than the key.
  bool is_foreign_score(const sql::IndexDef& index) const {
    return table_.in_primary_key(sql::ordered_column(index)) && !index.mapped().maintained;
  }

  bool reads_ttl() const {
    return std::any_of(scan_.read.numbers.begin(), scan_.read.numbers.end(), [&](std::int16_t number) {
      return number > 0 && mapping_.column(number).role == Mapping::Role::kTtl;
    });
  }

  /// Members of one zset between two scores, or in their order.
  void by_scores(const Wish& wish) {
    const Mapping::Column* score = mapping_.with_role(Mapping::Role::kScore);
    if (mapping_.layout != Mapping::Layout::kZset || score == nullptr || reads_ttl()) return;
    const bool is_one_key = std::all_of(scan_.fixed.begin(), scan_.fixed.end(), [&](const MappedScan::Fixed& fixed) {
      return mapping_.key.has_slot(fixed.column) && fixed.values.size() == 1;
    });
    if (!is_one_key) return;
    bound(score->number);
    const auto* column = wish.order.empty() || !wish.goal.limit ? nullptr : std::get_if<sql::ColumnRef>(&wish.order.front().expression->node);
    scan_.wants_order = column != nullptr && number_(column->column) == score->number;
    if (!scan_.lower && !scan_.upper && !scan_.wants_order) return forget_bounds();
    scan_.path = MappedScan::Path::kScores;
    if (!scan_.wants_order) return;
    scan_.descending = wish.order.front().descending;
    scan_.goal = wish.goal;
    scan_.goal.exact = false;
  }

  /// Returns true if the WHERE clause says nothing but the bounds and the values of the key's slots.
  bool bounds_are_all() {
    int lowers = 0, uppers = 0;
    for (const Condition& condition : conjuncts(condition_, single_)) {
      if (condition.kind != Condition::Kind::kColumn || !condition.column.exact) return false;
      const ColumnKind kind = condition.column.kind;
      const bool is_equal = kind == ColumnKind::kEqual;
      if (mapping_.key.has_slot(condition.column.column) && is_equal) continue;
      const bool is_lower = is_equal || kind == ColumnKind::kGreater || kind == ColumnKind::kGreaterEqual;
      const bool is_upper = is_equal || kind == ColumnKind::kLess || kind == ColumnKind::kLessEqual;
      if (condition.column.column != scan_.ordered_by || (!is_lower && !is_upper)) return false;
      lowers += is_lower ? 1 : 0;
      uppers += is_upper ? 1 : 0;
    }
    return lowers <= 1 && uppers <= 1;
  }

  /// Elements of lists between two positions, or the first or last ones of one list.
  void by_positions(const Wish& wish) {
    const Mapping::Column* position = mapping_.with_role(Mapping::Role::kPosition);
    if (mapping_.layout != Mapping::Layout::kList) return;
    if (const auto* values = position != nullptr ? values_of(position->number) : nullptr; values != nullptr && values->size() > 1) {
      scan_.path = MappedScan::Path::kScores;
      scan_.ordered_by = position->number;
      scan_.lookups = {*values};
      return;
    }
    if (position != nullptr) bound(position->number);
    const bool is_one_key = std::ranges::all_of(scan_.fixed, [](const MappedScan::Fixed& fixed) { return fixed.values.size() == 1; });
    const auto* column = wish.order.empty() ? nullptr : std::get_if<sql::ColumnRef>(&wish.order.front().expression->node);
    const bool is_wanted_order = wish.order.empty() || (position != nullptr && column != nullptr && number_(column->column) == position->number);
    const bool has_goal = wish.goal.limit && is_one_key && is_wanted_order && bounds_are_all();
    if (!scan_.lower && !scan_.upper && !has_goal) return forget_bounds();
    scan_.path = MappedScan::Path::kScores;
    if (!has_goal) return;
    scan_.wants_order = !wish.order.empty();
    scan_.descending = scan_.wants_order && wish.order.front().descending;
    scan_.goal = wish.goal;
    scan_.goal.exact = false;
  }

  /// Entries of streams between two times or ids.
  void by_entries() {
    if (mapping_.layout != Mapping::Layout::kStream) return;
    for (const Mapping::Role role : {Mapping::Role::kTime, Mapping::Role::kId}) {
      const Mapping::Column* column = mapping_.with_role(role);
      if (column == nullptr) continue;
      bound(column->number);
      if (scan_.lower || scan_.upper) return;
    }
    forget_bounds();
  }

  bool is_never_null(std::int16_t number) {
    const Mapping::Role role = mapping_.column(number).role;
    if (table_.find_column(number)->not_null || table_.in_primary_key(number) || role == Mapping::Role::kScore) return true;
    const auto& all = conjuncts(condition_, single_);
    return std::any_of(all.begin(), all.end(), [&](const Condition& c) {
      return c.kind == Condition::Kind::kColumn && c.column.column == number && c.column.kind != ColumnKind::kIsNull;
    });
  }

  /// Returns true if the table's keys that a zset lacks are rows whose column is NULL: no slot of its key is a column outside of the table's key.
  bool tells_missing_rows(const sql::IndexDef& index) const {
    const std::vector<std::int16_t> slots = sql::index_key(index).slots();
    return sql::has_one_row(mapping_.layout) && !is_foreign_score(index) &&
           std::ranges::all_of(slots, [&](std::int16_t slot) { return mapping_.key.has_slot(slot); });
  }

  /// A zset or a list that has the wanted rows first. Rows whose column is NULL are in neither.
  bool order(const Wish& wish) {
    if (wish.order.empty() || !wish.goal.limit) return false;
    const SortKey& key = wish.order.front();
    const auto* column = std::get_if<sql::ColumnRef>(&key.expression->node);
    const auto number = column ? number_(column->column) : std::nullopt;
    if (!number || *number <= 0) return false;
    for (const sql::IndexDef& index : table_.indexes) {
      const bool is_zset = index.method == sql::IndexMethod::kZset;
      const bool is_list = index.method == sql::IndexMethod::kList && key.descending;  // the newest first
      if ((!is_zset && !is_list) || !sql::is_believed(index) || sql::ordered_column(index) != *number || !fix_structure(index)) continue;
      const bool wants_nulls = key.nulls_first && !is_never_null(*number);
      if (wants_nulls && (!is_zset || !tells_missing_rows(index))) return false;
      scan_.wants_order = wants_nulls;
      if (is_zset && !is_foreign_score(index)) bound(*number);
      scan_.ordered_by = *number;
      scan_.path = MappedScan::Path::kOrder;
      scan_.index = index.oid;
      scan_.member = sql::index_member(table_, index).stored_text();
      scan_.descending = key.descending;
      scan_.goal = wish.goal;
      scan_.goal.exact = false;
      return true;
    }
    return false;
  }

  const sql::TableDef& table_;
  const Mapping& mapping_;
  ColumnNumber number_;
  Condition condition_;
  std::vector<Condition> single_;
  MappedScan scan_;
};

}  // namespace

Planned plan_mapped_access(const std::vector<LogicalColumn>& columns, const LogicalScan& scan,
                           const std::vector<ExpressionPtr>& conditions, const Wish& wish, RuleChoices& rules) {
  MappedPathChooser chooser(scan, columns, conditions);
  MappedScan chosen = chooser.choose(wish, rules);
  // A zset without other elements than rows has the wanted ones at their ranks.
  const auto zset = chosen.wants_order && wish.order.size() == 1 && wish.goal.exact && wish.goal.offset ? plain_zset(scan, columns, conditions) : std::nullopt;
  const bool is_exact = zset && !zset->lower && !zset->upper && chosen.ordered_by == zset->score;
  if (is_exact) {
    chosen.goal.exact = true;
    chosen.read.condition = nullptr;
  }
  Planned planned{make_physical(std::move(chosen), physical_columns(columns)), column_ids(columns)};
  planned.ordered = is_exact ? 1 : 0;
  planned.limited = is_exact;
  return planned;
}

std::optional<MappedJoinPath> plan_mapped_join(const std::vector<LogicalColumn>& columns, const LogicalScan& scan,
                                               const std::vector<ExpressionPtr>& conditions,
                                               const std::map<std::int16_t, ExpressionPtr>& values) {
  MappedPathChooser chooser(scan, columns, conditions);
  if (chooser.all_slots_fixed()) return {};
  if (!chooser.all_slots_fixed(values)) {
    auto keys = chooser.join_structure(values);
    return keys ? std::optional(MappedJoinPath{chooser.take(), *std::move(keys)}) : std::nullopt;
  }
  MappedJoinPath path{chooser.take(), {}};
  for (const Mapping::Column& column : scan.table->mapping().columns) {
    const bool is_part = column.role == Mapping::Role::kSlot || column.role == Mapping::Role::kMember || column.role == Mapping::Role::kName;
    if (!is_part || !values.contains(column.number)) continue;
    path.keys.emplace_back(column.number, values.at(column.number));
    std::erase_if(path.inner.fixed, [&](const MappedScan::Fixed& fixed) { return fixed.column == column.number; });
  }
  path.inner.path = MappedScan::Path::kKeys;
  return path;
}

}  // namespace redquel::planner
