#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql/column.h"
#include "sql/evaluation_context.h"
#include "sql/types/type.h"

namespace redquel::sql {

/// pg_proc.provolatile: may it be computed at plan time, once per statement, or for every row?
enum class Volatility : char { kImmutable = 'i', kStable = 's', kVolatile = 'v' };

/// Computes `rows` values from argument columns of that many rows (decoded, in the declared types).
using Kernel = ColumnPtr (*)(std::span<const ColumnPtr> arguments, std::size_t rows, Type result, const EvaluationContext&);

/// One row of the function table; operators are rows too, named "+" or "||". `scalar<body>(…)` in lift.h makes the kernel.
struct ScalarFunction {
  std::string_view name;
  std::vector<Oid> arguments;
  Oid result;
  Kernel kernel;
  Volatility volatility = Volatility::kImmutable;
  bool strict = true;     // NULL in, NULL out: done by the lift
  bool variadic = false;  // the last argument's type repeats
};

/// State of one aggregate call over all groups of a GROUP BY at once.
class Aggregator {
 public:
  virtual ~Aggregator() = default;
  /// Row i of the arguments belongs to group groups[i]; group numbers are below `group_count`, which only grows.
  virtual void update(std::span<const ColumnPtr> arguments, std::span<const std::uint32_t> groups, std::size_t group_count,
                      const EvaluationContext&) = 0;
  /// One value per group. Called once.
  virtual ColumnPtr finish(std::size_t group_count, const EvaluationContext&) = 0;
  virtual std::size_t memory() const = 0;
};

struct AggregateFunction {
  std::string_view name;
  std::vector<Oid> arguments;  // none: count(*)
  Oid result;                  // kAnyElement: the (first) argument's type
  std::unique_ptr<Aggregator> (*make)(std::span<const Type> arguments, Type result);
};

/// A function in FROM or a set-returning call: yields rows in bounded pieces.
class RowSource {
 public:
  virtual ~RowSource() = default;
  /// At most `limit` rows; an empty batch is the end.
  virtual Batch next(std::size_t limit) = 0;
};

/// A column of the rows that a function of type record gives: of a column definition list, or of the composite type it returns.
struct ResultColumn {
  std::string name;
  Type type;
};

struct TableFunction {
  std::string_view name;
  std::vector<Oid> arguments;
  std::vector<std::pair<std::string_view, Oid>> columns;
  std::unique_ptr<RowSource> (*open)(std::span<const Datum> arguments, const EvaluationContext&);
  /// Instead of `open`: a function whose columns are the call's.
  std::unique_ptr<RowSource> (*open_record)(std::span<const Datum> arguments, std::span<const ResultColumn> columns,
                                            const EvaluationContext&) = nullptr;
};

/// pg_cast.castcontext.
enum class CastContext : char { kImplicit = 'i', kAssignment = 'a', kExplicit = 'e' };

/// One row of pg_cast. Casts through text forms (I/O conversion) and to the same type's modifier are not listed.
struct CastFunction {
  Oid source;
  Oid target;
  CastContext context;
  Kernel kernel;  // nullptr: binary compatible, only the label changes
  Volatility volatility = Volatility::kImmutable;
};

/// All overloads of a name (schema pg_catalog), as pointers into the table: valid for the life of the process.
std::span<const ScalarFunction* const> find_functions(std::string_view name);
std::span<const AggregateFunction* const> find_aggregates(std::string_view name);
std::span<const TableFunction* const> find_table_functions(std::string_view name);
const CastFunction* find_cast(Oid source, Oid target);
std::span<const ScalarFunction> all_functions();
std::span<const AggregateFunction> all_aggregates();
std::span<const TableFunction> all_table_functions();
std::span<const CastFunction> all_casts();

}  // namespace redquel::sql
