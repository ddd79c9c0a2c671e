#include "planner/explain/node_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "planner/explain/index_conditions.h"
#include "planner/tree/kept_rows.h"
#include "sql/catalog/mapping.h"
#include "sql/functions/function.h"
#include "sql/functions/window_function.h"

namespace redquel::planner {

namespace {

using sql::ExpressionPtr;

std::string join_words(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, ", ")); }

std::string print_list(const std::vector<ExpressionPtr>& expressions) {
  std::vector<std::string> words;
  for (const ExpressionPtr& expression : expressions) words.push_back(sql::to_string(*expression));
  return join_words(words);
}

std::string print_keys(const std::vector<SortKey>& keys, std::size_t count) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < count; ++i) {
    const SortKey& key = keys[i];
    std::string word = sql::to_string(*key.expression);
    if (key.descending) word += " DESC";
    if (key.nulls_first != key.descending) word += key.nulls_first ? " NULLS FIRST" : " NULLS LAST";
    words.push_back(std::move(word));
  }
  return join_words(words);
}

std::string_view join_name(JoinKind kind) {
  switch (kind) {
    case JoinKind::kInner: return "";
    case JoinKind::kLeft: return " Left";
    case JoinKind::kRight: return " Right";
    case JoinKind::kFull: return " Full";
    case JoinKind::kSemi: return " Semi";
    case JoinKind::kAnti: return " Anti";
  }
  return "";
}

struct Describe {
  const PhysicalNode& node;
  ShownColumns& columns;
  NodeText text = {};

  void property(std::string name, std::string value) { text.properties.emplace_back(std::move(name), std::move(value)); }
  void expression(std::string name, const ExpressionPtr& e) {
    if (e) property(std::move(name), sql::to_string(*e));
  }
  /// A number of rows: a constant is printed as this number, without its type.
  void rows(std::string name, const ExpressionPtr& e) {
    constexpr std::string_view kBegin = "'", kEnd = "'::bigint";
    if (!e) return;
    std::string number = sql::to_string(*e);
    if (number.starts_with(kBegin) && number.ends_with(kEnd)) number = number.substr(kBegin.size(), number.size() - kBegin.size() - kEnd.size());
    property(std::move(name), std::move(number));
  }
  /// Conditions that hold together.
  void conditions(std::string name, const std::vector<std::string>& parts) {
    if (parts.size() == 1) property(std::move(name), parts.front());
    else if (!parts.empty()) property(std::move(name), fmt::format("({})", fmt::join(parts, ") AND (")));
  }

  void on_table(const sql::TableDef& table, const std::string& alias = {}) {
    const std::string name = table.schema == "public" ? table.name : table.schema + "." + table.name;
    text.suffix += alias.empty() || alias == table.name ? " on " + name : " on " + name + " " + alias;
    text.schema = table.schema;
    text.relation = table.name;
    text.alias = alias.empty() ? table.name : alias;
  }
  void title(std::string words, const sql::TableDef& table, const std::string& alias = {}) {
    text.title = std::move(words);
    on_table(table, alias);
  }
  void read(std::string words, const TableRead& r) {
    title(std::move(words), *r.table, r.alias);
    const DividedConditions divided = divide_conditions(node, columns);
    conditions("Index Cond", divided.index);
    conditions("Filter", divided.filter);
    reasons();
  }
  void reasons() {
    const std::vector<std::string> against = reasons_against_indexes(node);
    if (!against.empty()) property("Index Not Used", fmt::format("{}", fmt::join(against, "; ")));
  }
  void goal(const RowGoal& goal) {
    if (!goal) return;
    if (goal.exact) {
      rows("Limit", goal.limit);
      rows("Offset", goal.offset);
    } else if (goal.open) {
      property("Window", "the rows that the Limit above asks for, and four times as many each time it asks for more");
    } else {
      property("Stops After", "the rows that the Limit above asks for");
    }
  }

