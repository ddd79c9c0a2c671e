// count, sum, avg and the bitwise aggregates. Result types and digits are PostgreSQL's: sum(int4) is bigint, avg(int4)
// numeric.

#include "sql/error.h"
#include "sql/functions/families.h"
#include "sql/functions/float_math.h"
#include "sql/functions/float_moments.h"
#include "sql/functions/group_states.h"
#include "sql/functions/numeric_sum.h"
#include "sql/types/datetime.h"

namespace redquel::sql {
namespace {

/// count(*) and count(x).
class Counter final : public Aggregator {
 public:
  void update(std::span<const ColumnPtr> arguments, std::span<const std::uint32_t> groups, std::size_t group_count,
              const EvaluationContext&) override {
    counts_.resize(group_count);
    const bool all = arguments.empty() || !arguments[0]->has_nulls();
    for (std::size_t row = 0; row < groups.size(); ++row) {
      counts_[groups[row]] += all || !arguments[0]->is_null(row) ? 1 : 0;
    }
  }
  ColumnPtr finish(std::size_t group_count, const EvaluationContext&) override {
    counts_.resize(group_count);
    return std::make_shared<const Column>(Column::from_values(kInt8, std::move(counts_)));
  }
  std::size_t memory() const override { return counts_.capacity() * sizeof(std::int64_t); }

 private:
  std::vector<std::int64_t> counts_;
};

std::unique_ptr<Aggregator> make_counter(std::span<const Type>, Type) { return std::make_unique<Counter>(); }

/// A value that is NULL until something is added.
template <class T>
struct Seen {
  T value{};
  bool seen = false;
};

/// sum(int2), sum(int4)
template <class T>
struct SmallIntegerSum : Seen<std::int64_t> {
  void add(T addend) {
    value += addend;
    seen = true;
  }
  std::optional<std::int64_t> result() const { return seen ? std::optional(value) : std::nullopt; }
};

/// sum(int8)
struct BigIntegerSum : Seen<Int128> {
  void add(std::int64_t addend) {
    value += addend;
    seen = true;
  }
  std::optional<Numeric> result() const { return seen ? std::optional(Numeric::from_int128(value)) : std::nullopt; }
};

template <class T>
struct IntegerAverage {
  Int128 sum = 0;
  std::int64_t count = 0;
  void add(T value) {
    sum += value;
    ++count;
  }
  std::optional<Numeric> result() const {
    return count == 0 ? std::nullopt : std::optional(Numeric::from_int128(sum) / Numeric(count));
  }
};

/// Floats are added in the order of input, in their own precision.
template <class T>
struct FloatSum : Seen<T> {
  void add(T addend) {
    this->value = this->seen ? add_floats(this->value, addend) : addend;
    this->seen = true;
  }
  std::optional<T> result() const { return this->seen ? std::optional(this->value) : std::nullopt; }
};

template <class T>
struct FloatAverage : FloatMoments {
  void add(T value) { accumulate(value); }
  std::optional<double> result() const { return average(); }
};

struct NumericTotal {
  NumericSum sum;
  std::int64_t count = 0;
  void add(const Numeric& value) {
    sum.add(value);
    ++count;
  }
  std::optional<Numeric> result() const { return count == 0 ? std::nullopt : std::optional(sum.total()); }
};
struct NumericAverage : NumericTotal {
  std::optional<Numeric> result() const {
    return count == 0 ? std::nullopt : std::optional(sum.total() / Numeric(count));
  }
};

struct IntervalSum {
  Interval sum;
  std::int64_t count = 0;
  void add(const Interval& value) {
    sum = count == 0 ? value : add_intervals(sum, value);
    ++count;
  }
  std::optional<Interval> result() const { return count == 0 ? std::nullopt : std::optional(sum); }
};
struct IntervalAverage : IntervalSum {
  std::optional<Interval> result() const {
    return count == 0 ? std::nullopt : std::optional(divide_interval(sum, static_cast<double>(count)));
  }
};

template <class T, class Operator>
struct Bits : Seen<T> {
  void add(T operand) {
    this->value = this->seen ? static_cast<T>(Operator{}(this->value, operand)) : operand;
    this->seen = true;
  }
  std::optional<T> result() const { return this->seen ? std::optional(this->value) : std::nullopt; }
};

template <class T>
void add_bits(std::vector<AggregateFunction>& table, Type type) {
  table.push_back(aggregate<T, Bits<T, std::bit_and<>>>("bit_and", type, type));
  table.push_back(aggregate<T, Bits<T, std::bit_or<>>>("bit_or", type, type));
  table.push_back(aggregate<T, Bits<T, std::bit_xor<>>>("bit_xor", type, type));
}

}  // namespace

std::vector<AggregateFunction> number_aggregates() {
  using std::int16_t, std::int32_t, std::int64_t;
  std::vector<AggregateFunction> table = {
      {"count", {}, oid::kInt8, make_counter},
      {"count", {oid::kAny}, oid::kInt8, make_counter},
      aggregate<int16_t, SmallIntegerSum<int16_t>>("sum", kInt2, kInt8),
      aggregate<int32_t, SmallIntegerSum<int32_t>>("sum", kInt4, kInt8),
      aggregate<int64_t, BigIntegerSum>("sum", kInt8, kNumeric),
      aggregate<float, FloatSum<float>>("sum", kFloat4, kFloat4),
      aggregate<double, FloatSum<double>>("sum", kFloat8, kFloat8),
      aggregate<Numeric, NumericTotal>("sum", kNumeric, kNumeric),
      aggregate<Interval, IntervalSum>("sum", kInterval, kInterval),
      aggregate<int16_t, IntegerAverage<int16_t>>("avg", kInt2, kNumeric),
      aggregate<int32_t, IntegerAverage<int32_t>>("avg", kInt4, kNumeric),
      aggregate<int64_t, IntegerAverage<int64_t>>("avg", kInt8, kNumeric),
      aggregate<float, FloatAverage<float>>("avg", kFloat4, kFloat8),
      aggregate<double, FloatAverage<double>>("avg", kFloat8, kFloat8),
      aggregate<Numeric, NumericAverage>("avg", kNumeric, kNumeric),
      aggregate<Interval, IntervalAverage>("avg", kInterval, kInterval),
  };
  add_bits<int16_t>(table, kInt2);
  add_bits<int32_t>(table, kInt4);
  add_bits<int64_t>(table, kInt8);
  return table;
}

}  // namespace redquel::sql
