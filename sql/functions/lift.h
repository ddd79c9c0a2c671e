#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "sql/column.h"
#include "sql/datum.h"
#include "sql/functions/function.h"

namespace redquel::sql {

/// Lifts a plain C++ function over plain values to a kernel over columns, at compile time from its signature.
///
///   first parameter    const EvaluationContext&   optional
///   parameters         bool, std::int16_t … std::int64_t, float, double, const Numeric&, std::string_view, Interval, Uuid:
///                      NULL in gives NULL out without a call;
///                      std::optional of them: the function sees the NULL;
///                      last one std::span<const T>: the variadic rest (T may be a std::optional)
///   last parameter     std::string&: the text result is written there (empty at the call, its memory reused from row to row)
///   result             the same types or std::optional of them; void or bool (false is NULL) beside a std::string&.
///                      A std::string_view must point into an argument or static memory: it is not copied.
namespace lift {

template <class T>
struct StoredAs {
  using type = T;
};
template <>
struct StoredAs<bool> {
  using type = std::uint8_t;
};
template <>
struct StoredAs<std::string> {
  using type = std::string_view;
};
template <class T>
using Stored = typename StoredAs<T>::type;

template <class T>
struct Optional {
  using Value = T;
  static constexpr bool kIs = false;
};
template <class T>
struct Optional<std::optional<T>> {
  using Value = T;
  static constexpr bool kIs = true;
};

template <class T>
inline constexpr bool kIsSpan = false;
template <class T>
inline constexpr bool kIsSpan<std::span<const T>> = true;

/// Reads argument `index` as parameter type P.
template <class P>
class Reader {
 public:
  static constexpr bool kStrict = true;

  Reader(std::span<const ColumnPtr> arguments, std::size_t index)
      : values_(arguments[index]->values<Stored<P>>().data()), stride_(arguments[index]->is_constant() ? 0 : 1) {}

  decltype(auto) get(std::size_t row) const {
    if constexpr (std::is_same_v<P, bool>) {
      return values_[row * stride_] != 0;
    } else {
      return static_cast<const P&>(values_[row * stride_]);
    }
  }

 private:
  const Stored<P>* values_;
  std::size_t stride_;
};

template <class T>
class Reader<std::optional<T>> {
 public:
  static constexpr bool kStrict = false;

  Reader(std::span<const ColumnPtr> arguments, std::size_t index) : column_(*arguments[index]) {}

  std::optional<T> get(std::size_t row) const {
    if (column_.is_null(row)) return std::nullopt;
    return column_.get<T>(row);
  }

 private:
  const Column& column_;
};

template <class T>
class Reader<std::span<const T>> {
 public:
  using Value = typename Optional<T>::Value;
  static constexpr bool kStrict = !Optional<T>::kIs;

  Reader(std::span<const ColumnPtr> arguments, std::size_t index)
      : columns_(arguments.subspan(index)), values_(std::make_unique<T[]>(columns_.size())) {}

  std::span<const T> get(std::size_t row) const {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i]->is_null(row)) {
        values_[i] = T{};
      } else {
        values_[i] = columns_[i]->template get<Value>(row);
      }
    }
    return {values_.get(), columns_.size()};
  }

 private:
  std::span<const ColumnPtr> columns_;
  std::unique_ptr<T[]> values_;
};

/// Collects results of fixed width.
template <class T>
class Sink {
 public:
  Sink(Type type, std::size_t rows) : type_(type), values_(rows) {}

  void set(std::size_t row, T value) { values_[row] = std::move(value); }
  void set_null(std::size_t row) {
    if (nulls_.empty()) nulls_.resize(values_.size());
    nulls_[row] = 1;
  }
  Column finish(std::span<const ColumnPtr>) {
    return Column::from_values(type_, std::move(values_), std::move(nulls_));
  }

 private:
  Type type_;
  std::vector<Stored<T>> values_;
  std::vector<std::uint8_t> nulls_;
};

/// Text that is copied to the column's arena.
template <>
class Sink<std::string> {
 public:
  Sink(Type type, std::size_t rows) : column_(type) { column_.reserve(rows); }

