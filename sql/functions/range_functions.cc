// Functions of ranges and multiranges (manual 9.20, 8.17): constructors, bounds, range_merge, unnest, range_agg, range_intersect_agg.

#include "sql/functions/range_functions.h"

#include <map>
#include <mutex>
#include <string>
#include <tuple>

#include "sql/error.h"
#include "sql/functions/array_kernels.h"
#include "sql/functions/lift.h"
#include "sql/sqlstate.h"
#include "sql/types/range_value.h"

namespace redquel::sql {
namespace {

Oid range_of(Oid type) { return is_multirange_type(type) ? range_in(type) : type; }
RangeSet ranges_at(const Column& column, std::size_t row) { return read_ranges(column.type().oid, column.get<Text>(row)); }

// ---- constructors -----------------------------------------------------------------------------------------------------

/// int4range(lower, upper, '[)'): a NULL bound is none.
ColumnPtr construct_range(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  return each_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    Text flags = "[)";
    if (arguments.size() == 3) {
      if (arguments[2]->is_null(row)) throw SqlError(sqlstate::kDataException, "range constructor flags argument must not be null");
      flags = arguments[2]->get<Text>(row);
      const bool valid = flags.size() == 2 && (flags[0] == '[' || flags[0] == '(') && (flags[1] == ']' || flags[1] == ')');
      if (!valid) {
        throw SqlError(sqlstate::kSyntaxError, "invalid range bound flags").hint("Valid values are \"[]\", \"[)\", \"(]\", and \"()\".");
      }
    }
    const auto bound = [&](std::size_t i, bool inclusive) {
      return RangeBound{arguments[i]->is_null(row) ? std::nullopt : std::optional(arguments[i]->datum(row)), inclusive};
    };
    const RangeValue range = make_range(result.oid, bound(0, flags[0] == '['), bound(1, flags[1] == ']'));
    column.append(ranges_text(result.oid, range.empty ? RangeSet{} : RangeSet{range}));
  });
}

/// int4multirange(range, …); multirange(range); the cast.
/// `variadic`: a NULL is one of the ranges, not the whole argument.
template <bool variadic>
ColumnPtr construct_multirange(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  const Type subtype = range_subtype(range_in(result.oid));
  return each_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    std::vector<RangeValue> ranges;
    for (const ColumnPtr& argument : arguments) {
      if (argument->is_null(row)) {
        if (variadic) throw SqlError(sqlstate::kNullValueNotAllowed, "multirange values cannot contain null members");
        return column.append_null();
      }
      for (RangeValue& range : ranges_at(*argument, row)) ranges.push_back(std::move(range));
    }
    column.append(ranges_text(result.oid, normalize(subtype, std::move(ranges))));
  });
}

// ---- bounds -----------------------------------------------------------------------------------------------------------

template <Side side>
const RangeBound& outer_bound(const RangeSet& set) {
  return side == Side::kLower ? set.front().lower : set.back().upper;
}

template <Side side>
ColumnPtr bound_value(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  return each_strict_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    const RangeSet set = ranges_at(*arguments[0], row);
    column.append_datum(set.empty() ? Datum{} : outer_bound<side>(set).value.value_or(Datum{}));
  });
}

template <Side side, bool infinite>
ColumnPtr bound_flag(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  return each_strict_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    const RangeSet set = ranges_at(*arguments[0], row);
    column.append(!set.empty() && (infinite ? !outer_bound<side>(set).value : outer_bound<side>(set).inclusive));
  });
}

ColumnPtr is_empty(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  return each_strict_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    column.append(ranges_at(*arguments[0], row).empty());
  });
}

/// The smallest range over all of them.
ColumnPtr merge(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  const Type subtype = range_subtype(result.oid);
  return each_strict_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    RangeSet all;
    for (const ColumnPtr& argument : arguments) {
      for (RangeValue& range : ranges_at(*argument, row)) all.push_back(std::move(range));
    }
    all = normalize(subtype, std::move(all));
    if (!all.empty()) all = {{false, all.front().lower, all.back().upper}};
    column.append(ranges_text(result.oid, all));
  });
}

// ---- aggregates and rows ------------------------------------------------------------------------------------------------

/// range_agg: all of them together; range_intersect_agg: what is in each of them.
template <bool intersect>
class Collector final : public Aggregator {
 public:
  explicit Collector(Type result) : result_(result), subtype_(range_subtype(range_of(result.oid))) {}

