#include "planner/explain/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <boost/json.hpp>

#include "planner/cost/cost_model.h"
#include "planner/explain/describe_commands.h"
#include "planner/explain/explain_format.h"
#include "planner/explain/index_hint.h"
#include "planner/explain/node_text.h"
#include "planner/explain/shown_columns.h"
#include "planner/physical/ranked_read.h"

namespace redquel::planner {

namespace {

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

/// Leaves the way that a Choice does not take to VERBOSE: the one that did not run, or before a run the one that is not tried first.
void leave_out_other_way(const Choice& choice, std::vector<PhysicalPlan>& inputs, const RunStatistics* run) {
  const bool has_run = run && (run->contains(choice.walk.get()) || run->contains(choice.otherwise.get()));
  std::erase_if(inputs, [&](const PhysicalPlan& input) { return has_run ? !run->contains(input.get()) : input == choice.otherwise; });
}

/// The inputs to print: a fallback is one only where it ran, and so is a row that need not be read.
std::vector<PhysicalPlan> printed_inputs(const PhysicalNode& node, const ExplainOptions& options, const RunStatistics* run) {
  std::vector<PhysicalPlan> inputs = inputs_of(node);
  if (const auto* update = std::get_if<PhysicalUpdate>(&node.node); update && update->may_write_unread && !run) inputs.clear();
  if (const auto* ranks = std::get_if<IndexRanks>(&node.node); ranks && come_together(*ranks, options.only_looks) && !(run && run->contains(ranks->input.get()))) inputs.clear();
  if (const auto* choice = std::get_if<Choice>(&node.node); choice && !options.verbose) leave_out_other_way(*choice, inputs, run);
  if (std::holds_alternative<Gather>(node.node)) {  // the parts are alike: one that ran stands for all
    const auto shown = std::ranges::find_if(inputs, [&](const PhysicalPlan& part) { return run && run->contains(part.get()); });
    inputs = {shown == inputs.end() ? inputs.front() : *shown};
  }
  for (PhysicalPlan& fallback : fallbacks_of(node)) {
    if (run && run->contains(fallback.get())) inputs.push_back(std::move(fallback));
  }
  return inputs;
}

/// Time and rows of one loop on average, as in PostgreSQL.
std::string print_run(const NodeRun& run, bool timing) {
  if (run.loops == 0) return " (never executed)";
  const auto loops = static_cast<double>(run.loops);
  std::string time = timing ? fmt::format("time={:.3f}..{:.3f} ", run.first_milliseconds / loops, run.milliseconds / loops) : "";
  return fmt::format(" (actual {}rows={:.0f} loops={})", time, static_cast<double>(run.rows) / loops, run.loops);
}

/// One line of an indented text; a longer one goes on below it, further to the right. Words are not cut.
void add_line(std::vector<std::string>& lines, const std::string& indent, std::string_view text) {
  constexpr std::size_t kWidth = 120;
  std::string line = indent;
  while (line.size() + text.size() > kWidth) {
    const std::size_t room = line.size() < kWidth ? kWidth - line.size() : 0;
    std::size_t space = text.rfind(' ', room);
    if (space == std::string_view::npos || space == 0) space = text.find(' ', 1);
    if (space == std::string_view::npos) break;
    lines.push_back(line + std::string(text.substr(0, space)));
    text.remove_prefix(space + 1);
    line = indent + "    ";
  }
  lines.push_back(line + std::string(text));
}

std::string counted(std::uint64_t count, std::string_view noun) { return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s"); }

/// Prints the nodes of one plan.
class Printer {
 public:
  Printer(const PhysicalNode& plan, const ExplainOptions& options, const RunStatistics* run, const TableSizes& sizes)
      : options_(options), run_(run), columns_(plan), costs_(sizes) {}

  void print_text(const PhysicalNode& node, std::size_t depth, std::vector<std::string>& lines) {
    const PhysicalNode shown = columns_.shown(node);
    const NodeText text = describe(shown, columns_);
    const NodeRun* actual = run_of(node, run_);
    const std::string indent = depth == 0 ? "" : std::string(depth * 6 - 4, ' ') + "->  ";
    lines.push_back(indent + text.title + text.suffix + print_costs(node) + (actual ? print_run(*actual, options_.timing) : ""));
    const std::string inner(depth * 6 + 2, ' ');
    const auto add = [&](std::string_view name, std::string_view value) { add_line(lines, inner, fmt::format("{}: {}", name, value)); };
    if (options_.verbose && !prints_output(text)) add("Output", fmt::format("{}", fmt::join(columns_.output(node), ", ")));
    for (const auto& [name, value] : text.properties) add(name, value);
    const CommandText commands = describe_commands(shown);
    for (const std::string& command : commands.commands) add("Redis", command);
    if (!commands.as_needed.empty()) add("As Needed", fmt::format("{}", fmt::join(commands.as_needed, ", ")));
    if (!commands.round_trips.empty()) add("Round Trips", round_trips(commands.round_trips, options_.only_looks));
    if (depth == 0 && options_.is_direct) add("Direct", "yes");
    if (const auto hint = hint_of(node)) add("Hint", *hint);
    if (actual) {
      for (const auto& [name, value] : actual->notes) add(name, value);
    }
    if (actual && actual->round_trips > 0) {
      add("Sent", fmt::format("{} in {}, {} out, {} in", counted(actual->commands, "command"), counted(actual->round_trips, "round trip"),
                              counted(actual->bytes_sent, "byte"), counted(actual->bytes_received, "byte")));
    }
    for (const PhysicalPlan& input : printed_inputs(node, options_, run_)) print_text(*input, depth + 1, lines);
  }

  boost::json::object tree(const PhysicalNode& node) {
    const PhysicalNode shown = columns_.shown(node);
    const NodeText text = describe(shown, columns_);
    boost::json::object object{{"Node Type", text.title}};
    if (!text.suffix.empty()) object["Target"] = text.suffix.substr(1);
    if (!text.relation.empty()) object["Relation Name"] = text.relation;
    if (!text.schema.empty() && options_.verbose) object["Schema"] = text.schema;
    if (!text.alias.empty()) object["Alias"] = text.alias;
    if (options_.costs) {
      const Estimate estimate = costs_.of(node);
      object["Startup Cost"] = rounded(estimate.startup);
      object["Total Cost"] = rounded(estimate.total);
      object["Plan Rows"] = std::llround(estimate.rows);
      object["Plan Width"] = width_of(node);
    }
    for (const auto& [name, value] : text.properties) object[name] = value;
    const std::vector<std::string> output = columns_.output(node);
    if (options_.verbose && !prints_output(text)) object["Output"] = boost::json::array(output.begin(), output.end());
    const CommandText commands = describe_commands(shown);
    if (!commands.commands.empty()) object["Redis Commands"] = boost::json::array(commands.commands.begin(), commands.commands.end());
    if (!commands.as_needed.empty()) object["As Needed"] = boost::json::array(commands.as_needed.begin(), commands.as_needed.end());
    if (!commands.round_trips.empty()) object["Round Trips"] = round_trips(commands.round_trips, options_.only_looks);
    if (const NodeRun* actual = run_of(node, run_)) add_run(*actual, object);
    boost::json::array plans;
    for (const PhysicalPlan& input : printed_inputs(node, options_, run_)) plans.push_back(tree(*input));
    if (!plans.empty()) object["Plans"] = std::move(plans);
    return object;
  }

 private:
  static double rounded(double cost) { return std::round(cost * 100) / 100; }

  std::string print_costs(const PhysicalNode& node) {
    if (!options_.costs) return "";
    const Estimate estimate = costs_.of(node);
    return fmt::format("  (cost={:.2f}..{:.2f} rows={:.0f} width={})", estimate.startup, estimate.total, estimate.rows, width_of(node));
  }

  static bool prints_output(const NodeText& text) {
    return std::ranges::any_of(text.properties, [](const auto& property) { return property.first == "Output"; });
  }

  static std::optional<std::string> hint_of(const PhysicalNode& node) {
    const auto* memory = std::get_if<MemoryScan>(&node.node);
    const auto* scan = std::get_if<FullScan>(memory != nullptr ? &memory->otherwise->node : &node.node);
    if (const auto* sets = std::get_if<SetScan>(&node.node)) return index_hint(*sets);
    return scan != nullptr ? index_hint(*scan) : std::nullopt;
  }

  void add_run(const NodeRun& actual, boost::json::object& object) const {
    const auto loops = static_cast<double>(std::max<std::uint64_t>(actual.loops, 1));
    if (options_.timing) {
      object["Actual Startup Time"] = std::round(1000 * actual.first_milliseconds / loops) / 1000;
      object["Actual Total Time"] = std::round(1000 * actual.milliseconds / loops) / 1000;
    }
    object["Actual Rows"] = std::llround(static_cast<double>(actual.rows) / loops);
    object["Actual Loops"] = actual.loops;
    for (const auto& [name, value] : actual.notes) object[name] = value;
    object["Commands Sent"] = actual.commands;
    object["Actual Round Trips"] = actual.round_trips;
    object["Bytes Sent"] = actual.bytes_sent;
    object["Bytes Received"] = actual.bytes_received;
  }

  const ExplainOptions& options_;
  const RunStatistics* run_;
  ShownColumns columns_;
  CostModel costs_;
};

}  // namespace

std::vector<std::string> explain(const PhysicalPlan& plan, const ExplainOptions& options, const RunStatistics* run,
                                 double planning_milliseconds, double execution_milliseconds, const TableSizes& sizes) {
  Printer printer(*plan, options, run, sizes);
  const bool has_no_snapshot = options.only_looks && commands_of(*plan) > 1;
  if (options.format != ExplainOptions::Format::kText) {
    boost::json::object top{{"Plan", printer.tree(*plan)}};
    if (options.is_direct) top["Direct"] = true;
    if (has_no_snapshot) top["Snapshot"] = kNoSnapshot;
    if (options.summary) top["Planning Time"] = planning_milliseconds;
    if (options.analyze) top["Execution Time"] = execution_milliseconds;
    return {formatted(top, options.format)};
  }
  std::vector<std::string> lines;
  printer.print_text(*plan, 0, lines);
  if (has_no_snapshot) lines.push_back(fmt::format("Snapshot: {}", kNoSnapshot));
  if (options.summary) lines.push_back(fmt::format("Planning Time: {:.3f} ms", planning_milliseconds));
  if (options.analyze && options.summary) lines.push_back(fmt::format("Execution Time: {:.3f} ms", execution_milliseconds));
  return lines;
}

}  // namespace redquel::planner
