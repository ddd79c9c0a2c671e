#pragma once

#include <map>
#include <string>
#include <vector>

#include "planner/tree/physical_plan.h"

namespace redquel::planner {

/// Returns the call as PostgreSQL prints it: "sum(o.amount)".
std::string call_text(const AggregateCall& call);

/// The names of a plan's columns as EXPLAIN prints them. Where the plan reads several relations, columns of tables are qualified by the
/// relation's alias, as PostgreSQL qualifies them.
class ShownColumns {
 public:
  explicit ShownColumns(const PhysicalNode& plan);

  /// Returns the node with these names in its own expressions. Its inputs stay as they are.
  PhysicalNode shown(const PhysicalNode& node);
  /// The names of the node's columns, in order.
  const std::vector<std::string>& of(const PhysicalNode& node);
  /// The names as the node's own Output has them: an aggregate stands without the parentheses that it has in the nodes above.
  std::vector<std::string> output(const PhysicalNode& node);
  /// The name of a relation's column.
  std::string qualified(const std::string& relation, const std::string& column) const;

 private:
  const bool qualifies_;
  std::map<const PhysicalNode*, std::vector<std::string>> known_;
};

}  // namespace redquel::planner
