#include <algorithm>
#include <map>
#include <set>
#include <type_traits>

#include "planner/access/indexed_expressions.h"
#include "planner/access/ordered_source.h"
#include "planner/access/set_algebra.h"
#include "planner/access/value_product.h"
#include "planner/physical/index_only.h"
#include "planner/physical/mapped_path.h"
#include "planner/physical/physical_planner.h"
#include "sql/catalog/spread_table.h"
#include "sql/catalog/table_keys.h"
#include "sql/types/index_value.h"

namespace redquel::planner {

using sql::ExpressionPtr;
using ColumnKind = ColumnCondition::Kind;

namespace {

/// More keys than this are not worth a lookup each.
constexpr std::size_t kMaxLookupKeys = 100000;

/// Chooses among the access paths of one table by what the condition and the wish allow. The order of preference is: primary key,
/// unique key, equality sets, range of an ordered index, an index in the wanted order, the whole table.
class AccessPathChooser {
 public:
  AccessPathChooser(const LogicalScan& scan, const std::vector<LogicalColumn>& columns, const std::vector<ExpressionPtr>& conditions,
                    const Wish& wish, RuleChoices& rules)
      : table_(*scan.table), wish_(wish), rules_(rules), number_(number_of(scan, columns)), indexed_(scan, columns, conditions) {
    if (!table_.computed.empty()) computed_ = [this](const sql::Expression& expression) { return indexed_.number_of(expression); };
    condition_ = analyse_conditions(conditions, table_, number_, computed_);
    conditions_ = conditions;
    ids_ = column_ids(columns);
    read_.table = scan.table;
    read_.alias = scan.alias;
    read_.numbers = scan.numbers;
    read_.condition = resolve(sql::conjunction(conditions), ids_);
    for (std::size_t i = 0; i < columns.size(); ++i) read_.outputs.push_back(static_cast<std::int16_t>(i));
    planned_.ids = column_ids(columns);
    for (const LogicalColumn& column : columns) columns_.push_back(column);
  }

  /// Returns the lookup of a row of a table in several buckets by a unique value that lies by value; nullopt: there is none.
  std::optional<Planned> choose_value_elsewhere() {
    auto lookup = unique_lookup(true);
    if (!lookup) return std::nullopt;
    planned_.plan = make_physical(*std::move(lookup), physical_columns(columns_));
    return std::move(planned_);
  }

  /// `by_indexes_alone`: rows that are not read may be told by their index entries.
  Planned choose(bool by_indexes_alone) {
    by_indexes_alone_ = by_indexes_alone && !table_.rows_expire();  // entries stand for rows that are gone
    if (by_indexes_alone_ && rules_.allow(AccessRule::kIndexKeys) && prepare_index_keys()) return index_keys();
    if (by_indexes_alone_ && !wish_.goal && !wish_.window && read_.numbers.size() == 1 && rules_.allow(AccessRule::kIndexValues)) {
      if (auto values = planner::index_values(table_, read_.numbers[0], condition_, conditions_, !wish_.order.empty())) return index_values(std::move(*values));
    }
    return rows();
  }

 private:
  Planned rows() {
    PhysicalNode::Node node = path();
    if (auto* scan = std::get_if<OrderedScan>(&node)) {
      scan->in_order = planned_.ordered > 0;
      if (scan->in_order && order_is_proved_) scan->otherwise = sorted_again(*scan);
    }
    planned_.plan = make_physical(std::move(node), physical_columns(columns_));
    return std::move(planned_);
  }

  /// The rows of the scan where its scores do not order them exactly: those of one score are sorted.
  PhysicalPlan sorted_again(const OrderedScan& scan) const {
    OrderedScan by_form = scan;
    by_form.goal.exact = false;
    Planned rows{make_physical(std::move(by_form), physical_columns(columns_)), planned_.ids, 1, true};
    const std::vector<SortKey> keys(wish_.order.begin(), wish_.order.begin() + static_cast<std::ptrdiff_t>(planned_.ordered));
    // A sort ends after the rows of its goal, but what sorts by more keys above needs all rows of the last value.
    PhysicalPlan plan = sorted(std::move(rows), keys, scan.goal.exact ? hint() : RowGoal{}).plan;
    if (!scan.goal.exact) return plan;
    return make_physical(PhysicalLimit{std::move(plan), scan.goal.limit, scan.goal.offset, false, {}}, physical_columns(columns_));
  }