  void update(Arguments arguments, std::span<const std::uint32_t> groups, std::size_t group_count, const EvaluationContext&) override {
    states_.resize(group_count);
    for (std::size_t row = 0; row < groups.size(); ++row) {
      if (arguments[0]->is_null(row)) continue;
      State& state = states_[groups[row]];
      RangeSet set = ranges_at(*arguments[0], row);
      ++ranges_;
      if (!state.seen) {
        state.set = std::move(set);
      } else if (intersect) {
        state.set = intersection(subtype_, state.set, set);
      } else {
        state.set.insert(state.set.end(), set.begin(), set.end());
      }
      state.seen = true;
    }
  }

  ColumnPtr finish(std::size_t group_count, const EvaluationContext&) override {
    states_.resize(group_count);
    Column column(result_);
    for (State& state : states_) {
      if (state.seen) {
        column.append(ranges_text(result_.oid, normalize(subtype_, std::move(state.set))));
      } else {
        column.append_null();
      }
    }
    return std::make_shared<const Column>(std::move(column));
  }

  std::size_t memory() const override { return states_.capacity() * sizeof(State) + ranges_ * sizeof(RangeValue); }

 private:
  struct State {
    std::vector<RangeValue> set;
    bool seen = false;
  };

  Type result_, subtype_;
  std::vector<State> states_;
  std::size_t ranges_ = 0;
};

template <class State>
std::unique_ptr<Aggregator> make(std::span<const Type>, Type result) {
  return std::make_unique<State>(result);
}

class Ranges final : public RowSource {
 public:
  Ranges(Oid range, RangeSet set) : range_(range), set_(std::move(set)) {}

  Batch next(std::size_t limit) override {
    Column column(Type{range_});
    for (; next_ < set_.size() && column.size() < limit; ++next_) column.append(ranges_text(range_, {set_[next_]}));
    Batch batch;
    batch.rows = column.size();
    batch.columns.push_back(std::make_shared<const Column>(std::move(column)));
    return batch;
  }

 private:
  Oid range_;
  RangeSet set_;
  std::size_t next_ = 0;
};

template <Oid multirange>
std::unique_ptr<RowSource> unnest(std::span<const Datum> arguments, const EvaluationContext&) {
  RangeSet set;
  if (!is_null(arguments[0])) set = read_ranges(multirange, std::get<std::string>(arguments[0]));
  return std::make_unique<Ranges>(range_in(multirange), std::move(set));
}

/// A range type and its multirange type, as their constructors need them. The functions look at the names.
struct ConstructedRange {
  Type range, multirange, subtype;
  std::string name, multirange_name;

  explicit ConstructedRange(Oid oid)
      : range{oid}, multirange{multirange_over(oid)}, subtype(range_subtype(oid)), name(type_info(oid).name), multirange_name(type_info(multirange.oid).name) {}
  auto key() const { return std::tie(range.oid, multirange.oid, subtype.oid, name, multirange_name); }
  bool operator<(const ConstructedRange& other) const { return key() < other.key(); }
};

/// Constructors of one range type and its multirange type, named as they are. `of` outlives them.
void add_constructors(const ConstructedRange& of, std::vector<ScalarFunction>& table) {
  const Type type = of.range, subtype = of.subtype, over = of.multirange;
  const auto add = [&](Type made, std::initializer_list<Type> arguments, Kernel kernel, bool strict, bool variadic = false) {
    const std::string_view name = made == type ? of.name : of.multirange_name;
    table.push_back(column_function(name, arguments, made, kernel, Volatility::kImmutable, strict, variadic));
  };
  add(type, {subtype, subtype}, construct_range, false);
  add(type, {subtype, subtype, kText}, construct_range, false);
  add(over, {}, construct_multirange<false>, true);
  add(over, {type}, construct_multirange<false>, true);
  add(over, {type}, construct_multirange<true>, true, true);
}

/// For a user-made multirange type: the call has the range type.
std::unique_ptr<RowSource> unnest_made(std::span<const Datum> arguments, std::span<const ResultColumn> columns, const EvaluationContext&) {
  const Oid range = columns[0].type.oid;
  RangeSet set;
  if (!is_null(arguments[0])) set = read_ranges(multirange_over(range), std::get<std::string>(arguments[0]));
  return std::make_unique<Ranges>(range, std::move(set));
}

void add_unnest(std::vector<TableFunction>& table, Oid multirange, auto open) {
  table.push_back({"unnest", {multirange}, {{"unnest", range_in(multirange)}}, open});
}

}  // namespace

