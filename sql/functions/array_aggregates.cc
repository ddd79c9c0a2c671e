// array_agg; min and max of the types whose order is that of their parts.

#include "sql/error.h"
#include "sql/functions/array_kernels.h"
#include "sql/functions/families.h"
#include "sql/growing_text.h"
#include "sql/interrupts.h"
#include "sql/sqlstate.h"
#include "sql/types/text_order.h"

namespace redquel::sql {
namespace {

/// Room for an element, in a long text; larger ones make their own.
constexpr std::size_t kElementRoom = std::size_t{64} << 10;

/// array_agg() of elements: NULLs are elements, too; no row gives NULL.
class ElementCollector final : public Aggregator {
 public:
  explicit ElementCollector(Type result) : result_(result) {}

  void update(Arguments arguments, std::span<const std::uint32_t> groups, std::size_t group_count, const EvaluationContext&) override {
    texts_.resize(group_count);
    for (std::size_t row = 0; row < groups.size(); ++row) {
      std::string& text = texts_[groups[row]];
      const std::size_t before = text.size();
      make_room(text, kElementRoom);
      append_array_element(element_at(*arguments[0], row, element_), text);
      bytes_ += text.size() - before;
      meter_.add(text.size() - before);
    }
  }

  ColumnPtr finish(std::size_t group_count, const EvaluationContext&) override {
    texts_.resize(group_count);
    Column column(result_);
    column.reserve(group_count);
    for (std::string& text : texts_) {
      if (text.empty()) {
        column.append_null();
      } else {
        finish_array_text(text);
        column.append(text);
      }
    }
    return std::make_shared<const Column>(std::move(column));
  }

  std::size_t memory() const override { return bytes_ + texts_.capacity() * sizeof(std::string); }

 private:
  Type result_;
  WorkMeter meter_;
  std::vector<std::string> texts_;
  std::string element_;
  std::size_t bytes_ = 0;
};

/// array_agg() of arrays: one dimension more.
class ArrayCollector final : public Aggregator {
 public:
  explicit ArrayCollector(Type result) : result_(result) {}

  void update(Arguments arguments, std::span<const std::uint32_t> groups, std::size_t group_count, const EvaluationContext&) override {
    states_.resize(group_count);
    for (std::size_t row = 0; row < groups.size(); ++row) {
      if (arguments[0]->is_null(row)) throw SqlError(sqlstate::kNullValueNotAllowed, "cannot accumulate null arrays");
      const ArrayValue array = array_at(*arguments[0], row);
      State& state = states_[groups[row]];
      if (array.elements.empty()) throw SqlError(sqlstate::kArraySubscriptError, "cannot accumulate empty arrays");
      if (state.count == 0) {
        check_array_depth(array.dimensions.size() + 1);
        state.value.dimensions = array.dimensions;
      } else if (array.dimensions != state.value.dimensions) {
        throw SqlError(sqlstate::kArraySubscriptError, "cannot accumulate arrays of different dimensionality");
      }
      for (const auto& element : array.elements) {
        state.value.add(element);
        bytes_ += sizeof(element) + (element ? element->size() : 0);
      }
      ++state.count;
    }
  }

  ColumnPtr finish(std::size_t group_count, const EvaluationContext&) override {
    states_.resize(group_count);
    Column column(result_);
    for (State& state : states_) {
      if (state.count == 0) {
        column.append_null();
        continue;
      }
      state.value.dimensions.insert(state.value.dimensions.begin(), {1, state.count});
      check_array_size(state.value.dimensions);
      append_array_to(column, state.value);
    }
    return std::make_shared<const Column>(std::move(column));
  }

  std::size_t memory() const override { return bytes_ + states_.capacity() * sizeof(State); }

 private:
  struct State {
    ArrayValue value;
    std::int32_t count = 0;
  };

  Type result_;
  std::vector<State> states_;
  std::size_t bytes_ = 0;
};

template <bool greatest>
class Extreme final : public Aggregator {
 public:
  explicit Extreme(Type result) : result_(result) {}

  void update(Arguments arguments, std::span<const std::uint32_t> groups, std::size_t group_count, const EvaluationContext&) override {
    best_.resize(group_count);
    for (std::size_t row = 0; row < groups.size(); ++row) {
      if (arguments[0]->is_null(row)) continue;
      std::optional<std::string>& best = best_[groups[row]];
      const std::string_view value = arguments[0]->get<std::string_view>(row);
      const int order = best ? compare_text_form(result_.oid, value, *best) : 0;
      if (best && (greatest ? order < 0 : order > 0)) continue;
      bytes_ += value.size();
      best = value;
    }
  }

  ColumnPtr finish(std::size_t group_count, const EvaluationContext&) override {
    best_.resize(group_count);
    Column column(result_);
    for (const std::optional<std::string>& best : best_) {
      if (best) {
        column.append(*best);
      } else {
        column.append_null();
      }
    }
    return std::make_shared<const Column>(std::move(column));
  }

  std::size_t memory() const override { return bytes_ + best_.capacity() * sizeof(std::optional<std::string>); }

 private:
  Type result_;
  std::vector<std::optional<std::string>> best_;
  std::size_t bytes_ = 0;
};

template <class State>
std::unique_ptr<Aggregator> make(std::span<const Type>, Type result) {
  return std::make_unique<State>(result);
}

}  // namespace

std::vector<AggregateFunction> array_aggregates() {
  return {
      {"array_agg", {oid::kAnyNonArray}, oid::kAnyArray, make<ElementCollector>},
      {"array_agg", {oid::kAnyArray}, oid::kAnyArray, make<ArrayCollector>},
      {"min", {oid::kAnyArray}, oid::kAnyArray, make<Extreme<false>>},
      {"max", {oid::kAnyArray}, oid::kAnyArray, make<Extreme<true>>},
      {"min", {oid::kAnyEnum}, oid::kAnyEnum, make<Extreme<false>>},
      {"max", {oid::kAnyEnum}, oid::kAnyEnum, make<Extreme<true>>},
  };
}

}  // namespace redquel::sql
