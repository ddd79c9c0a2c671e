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
class Counter final : public Aggregator, public SlidingAggregator, public MergingAggregator {
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

  void merge(const Aggregator& other, std::span<const std::uint32_t> groups, std::size_t group_count) override {
    counts_.resize(group_count);
    const std::vector<std::int64_t>& counts = static_cast<const Counter&>(other).counts_;
    for (std::size_t group = 0; group < counts.size(); ++group) counts_[groups[group]] += counts[group];
  }

  ColumnPtr slide(std::span<const ColumnPtr> arguments, std::span<const FrameRows> frames) override {
    const Column* column = arguments.empty() || !arguments[0]->has_nulls() ? nullptr : arguments[0].get();
    if (column != nullptr && before_.empty()) {
      before_.push_back(0);
      for (std::size_t row = 0; row < column->size(); ++row) before_.push_back(before_[row] + (column->is_null(row) ? 0 : 1));
    }
    std::vector<std::int64_t> counts(frames.size());
    for (std::size_t i = 0; i < frames.size(); ++i) {
      for (const RowRange& range : frames[i]) {
        if (range.empty()) continue;
        counts[i] += column == nullptr ? range.size() : before_[range.end] - before_[range.begin];
      }
    }
    return std::make_shared<const Column>(Column::from_values(kInt8, std::move(counts)));
  }
  bool removes_rows() const override { return true; }

 private:
  std::vector<std::int64_t> counts_;
  std::vector<std::uint32_t> before_;  // values that are not NULL before each row
};

std::unique_ptr<Aggregator> make_counter(std::span<const Type>, Type) { return std::make_unique<Counter>(); }

/// A value that is NULL until something is added.
template <class T>
struct Seen {
  T value{};
  bool seen = false;
};

/// Sum and number of integers; NULL where there is none.
template <class T, class Total>
struct IntegerTotal {
  static constexpr bool kRemoves = true;
  Total sum = 0;
  std::int64_t count = 0;
  void add(T value) {
    sum += value;
    ++count;
  }
  void remove(T value) {
    sum -= value;
    --count;
  }
  void merge(const IntegerTotal& other) {
    sum += other.sum;
    count += other.count;
  }
};

/// sum(int2), sum(int4)
template <class T>
struct SmallIntegerSum : IntegerTotal<T, std::int64_t> {
  std::optional<std::int64_t> result() const { return this->count > 0 ? std::optional(this->sum) : std::nullopt; }
};

/// sum(int8)
struct BigIntegerSum : IntegerTotal<std::int64_t, Int128> {
  std::optional<Numeric> result() const { return count > 0 ? std::optional(Numeric::from_int128(sum)) : std::nullopt; }
};

template <class T>
struct IntegerAverage : IntegerTotal<T, Int128> {
  std::optional<Numeric> result() const {
    if (this->count == 0) return std::nullopt;
    return Numeric::from_int128(this->sum) / Numeric(this->count);
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
  void merge(const NumericTotal& other) {
    if (other.count == 0) return;
    sum.add(other.sum.total());
    count += other.count;
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
  void merge(const Bits& other) {
    if (other.seen) add(other.value);
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
