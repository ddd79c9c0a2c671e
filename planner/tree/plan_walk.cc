#include "planner/tree/plan_walk.h"

#include <unordered_set>
#include <vector>

#include "sql/interrupts.h"

namespace redquel::planner {

bool all_nodes(const PhysicalNode& plan, const std::function<bool(const PhysicalNode&)>& test) {
  std::unordered_set<const PhysicalNode*> known{&plan};
  std::vector<const PhysicalNode*> open{&plan};
  while (!open.empty()) {
    const PhysicalNode& node = *open.back();
    open.pop_back();
    sql::note_analysis();
    if (!test(node)) return false;
    for (const auto& plans : {inputs_of(node), fallbacks_of(node), forms_of(node)}) {
      for (const PhysicalPlan& next : plans) {
        if (next && known.insert(next.get()).second) open.push_back(next.get());
      }
    }
  }
  return true;
}

}  // namespace redquel::planner