  void operator()(const KeyLookup& n) { read("Key Lookup", n.read); }
  void operator()(const UniqueLookup& n) {
    read("Unique Lookup", n.read);
    const std::size_t buckets = n.read.table->parts.size();  // the value's and the row's
    if (buckets > 0) property("Buckets", fmt::format("at most {} of {}", std::min(2 * n.values.size(), buckets), buckets));
  }
  void operator()(const SetScan& n) {
    read("Index Set Scan", n.read);
    if (n.first) {
      const std::string& column = n.read.table->find_column(n.first->column)->name;
      property("First By", column + (n.first->descending ? " DESC" : ""));
    }
    goal(n.goal);
  }
  void operator()(const OrderedScan& n) {
    text.suffix = fmt::format("{} by {}", n.descending ? " backward" : "", n.read.table->find_column(n.column)->name);
    read(n.index_only ? "Ordered Index Only Scan" : "Ordered Index Scan", n.read);
    if (n.nulls != OrderedScan::Nulls::kNone) property("Nulls", n.nulls == OrderedScan::Nulls::kFirst ? "first" : "last");
    goal(n.goal);
    if (n.most_rows > 0) property("Given Up", fmt::format("after {} rows", n.most_rows));
    if (n.otherwise) property("Otherwise", describe(*n.otherwise, columns).title + ", if a score is beyond 2^53");
  }
  void operator()(const FullScan& n) {
    const std::string_view rows = n.key_start.empty() ? "Full" : "Key Start";
    read(fmt::format("{}{} Scan", rows, n.index_only ? " Index Only" : ""), n.read);
    goal(n.goal);
  }
  void operator()(const MemoryScan& n);
  void operator()(const MappedScan& n) {
    static constexpr std::string_view kTitles[] = {"Mapped Key Lookup", "Mapped Keyspace Scan", "Mapped Lookup", "Mapped Set Scan", "Mapped Ordered Scan", "Mapped Range Scan", "Mapped Score Scan"};
    const bool has_positions = n.path == MappedScan::Path::kScores && n.read.table->mapping().layout == sql::Mapping::Layout::kList;
    read(has_positions ? "Mapped Position Scan" : std::string(kTitles[static_cast<std::size_t>(n.path)]), n.read);
    if (n.path == MappedScan::Path::kOrder && n.wants_order) property("Nulls", "first: keys that the structure lacks");
    if (n.path == MappedScan::Path::kOrder) property("Falls Back", "to a keyspace scan where the structure does not hold enough rows in order");
  }
  void operator()(const MappedJoin& n) {
    title(fmt::format("Mapped Lookup{} Join", join_name(n.kind)), *n.inner.read.table, n.inner.read.alias);
    expression("Join Cond", n.residual);
    expression("Filter", n.inner.read.condition);
  }
  void operator()(const IndexCount& n) { title("Index Count", *n.table); }
  void operator()(const IndexMinMax& n) { title("Index Min/Max", *n.table); }
  void operator()(const IndexGroups& n) {
    title(n.counts ? "Index Group Count" : "Index Distinct", *n.table);
    property("Group Key", n.table->find_column(n.column)->name);
  }
  void operator()(const IndexKeys& n) { title("Index Keys", *n.table, n.alias); }
  void operator()(const IndexRanks& n) {
    title("Index Ranks", *n.table);
    property("Order", n.table->find_column(n.column)->name + (n.descending ? " DESC" : ""));
  }
  void operator()(const MappedCount& n) { title("Mapped Count", *n.table); }
  void operator()(const IndexValues& n) {
    title("Index Values", *n.table, n.alias);
    property("Column", n.table->find_column(n.column)->name);
    expression("Filter", n.condition);
  }
  void operator()(const Gather& n) {
    static constexpr std::string_view kTitles[] = {"Gather", "Gather Merge", "Gather Sum"};
    title(std::string(kTitles[static_cast<std::size_t>(n.combine)]), *n.table);
    if (!n.keys.empty()) property("Sort Key", print_keys(n.keys, n.keys.size()));
    const std::string kind = n.table->router ? "Partitions" : "Buckets";
    const std::size_t all = n.table->parts.size();
    const bool is_of_values = n.limits.size() == 1 && !n.limits[0].equal.empty() && !n.table->router;
    const std::size_t most = is_of_values ? std::min(n.limits[0].equal.size(), n.parts.size()) : n.parts.size();
    if (n.limits.empty() && most == all) property(kind, fmt::format("all {}", all));
    else property(kind, fmt::format("{}{} of {}", n.reads_one_bucket() || n.limits.empty() ? "" : "at most ", most, all));
  }
  void operator()(const PhysicalValues& n) {
    text.title = n.rows.size() == 1 && n.rows[0].empty() ? "Result" : "Values Scan";
    property("Rows", std::to_string(n.rows.size()));
  }
  void operator()(const PhysicalFunctionScan& n) {
    text.title = "Function Scan";
    std::vector<std::string> calls;
    for (const TableFunctionCall& call : n.calls) {
      calls.push_back(call.function ? fmt::format("{}({})", call.function->name, print_list(call.arguments))
                                    : sql::to_string(*call.arguments[0]));
    }
    text.suffix = " on " + join_words(calls);
  }
  void operator()(const PhysicalSystemScan& n) {
    text = {.title = "System Table Scan", .suffix = fmt::format(" on {}.{}", n.schema, n.name), .schema = n.schema, .relation = n.name};
  }
  void operator()(const PhysicalFilter& n) {
    text.title = "Filter";
    expression("Condition", n.condition);
  }
  void operator()(const PhysicalProject& n) {
    text.title = "Project";
    property("Output", print_list(n.expressions));
  }
  void operator()(const HashJoin& n) {
    text.title = fmt::format("Hash{} Join", join_name(n.kind));
    std::vector<std::string> words;
    for (std::size_t i = 0; i < n.left_keys.size(); ++i) {
      words.push_back(fmt::format("({} = {})", sql::to_string(*n.left_keys[i]), sql::to_string(*n.right_keys[i])));
    }
    property("Hash Cond", fmt::format("{}", fmt::join(words, " AND ")));
    expression("Join Filter", n.residual);
  }
  void operator()(const NestedLoopJoin& n) {
    text.title = fmt::format("Nested Loop{} Join", join_name(n.kind));
    expression("Join Filter", n.condition);
  }
  void operator()(const LookupJoin& n) {
    title(fmt::format("Lookup{} Join", join_name(n.kind)), *n.read.table, n.read.alias);
    expression("Join Cond", n.residual);
    expression("Filter", n.read.condition);
  }
  void operator()(const AdaptiveJoin& n) {
    (*this)(std::get<LookupJoin>(n.lookup->node));
    text.title = "Adaptive" + text.title.substr(std::string_view("Lookup").size());
    const LookupJoin::By by = std::get<LookupJoin>(n.lookup->node).by;
    const bool finds_several = by == LookupJoin::By::kSet || by == LookupJoin::By::kKeyStart;
    property("Lookups", fmt::format("up to {} outer rows{}, a third of the inner table's; else a hash join", n.most_lookups,
                                    finds_several ? " and rows that they find" : ""));
  }
  void operator()(const Choice& n) {
    text.title = "Choice";
    property("First Way", n.count ? "if fewer rows are walked than the second way reads, by the count below" : "until the walk is given up");
    property("Second Way", describe(below_row_wise(*n.otherwise), columns).title);
  }
  void operator()(const PhysicalApply& n) {
    static constexpr std::string_view kNames[] = {"Scalar Subquery", "Exists Subquery", "In Subquery", "Lateral Join"};
    text.title = kNames[static_cast<std::size_t>(n.kind)];
    if (!n.correlations.empty()) {
      std::vector<std::string> slots;
      for (const auto& c : n.correlations) slots.push_back(fmt::format("${} = {}", c.slot + 1, columns.of(*n.input).at(c.position)));
      property("Correlation", join_words(slots));
    }
    expression("Condition", n.comparison);
  }
  void operator()(const PhysicalAggregate& n) {
    text.title = n.scalar ? "Aggregate" : n.in_order ? "Group Aggregate" : "Hash Aggregate";
    if (!n.group_by.empty()) property("Group Key", print_list(n.group_by));
    std::vector<std::string> calls;
    for (const AggregateCall& call : n.calls) calls.push_back(call_text(call));
    if (!calls.empty()) property("Aggregates", join_words(calls));
  }
  void operator()(const PhysicalWindow& n) {
    text.title = "Window";
    if (!n.partition_by.empty()) property("Partition By", print_list(n.partition_by));
    if (!n.order_by.empty()) property("Order By", print_keys(n.order_by, n.order_by.size()));
    std::vector<std::string> calls;
    for (const WindowCall& call : n.functions) {
      const std::string_view name = call.function ? call.function->name : call.aggregate->name;
      const bool star = !call.function && call.arguments.empty();
      calls.push_back(fmt::format("{}({})", name, star ? "*" : print_list(call.arguments)));
    }
    property("Functions", join_words(calls));
  }
  void operator()(const PhysicalSort& n) {
    text.title = n.presorted > 0 ? "Incremental Sort" : n.goal && !n.goal.open ? "Top-N Sort" : "Sort";
    property("Sort Key", print_keys(n.keys, n.keys.size()));
    if (n.presorted > 0) property("Presorted Key", print_keys(n.keys, n.presorted));
    if (n.goal.open) goal(n.goal);
    reasons();
  }
  void operator()(const PhysicalLockRows& n) {
    text.title = "LockRows";
    for (const PhysicalLockRows::Mark& mark : n.marks) {
      static constexpr std::string_view kWaits[] = {"", " SKIP LOCKED", " NOWAIT"};
      property("Lock", fmt::format("{} OF {}{}", lock_clause(mark.lock.strength), mark.alias,
                                   kWaits[static_cast<std::size_t>(mark.lock.wait)]));
    }
  }
  void operator()(const PhysicalLimit& n) {
    text.title = "Limit";
    rows("Limit", n.limit);
    rows("Offset", n.offset);
  }
  void operator()(const PhysicalDistinct& n) {
    text.title = n.on.empty() ? "Distinct" : "Distinct On";
    if (!n.on.empty()) property("Key", print_list(n.on));
  }
  void operator()(const PhysicalSetOperation& n) {
    static constexpr std::string_view kNames[] = {"Union", "Intersect", "Except"};
    text.title = fmt::format("{}{}", kNames[static_cast<std::size_t>(n.kind)], n.all ? " All" : "");
  }
  void operator()(const PhysicalShare& n) { text = {.title = n.number >= kFirstKeptRows ? "Keep Rows" : "With", .suffix = " " + n.name}; }
  void operator()(const PhysicalSharedScan& n) {
    if (is_transition_table(n.number)) {
      text = {.title = "Named Tuplestore Scan", .suffix = " on " + n.name, .alias = n.name};
      return;
    }
    text = {.title = n.number >= kFirstKeptRows ? "Kept Rows Scan" : "CTE Scan", .suffix = " on " + n.name, .alias = n.name};
  }
  void operator()(const PhysicalRecursiveUnion& n) { text.title = n.all ? "Recursive Union All" : "Recursive Union"; }
  void operator()(const PhysicalInsert& n) { title("Insert", *n.table); }
  void operator()(const PhysicalUpdate& n) {
    title("Update", *n.table);
    if (!n.may_write_unread) return;
    property("Reads", "the row in a transaction block, or where a sum leaves its type; else nothing");
    if (!n.table->parts.empty()) property("Buckets", fmt::format("1 of {}", n.table->parts.size()));
  }
  void operator()(const PhysicalDelete& n) { title("Delete", *n.table); }
  void operator()(const PhysicalMerge& n) { title("Merge", *n.table); }
  void operator()(const PhysicalViewWrite& n) {
    using Event = sql::TriggerDef::Event;
    title(n.event == Event::kInsert ? "Insert" : n.event == Event::kUpdate ? "Update" : "Delete", *n.view);
    std::vector<std::string> names;
    for (const sql::TriggerDef& trigger : n.view->triggers) {
      if (trigger.timing == sql::TriggerDef::Timing::kInsteadOf && trigger.is_for(n.event)) names.push_back(trigger.name);
    }
    property("Instead Of", join_words(names));
  }
};

void Describe::operator()(const MemoryScan& n) {
  read("Memory Scan", n.read);
  std::vector<std::string> names;
  for (const std::int16_t number : n.read.numbers) {
    if (number != 0) names.push_back(n.read.table->find_column(number)->name);
  }
  if (!names.empty()) property("Columns", join_words(names));
  if (n.first) property("First By", n.read.table->find_column(n.read.numbers[n.first->position])->name + (n.first->descending ? " DESC" : ""));
  property("Otherwise", describe(*n.otherwise, columns).title);
}

}  // namespace

NodeText describe(const PhysicalNode& node, ShownColumns& columns) {
  Describe visitor{node, columns};
  std::visit(visitor, node.node);
  return std::move(visitor.text);
}

}  // namespace redquel::planner