std::span<const ScalarFunction* const> range_constructors(Oid type) {
  struct Known {
    std::vector<ScalarFunction> functions;
    std::vector<const ScalarFunction*> of_range, of_multirange;
  };
  // By definition: plans keep functions for longer than their snapshot lives, and databases may have other types with the same oid.
  static std::mutex mutex;
  static std::map<ConstructedRange, Known> known;
  const Oid range = range_of(type);
  const std::lock_guard lock(mutex);
  const auto [entry, is_new] = known.try_emplace(ConstructedRange(range));
  Known& made = entry->second;
  if (is_new) {
    add_constructors(entry->first, made.functions);
    for (const ScalarFunction& function : made.functions) (function.result == range ? made.of_range : made.of_multirange).push_back(&function);
  }
  return type == range ? made.of_range : made.of_multirange;
}

const CastFunction& multirange_cast() {
  static const CastFunction cast{oid::kAnyRange, oid::kAnyMultirange, CastContext::kExplicit, construct_multirange<false>};
  return cast;
}

std::vector<ScalarFunction> range_functions() {
  constexpr auto kImmutable = Volatility::kImmutable;
  constexpr Type range{oid::kAnyRange}, multirange{oid::kAnyMultirange}, element{oid::kAnyElement};
  std::vector<ScalarFunction> table;
  const auto add = [&](std::string_view name, std::initializer_list<Type> arguments, Type result, Kernel kernel, bool strict) {
    table.push_back(column_function(name, arguments, result, kernel, kImmutable, strict));
  };
  static const std::vector<ConstructedRange> built_in = [] {
    const std::vector<Oid> types = all_range_types();
    return std::vector<ConstructedRange>(types.begin(), types.end());
  }();
  for (const ConstructedRange& range : built_in) add_constructors(range, table);
  for (const Type type : {range, multirange}) {
    add("lower", {type}, element, bound_value<Side::kLower>, true);
    add("upper", {type}, element, bound_value<Side::kUpper>, true);
    add("isempty", {type}, kBool, is_empty, true);
    add("lower_inc", {type}, kBool, bound_flag<Side::kLower, false>, true);
    add("upper_inc", {type}, kBool, bound_flag<Side::kUpper, false>, true);
    add("lower_inf", {type}, kBool, bound_flag<Side::kLower, true>, true);
    add("upper_inf", {type}, kBool, bound_flag<Side::kUpper, true>, true);
  }
  add("range_merge", {range, range}, range, merge, true);
  add("range_merge", {multirange}, range, merge, true);
  add("multirange", {range}, multirange, construct_multirange<false>, true);
  const std::vector<ScalarFunction> operators = range_operators();
  table.insert(table.end(), operators.begin(), operators.end());
  return table;
}

std::vector<CastFunction> range_casts() {
  std::vector<CastFunction> table;
  for (const Oid oid : all_range_types()) table.push_back({oid, multirange_over(oid), CastContext::kExplicit, construct_multirange<false>});
  return table;
}

std::vector<AggregateFunction> range_aggregates() {
  return {
      {"range_agg", {oid::kAnyRange}, oid::kAnyMultirange, make<Collector<false>>},
      {"range_agg", {oid::kAnyMultirange}, oid::kAnyMultirange, make<Collector<false>>},
      {"range_intersect_agg", {oid::kAnyRange}, oid::kAnyRange, make<Collector<true>>},
      {"range_intersect_agg", {oid::kAnyMultirange}, oid::kAnyMultirange, make<Collector<true>>},
  };
}

std::vector<TableFunction> range_table_functions() {
  std::vector<TableFunction> table;
  add_unnest(table, oid::kInt4Multirange, unnest<oid::kInt4Multirange>);
  add_unnest(table, oid::kInt8Multirange, unnest<oid::kInt8Multirange>);
  add_unnest(table, oid::kNumMultirange, unnest<oid::kNumMultirange>);
  add_unnest(table, oid::kDateMultirange, unnest<oid::kDateMultirange>);
  add_unnest(table, oid::kTsMultirange, unnest<oid::kTsMultirange>);
  add_unnest(table, oid::kTstzMultirange, unnest<oid::kTstzMultirange>);
  table.push_back({"unnest", {oid::kAnyMultirange}, {{"unnest", oid::kAnyRange}}, nullptr, unnest_made});
  return table;
}

}  // namespace redquel::sql
