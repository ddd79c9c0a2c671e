#include "planner/rules/keep_sources.h"

#include <algorithm>

#include "planner/tree/logical_walk.h"

namespace redquel::planner {

namespace {

bool has_mapped_mark(const LogicalLockRows& locks) {
  return std::ranges::any_of(locks.marks, [](const LogicalLockRows::Mark& mark) { return mark.table->is_mapped(); });
}

struct Kept {
  const LogicalPtr& node;

  LogicalPtr operator()(const auto&) const { return node; }
  LogicalPtr operator()(const LogicalLockRows& locks) const {
    if (has_mapped_mark(locks)) return node;
    LogicalLockRows copy = locks;
    copy.bound = locks.input;
    return make_logical(std::move(copy), node->columns);
  }
  LogicalPtr operator()(const LogicalUpdate& update) const { return with_source(update); }
  LogicalPtr operator()(const LogicalDelete& removal) const { return with_source(removal); }
  LogicalPtr operator()(const LogicalMerge& merge) const { return with_source(merge); }

 private:
  template <class Write>
  LogicalPtr with_source(const Write& write) const {
    if (write.table->is_mapped() || write.table->of_view) return node;
    Write copy = write;
    copy.bound = write.source;
    return make_logical(std::move(copy), node->columns);
  }
};

}  // namespace

LogicalPtr keep_sources(const LogicalPtr& node) {
  const LogicalPtr kept = std::visit(Kept{node}, node->node);
  const std::vector<LogicalPtr> inputs = inputs_of(*kept);
  std::vector<LogicalPtr> changed = inputs;
  for (LogicalPtr& input : changed) input = keep_sources(input);
  return changed == inputs ? kept : with_inputs(*kept, changed);
}

}  // namespace redquel::planner
