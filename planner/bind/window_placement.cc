#include <algorithm>

#include "planner/bind/plan_nodes.h"
#include "planner/bind/subquery_placement.h"
#include "planner/bind/window_binder.h"
#include "planner/tree/logical_walk.h"
#include "sql/functions/window_function.h"

namespace redquel::planner {

using sql::ExpressionPtr;

namespace {

/// Calls that one order of the rows serves.
struct OrderedWindow {
  std::vector<ExpressionPtr> partition_by;
  std::vector<SortKey> order_by;
  std::vector<const PendingWindowCall*> calls;
  std::vector<WindowFrame> frames;  // parallel to the calls

  std::vector<SortKey> sort_keys() const {
    std::vector<SortKey> keys;
    for (const ExpressionPtr& key : partition_by) keys.push_back({key});
    for (const SortKey& key : order_by) {
      const bool known = std::ranges::any_of(partition_by, [&](const ExpressionPtr& e) { return sql::equal(*e, *key.expression); });
      if (!known) keys.push_back(key);
    }
    return keys;
  }
};

bool same_key(const SortKey& a, const SortKey& b) {
  return sql::equal(*a.expression, *b.expression) && a.descending == b.descending && a.nulls_first == b.nulls_first;
}

bool is_prefix(const std::vector<SortKey>& part, const std::vector<SortKey>& whole) {
  return part.size() <= whole.size() && std::equal(part.begin(), part.end(), whole.begin(), same_key);
}

std::vector<OrderedWindow> collect(const QueryLevel& level) {
  std::vector<OrderedWindow> windows;
  for (const PendingWindowCall& pending : level.window_calls) {
    const PendingWindow& window = level.windows[pending.window];
    auto found = std::ranges::find_if(windows, [&](const OrderedWindow& known) {
      const auto equal = [](const ExpressionPtr& a, const ExpressionPtr& b) { return sql::equal(*a, *b); };
      return std::ranges::equal(known.partition_by, window.partition_by, equal) &&
             std::ranges::equal(known.order_by, window.order_by, same_key);
    });
    if (found == windows.end()) {
      windows.push_back({window.partition_by, window.order_by, {}, {}});
      found = std::prev(windows.end());
    }
    found->calls.push_back(&pending);
    found->frames.push_back(window.frame);
  }
  return windows;
}

/// A window whose order another one's begins with comes right after it and needs no sort of its own.
std::vector<OrderedWindow> arranged(std::vector<OrderedWindow> windows) {
  std::ranges::stable_sort(windows, [](const OrderedWindow& a, const OrderedWindow& b) {
    return a.sort_keys().size() > b.sort_keys().size();
  });
  std::vector<OrderedWindow> result;
  std::vector<bool> taken(windows.size(), false);
  for (std::size_t i = 0; i < windows.size(); ++i) {
    if (taken[i]) continue;
    std::vector<SortKey> order = windows[i].sort_keys();
    for (std::size_t j = i; j < windows.size(); ++j) {
      if (!taken[j] && is_prefix(windows[j].sort_keys(), order)) {
        taken[j] = true;
        result.push_back(windows[j]);
      }
    }
  }
  return result;
}

/// Arguments that ask Redis become columns of the input: windows are computed without waiting.
WindowCall without_waiting(BindState& state, LogicalPtr& input, WindowCall call) {
  std::vector<ExpressionPtr*> parts;
  for (ExpressionPtr& argument : call.arguments) {
    if (waits(*argument)) parts.push_back(&argument);
  }
  if (call.filter && waits(*call.filter)) parts.push_back(&call.filter);
  if (!parts.empty()) make_columns(state, input, parts);
  return call;
}

/// Bounds of frames that ask subqueries take their numbers through slots: `slots` are those of the answers, which are returned.
LogicalPtr ask_bounds(BindState& state, const QueryLevel& level, std::vector<OrderedWindow>& windows, CorrelationFrame& slots) {
  std::vector<ExpressionPtr> bounds;
  for (const OrderedWindow& window : windows) {
    for (const WindowFrame& frame : window.frames) bounds.insert(bounds.end(), {frame.start_offset, frame.end_offset});
  }
  const LogicalPtr answers = place_subqueries(state, level, one_row(), bounds);
  if (answers->columns.empty()) return answers;
  for (OrderedWindow& window : windows) {
    for (WindowFrame& frame : window.frames) {
      if (frame.start_offset) frame.start_offset = columns_to_slots(state, slots, frame.start_offset);
      if (frame.end_offset) frame.end_offset = columns_to_slots(state, slots, frame.end_offset);
    }
  }
  return answers;
}

}  // namespace

LogicalPtr place_windows(BindState& state, const QueryLevel& level, LogicalPtr input) {
  if (level.window_calls.empty()) return input;
  std::vector<OrderedWindow> windows = arranged(collect(level));
  CorrelationFrame slots;
  const LogicalPtr answers = ask_bounds(state, level, windows, slots);
  std::vector<ExpressionPtr> needed;
  for (const OrderedWindow& window : windows) {
    needed.insert(needed.end(), window.partition_by.begin(), window.partition_by.end());
    for (const SortKey& key : window.order_by) needed.push_back(key.expression);
    for (const PendingWindowCall* pending : window.calls) {
      needed.insert(needed.end(), pending->call.arguments.begin(), pending->call.arguments.end());
      needed.push_back(pending->call.filter);
    }
  }
  input = place_subqueries(state, level, std::move(input), needed);
  std::vector<SortKey> sorted;  // as written: how the rows come
  for (OrderedWindow& window : windows) {
    std::vector<SortKey> wanted = window.sort_keys();
    std::vector<ExpressionPtr*> keys;
    for (ExpressionPtr& key : window.partition_by) keys.push_back(&key);
    for (SortKey& key : window.order_by) keys.push_back(&key.expression);
    const bool needs_sort = !is_prefix(wanted, sorted);
    if (needs_sort) sorted = wanted;
    make_columns(state, input, keys);
    std::vector<WindowCall> calls;
    for (const PendingWindowCall* pending : window.calls) calls.push_back(without_waiting(state, input, pending->call));
    if (needs_sort) {
      std::vector<LogicalColumn> columns = input->columns;
      input = make_logical(LogicalSort{std::move(input), window.sort_keys()}, std::move(columns));
    }
    LogicalWindow node{input, window.partition_by, window.order_by, {}};
    std::vector<LogicalColumn> columns = input->columns;
    for (std::size_t i = 0; i < window.calls.size(); ++i) {
      const PendingWindowCall& pending = *window.calls[i];
      node.functions.push_back(std::move(calls[i]));
      node.functions.back().frame = window.frames[i];
      columns.push_back({.id = pending.column, .name = pending.name, .type = pending.type});
    }
    input = make_logical(std::move(node), std::move(columns));
  }
  return answers->columns.empty() ? input : with_answers(answers, slots, input);
}

}  // namespace redquel::planner
