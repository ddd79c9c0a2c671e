#include "planner/explain/explain.h"

#include "planner/explain/index_hint.h"
#include "planner/physical/ranked_read.h"
#include "planner/tree/kept_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include <boost/json.hpp>

#include "sql/catalog/mapping.h"
#include "sql/functions/function.h"
#include "sql/functions/window_function.h"

namespace redquel::planner {

namespace {

using sql::ExpressionPtr;

/// What is printed of a node, whatever the format.
struct NodeText {
  std::string title;                                          // "Index Scan", for JSON's "Node Type"
  std::string suffix;                                         // " using … on emp e", only in text form
  std::vector<std::pair<std::string, std::string>> properties;
};

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

std::string on_table(const sql::TableDef& table, const std::string& alias) {
  std::string name = table.schema == "public" ? table.name : table.schema + "." + table.name;
  return alias.empty() || alias == table.name ? " on " + name : " on " + name + " " + alias;
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
  NodeText text;

  void property(std::string name, std::string value) { text.properties.emplace_back(std::move(name), std::move(value)); }
  void expression(std::string name, const ExpressionPtr& e) {
    if (e) property(std::move(name), sql::to_string(*e));
  }
  void read(std::string title, const TableRead& r) {
    text.title = std::move(title);
    text.suffix += on_table(*r.table, r.alias);
    expression("Filter", r.condition);
  }
  void goal(const RowGoal& goal) {
    if (!goal) return;
    if (goal.exact) {
      expression("Limit", goal.limit);
      expression("Offset", goal.offset);
    } else {
      property("Stops After", "the rows that the Limit above asks for");
    }
  }

  void operator()(const KeyLookup& n) { read("Key Lookup", n.read); }
  void operator()(const UniqueLookup& n) { read("Unique Lookup", n.read); }
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
  }
  void operator()(const FullScan& n) {
    const std::string_view rows = n.key_start.empty() ? "Full" : "Key Start";
    read(fmt::format("{}{} Scan", rows, n.index_only ? " Index Only" : ""), n.read);
    goal(n.goal);
  }
  void operator()(const MemoryScan& n);
  void operator()(const MappedScan& n) {
    static constexpr std::string_view kTitles[] = {"Mapped Key Lookup", "Mapped Keyspace Scan", "Mapped Lookup", "Mapped Set Scan", "Mapped Ordered Scan", "Mapped Range Scan", "Mapped Score Scan"};
    const bool has_positions = n.path == MappedScan::Path::kScores && n.read.table->mapping->layout == sql::Mapping::Layout::kList;
    read(has_positions ? "Mapped Position Scan" : std::string(kTitles[static_cast<std::size_t>(n.path)]), n.read);
    if (n.path == MappedScan::Path::kOrder && n.wants_order) property("Nulls", "first: keys that the structure lacks");
    if (n.path == MappedScan::Path::kOrder) property("Falls Back", "to a keyspace scan where the structure does not hold enough rows in order");
  }
  void operator()(const MappedJoin& n) {
    text.title = fmt::format("Mapped Lookup{} Join", join_name(n.kind));
    text.suffix = on_table(*n.inner.read.table, n.inner.read.alias);
    expression("Join Cond", n.residual);
    expression("Filter", n.inner.read.condition);
  }
  void operator()(const IndexCount& n) { text = {"Index Count", on_table(*n.table, ""), {}}; }
  void operator()(const IndexMinMax& n) { text = {"Index Min/Max", on_table(*n.table, ""), {}}; }
  void operator()(const IndexGroups& n) {
    text = {n.counts ? "Index Group Count" : "Index Distinct", on_table(*n.table, ""), {}};
    property("Group Key", n.table->find_column(n.column)->name);
  }
  void operator()(const IndexKeys& n) { text = {"Index Keys", on_table(*n.table, n.alias), {}}; }
  void operator()(const IndexRanks& n) {
    text = {"Index Ranks", on_table(*n.table, ""), {}};
    property("Order", n.table->find_column(n.column)->name + (n.descending ? " DESC" : ""));
  }
  void operator()(const MappedCount& n) { text = {"Mapped Count", on_table(*n.table, ""), {}}; }
  void operator()(const IndexValues& n) {
    text = {"Index Values", on_table(*n.table, n.alias), {}};
    property("Column", n.table->find_column(n.column)->name);
    expression("Filter", n.condition);
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
  void operator()(const PhysicalSystemScan& n) { text = {"System Table Scan", fmt::format(" on {}.{}", n.schema, n.name), {}}; }
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
    text.title = fmt::format("Lookup{} Join", join_name(n.kind));
    text.suffix = on_table(*n.read.table, n.read.alias);
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
  void operator()(const PhysicalApply& n) {
    static constexpr std::string_view kNames[] = {"Scalar Subquery", "Exists Subquery", "In Subquery", "Lateral Join"};
    text.title = kNames[static_cast<std::size_t>(n.kind)];
    if (!n.correlations.empty()) {
      std::vector<std::string> slots;
      for (const auto& c : n.correlations) slots.push_back(fmt::format("${} = {}", c.slot + 1, n.input->columns[c.position].name));
      property("Correlation", join_words(slots));
    }
    expression("Condition", n.comparison);
  }
  void operator()(const PhysicalAggregate& n) {
    text.title = n.scalar ? "Aggregate" : "Hash Aggregate";
    if (!n.group_by.empty()) property("Group Key", print_list(n.group_by));
    std::vector<std::string> calls;
    for (const AggregateCall& call : n.calls) {
      std::string arguments = call.arguments.empty() ? "*" : print_list(call.arguments);
      calls.push_back(fmt::format("{}({}{})", call.function->name, call.distinct ? "DISTINCT " : "", arguments));
    }
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
    text.title = n.presorted > 0 ? "Incremental Sort" : n.goal ? "Top-N Sort" : "Sort";
    property("Sort Key", print_keys(n.keys, n.keys.size()));
    if (n.presorted > 0) property("Presorted Key", print_keys(n.keys, n.presorted));
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
    expression("Count", n.limit);
    expression("Offset", n.offset);
  }
  void operator()(const PhysicalDistinct& n) {
    text.title = n.on.empty() ? "Distinct" : "Distinct On";
    if (!n.on.empty()) property("Key", print_list(n.on));
  }
  void operator()(const PhysicalSetOperation& n) {
    static constexpr std::string_view kNames[] = {"Union", "Intersect", "Except"};
    text.title = fmt::format("{}{}", kNames[static_cast<std::size_t>(n.kind)], n.all ? " All" : "");
  }
  void operator()(const PhysicalShare& n) { text = {n.number >= kFirstKeptRows ? "Keep Rows" : "With", " " + n.name, {}}; }
  void operator()(const PhysicalSharedScan& n) {
    text = {n.number >= kFirstKeptRows ? "Kept Rows Scan" : "CTE Scan", " on " + n.name, {}};
  }
  void operator()(const PhysicalRecursiveUnion& n) { text.title = n.all ? "Recursive Union All" : "Recursive Union"; }
  void operator()(const PhysicalInsert& n) { text = {"Insert", on_table(*n.table, ""), {}}; }
  void operator()(const PhysicalUpdate& n) {
    text = {"Update", on_table(*n.table, ""), {}};
    if (n.may_write_unread) property("Reads", "the row in a transaction block, or where a sum leaves its type; else nothing");
  }
  void operator()(const PhysicalDelete& n) { text = {"Delete", on_table(*n.table, ""), {}}; }
  void operator()(const PhysicalMerge& n) { text = {"Merge", on_table(*n.table, ""), {}}; }
};

void Describe::operator()(const MemoryScan& n) {
  read("Memory Scan", n.read);
  std::vector<std::string> names;
  for (const std::int16_t number : n.read.numbers) {
    if (number != 0) names.push_back(n.read.table->find_column(number)->name);
  }
  if (!names.empty()) property("Columns", join_words(names));
  if (n.first) property("First By", n.read.table->find_column(n.read.numbers[n.first->position])->name + (n.first->descending ? " DESC" : ""));
  Describe otherwise;
  std::visit(otherwise, n.otherwise->node);
  property("Otherwise", otherwise.text.title);
}

NodeText describe(const PhysicalNode& node) {
  Describe visitor;
  std::visit(visitor, node.node);
  return std::move(visitor.text);
}

const NodeRun* run_of(const PhysicalNode& node, const RunStatistics* run) {
  if (!run) return nullptr;
  static const NodeRun kNever;
  auto found = run->find(&node);
  return found == run->end() ? &kNever : &found->second;
}

/// Returns true if the ranks and their rows come by one script, or by one command.
bool come_together(const IndexRanks& ranks, bool only_looks) {
  const bool needs_script = std::ranges::find(ranks.ranks, IndexRanks::Rank::kRank) != ranks.ranks.end();
  return ranked_read(ranks) && !(only_looks && needs_script);
}

/// Without MULTI and scripts as many commands take as many steps of Redis, in which others may write.
std::string round_trips(std::string text, bool only_looks) {
  for (const std::string_view unit : {" (MULTI/EXEC)", " (one read-only script)", "one read-only script; "}) {
    const std::size_t at = only_looks ? text.find(unit) : std::string::npos;
    if (at != std::string::npos) text.erase(at, unit.size());
  }
  return text;
}

constexpr const char* kNoSnapshot = "none: other clients may write between two commands";

std::size_t commands_of(const PhysicalNode& node) {
  std::size_t count = describe_commands(node).commands.size();
  for (const PhysicalPlan& input : inputs_of(node)) count += commands_of(*input);
  return count;
}

/// The inputs to print: a fallback is one only where it ran, and so is a row that need not be read.
std::vector<PhysicalPlan> printed_inputs(const PhysicalNode& node, const ExplainOptions& options, const RunStatistics* run) {
  std::vector<PhysicalPlan> inputs = inputs_of(node);
  if (const auto* update = std::get_if<PhysicalUpdate>(&node.node); update && update->may_write_unread && !run) inputs.clear();
  if (const auto* ranks = std::get_if<IndexRanks>(&node.node); ranks && come_together(*ranks, options.only_looks) && !(run && run->contains(ranks->input.get()))) inputs.clear();
  std::visit(
      [&](const auto& n) {
        if constexpr (requires { n.fallback; }) {
          if (run && run->contains(n.fallback.get())) inputs.push_back(n.fallback);
        }
        if constexpr (requires { n.otherwise; }) {
          if (run && run->contains(n.otherwise.get())) inputs.push_back(n.otherwise);
        }
      },
      node.node);
  return inputs;
}

std::string print_run(const NodeRun& run, bool timing) {
  if (run.loops == 0) return " (never executed)";
  std::string time = timing ? fmt::format("time={:.3f} ms ", run.milliseconds) : "";
  return fmt::format(" (actual {}rows={} loops={})", time, run.rows, run.loops);
}

void print_text(const PhysicalNode& node, const ExplainOptions& options, const RunStatistics* run, std::size_t depth,
                std::vector<std::string>& lines) {
  NodeText text = describe(node);
  const NodeRun* actual = run_of(node, run);
  std::string indent = depth == 0 ? "" : std::string(depth * 6 - 4, ' ') + "->  ";
  lines.push_back(indent + text.title + text.suffix + (actual ? print_run(*actual, options.timing) : ""));
  std::string inner(depth * 6 + 2, ' ');
  if (options.verbose) {
    std::vector<std::string> names;
    for (const PhysicalColumn& column : node.columns) names.push_back(column.name);
    lines.push_back(inner + "Output: " + join_words(names));
  }
  for (const auto& [name, value] : text.properties) lines.push_back(inner + name + ": " + value);
  CommandText commands = describe_commands(node);
  for (const std::string& command : commands.commands) lines.push_back(inner + "Redis: " + command);
  if (!commands.round_trips.empty()) lines.push_back(inner + "Round Trips: " + round_trips(commands.round_trips, options.only_looks));
  const auto* memory = std::get_if<MemoryScan>(&node.node);
  if (const auto* scan = std::get_if<FullScan>(memory != nullptr ? &memory->otherwise->node : &node.node)) {
    if (const std::optional<std::string> hint = index_hint(*scan)) lines.push_back(inner + "Hint: " + *hint);
  }
  if (actual) {
    for (const auto& [name, value] : actual->notes) lines.push_back(inner + name + ": " + value);
  }
  if (actual && actual->round_trips > 0) {
    lines.push_back(fmt::format("{}Sent: {} commands in {} round trips, {} bytes out, {} bytes in", inner, actual->commands,
                                actual->round_trips, actual->bytes_sent, actual->bytes_received));
  }
  for (const PhysicalPlan& input : printed_inputs(node, options, run)) print_text(*input, options, run, depth + 1, lines);
}

boost::json::object print_json(const PhysicalNode& node, const ExplainOptions& options, const RunStatistics* run) {
  NodeText text = describe(node);
  boost::json::object object{{"Node Type", text.title}};
  if (!text.suffix.empty()) object["Target"] = text.suffix.substr(1);
  for (const auto& [name, value] : text.properties) object[name] = value;
  boost::json::array output;
  for (const PhysicalColumn& column : node.columns) output.push_back(boost::json::string(column.name));
  if (options.verbose) object["Output Columns"] = std::move(output);
  CommandText commands = describe_commands(node);
  if (!commands.commands.empty()) object["Redis Commands"] = boost::json::array(commands.commands.begin(), commands.commands.end());
  if (!commands.round_trips.empty()) object["Round Trips"] = round_trips(commands.round_trips, options.only_looks);
  if (const NodeRun* actual = run_of(node, run)) {
    object["Actual Rows"] = actual->rows;
    object["Actual Loops"] = actual->loops;
    if (options.timing) object["Actual Time"] = actual->milliseconds;
    for (const auto& [name, value] : actual->notes) object[name] = value;
    object["Commands Sent"] = actual->commands;
    object["Actual Round Trips"] = actual->round_trips;
    object["Bytes Sent"] = actual->bytes_sent;
    object["Bytes Received"] = actual->bytes_received;
  }
  boost::json::array plans;
  for (const PhysicalPlan& input : printed_inputs(node, options, run)) plans.push_back(print_json(*input, options, run));
  if (!plans.empty()) object["Plans"] = std::move(plans);
  return object;
}

/// Boost.JSON prints on one line; people read EXPLAIN.
void print_pretty(const boost::json::value& value, std::string& out, std::size_t depth) {
  std::string indent(depth * 2 + 2, ' '), closing(depth * 2, ' ');
  if (value.is_object() && !value.get_object().empty()) {
    out += "{\n";
    bool first = true;
    for (const auto& [key, member] : value.get_object()) {
      if (!first) out += ",\n";
      first = false;
      out += indent + boost::json::serialize(boost::json::string(key)) + ": ";
      print_pretty(member, out, depth + 1);
    }
    out += "\n" + closing + "}";
  } else if (value.is_array() && !value.get_array().empty()) {
    out += "[\n";
    bool first = true;
    for (const auto& member : value.get_array()) {
      if (!first) out += ",\n";
      first = false;
      out += indent;
      print_pretty(member, out, depth + 1);
    }
    out += "\n" + closing + "]";
  } else if (value.is_double()) {
    out += fmt::format("{:.3f}", value.get_double());
  } else {
    out += boost::json::serialize(value);
  }
}

}  // namespace

std::vector<std::string> explain(const PhysicalPlan& plan, const ExplainOptions& options, const RunStatistics* run,
                                 double planning_milliseconds, double execution_milliseconds) {
  if (options.format == ExplainOptions::Format::kJson) {
    boost::json::object top{{"Plan", print_json(*plan, options, run)}};
    if (options.only_looks && commands_of(*plan) > 1) top["Snapshot"] = kNoSnapshot;
    if (options.summary) top["Planning Time"] = planning_milliseconds;
    if (options.analyze) top["Execution Time"] = execution_milliseconds;
    std::string text;
    print_pretty(boost::json::array{std::move(top)}, text, 0);
    return {text};
  }
  std::vector<std::string> lines;
  print_text(*plan, options, run, 0, lines);
  if (options.only_looks && commands_of(*plan) > 1) lines.push_back(fmt::format("Snapshot: {}", kNoSnapshot));
  if (options.summary) lines.push_back(fmt::format("Planning Time: {:.3f} ms", planning_milliseconds));
  if (options.analyze && options.summary) lines.push_back(fmt::format("Execution Time: {:.3f} ms", execution_milliseconds));
  return lines;
}

}  // namespace redquel::planner