  /// Returns true if only key columns are needed, or those and scores, of rows that sets know exactly.
  bool prepare_index_keys() {
    const bool wants_first_rows = (wish_.goal || wish_.window) && !wish_.order.empty();
    if (!wish_.needed || wish_.needed->empty() || wants_first_rows || table_.primary_key.empty()) return false;
    bool needs_scores = false;
    for (const LogicalColumn& column : columns_) {
      if (!wish_.needed->contains(column.id)) continue;
      const std::int16_t number = *number_(column.id);
      const bool in_key = table_.in_primary_key(number) && sql::canonical_text_is_output(table_.find_column(number)->type);
      if (!in_key && (!table_.find_column(number)->not_null || !scores_are_values(table_, number))) return false;
      needs_scores = needs_scores || !in_key;
      key_columns_.push_back(column);
    }
    exact_sets_ = SetAlgebra(table_).exact(condition_);
    if (!exact_sets_ || key_values(table_.primary_key)) return false;
    // The rows of one set come by one SORT, those of a range with their scores.
    return !needs_scores || (!wish_.goal && !exact_sets_->operands.empty() && SetAlgebra::is_worthwhile(*exact_sets_));
  }

  Planned index_values(IndexValues values) {
    values.table = read_.table;
    values.alias = read_.alias;
    values.condition = read_.condition;
    const std::vector<LogicalColumn> columns = columns_;
    values.fallback = arrange(rows(), columns).plan;
    return {make_physical(std::move(values), physical_columns(columns)), column_ids(columns)};
  }

  Planned index_keys() {
    IndexKeys keys{read_.table, read_.alias, *exact_sets_, {}, nullptr};
    const std::vector<LogicalColumn> columns = key_columns_;
    for (const LogicalColumn& column : columns) keys.numbers.push_back(*number_(column.id));
    Planned whole = rows();
    whole = arrange(std::move(whole), columns);
    keys.fallback = whole.plan;
    return {make_physical(std::move(keys), physical_columns(columns)), column_ids(columns)};
  }

  PhysicalNode::Node path() {
    if (auto lookup = tried(AccessRule::kKeyLookup, [&] { return key_lookup(); })) return std::move(*lookup);
    if (auto lookup = tried(AccessRule::kUniqueLookup, [&] { return unique_lookup(false); })) return std::move(*lookup);
    if (auto walk = tried(AccessRule::kValueWalk, [&] { return value_walk(); })) return std::move(*walk);
    if (wish_.window && !wish_.order.empty()) {
      if (auto walk = tried(AccessRule::kWindowWalk, [&] { return walk_in_order(); })) return std::move(*walk);
    }
    SetAlgebra algebra(table_);
    if (auto sets = tried(AccessRule::kIndexSets, [&] { return algebra.superset(condition_); }); sets && SetAlgebra::is_worthwhile(*sets)) {
      if (auto first = tried(AccessRule::kFirstOfSets, [&] { return first_rows(); })) return std::move(*first);
      return SetScan{std::move(read_), std::move(*sets), wish_.order.empty() ? hint() : RowGoal{}};
    }
    std::vector<ExpressionPtr> key_start = rules_.allow(AccessRule::kKeyStart) ? fixed_key_start() : std::vector<ExpressionPtr>();
    if (!key_start.empty()) return full_scan(std::move(key_start));
    if (auto range = tried(AccessRule::kRange, [&] { return range_scan(); })) return std::move(*range);
    if (auto partial = tried(AccessRule::kPartialIndex, [&] { return partial_scan(); })) return std::move(*partial);
    if (auto ordered = tried(AccessRule::kOrder, [&] { return order_scan(); })) return std::move(*ordered);
    if (auto ordered = tried(AccessRule::kScores, [&] { return scored_scan(); })) return std::move(*ordered);
    return full_scan({});
  }

