#include "planner/rules/join_order.h"

#include <algorithm>
#include <set>

#include "planner/rules/cardinality.h"
#include "planner/tree/logical_walk.h"
#include "sql/catalog/table_keys.h"

namespace redquel::planner {

using sql::ExpressionPtr;

namespace {

// Costs, in rows that a scan reads from Redis.
constexpr double kLookupCost = 3, kHashedRow = 0.2, kProbe = 0.1, kJoinedRow = 0.2;
/// More rows are not looked up one by one.
constexpr double kMostLookups = 5000;
/// The written order stays if another order is hardly better: costs are only guesses.
constexpr double kClearlyBetter = 0.8;
/// The number of relations that are tried as the first one.
constexpr std::size_t kMostFirst = 24;

using JoinedSet = std::vector<bool>;  // by the relation's number
enum class JoinLink : std::uint8_t { kNone, kCondition, kEquality };

struct JoinedRelation {
  std::set<ColumnId> ids;
  double rows = 1;          // that satisfy its own conditions
  double rows_to_read = 0;  // for these
  double table_rows = 0;    // 0: it is not a table
  std::vector<std::set<ColumnId>> keys;  // an index of the table finds rows by each of them
};

struct LinkCondition {
  ExpressionPtr expression;
  JoinedSet uses;
};

class JoinOrder {
 public:
  JoinOrder(const std::vector<LogicalPtr>& relations, const std::vector<ExpressionPtr>& conditions) {
    for (const LogicalPtr& relation : relations) {
      relations_.push_back({.ids = ids_of(*relation)});
      cardinality_.add(*relation);
    }
    cardinality_.add_conditions(conditions);
    for (const ExpressionPtr& expression : conditions) {
      const std::set<ColumnId> used = columns_in(*expression);
      LinkCondition condition{expression, JoinedSet(relations.size())};
      for (std::size_t i = 0; i < relations.size(); ++i) {
        condition.uses[i] = std::ranges::any_of(used, [&](ColumnId id) { return relations_[i].ids.contains(id); });
      }
      conditions_.push_back(std::move(condition));
    }
    if (!cardinality_.is_known()) return;
    for (std::size_t i = 0; i < relations.size(); ++i) describe(relations_[i], *relations[i]);
  }

  std::vector<std::size_t> choose() const {
    std::vector<std::size_t> best = as_written();
    if (!cardinality_.is_known()) return best;
    double least = kClearlyBetter * cost_of(best);
    std::vector<std::size_t> firsts(relations_.size());
    for (std::size_t i = 0; i < firsts.size(); ++i) firsts[i] = i;
    std::ranges::stable_sort(firsts, {}, [&](std::size_t i) { return relations_[i].rows; });
    firsts.resize(std::min(firsts.size(), kMostFirst));
    for (const std::size_t first : firsts) {
      std::vector<std::size_t> order = smallest_first(first);
      const double cost = cost_of(order);
      if (cost < least) best = std::move(order), least = cost;
    }
    return best;
  }

 private:
  void describe(JoinedRelation& relation, const Logical& node) const {
    relation.rows = cardinality_.rows(node);
    const auto* filter = std::get_if<LogicalFilter>(&node.node);
    const Logical& source = filter != nullptr ? *filter->input : node;
    const auto* scan = std::get_if<LogicalScan>(&source.node);
    if (scan == nullptr) return;
    relation.table_rows = scan->table_rows;
    relation.rows_to_read = scan->table_rows;
    const auto add_key = [&](const std::vector<std::int16_t>& numbers) {
      std::set<ColumnId> key;
      for (std::size_t i = 0; i < scan->numbers.size(); ++i) {
        if (std::ranges::find(numbers, scan->numbers[i]) != numbers.end()) key.insert(source.columns[i].id);
      }
      if (key.size() == numbers.size() && !key.empty()) relation.keys.push_back(std::move(key));
    };
    for (std::size_t count = scan->table->primary_key.size(); count > 0; --count) {
      add_key({scan->table->primary_key.begin(), scan->table->primary_key.begin() + static_cast<std::ptrdiff_t>(count)});
    }
    for (const sql::Structure& structure : sql::structures_of(*scan->table)) {
      const bool finds = structure.kind == sql::Structure::Kind::kUnique || structure.kind == sql::Structure::Kind::kSets;
      if (finds && structure.readable) add_key(structure.columns);
    }
    if (filter == nullptr) return;
    for (const ExpressionPtr& condition : sql::split_conjunction(filter->condition)) {
      if (!fixes_key(relation, *condition)) continue;
      relation.rows_to_read = std::min(relation.rows_to_read, kLookupCost * scan->table_rows * cardinality_.selectivity(*condition));
    }
  }

  /// Returns true if the relation's own condition fixes the values of a key.
  static bool fixes_key(const JoinedRelation& relation, const sql::Expression& condition) {
    const auto* list = std::get_if<sql::InListTest>(&condition.node);
    if (sides_of_equality(condition).first == nullptr && (list == nullptr || list->negated)) return false;
    return std::ranges::find(relation.keys, columns_in(condition)) != relation.keys.end();
  }

