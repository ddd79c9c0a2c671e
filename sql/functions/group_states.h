#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "sql/functions/function.h"
#include "sql/functions/lift.h"
#include "sql/functions/merging_aggregator.h"
#include "sql/functions/sliding_aggregator.h"

namespace redquel::sql {

/// One state that follows a window's frames: it grows with them, takes rows out where State has `remove`, and begins anew where a
/// frame has lost rows otherwise. `add(state, row)` and `remove(state, row)` skip NULLs.
template <class State>
class SlidingState {
 public:
  using Result = typename decltype(std::declval<const State&>().result())::value_type;

  template <class Add, class Remove>
  ColumnPtr slide(std::span<const FrameRows> frames, Type type, const Add& add, const Remove& remove) {
    lift::Sink<Result> sink(type, frames.size());
    std::optional<Result> value = state_.result();
    for (std::size_t i = 0; i < frames.size(); ++i) {
      if (!started_ || frames[i] != frame_) {
        move_to(frames[i], add, remove);
        value = state_.result();
      }
      if (value) {
        sink.set(i, *value);
      } else {
        sink.set_null(i);
      }
    }
    return std::make_shared<const Column>(sink.finish({}));
  }

 private:
  template <class Add, class Remove>
  void move_to(const FrameRows& frame, const Add& add, const Remove& remove) {
    const RowRange from = frame_[0], to = frame[0];
    const bool whole = started_ && frame_[1].empty() && frame[1].empty() && !from.empty() && !to.empty();
    const bool grows = whole && to.begin >= from.begin && to.begin < from.end && to.end >= from.end;
    if (grows && to.begin == from.begin) {
      for (std::uint32_t row = from.end; row < to.end; ++row) add(state_, row);
    } else if (grows && kRemoves) {
      for (std::uint32_t row = from.begin; row < to.begin; ++row) remove(state_, row);
      for (std::uint32_t row = from.end; row < to.end; ++row) add(state_, row);
    } else {
      state_ = State{};
      for (const RowRange& range : frame) {
        for (std::uint32_t row = range.begin; row < range.end; ++row) add(state_, row);
      }
    }
    frame_ = frame;
    started_ = true;
  }

 public:
  static constexpr bool kRemoves = requires { State::kRemoves; };

 private:
  State state_;
  FrameRows frame_{};
  bool started_ = false;
};

/// A state for each group, and what comes of them. State, made anew with {}, has `std::optional<Result> result() const` (nullopt is NULL)
/// and, where it owns memory, `std::size_t heap() const`.
template <class State>
class StatesByGroup : public Aggregator, public SlidingAggregator {
 public:
  using Result = typename decltype(std::declval<const State&>().result())::value_type;

  explicit StatesByGroup(Type result) : result_(result) {}

  ColumnPtr finish(std::size_t group_count, const EvaluationContext&) override {
    states_.resize(group_count);
    lift::Sink<Result> sink(result_, group_count);
    for (std::size_t group = 0; group < group_count; ++group) {
      if (std::optional<Result> value = states_[group].result()) {
        sink.set(group, *std::move(value));
      } else {
        sink.set_null(group);
      }
    }
    return std::make_shared<const Column>(sink.finish({}));
  }

  std::size_t memory() const override {
    std::size_t bytes = states_.capacity() * sizeof(State);
    if constexpr (requires(const State& state) { state.heap(); }) {
      for (const State& state : states_) bytes += state.heap();
    }
    return bytes;
  }

 protected:
  Type result_;
  std::vector<State> states_;
  SlidingState<State> sliding_;
};

/// An aggregate made from the state of one group: rows with a NULL among the arguments are skipped, one loop per batch and no call
/// through a pointer per row. State has `void add(const T&...)`; where rows can be taken out again exactly, `remove` and a `kRemoves`.
template <class State, class... T>
class GroupStates : public StatesByGroup<State> {
  using StatesByGroup<State>::result_, StatesByGroup<State>::sliding_;

 protected:
  using StatesByGroup<State>::states_;

 public:
  using StatesByGroup<State>::StatesByGroup;