  /// The path that a rule gives, if it may be tried.
  template <class Path>
  std::invoke_result_t<Path> tried(AccessRule rule, const Path& path) {
    return rules_.allow(rule) ? path() : std::nullopt;
  }

  FullScan full_scan(std::vector<ExpressionPtr> key_start) {
    FullScan scan{std::move(read_), std::move(key_start), false, {}};
    scan.index_only = by_indexes_alone_ && tells_columns(table_, scan.read.numbers, 0);
    if (wish_.order.empty()) {
      scan.goal = wish_.goal;
      scan.goal.exact = wish_.goal && wish_.goal.exact && !scan.read.condition && !table_.rows_expire();
      planned_.limited = scan.goal.exact;
    }
    return scan;
  }

  /// A few rows of sets in the order of an index: what else is asked of the rows must be just a range of that index.
  std::optional<SetScan> first_rows() {
    if (wish_.order.empty() || !wish_.goal.limit) return {};
    const auto* column = std::get_if<sql::ColumnRef>(&wish_.order[0].expression->node);
    const auto number = column ? number_(column->column) : std::nullopt;
    if (!number || *number <= 0) return {};
    const auto source = ordered_source(table_, *number);
    if (!source) return {};
    Condition rest;
    rest.kind = Condition::Kind::kAnd;
    std::vector<Condition> single;
    for (const Condition& condition : conjuncts(condition_, single)) {
      if (!is_bound(condition, *number)) rest.operands.push_back(condition);
    }
    auto sets = SetAlgebra(table_).exact(rest);
    const bool may_be_null = !is_never_null(*number);
    if (!sets || (may_be_null && !SetAlgebra(table_).has(sql::Structure::Kind::kNulls, *number))) return {};
    const auto known = ranges();
    const auto range = known.find(*number);
    SetScan scan{std::move(read_), std::move(*sets), hint(), SetScan::First{}};
    scan.first->column = *number;
    scan.first->descending = wish_.order[0].descending;
    scan.first->ties = wish_.order.size() > 1 || !source->exact;
    if (range != known.end()) {
      scan.first->lower = range->second.lower;
      scan.first->upper = range->second.upper;
    }
    if (may_be_null) {
      using Nulls = SetScan::First::Nulls;
      scan.first->nulls = wish_.order[0].nulls_first ? Nulls::kFirst : Nulls::kLast;
    }
    return scan;
  }

  static bool is_bound(const Condition& condition, std::int16_t number) {
    if (condition.kind != Condition::Kind::kColumn || condition.column.column != number) return false;
    const ColumnKind kind = condition.column.kind;
    return kind == ColumnKind::kLess || kind == ColumnKind::kLessEqual || kind == ColumnKind::kGreater || kind == ColumnKind::kGreaterEqual;
  }

  /// Leaves out of the recheck the conditions that the path answers exactly: the one condition on each of these columns.
  void drop_answered(const std::vector<std::int16_t>& columns, std::initializer_list<ColumnKind> kinds) {
    std::set<std::int16_t> answered;
    std::vector<ExpressionPtr> left;
    for (const ExpressionPtr& expression : conditions_) {
      Condition condition = analyse_condition(*expression, table_, number_, computed_);
      const ColumnCondition& column = condition.column;
      bool drop = condition.kind == Condition::Kind::kColumn && std::find(kinds.begin(), kinds.end(), column.kind) != kinds.end() &&
                  std::find(columns.begin(), columns.end(), column.column) != columns.end() && answered.insert(column.column).second;
      if (!drop) left.push_back(expression);
    }
    read_.condition = resolve(sql::conjunction(left), ids_);
  }

  RowGoal hint() const {
    RowGoal goal = wish_.goal;
    goal.exact = false;
    return goal;
  }

  /// The goal of a scan in the wanted order.
  RowGoal goal_in_order() const {
    RowGoal goal = wish_.goal ? wish_.goal : wish_.window;
    goal.exact = false;
    goal.open = !wish_.goal && wish_.window;
    return goal;
  }

  /// A walk in the wanted order, whatever other indexes know of the conditions.
  std::optional<OrderedScan> walk_in_order() {
    const auto number = order_number();
    if (!number || *number == 0) return {};
    if (auto range = range_scan(*number)) return range;
    return order_scan();
  }

