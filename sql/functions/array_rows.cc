// Arrays as rows: unnest, generate_subscripts, string_to_table.

#include "sql/functions/array_kernels.h"
#include "sql/functions/families.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

using Int = std::int32_t;
using Values = std::span<const Datum>;
using Types = std::span<const Type>;

Batch batch_of(std::vector<Column> columns) {
  Batch batch;
  batch.rows = columns[0].size();
  for (Column& column : columns) batch.columns.push_back(std::make_shared<const Column>(std::move(column)));
  return batch;
}

/// The elements of one or several arrays side by side; shorter ones go on with NULLs.
class Elements final : public RowSource {
 public:
  Elements(Values values, Types types) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      Source& source = sources_.emplace_back();
      source.element = Type{element_type_of(types[i]).oid};
      if (is_null(values[i])) continue;
      source.text = std::get<std::string>(values[i]);
      source.array = read_array(types[i].oid, source.text);
      rows_ = std::max(rows_, source.array.elements.size());
    }
  }

  Batch next(std::size_t limit) override {
    std::vector<Column> columns;
    const std::size_t end = next_ + std::min(rows_ - next_, limit);
    for (const Source& source : sources_) {
      Column& column = columns.emplace_back(source.element);
      for (std::size_t row = next_; row < end; ++row) {
        append_element(column, row < source.array.elements.size() ? source.array.elements[row] : std::nullopt);
      }
    }
    next_ = end;
    return batch_of(std::move(columns));
  }

 private:
  struct Source {
    Type element;
    std::string text;
    ArrayValue array;
  };

  std::vector<Source> sources_;
  std::size_t next_ = 0, rows_ = 0;
};

template <Oid array>
std::unique_ptr<RowSource> unnest(Values values, const EvaluationContext&) {
  const Type type{array};
  return std::make_unique<Elements>(values, Types(&type, 1));
}

/// For user-made element types and records: the call has the type.
std::unique_ptr<RowSource> unnest_any(Values values, std::span<const ResultColumn> columns, const EvaluationContext&) {
  const Type type{type_info(columns[0].type.oid).array};
  return std::make_unique<Elements>(values, Types(&type, 1));
}

/// The elements of an array with their numbers from 1.
class NumberedElements final : public RowSource {
 public:
  NumberedElements(Values values, Types types) : elements_(values, types) {}

  Batch next(std::size_t limit) override {
    Batch batch = elements_.next(limit);
    Column column(kInt4);
    for (std::size_t row = 0; row < batch.rows; ++row) column.append(++last_);
    batch.columns.push_back(std::make_shared<const Column>(std::move(column)));
    return batch;
  }

 private:
  Elements elements_;
  Int last_ = 0;
};

template <Oid array>
std::unique_ptr<RowSource> expand(Values values, const EvaluationContext&) {
  const Type type{array};
  return std::make_unique<NumberedElements>(values, Types(&type, 1));
}

/// The subscripts of one dimension, up or down.
class Subscripts final : public RowSource {
 public:
  Subscripts() = default;
  Subscripts(const ArrayDimension& dimension, bool descending)
      : next_(descending ? dimension.upper() : dimension.lower), left_(dimension.length), step_(descending ? -1 : 1) {}

  Batch next(std::size_t limit) override {
    std::vector<Int> numbers;
    for (; left_ > 0 && numbers.size() < limit; --left_, next_ += step_) numbers.push_back(static_cast<Int>(next_));
    std::vector<Column> columns;
    columns.push_back(Column::from_values(kInt4, std::move(numbers)));
    return batch_of(std::move(columns));
  }

 private:
  std::int64_t next_ = 0, left_ = 0, step_ = 1;
};

template <Oid array_type>
std::unique_ptr<RowSource> generate_subscripts(Values values, const EvaluationContext&) {
  for (const Datum& value : values) {
    if (is_null(value)) return std::make_unique<Subscripts>();
  }
  const ArrayValue array = read_array(array_type, std::get<std::string>(values[0]));
  const Int number = std::get<Int>(values[1]);
  if (number < 1 || static_cast<std::size_t>(number) > array.dimensions.size()) return std::make_unique<Subscripts>();
  const bool descending = values.size() == 3 && std::get<bool>(values[2]);
  return std::make_unique<Subscripts>(array.dimensions[static_cast<std::size_t>(number - 1)], descending);
}

