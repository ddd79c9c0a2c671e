#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "planner/tree/physical_plan.h"
#include "planner/tree/table_sizes.h"

namespace redquel::planner {

/// The figures of one node in a run, over all loops. Its time includes its inputs, its counts of Redis do not.
struct NodeRun {
  std::uint64_t rows = 0;
  std::uint64_t loops = 0;
  double milliseconds = 0;
  double first_milliseconds = 0;  // of them, until the first rows
  std::uint64_t round_trips = 0, commands = 0, bytes_sent = 0, bytes_received = 0;
  std::vector<std::pair<std::string, std::string>> notes = {};  // further lines: name and value
};
using RunStatistics = std::map<const PhysicalNode*, NodeRun>;

struct ExplainOptions {
  bool analyze = false;
  bool verbose = false;
  bool timing = true;
  bool costs = false;    // estimates of rows and times, where sizes of tables are given
  bool summary = false;  // the closing lines: planning and execution time
  bool is_direct = false;   // the plan is one turn of commands, and runs without operators (planner/direct)
  bool only_looks = false;  // reads have no MULTI and no scripts
  enum class Format : std::uint8_t { kText, kJson, kYaml, kXml } format = Format::kText;
};

/// The operator tree with its Redis commands: one line per row of the result in text form, one row in all in the other formats. No line of
/// the text form is longer than 120 columns, unless one word of it is.
/// `$1` stands for parameters, `<key>` for row keys that earlier commands give. `run` is null without ANALYZE. `sizes`: for the costs.
std::vector<std::string> explain(const PhysicalPlan&, const ExplainOptions&, const RunStatistics* run, double planning_milliseconds,
                                 double execution_milliseconds, const TableSizes& sizes = {});

}  // namespace redquel::planner
