#pragma once

#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sql/functions/function.h"
#include "sql/functions/lift.h"

namespace redquel::sql {

/// An aggregate over one argument, made from the state of one group: NULLs are skipped, one loop per batch and no call
/// through a pointer per row. State has `void add(const T&)`, `std::optional<Result> result() const` (nullopt is NULL)
/// and, where it owns memory, `std::size_t heap() const`.
template <class T, class State>
class GroupStates final : public Aggregator {
 public:
  using Result = typename decltype(std::declval<const State&>().result())::value_type;

  explicit GroupStates(Type result) : result_(result) {}

  void update(std::span<const ColumnPtr> arguments, std::span<const std::uint32_t> groups, std::size_t group_count,
              const EvaluationContext&) override {
    states_.resize(group_count);
    const Column& column = *arguments[0];
    const lift::Reader<T> values(arguments, 0);
    if (!column.has_nulls()) {
      for (std::size_t row = 0; row < groups.size(); ++row) states_[groups[row]].add(values.get(row));
      return;
    }
    for (std::size_t row = 0; row < groups.size(); ++row) {
      if (!column.is_null(row)) states_[groups[row]].add(values.get(row));
    }
  }

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

 private:
  Type result_;
  std::vector<State> states_;
};

/// The same over two arguments that must both be there: `void add(const A&, const B&)`.
template <class A, class B, class State>
class PairGroupStates final : public Aggregator {
 public:
  using Result = typename decltype(std::declval<const State&>().result())::value_type;

  explicit PairGroupStates(Type result) : result_(result) {}

  void update(std::span<const ColumnPtr> arguments, std::span<const std::uint32_t> groups, std::size_t group_count,
              const EvaluationContext&) override {
    states_.resize(group_count);
    const lift::Reader<A> first(arguments, 0);
    const lift::Reader<B> second(arguments, 1);
    for (std::size_t row = 0; row < groups.size(); ++row) {
      if (arguments[0]->is_null(row) || arguments[1]->is_null(row)) continue;
      states_[groups[row]].add(first.get(row), second.get(row));
    }
  }

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

  std::size_t memory() const override { return states_.capacity() * sizeof(State); }

 private:
  Type result_;
  std::vector<State> states_;
};

/// A row of the aggregate table.
template <class T, class State>
AggregateFunction aggregate(std::string_view name, Type argument, Type result) {
  return {name, {argument.oid}, result.oid, [](std::span<const Type>, Type type) -> std::unique_ptr<Aggregator> {
            return std::make_unique<GroupStates<T, State>>(type);
          }};
}
template <class A, class B, class State>
AggregateFunction pair_aggregate(std::string_view name, Type first, Type second, Type result) {
  return {
      name, {first.oid, second.oid}, result.oid, [](std::span<const Type>, Type type) -> std::unique_ptr<Aggregator> {
        return std::make_unique<PairGroupStates<A, B, State>>(type);
      }};
}

}  // namespace redquel::sql