  /// Values for each of the key's columns from the AND's equalities; the product where there are IN lists.
  std::optional<std::vector<std::vector<ExpressionPtr>>> key_values(const std::vector<std::int16_t>& key) const {
    return value_product(condition_, key, kMaxLookupKeys);
  }

  /// The values that conditions fix of a composite key's first columns, as many as there are.
  std::vector<ExpressionPtr> fixed_key_start() const {
    std::vector<std::int16_t> start = table_.primary_key;
    while (start.size() > 1) {
      start.pop_back();
      if (auto values = key_values(start); values && values->size() == 1) return std::move(values->front());
    }
    return {};
  }

  std::optional<KeyLookup> key_lookup() {
    if (table_.primary_key.empty()) return {};
    auto keys = key_values(table_.primary_key);
    if (!keys) return {};
    if (keys->size() == 1) {
      planned_.ordered = wish_.order.size();  // one row is in every order
      drop_answered(table_.primary_key, {ColumnKind::kEqual});
    }
    return KeyLookup{small_read(), std::move(*keys)};
  }

  /// `by_value`: by values that lie by value, otherwise by all others.
  std::optional<UniqueLookup> unique_lookup(bool by_value) {
    for (const sql::Structure& structure : sql::structures_of(table_)) {
      if (structure.kind != sql::Structure::Kind::kUnique || !structure.readable) continue;
      if (sql::lies_by_value(table_, structure.columns) != by_value) continue;
      auto values = key_values(structure.columns);
      if (!values) continue;
      // One row, unless the transaction has others that will not stay so.
      if (values->size() == 1 && !sql::is_deferrable(table_, structure.columns)) planned_.ordered = wish_.order.size();
      return UniqueLookup{small_read(), structure.columns, std::move(*values)};
    }
    return {};
  }

  TableRead small_read() {
    read_.fields = std::make_shared<const sql::RowFields>(sql::row_fields(table_, read_.numbers));
    return std::move(read_);
  }

  struct Range {
    std::optional<RangeBound> lower, upper;
    std::optional<PrefixBound> prefix;
    int bounds() const { return (lower ? 1 : 0) + (upper ? 1 : 0) + (prefix ? 2 : 0); }
  };

  std::map<std::int16_t, Range> ranges() const {
    std::map<std::int16_t, Range> result;
    std::vector<Condition> single;
    for (const Condition& condition : conjuncts(condition_, single)) {
      if (condition.kind != Condition::Kind::kColumn) continue;
      const ColumnCondition& column = condition.column;
      Range& range = result[column.column];
      switch (column.kind) {
        case ColumnKind::kEqual:
          range.lower = range.upper = RangeBound{column.values[0], true};
          break;
        case ColumnKind::kLess:
        case ColumnKind::kLessEqual:
          if (!range.upper) range.upper = RangeBound{column.values[0], column.kind == ColumnKind::kLessEqual};
          break;
        case ColumnKind::kGreater:
        case ColumnKind::kGreaterEqual:
          if (!range.lower) range.lower = RangeBound{column.values[0], column.kind == ColumnKind::kGreaterEqual};
          break;
        case ColumnKind::kPrefix:
          range.prefix = PrefixBound{column.prefix};
          break;
        default:
          break;
      }
    }
    return result;
  }

  bool usable(const OrderedSource& source, const Range& range) const {
    if (range.bounds() == 0) return false;
    return !range.prefix || source.encoding != OrderedSource::Encoding::kScore;
  }