class Parts final : public RowSource {
 public:
  explicit Parts(std::vector<std::optional<std::string>> parts) : parts_(std::move(parts)) {}

  Batch next(std::size_t limit) override {
    std::vector<Column> columns;
    Column& column = columns.emplace_back(kText);
    for (; next_ < parts_.size() && column.size() < limit; ++next_) {
      if (parts_[next_]) {
        column.append(*parts_[next_]);
      } else {
        column.append_null();
      }
    }
    return batch_of(std::move(columns));
  }

 private:
  std::vector<std::optional<std::string>> parts_;
  std::size_t next_ = 0;
};

std::unique_ptr<RowSource> string_to_table(Values values, const EvaluationContext&) {
  const auto text = [&](std::size_t i) {
    return i < values.size() && !is_null(values[i]) ? std::optional<std::string_view>(std::get<std::string>(values[i])) : std::nullopt;
  };
  return std::make_unique<Parts>(text(0) ? split_text(*text(0), text(1), text(2)) : std::vector<std::optional<std::string>>());
}

// Arrays over regclass and its kin. Each has rows of its own: it could be taken for several arrays of numbers, too.
constexpr Oid kRegprocArray = 1008, kRegprocedureArray = 2207, kRegoperArray = 2208, kRegoperatorArray = 2209, kRegclassArray = 2210,
              kRegtypeArray = 2211, kRegnamespaceArray = 4090, kRegroleArray = 4097, kRegcollationArray = 4192;

/// Calls `add` with every array type, as a compile-time constant.
template <class Add>
void for_each_array(const Add& add) {
  const auto all = [&]<Oid... arrays>(std::integer_sequence<Oid, arrays...>) {
    (add(std::integral_constant<Oid, arrays>{}), ...);
  };
  all(std::integer_sequence<Oid, oid::kBoolArray, oid::kByteaArray, oid::kCharArray, oid::kNameArray, oid::kInt2Array, oid::kInt4Array,
                            oid::kInt8Array, oid::kTextArray, oid::kOidArray, oid::kFloat4Array, oid::kFloat8Array, oid::kBpcharArray,
                            oid::kVarcharArray, oid::kDateArray, oid::kTimeArray, oid::kTimestampArray, oid::kTimestamptzArray,
                            oid::kIntervalArray, oid::kNumericArray, oid::kUuidArray, oid::kInt2Vector, oid::kOidVector, oid::kJsonArray,
                            oid::kJsonbArray, oid::kJsonpathArray, oid::kInetArray, oid::kCidrArray, oid::kMacaddrArray, oid::kMacaddr8Array,
                            oid::kTimetzArray, oid::kBitArray, oid::kVarbitArray, kRegprocArray, kRegprocedureArray, kRegoperArray,
                            kRegoperatorArray, kRegclassArray, kRegtypeArray, kRegnamespaceArray, kRegroleArray, kRegcollationArray, oid::kRegconfigArray, oid::kRegdictionaryArray,
                            oid::kTsvectorArray, oid::kTsqueryArray>{});
}

}  // namespace

std::vector<TableFunction> array_table_functions() {
  std::vector<TableFunction> table = {
      {"string_to_table", {oid::kText, oid::kText}, {{"string_to_table", oid::kText}}, string_to_table},
      {"string_to_table", {oid::kText, oid::kText, oid::kText}, {{"string_to_table", oid::kText}}, string_to_table},
  };
  for_each_array([&](auto array) {
    const Oid element = type_info(array).element;
    table.push_back({"unnest", {array}, {{"unnest", element}}, unnest<array>});
    // Drivers read the columns of a key with this function.
    table.push_back({"information_schema._pg_expandarray", {array}, {{"x", element}, {"n", oid::kInt4}}, expand<array>});
    for (std::vector<Oid> arguments : {std::vector<Oid>{array, oid::kInt4}, std::vector<Oid>{array, oid::kInt4, oid::kBool}}) {
      table.push_back({"generate_subscripts", arguments, {{"generate_subscripts", oid::kInt4}}, generate_subscripts<array>});
    }
  });
  table.push_back({"unnest", {oid::kAnyArray}, {{"unnest", oid::kAnyElement}}, nullptr, unnest_any});
  return table;
}

}  // namespace redquel::sql
