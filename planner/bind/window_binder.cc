#include "planner/bind/window_binder.h"

#include <fmt/format.h>

#include <algorithm>

#include "planner/bind/collation.h"
#include "planner/bind/expression_binder.h"
#include "planner/bind/window_offset.h"
#include "sql/error.h"
#include "sql/functions/resolve.h"
#include "sql/sqlstate.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::ExpressionPtr;
using sql::SqlError;

namespace {

class WindowBinder {
 public:
  WindowBinder(BindState& state, QueryLevel& level) : state_(state), level_(level) {}

  void bind(PendingWindow& window, std::size_t index) {
    const ast::WindowDefinition& written = *window.written;
    const auto offset = state_.position(written.offset);
    if (!written.name.empty() && find(written.name, index) != nullptr) {
      throw SqlError(sqlstate::kWindowingError, fmt::format("window \"{}\" is already defined", written.name)).at(offset);
    }
    const PendingWindow* base = written.base.empty() ? nullptr : find(written.base, index);
    if (!written.base.empty() && base == nullptr) {
      throw SqlError(sqlstate::kUndefinedObject, fmt::format("window \"{}\" does not exist", written.base)).at(offset);
    }
    bind_order(window);
    bind_partition(window);
    if (base != nullptr) inherit(window, *base);
    bind_frame(window);
  }

 private:
  const PendingWindow* find(const std::string& name, std::size_t before) const {
    for (std::size_t i = 0; i < before; ++i) {
      if (level_.windows[i].written->name == name) return &level_.windows[i];
    }
    return nullptr;
  }

  ExpressionPtr bind_key(const ast::Expression& written, Clause clause) {
    Scoped scope(level_.clause, clause);
    return resolve_unknown(state_, ExpressionBinder(state_, level_).bind(written));
  }

  void bind_order(PendingWindow& window) {
    for (const ast::SortKey& written : window.written->order_by) {
      const ExpressionPtr value = bind_key(*written.value, Clause::kWindowOrder);
      const SortOrder order = sort_order(written, value->type);
      sql::ordering_operator(value->type, order.descending, value->offset);
      check_key_collation(*value);
      const bool known = std::ranges::any_of(window.order_by, [&](const SortKey& key) { return sql::equal(*key.expression, *value); });
      if (!known) window.order_by.push_back({value, order.descending, order.nulls_first});
    }
  }

  void bind_partition(PendingWindow& window) {
    for (const ast::ExpressionPtr& written : window.written->partition_by) {
      const ExpressionPtr value = bind_key(*written, Clause::kWindowPartition);
      sql::equality_operator(value->type, value->offset);
      check_key_collation(*value);
      const bool known = std::ranges::any_of(window.partition_by, [&](const ExpressionPtr& key) { return sql::equal(*key, *value); });
      if (!known) window.partition_by.push_back(value);
    }
  }

  void inherit(PendingWindow& window, const PendingWindow& base) const {
    const ast::WindowDefinition& written = *window.written;
    const auto offset = state_.position(written.offset);
    const std::string& name = written.base;
    if (!written.partition_by.empty()) {
      throw SqlError(sqlstate::kWindowingError, fmt::format("cannot override PARTITION BY clause of window \"{}\"", name)).at(offset);
    }
    window.partition_by = base.partition_by;
    if (!written.order_by.empty() && !base.order_by.empty()) {
      throw SqlError(sqlstate::kWindowingError, fmt::format("cannot override ORDER BY clause of window \"{}\"", name)).at(offset);
    }
    if (written.order_by.empty()) window.order_by = base.order_by;
    if (!base.written->frame.explicit_frame) return;
    SqlError error(sqlstate::kWindowingError, fmt::format("cannot copy window \"{}\" because it has a frame clause", name));
    error.set_position(offset);
    const bool bare = written.name.empty() && written.order_by.empty() && !written.frame.explicit_frame;
    if (bare) throw std::move(error).hint("Omit the parentheses in this OVER clause.");
    throw error;
  }

  void bind_frame(PendingWindow& window) {
    const ast::WindowFrame& written = window.written->frame;
    const auto offset = state_.position(window.written->offset);
    WindowFrame& frame = window.frame;
    frame = {written.mode, written.start, written.end, nullptr, nullptr, written.exclusion};
    const bool has_offset = written.start_offset || written.end_offset;
    if (written.mode == FrameMode::kRange && has_offset && window.order_by.size() != 1) {
      throw SqlError(sqlstate::kWindowingError, "RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column").at(offset);
    }
    if (written.mode == FrameMode::kGroups && window.order_by.empty()) {
      throw SqlError(sqlstate::kWindowingError, "GROUPS mode requires an ORDER BY clause").at(offset);
    }
    const ExpressionPtr key = window.order_by.empty() ? nullptr : window.order_by[0].expression;
    if (written.start_offset) frame.start_offset = bind_frame_offset(state_, level_, *written.start_offset, written.mode, key);
    if (written.end_offset) frame.end_offset = bind_frame_offset(state_, level_, *written.end_offset, written.mode, key);
  }

  BindState& state_;
  QueryLevel& level_;
};

}  // namespace

void bind_windows(BindState& state, QueryLevel& level) {
  WindowBinder binder(state, level);
  for (std::size_t i = 0; i < level.windows.size(); ++i) {
    PendingWindow window = level.windows[i];
    binder.bind(window, i);
    level.windows[i] = std::move(window);
  }
}

void rewrite_windows(QueryLevel& level, GroupedInput& groups) {
  for (PendingWindow& window : level.windows) {
    for (ExpressionPtr& key : window.partition_by) key = groups.rewrite(key);
    for (SortKey& key : window.order_by) key.expression = groups.rewrite(key.expression);
  }
  for (PendingWindowCall& pending : level.window_calls) {
    for (ExpressionPtr& argument : pending.call.arguments) argument = groups.rewrite(argument);
    if (pending.call.filter) pending.call.filter = groups.rewrite(pending.call.filter);
  }
}

}  // namespace redquel::planner