  /// Returns the walk of the rows that have one value in the leading columns of an index, in the order of its last column. It is chosen for
  /// the wanted order or a range of that column, or if no set has the rows with the value.
  std::optional<OrderedScan> value_walk() {
    std::optional<OrderedScan> best;
    std::optional<OrderedSource> best_source;
    std::size_t best_worth = 0;
    const SetAlgebra algebra(table_);
    const auto known = ranges();
    for (const sql::Structure& structure : sql::structures_of(table_)) {
      if (structure.kind != sql::Structure::Kind::kValueZsets || !structure.readable) continue;
      OrderedScan scan{};
      scan.column = structure.columns.back();
      scan.leading.columns.assign(structure.columns.begin(), structure.columns.end() - 1);
      auto values = key_values(scan.leading.columns);
      if (!values || values->size() != 1) continue;
      scan.leading.values = std::move(values->front());
      const auto source = value_ordered_source(table_, scan.leading.columns, scan.column);
      const auto range = known.find(scan.column);
      const bool orders = order_behind(scan.leading.columns) == scan.column;
      const bool has_range = range != known.end() && usable(*source, range->second);
      const bool has_set = algebra.superset(condition_).has_value();
      if (!orders && (wish_.window || (has_set && !has_range))) continue;
      const std::size_t worth = (orders ? 200 : 0) + (has_range ? 100 : 0) + 2 * scan.leading.columns.size() + (is_never_null(scan.column) ? 1 : 0);
      if (worth <= best_worth) continue;
      best_worth = worth;
      best_source = source;
      if (has_range) {
        scan.lower = range->second.lower;
        scan.upper = range->second.upper;
        scan.prefix = range->second.prefix;
      }
      best = std::move(scan);
    }
    if (best) complete_value_walk(*best, *best_source);
    return best;
  }

  void complete_value_walk(OrderedScan& scan, const OrderedSource& source) {
    const std::size_t fixed = fixed_keys(scan.leading.columns);
    const bool orders = order_behind(scan.leading.columns) == scan.column;
    const bool has_range = scan.lower || scan.upper || scan.prefix;
    if (!has_range && !is_never_null(scan.column)) {
      scan.nulls = orders && wish_.order[fixed].nulls_first ? OrderedScan::Nulls::kFirst : OrderedScan::Nulls::kLast;
    }
    scan.read = std::move(read_);
    if (orders) {
      scan.descending = wish_.order[fixed].descending;
      grant_order(source);
      planned_.ordered = std::min(planned_.ordered + fixed, wish_.order.size());
    } else if (fixed == wish_.order.size()) {
      planned_.ordered = fixed;  // any order
    }
    // SORT_RO gives elements and rows of one moment: nothing can be between them.
    const bool is_one_moment = !has_range && scan.nulls == OrderedScan::Nulls::kNone && source.encoding != OrderedSource::Encoding::kMember &&
                               sql::TableKeys(table_).sort_get_is_safe() && table_.tag().empty() && !table_.rows_expire();
    if (wish_.goal.offset || (wish_.goal.limit && is_one_moment)) drop_bounds(scan, source);
    if (orders) grant_goal(scan);
    else if (wish_.order.empty()) scan.goal = hint();
  }

  /// Returns how many of the first wanted keys are columns with one value.
  std::size_t fixed_keys(const std::vector<std::int16_t>& columns) const {
    std::size_t count = 0;
    for (; count < wish_.order.size(); ++count) {
      const auto number = order_number(count);
      if (!number || std::ranges::find(columns, *number) == columns.end()) break;
    }
    return count;
  }

  /// Returns the first wanted column that is none of these, which have one value each.
  std::optional<std::int16_t> order_behind(const std::vector<std::int16_t>& columns) const {
    const std::size_t fixed = fixed_keys(columns);
    return fixed < wish_.order.size() ? order_number(fixed) : std::nullopt;
  }

  /// `only`: over this column; 0: over any.
  std::optional<OrderedScan> range_scan(std::int16_t only = 0) {
    std::optional<OrderedScan> best;
    std::optional<OrderedSource> best_source;
    int best_bounds = 0;
    for (auto& [number, range] : ranges()) {
      if (only != 0 && number != only) continue;
      auto source = ordered_source(table_, number);
      if (!source || !usable(*source, range)) continue;
      bool orders = leads_order(number);
      int worth = 2 * range.bounds() + (orders ? 1 : 0);
      if (worth <= best_bounds) continue;
      best_bounds = worth;
      best = OrderedScan{};
      best->column = number;
      best->lower = range.lower;
      best->upper = range.upper;
      best->prefix = range.prefix;
      best_source = source;
    }
    if (!best) return {};
    best->read = std::move(read_);
    best->index_only = is_index_only(*best);
    if (leads_order(best->column)) {
      best->descending = wish_.order[0].descending;
      grant_order(*best_source);
      if (wish_.goal.offset) drop_bounds(*best, *best_source);
      if (planned_.ordered >= 1) grant_goal(*best);
    } else if (wish_.order.empty()) {
      best->goal = hint();
    }
    return best;
  }