  void update(std::span<const ColumnPtr> arguments, std::span<const std::uint32_t> groups, std::size_t group_count,
              const EvaluationContext&) override {
    states_.resize(group_count);
    const WholeRows rows(arguments);
    const bool has_nulls = std::ranges::any_of(arguments, [](const ColumnPtr& argument) { return argument->has_nulls(); });
    if constexpr (std::is_trivially_copyable_v<State>) {
      if (!has_nulls && group_count == 1) {  // the only state stays in registers
        State state = states_[0];
        for (std::size_t row = 0; row < groups.size(); ++row) rows.give(row, [&](const T&... values) { state.add(values...); });
        states_[0] = state;
        return;
      }
    }
    if (!has_nulls) {
      for (std::size_t row = 0; row < groups.size(); ++row) rows.give(row, [&](const T&... values) { states_[groups[row]].add(values...); });
      return;
    }
    for (std::size_t row = 0; row < groups.size(); ++row) {
      if (rows.is_whole(row)) rows.give(row, [&](const T&... values) { states_[groups[row]].add(values...); });
    }
  }

  ColumnPtr slide(std::span<const ColumnPtr> arguments, std::span<const FrameRows> frames) override {
    const WholeRows rows(arguments);
    const auto add = [&](State& state, std::uint32_t row) {
      if (rows.is_whole(row)) rows.give(row, [&](const T&... values) { state.add(values...); });
    };
    const auto remove = [&](State& state, std::uint32_t row) {
      if constexpr (SlidingState<State>::kRemoves) {
        if (rows.is_whole(row)) rows.give(row, [&](const T&... values) { state.remove(values...); });
      }
    };
    return sliding_.slide(frames, result_, add, remove);
  }
  bool removes_rows() const override { return SlidingState<State>::kRemoves; }

 private:
  /// The rows of the arguments, of which those with a NULL are passed over.
  class WholeRows {
   public:
    explicit WholeRows(std::span<const ColumnPtr> arguments) : WholeRows(arguments, std::index_sequence_for<T...>{}) {}

    bool is_whole(std::size_t row) const {
      for (const ColumnPtr& argument : arguments_) {
        if (argument->is_null(row)) return false;
      }
      return true;
    }
    template <class Take>
    void give(std::size_t row, const Take& take) const {
      std::apply([&](const auto&... readers) { take(readers.get(row)...); }, readers_);
    }

   private:
    template <std::size_t... index>
    WholeRows(std::span<const ColumnPtr> arguments, std::index_sequence<index...>)
        : arguments_(arguments.first(sizeof...(T))), readers_(lift::Reader<T>(arguments, index)...) {}

    std::span<const ColumnPtr> arguments_;
    std::tuple<lift::Reader<T>...> readers_;
  };
};

/// An aggregate whose states add up: State has `merge(const State&)`, too.
template <class State, class... T>
class MergingGroupStates final : public GroupStates<State, T...>, public MergingAggregator {
 public:
  using GroupStates<State, T...>::GroupStates;

  void merge(const Aggregator& other, std::span<const std::uint32_t> groups, std::size_t group_count) override {
    this->states_.resize(group_count);
    const std::vector<State>& states = static_cast<const MergingGroupStates&>(other).states_;
    for (std::size_t group = 0; group < states.size(); ++group) this->states_[groups[group]].merge(states[group]);
  }
};

template <class State, class... T>
std::unique_ptr<Aggregator> make_group_states(Type type) {
  if constexpr (requires(State& state, const State& other) { state.merge(other); }) return std::make_unique<MergingGroupStates<State, T...>>(type);
  else return std::make_unique<GroupStates<State, T...>>(type);
}

/// A row of the aggregate table.
template <class T, class State>
AggregateFunction aggregate(std::string_view name, Type argument, Type result) {
  return {name, {argument.oid}, result.oid, [](std::span<const Type>, Type type) -> std::unique_ptr<Aggregator> {
            return make_group_states<State, T>(type);
          }};
}
template <class A, class B, class State>
AggregateFunction pair_aggregate(std::string_view name, Type first, Type second, Type result) {
  return {
      name, {first.oid, second.oid}, result.oid, [](std::span<const Type>, Type type) -> std::unique_ptr<Aggregator> {
        return std::make_unique<GroupStates<State, A, B>>(type);
      }};
}

}  // namespace redquel::sql
