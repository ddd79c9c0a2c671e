#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "sql/functions/function.h"
#include "sql/types/type.h"

namespace redquel::sql {

/// Resolution of a function, operator, cast or type from a name and argument types: PostgreSQL's manual, chapters 10.2 to 10.5. Literals
/// and untyped parameters have the type unknown. Every error carries `offset`.

/// A call with its overload chosen. Coerce argument i to `arguments[i]` (CastContext::kImplicit) before building the
/// FunctionCall.
struct ResolvedFunction {
  /// nullptr: the call is a cast written as a function, date('2020-01-01'); coerce the argument to `result` explicitly.
  const ScalarFunction* function = nullptr;
  std::vector<Type> arguments;  // polymorphic and variadic types replaced; "any" leaves the type as it is
  Type result;
};

struct ResolvedAggregate {
  const AggregateFunction* function = nullptr;
  std::vector<Type> arguments;
  Type result;
};

struct ResolvedTableFunction {
  const TableFunction* function = nullptr;
  std::vector<Type> arguments;
};

/// 42883 "function f(integer, unknown) does not exist", 42725 "… is not unique".
/// `shown` is the name in messages where it is another one.
ResolvedFunction resolve_function(std::string_view name, std::span<const Type> arguments, std::optional<std::uint32_t> offset = {},
                                  std::string_view shown = {});
/// Like resolve_function(), but returns nullopt instead of 42883.
std::optional<ResolvedFunction> try_resolve_function(std::string_view name, std::span<const Type> arguments,
                                                     std::optional<std::uint32_t> offset = {}, std::string_view shown = {});
/// Resolves a call among functions that are not in the table. `name` is for messages.
ResolvedFunction resolve_overload(std::string_view name, std::span<const ScalarFunction* const> overloads, std::span<const Type> arguments,
                                  std::optional<std::uint32_t> offset = {});
/// Prefix operators have no left operand. 42883 "operator does not exist: integer + boolean", 42725.
ResolvedFunction resolve_operator(std::string_view name, std::optional<Type> left, Type right,
                                  std::optional<std::uint32_t> offset = {});
ResolvedAggregate resolve_aggregate(std::string_view name, std::span<const Type> arguments,
                                    std::optional<std::uint32_t> offset = {});
ResolvedTableFunction resolve_table_function(std::string_view name, std::span<const Type> arguments,
                                             std::optional<std::uint32_t> offset = {}, std::string_view shown = {});

/// Returns true if a function, aggregate or table function has this name. (Its kind: find_functions, find_aggregates, …)
bool function_name_exists(std::string_view name);

/// The operator = of a type, as DISTINCT, GROUP BY, IN and joins use it. 42883 "could not identify an equality operator
/// for type …".
const ScalarFunction& equality_operator(Type type, std::optional<std::uint32_t> offset = {});
/// The operator < (or >), as ORDER BY uses it. 42883 "could not identify an ordering operator for type …".
const ScalarFunction& ordering_operator(Type type, bool descending, std::optional<std::uint32_t> offset = {});

/// The type of UNION, CASE, COALESCE, VALUES, IN … over these inputs (10.5); unknown everywhere gives text. `construct`
/// is the word in 42804 "CASE types integer and boolean cannot be matched"; `offsets` (empty or one per type) place the
/// error at its input. The modifier is kept when all inputs agree.
Type resolve_common_type(std::span<const Type> types, std::string_view construct,
                         std::span<const std::optional<std::uint32_t>> offsets = {});

/// The conversion from one type to another, modifiers aside.
struct CastPath {
  enum class Method : std::uint8_t { kNone, kRelabel, kFunction, kInputOutput };
  Method method;                           // kNone: same type
  const CastFunction* function = nullptr;  // kFunction
};
/// nullopt: there is no such cast in this context. Unknown reaches every type.
std::optional<CastPath> find_cast_path(Oid source, Oid target, CastContext context);
inline bool can_coerce(Type source, Type target, CastContext context) {
  return find_cast_path(source.oid, target.oid, context).has_value();
}

}  // namespace redquel::sql