  /// Returns the scan of all rows by a zset that has all columns that are read: its elements are cheaper than rows.
  std::optional<OrderedScan> scored_scan() {
    if (!by_indexes_alone_ || wish_.goal) return {};
    for (const std::int16_t number : read_.numbers) {
      if (number <= 0 || table_.in_primary_key(number) || !tells_columns(table_, read_.numbers, number)) continue;
      OrderedScan scan{};
      scan.column = number;
      if (!is_never_null(number)) {
        if (!SetAlgebra(table_).has(sql::Structure::Kind::kNulls, number)) return {};
        scan.nulls = OrderedScan::Nulls::kLast;
      }
      scan.read = std::move(read_);
      scan.index_only = true;
      return scan;
    }
    return {};
  }

  bool is_index_only(const OrderedScan& scan) const { return by_indexes_alone_ && tells_columns(table_, scan.read.numbers, scan.column); }

  bool leads_order(std::int16_t number) const {
    return !wish_.order.empty() && order_number() == number;
  }

  /// Returns a column of the wanted order: a column of the table or a computed one.
  std::optional<std::int16_t> order_number(std::size_t key = 0) const {
    const sql::Expression& expression = *wish_.order[key].expression;
    if (const auto number = indexed_.number_of(expression)) return number;
    const auto* column = std::get_if<sql::ColumnRef>(&expression.node);
    return column ? number_(column->column) : std::nullopt;
  }

  void grant_order(const OrderedSource& source) {
    planned_.ordered = 1;
    order_is_proved_ = !source.exact && source.encoding == OrderedSource::Encoding::kScore;
    planned_.ordered_by_form = !source.exact && !order_is_proved_;
    // Further keys cannot change an order without ties.
    if (!planned_.ordered_by_form && table_.primary_key.size() == 1 && is_single_key_column()) planned_.ordered = wish_.order.size();
  }

  bool is_single_key_column() const {
    return order_number() == table_.primary_key[0];
  }

  bool is_never_null(std::int16_t number) const {
    if (table_.find_column(number)->not_null || indexed_.is_never_null(number)) return true;
    if (std::find(table_.primary_key.begin(), table_.primary_key.end(), number) != table_.primary_key.end()) return true;
    std::vector<Condition> single;
    const auto& all = conjuncts(condition_, single);
    return std::any_of(all.begin(), all.end(), [&](const Condition& c) {
      return c.kind == Condition::Kind::kColumn && c.column.column == number && c.column.kind != ColumnKind::kIsNull;
    });
  }

  /// All rows of a partial index whose predicate the conditions imply.
  std::optional<OrderedScan> partial_scan() {
    for (const IndexedExpressions::Cover& cover : indexed_.covers()) {
      const auto source = ordered_source(table_, cover.number);
      if (!source) continue;
      OrderedScan scan{};
      scan.column = cover.number;
      scan.read = std::move(read_);
      scan.index_only = is_index_only(scan);
      if (!wish_.order.empty() && (order_number() == cover.column || order_number() == cover.number)) {
        scan.descending = wish_.order[0].descending;
        grant_order(*source);
        scan.goal = goal_in_order();
      } else if (wish_.order.empty()) {
        scan.goal = hint();
      }
      return scan;
    }
    return {};
  }

  std::optional<OrderedScan> order_scan() {
    if (wish_.order.empty()) return {};
    const auto number = order_number();
    if (!number || *number == 0) return {};
    auto source = ordered_source(table_, *number);
    if (!source) return {};
    OrderedScan scan{};
    scan.column = *number;
    scan.descending = wish_.order[0].descending;
    if (!is_never_null(*number)) {
      if (!SetAlgebra(table_).has(sql::Structure::Kind::kNulls, *number)) return {};
      scan.nulls = wish_.order[0].nulls_first ? OrderedScan::Nulls::kFirst : OrderedScan::Nulls::kLast;
    } else {
      drop_answered({*number}, {ColumnKind::kIsNotNull});  // the zset holds no NULL
    }
    scan.read = std::move(read_);
    scan.index_only = is_index_only(scan);
    grant_order(*source);
    grant_goal(scan);
    return scan;
  }