  void set(std::size_t, std::string_view value) { column_.append(value); }
  void set_null(std::size_t) { column_.append_null(); }
  Column finish(std::span<const ColumnPtr>) { return std::move(column_); }

 private:
  Column column_;
};

/// Text that lives in the arguments, which are kept alive.
template <>
class Sink<std::string_view> {
 public:
  Sink(Type type, std::size_t rows) : column_(type) { column_.reserve(rows); }

  void set(std::size_t, std::string_view value) { column_.append_view(value); }
  void set_null(std::size_t) { column_.append_null(); }
  Column finish(std::span<const ColumnPtr> arguments) {
    for (const ColumnPtr& argument : arguments) {
      if (storage_of(argument->type()) == Storage::kText) column_.keep_alive(argument);
    }
    return std::move(column_);
  }

 private:
  Column column_;
};

template <class F>
struct Signature : Signature<decltype(&F::operator())> {};
template <class R, class... P>
struct Signature<R (*)(P...)> {
  using Result = R;
  using Parameters = std::tuple<P...>;
  static constexpr bool kContext = false;
};
template <class R, class... P>
struct Signature<R (*)(const EvaluationContext&, P...)> {
  using Result = R;
  using Parameters = std::tuple<P...>;
  static constexpr bool kContext = true;
};
template <class R, class F, class... P>
struct Signature<R (F::*)(P...) const> : Signature<R (*)(P...)> {};

template <class Parameters>
constexpr bool writes_text() {
  constexpr std::size_t count = std::tuple_size_v<Parameters>;
  if constexpr (count == 0) {
    return false;
  } else {
    return std::is_same_v<std::tuple_element_t<count - 1, Parameters>, std::string&>;
  }
}

/// Computes rows of a lifted function, but those that `nulls` marks (empty: none).
using Compute = Column (*)(std::span<const ColumnPtr> arguments, const std::vector<std::uint8_t>& nulls, std::size_t rows,
                           Type result, const EvaluationContext& context);

/// The code that the kernels of all functions share (lift.cc), which keeps each of the two thousand kernels small. `pure`: constant
/// arguments give a constant result, computed once. `strict` has a flag for each parameter: true if its NULL makes the result NULL. The
/// last flag also holds for the variadic rest.
ColumnPtr run(Compute compute, bool pure, std::span<const bool> strict, std::span<const ColumnPtr> arguments, std::size_t rows,
              Type result, const EvaluationContext& context);

/// Facts about a body from its type: a function or a lambda.
template <class Body>
struct Lift {
  using S = Signature<Body>;
  using Parameters = typename S::Parameters;
  static constexpr bool kWritesText = writes_text<Parameters>();
  static constexpr std::size_t kCount = std::tuple_size_v<Parameters> - (kWritesText ? 1 : 0);
  using Returned = typename S::Result;
  using Result = std::conditional_t<kWritesText, std::string, typename Optional<Returned>::Value>;

  template <std::size_t i>
  using ReaderOf = Reader<std::remove_cvref_t<std::tuple_element_t<i, Parameters>>>;

  static constexpr bool kVariadic = [] {
    if constexpr (kCount == 0) {
      return false;
    } else {
      return kIsSpan<std::remove_cvref_t<std::tuple_element_t<kCount - 1, Parameters>>>;
    }
  }();

  template <std::size_t... i>
  static constexpr std::array<bool, sizeof...(i) + 1> strictness(std::index_sequence<i...>) {
    return {ReaderOf<i>::kStrict..., true};
  }
  /// A flag for each parameter and one more, so that the array is never empty.
  static constexpr std::array<bool, kCount + 1> kStrictness = strictness(std::make_index_sequence<kCount>{});
  static constexpr bool kStrict = [] {
    for (const bool strict : kStrictness) {
      if (!strict) return false;
    }
    return true;
  }();

  template <class... A>
  [[gnu::always_inline]] static decltype(auto) call(Body body, const EvaluationContext& context, A&&... arguments) {
    if constexpr (S::kContext) {
      return body(context, std::forward<A>(arguments)...);
    } else {
      return body(std::forward<A>(arguments)...);
    }
  }