  /// Conditions that link the relation with those that are joined, and ask nothing of others.
  std::vector<ExpressionPtr> conditions_between(const JoinedSet& joined, std::size_t relation) const {
    std::vector<ExpressionPtr> found;
    for (const LinkCondition& condition : conditions_) {
      bool links = false, known = condition.uses[relation];
      for (std::size_t i = 0; i < relations_.size() && known; ++i) {
        if (!condition.uses[i] || i == relation) continue;
        known = joined[i];
        links = true;
      }
      if (links && known) found.push_back(condition.expression);
    }
    return found;
  }

  JoinLink link(const JoinedSet& joined, std::size_t relation) const {
    JoinLink best = JoinLink::kNone;
    for (const ExpressionPtr& condition : conditions_between(joined, relation)) {
      best = std::max(best, sides_of_equality(*condition).first != nullptr ? JoinLink::kEquality : JoinLink::kCondition);
    }
    return best;
  }

  std::vector<std::size_t> as_written() const {
    std::vector<std::size_t> order{0};
    JoinedSet joined(relations_.size());
    joined[0] = true;
    while (order.size() < relations_.size()) {
      std::size_t best = relations_.size();
      JoinLink best_link = JoinLink::kNone;
      for (std::size_t i = 0; i < relations_.size(); ++i) {
        if (joined[i]) continue;
        const JoinLink found = link(joined, i);
        if (best == relations_.size() || found > best_link) best = i, best_link = found;  // ties keep the written order
      }
      order.push_back(best);
      joined[best] = true;
    }
    return order;
  }

  /// From this one on always the relation whose join gives the fewest rows; cross products come last.
  std::vector<std::size_t> smallest_first(std::size_t first) const {
    std::vector<std::size_t> order{first};
    JoinedSet joined(relations_.size());
    joined[first] = true;
    double rows = relations_[first].rows;
    while (order.size() < relations_.size()) {
      std::size_t best = relations_.size();
      JoinLink best_link = JoinLink::kNone;
      double best_rows = 0;
      for (std::size_t i = 0; i < relations_.size(); ++i) {
        if (joined[i]) continue;
        const JoinLink found = std::min(link(joined, i), JoinLink::kCondition);
        const double there = rows_with(joined, rows, i);
        if (best != relations_.size() && (found < best_link || (found == best_link && there >= best_rows))) continue;
        best = i, best_link = found, best_rows = there;
      }
      order.push_back(best);
      joined[best] = true;
      rows = best_rows;
    }
    return order;
  }

  double rows_with(const JoinedSet& joined, double rows, std::size_t relation) const {
    const JoinedRelation& added = relations_[relation];
    const std::vector<ExpressionPtr> conditions = conditions_between(joined, relation);
    const double pairs = rows * added.rows * cardinality_.pair_selectivity(conditions);
    return std::max(1.0, pairs);
  }

  double cost_of(const std::vector<std::size_t>& order) const {
    JoinedSet joined(relations_.size());
    joined[order[0]] = true;
    double rows = relations_[order[0]].rows, cost = relations_[order[0]].rows_to_read;
    for (std::size_t i = 1; i < order.size(); ++i) {
      const JoinedRelation& added = relations_[order[i]];
      double join = added.rows_to_read + kHashedRow * added.rows;
      if (const auto found = looked_up(joined, order[i]); found && rows <= kMostLookups) join = std::min(join, kLookupCost * rows * (1 + *found));
      const double there = rows_with(joined, rows, order[i]);
      cost += join + kProbe * rows + kJoinedRow * there;
      joined[order[i]] = true;
      rows = there;
    }
    return cost;
  }

  /// Returns how many rows of the relation an index finds for each row so far; nullopt: no index helps.
  std::optional<double> looked_up(const JoinedSet& joined, std::size_t relation) const {
    const JoinedRelation& added = relations_[relation];
    std::set<ColumnId> equal;
    double share = 1;
    for (const ExpressionPtr& condition : conditions_between(joined, relation)) {
      const auto [left, right] = sides_of_equality(*condition);
      for (const sql::Expression* side : {left, right}) {
        const auto* column = side != nullptr ? std::get_if<sql::ColumnRef>(&side->node) : nullptr;
        if (column == nullptr || !added.ids.contains(column->column)) continue;
        equal.insert(column->column);
        share = std::min(share, cardinality_.selectivity(*condition));
      }
    }
    const bool finds = std::ranges::any_of(added.keys, [&](const std::set<ColumnId>& key) { return is_subset(key, equal); });
    if (!finds) return {};
    return added.table_rows * share;
  }

  Cardinality cardinality_;
  std::vector<JoinedRelation> relations_;
  std::vector<LinkCondition> conditions_;
};

}  // namespace

std::vector<std::size_t> join_order(const std::vector<LogicalPtr>& relations, const std::vector<ExpressionPtr>& conditions) {
  return JoinOrder(relations, conditions).choose();
}

}  // namespace redquel::planner