  /// Leaves the limit and the offset to a scan that gives the wanted rows in the wanted order.
  void grant_goal(OrderedScan& scan) {
    const bool whole_order = planned_.ordered == wish_.order.size() && !planned_.ordered_by_form;
    scan.goal = goal_in_order();
    // Rows whose column is NULL are counted only if an offset may leave them out. Entries of rows that have expired are no rows.
    const bool is_one_walk = scan.nulls == OrderedScan::Nulls::kNone || wish_.goal.offset;
    scan.goal.exact = wish_.goal && wish_.goal.exact && whole_order && is_one_walk && !scan.read.condition && !table_.rows_expire();
    planned_.limited = scan.goal.exact;
  }

  /// Leaves the condition out of a walk whose bounds are exactly all that is asked of the rows.
  void drop_bounds(OrderedScan& scan, const OrderedSource& source) {
    const std::size_t ends = (scan.lower ? 1 : 0) + (scan.upper ? 1 : 0);
    if (scan.prefix || (ends > 0 && (!source.exact || source.encoding != OrderedSource::Encoding::kScore))) return;
    std::size_t bounds = 0, equalities = 0;
    std::vector<Condition> single;
    for (const Condition& condition : conjuncts(condition_, single)) {
      if (condition.kind != Condition::Kind::kColumn || !condition.column.exact) return;
      const bool is_leading = std::ranges::find(scan.leading.columns, condition.column.column) != scan.leading.columns.end();
      if (is_leading && condition.column.kind == ColumnKind::kEqual) ++equalities;
      else if (is_bound(condition, scan.column)) ++bounds;
      else return;
    }
    if (bounds == ends && equalities == scan.leading.columns.size()) scan.read.condition = nullptr;
  }

  const sql::TableDef& table_;
  const Wish& wish_;
  RuleChoices& rules_;
  ColumnNumber number_;
  IndexedExpressions indexed_;
  ExpressionNumber computed_;
  std::vector<ExpressionPtr> conditions_;
  std::vector<ColumnId> ids_;
  Condition condition_;
  std::vector<LogicalColumn> columns_;
  std::vector<LogicalColumn> key_columns_;     // the needed ones, if members and scores have them
  bool by_indexes_alone_ = false;
  bool order_is_proved_ = false;  // by the run, while no score is beyond 2^53
  std::optional<SetExpression> exact_sets_;
  TableRead read_;
  Planned planned_;
};

}  // namespace

std::optional<Planned> PhysicalPlanner::plan_value_elsewhere(const std::vector<LogicalColumn>& columns, const LogicalScan& scan,
                                                             const std::vector<ExpressionPtr>& conditions, const Wish& wish) {
  if (!sql::has_values_elsewhere(*scan.table)) return std::nullopt;
  const Wish nothing;
  const bool is_changed = std::ranges::any_of(scan.table->parts, [&](const auto& part) { return changed_tables_.contains(part->oid); });
  return AccessPathChooser(scan, columns, conditions, is_changed ? nothing : wish, rules_).choose_value_elsewhere();
}

Planned PhysicalPlanner::plan_access(const std::vector<LogicalColumn>& columns, const LogicalScan& scan,
                                     const std::vector<ExpressionPtr>& conditions, const Wish& wish) {
  const sql::Overloaded plan_storage{
      [&](const sql::MappedRows&) { return plan_mapped_access(columns, scan, conditions, wish, rules_); },
      [&](const sql::ManagedRows&) {
        if (scan.table->is_divided()) return plan_parts(columns, scan, conditions, wish);
        const Wish nothing;
        const bool changed = changed_tables_.contains(scan.table->oid);
        return AccessPathChooser(scan, columns, conditions, changed ? nothing : wish, rules_).choose(!changed);
      },
  };
  return std::visit(plan_storage, scan.table->storage);
}

}  // namespace redquel::planner