  /// Inlined where the body is known, so that it is, too. A build that does not optimise has one for all bodies of a type.
  template <std::size_t... i>
#ifdef NDEBUG
  [[gnu::always_inline]]
#endif
  static Column compute(Body body, std::span<const ColumnPtr> arguments, const std::vector<std::uint8_t>& nulls,
                        std::size_t rows, Type result, const EvaluationContext& context, std::index_sequence<i...>) {
    std::tuple<ReaderOf<i>...> readers{ReaderOf<i>(arguments, i)...};
    Sink<Result> sink(result, rows);
    [[maybe_unused]] std::string text;
    for (std::size_t row = 0; row < rows; ++row) {
      if (!nulls.empty() && nulls[row] != 0) {
        sink.set_null(row);
        continue;
      }
      if constexpr (kWritesText) {
        text.clear();
        if constexpr (std::is_same_v<Returned, bool>) {
          if (!call(body, context, std::get<i>(readers).get(row)..., text)) {
            sink.set_null(row);
            continue;
          }
        } else {
          call(body, context, std::get<i>(readers).get(row)..., text);
        }
        sink.set(row, text);
      } else if constexpr (Optional<Returned>::kIs) {
        Returned value = call(body, context, std::get<i>(readers).get(row)...);
        if (value) {
          sink.set(row, *std::move(value));
        } else {
          sink.set_null(row);
        }
      } else {
        sink.set(row, call(body, context, std::get<i>(readers).get(row)...));
      }
    }
    return sink.finish(arguments);
  }
};

template <auto body>
struct Lifted : Lift<std::remove_const_t<decltype(body)>> {
  using Base = Lift<std::remove_const_t<decltype(body)>>;

  static Column compute(std::span<const ColumnPtr> arguments, const std::vector<std::uint8_t>& nulls, std::size_t rows,
                        Type result, const EvaluationContext& context) {
    return Base::compute(body, arguments, nulls, rows, result, context, std::make_index_sequence<Base::kCount>{});
  }

  template <bool pure>
  static ColumnPtr kernel(std::span<const ColumnPtr> arguments, std::size_t rows, Type result,
                          const EvaluationContext& context) {
    return lift::run(&compute, pure, {Base::kStrictness.data(), Base::kCount}, arguments, rows, result, context);
  }
};

}  // namespace lift

// The types in bodies of functions.
using Text = std::string_view;
using Int = std::int32_t;
using Context = const EvaluationContext&;
inline constexpr Volatility kStable = Volatility::kStable;

/// The kernel of a function, without a table row.
template <auto body>
constexpr Kernel kernel_of(Volatility volatility = Volatility::kImmutable) {
  return volatility == Volatility::kVolatile ? &lift::Lifted<body>::template kernel<false>
                                             : &lift::Lifted<body>::template kernel<true>;
}

/// A row whose kernel works on columns itself: functions over "any".
ScalarFunction column_function(std::string_view name, std::initializer_list<Type> arguments, Type result, Kernel kernel,
                               Volatility volatility, bool strict, bool variadic = false);

/// A row of the function table.
template <auto body>
ScalarFunction scalar(std::string_view name, std::initializer_list<Type> arguments, Type result,
                      Volatility volatility = Volatility::kImmutable) {
  using Body = lift::Lifted<body>;
  return column_function(name, arguments, result, kernel_of<body>(volatility), volatility, Body::kStrict, Body::kVariadic);
}

/// A row of the cast table.
template <auto body>
CastFunction cast(Type source, Type target, CastContext context, Volatility volatility = Volatility::kImmutable) {
  return {source.oid, target.oid, context, kernel_of<body>(volatility), volatility};
}

inline constexpr Type kAny{oid::kAny}, kAnyElement{oid::kAnyElement}, kChar{oid::kChar}, kRegclass{oid::kRegclass},
    kRegtype{oid::kRegtype}, kRegproc{oid::kRegproc};

}  // namespace redquel::sql
