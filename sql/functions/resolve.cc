#include "sql/functions/resolve.h"

#include <string>

#include "sql/error.h"
#include "sql/functions/array_casts.h"
#include "sql/functions/candidates.h"
#include "sql/functions/left_out.h"
#include "sql/functions/object_names.h"
#include "sql/functions/polymorphic.h"
#include "sql/functions/range_functions.h"
#include "sql/functions/row_functions.h"
#include "sql/functions/window_function.h"
#include "sql/sqlstate.h"
#include "sql/types/array_value.h"
#include "sql/types/geometry.h"
#include "sql/types/range_value.h"
#include "sql/types/row_value.h"
#include "sql/types/type_oids.h"
#include "sql/types/user_types.h"

namespace redquel::sql {
namespace {

using Offset = std::optional<std::uint32_t>;

std::vector<Oid> oids_of(std::span<const Type> types) {
  std::vector<Oid> oids;
  for (Type type : types) oids.push_back(type.oid);
  return oids;
}

/// "f(integer, unknown)"
std::string call_text(std::string_view name, std::span<const Type> arguments) {
  std::string text(name);
  text += '(';
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (i > 0) text += ", ";
    text += format_type(Type{arguments[i].oid});
  }
  return text + ')';
}

/// "integer + boolean", "- boolean"
std::string operator_text(std::string_view name, std::span<const Type> operands) {
  std::string text;
  if (operands.size() == 2) text = format_type(Type{operands[0].oid}) + " ";
  text += name;
  return text + " " + format_type(Type{operands.back().oid});
}

/// 42883, or 0A000 for what PostgreSQL has and redquel has not.
SqlError undefined_function(std::string_view name, std::string_view shown, std::span<const Type> arguments, Offset offset) {
  if (is_left_out_function(name)) return not_supported(std::string(name) + "()", offset);
  return SqlError(sqlstate::kUndefinedFunction, "function " + call_text(shown.empty() ? name : shown, arguments) + " does not exist")
      .hint("No function matches the given name and argument types. You might need to add explicit type casts.")
      .at(offset);
}
SqlError ambiguous_function(const std::string& call, Offset offset) {
  return SqlError(sqlstate::kAmbiguousFunction, "function " + call + " is not unique")
      .hint("Could not choose a best candidate function. You might need to add explicit type casts.")
      .at(offset);
}
SqlError undefined_operator(const std::string& call, bool binary, Offset offset) {
  return SqlError(sqlstate::kUndefinedFunction, "operator does not exist: " + call)
      .hint(binary
                ? "No operator matches the given name and argument types. You might need to add explicit type casts."
                : "No operator matches the given name and argument type. You might need to add an explicit type cast.")
      .at(offset);
}
SqlError ambiguous_operator(const std::string& call, Offset offset) {
  return SqlError(sqlstate::kAmbiguousFunction, "operator is not unique: " + call)
      .hint("Could not choose a best candidate operator. You might need to add explicit type casts.")
      .at(offset);
}

/// 42804 for a value whose type is itself a placeholder (NULL::anyrange): it says nothing about the types of a call.
void check_actual_types(std::span<const Oid> given) {
  for (const Oid type : given) {
    if (!is_polymorphic(type)) continue;
    const std::string name = format_type(Type{type});
    const bool is_array = type == oid::kAnyArray || type == oid::kAnyCompatibleArray;
    const bool is_range = type == oid::kAnyRange || type == oid::kAnyCompatibleRange;
    const bool is_multirange = type == oid::kAnyMultirange || type == oid::kAnyCompatibleMultirange;
    if (is_array) throw SqlError(sqlstate::kDatatypeMismatch, "argument declared " + name + " is not an array but type " + name);
    if (is_range) throw SqlError(sqlstate::kDatatypeMismatch, "argument declared " + name + " is not a range type but type " + name);
    if (is_multirange) throw SqlError(sqlstate::kDatatypeMismatch, "argument declared " + name + " is not a multirange type but type " + name);
    throw SqlError(sqlstate::kDatatypeMismatch, "could not determine polymorphic type because input has type " + name);
  }
}

template <class Function>
bool is_variadic(const Function& function) {
  if constexpr (requires { function.variadic; }) {
    return function.variadic;
  } else {
    return false;
  }
}

/// The declared types, the last one repeated for a variadic function; nullopt where the number of arguments does not
/// fit.
template <class Function>
std::optional<std::vector<Oid>> signature_for(const Function& function, std::size_t count) {
  std::vector<Oid> signature = function.arguments;
  if (signature.size() == count) return signature;
  if (!is_variadic(function) || count < signature.size()) return std::nullopt;
  signature.resize(count, signature.back());
  return signature;
}

template <class Function>
struct Overload {
  Choice::Outcome outcome;
  const Function* function = nullptr;
  std::vector<Oid> signature;
};

template <class Function>
Overload<Function> choose(std::span<const Function* const> overloads, std::span<const Oid> arguments) {
  check_actual_types(arguments);
  std::vector<const Function*> functions;
  std::vector<std::vector<Oid>> signatures;
  for (const Function* function : overloads) {
    if (std::optional<std::vector<Oid>> signature = signature_for(*function, arguments.size())) {
      functions.push_back(function);
      signatures.push_back(*std::move(signature));
    }
  }
  const Choice choice = choose_candidate(signatures, arguments);
  if (choice.outcome != Choice::Outcome::kFound) return {choice.outcome};
  return {choice.outcome, functions[choice.index], signatures[choice.index]};
}

/// The types of a call's polymorphic parameters. Throws 42804 if only untyped literals determine one, 42704 if a required array type does
/// not exist.
class BoundSignature {
 public:
  BoundSignature(const std::vector<Oid>& signature, std::span<const Type> arguments) : signature_(signature), arguments_(arguments) {
    types_ = match_polymorphic(signature, oids_of(arguments)).value_or(PolymorphicTypes{});
  }

  std::vector<Type> arguments() const {
    std::vector<Type> bound;
    for (std::size_t i = 0; i < signature_.size(); ++i) {
      bound.push_back(signature_[i] == oid::kAny ? arguments_[i] : actual(signature_[i]));
    }
    return bound;
  }

  /// If no parameter has such a type, the result is the placeholder itself: array_in() returns anyarray.
  Type result(Oid declared) const {
    const bool says_nothing = is_polymorphic(declared) && std::ranges::none_of(signature_, is_polymorphic);
    return says_nothing ? Type{declared} : actual(declared);
  }

  Type actual(Oid declared) const {
    const Oid oid = types_.actual(declared);
    if (oid != 0) return Type{oid};
    const Oid element = declared == oid::kAnyCompatibleArray ? types_.compatible : types_.element;
    if (element != 0) {
      throw SqlError(sqlstate::kUndefinedObject, "could not find array type for data type " + format_type(Type{element}));
    }
    throw SqlError(sqlstate::kDatatypeMismatch, "could not determine polymorphic type because input has type unknown");
  }

 private:
  const std::vector<Oid>& signature_;
  std::span<const Type> arguments_;
  PolymorphicTypes types_;
};

/// A cast written as a call: int4('7'), date(now()).
std::optional<Type> cast_target(std::string_view name, std::span<const Type> arguments) {
  if (arguments.size() != 1) return std::nullopt;
  const TypeInfo* target = find_type(name);
  if (target == nullptr || target->name != name || target->category == TypeCategory::kPseudo) return std::nullopt;
  // name(row) and text(row) are fields of the row, never the row as a text (manual 10.3, step 3).
  if (is_row_type(arguments[0].oid) && target->category == TypeCategory::kString) return std::nullopt;
  if (!find_cast_path(arguments[0].oid, target->oid, CastContext::kExplicit)) return std::nullopt;
  return Type{target->oid};
}

}  // namespace

std::optional<ResolvedFunction> try_resolve_function(std::string_view name, std::span<const Type> arguments, Offset offset,
                                                     std::string_view shown) {
  const std::vector<Oid> given = oids_of(arguments);
  const auto overload = choose(find_functions(name), std::span<const Oid>(given));
  const bool exact = overload.function != nullptr && overload.signature == given;
  if (!exact) {
    if (std::optional<Type> target = cast_target(name, arguments)) return ResolvedFunction{nullptr, {*target}, *target};
  }
  if (overload.outcome == Choice::Outcome::kNone) return std::nullopt;
  if (overload.outcome == Choice::Outcome::kAmbiguous) throw ambiguous_function(call_text(shown.empty() ? name : shown, arguments), offset);
  const BoundSignature bound(overload.signature, arguments);
  return ResolvedFunction{overload.function, bound.arguments(), bound.result(overload.function->result)};
}

ResolvedFunction resolve_function(std::string_view name, std::span<const Type> arguments, Offset offset, std::string_view shown) {
  std::optional<ResolvedFunction> resolved = try_resolve_function(name, arguments, offset, shown);
  if (!resolved) throw undefined_function(name, shown, arguments, offset);
  return *std::move(resolved);
}

ResolvedFunction resolve_overload(std::string_view name, std::span<const ScalarFunction* const> overloads, std::span<const Type> arguments,
                                  Offset offset) {
  const std::vector<Oid> given = oids_of(arguments);
  const auto overload = choose(overloads, std::span<const Oid>(given));
  if (overload.outcome == Choice::Outcome::kNone) throw undefined_function(name, {}, arguments, offset);
  if (overload.outcome == Choice::Outcome::kAmbiguous) throw ambiguous_function(call_text(name, arguments), offset);
  const BoundSignature bound(overload.signature, arguments);
  return {overload.function, bound.arguments(), bound.result(overload.function->result)};
}

ResolvedFunction resolve_operator(std::string_view name, std::optional<Type> left, Type right, Offset offset) {
  std::vector<Type> operands;
  if (left) operands.push_back(*left);
  operands.push_back(right);
  const std::vector<Oid> given = oids_of(operands);

  check_actual_types(given);
  // An untyped literal beside a typed operand is first taken for that type.
  std::vector<Oid> assumed = given;
  if (assumed.size() == 2 && assumed[0] == oid::kUnknown) assumed[0] = assumed[1];
  if (assumed.size() == 2 && assumed[1] == oid::kUnknown) assumed[1] = assumed[0];
  const std::span<const ScalarFunction* const> overloads = find_functions(name);
  for (const ScalarFunction* function : overloads) {
    if (function->arguments == assumed) {
      return {function, {assumed.begin(), assumed.end()}, Type{function->result}};
    }
  }

  const auto overload = choose(overloads, std::span<const Oid>(given));
  if (overload.outcome == Choice::Outcome::kNone) {
    throw undefined_operator(operator_text(name, operands), left.has_value(), offset);
  }
  if (overload.outcome == Choice::Outcome::kAmbiguous) {
    throw ambiguous_operator(operator_text(name, operands), offset);
  }
  const BoundSignature bound(overload.signature, operands);
  return {overload.function, bound.arguments(), bound.result(overload.function->result)};
}

ResolvedAggregate resolve_aggregate(std::string_view name, std::span<const Type> arguments, Offset offset) {
  const std::vector<Oid> given = oids_of(arguments);
  const auto overload = choose(find_aggregates(name), std::span<const Oid>(given));
  if (overload.outcome == Choice::Outcome::kNone) throw undefined_function(name, {}, arguments, offset);
  if (overload.outcome == Choice::Outcome::kAmbiguous) throw ambiguous_function(call_text(name, arguments), offset);
  const BoundSignature bound(overload.signature, arguments);
  return {overload.function, bound.arguments(), bound.result(overload.function->result)};
}

ResolvedWindowFunction resolve_window_function(std::string_view name, std::span<const Type> arguments, Offset offset) {
  std::vector<Type> given(arguments.begin(), arguments.end());
  if (given.size() == 3 && given[0].oid != given[2].oid) {
    const Type ends[] = {given[0], given[2]};
    try {
      given[0] = given[2] = resolve_common_type(ends, name);
    } catch (const SqlError&) {
      throw undefined_function(name, {}, arguments, offset);
    }
  }
  const std::vector<const WindowFunction*> overloads = find_window_functions(name);
  const std::vector<Oid> types = oids_of(given);
  const auto overload = choose(std::span<const WindowFunction* const>(overloads), std::span<const Oid>(types));
  if (overload.outcome != Choice::Outcome::kFound) throw undefined_function(name, {}, arguments, offset);
  const BoundSignature bound(overload.signature, given);
  return {overload.function, bound.arguments(), bound.result(overload.function->result)};
}

ResolvedTableFunction resolve_table_function(std::string_view name, std::span<const Type> arguments, Offset offset, std::string_view shown) {
  std::vector<Oid> given = oids_of(arguments);
  for (Oid& oid : given) oid = array_under(Type{oid}).oid;  // elements of a domain are of the type under it
  const auto overload = choose(find_table_functions(name), std::span<const Oid>(given));
  if (overload.outcome == Choice::Outcome::kNone) throw undefined_function(name, shown, arguments, offset);
  if (overload.outcome == Choice::Outcome::kAmbiguous) throw ambiguous_function(call_text(shown.empty() ? name : shown, arguments), offset);
  const BoundSignature bound(overload.signature, arguments);
  return {overload.function, bound.arguments()};
}

bool function_name_exists(std::string_view name) {
  return !find_functions(name).empty() || !find_aggregates(name).empty() || !find_table_functions(name).empty() ||
         !find_window_functions(name).empty();
}

namespace {

/// The type whose operators a type without its own uses: binary compatible.
Oid operator_type(Oid type) {
  const TypeInfo* info = find_type(type);
  return info != nullptr && info->operators != 0 ? info->operators : type;
}

const ScalarFunction* find_own_operator(std::string_view name, Type type) {
  const Oid own = operator_type(type.oid);
  if (is_geometric_type(own)) return nullptr;  // = of two boxes is about their areas
  if (is_array_type(own) && find_own_operator(name, Type{type_info(own).element}) == nullptr) return nullptr;
  const std::vector<Oid> given(2, own);
  const ScalarFunction* generic = nullptr;
  for (const ScalarFunction* function : find_functions(name)) {
    if (function->arguments == given) return function;
    const bool polymorphic = function->arguments.size() == 2 && is_polymorphic(function->arguments[0]);
    if (polymorphic && match_polymorphic(function->arguments, given)) generic = function;
  }
  return generic;
}

}  // namespace

const ScalarFunction& equality_operator(Type type, Offset offset) {
  if (const ScalarFunction* function = find_own_operator("=", type)) return *function;
  throw SqlError(sqlstate::kUndefinedFunction, "could not identify an equality operator for type " + format_type(Type{type.oid})).at(offset);
}

const ScalarFunction& ordering_operator(Type type, bool descending, Offset offset) {
  if (const ScalarFunction* function = find_own_operator(descending ? ">" : "<", type)) return *function;
  throw SqlError(sqlstate::kUndefinedFunction, "could not identify an ordering operator for type " + format_type(Type{type.oid}))
      .hint("Use an explicit ordering operator or modify the query.")
      .at(offset);
}

namespace {

/// The first input, replaced by later ones that it converts to. `conflict` is called with the position of an input of another
/// category; the search ends where it returns.
template <class Conflict>
std::optional<Type> common_type(std::span<const Type> types, const Conflict& conflict) {
  Type common = types.front();
  bool same_modifier = true;
  for (std::size_t i = 1; i < types.size(); ++i) {
    const Type type = types[i];
    same_modifier = same_modifier && type == common;
    if (type.oid == oid::kUnknown || type.oid == common.oid) continue;
    if (common.oid == oid::kUnknown) {
      common = type;
    } else if (category_of(type.oid) != category_of(common.oid)) {
      conflict(common, i);
      return std::nullopt;
    } else if (const TypeInfo& info = type_info(common.oid); !info.preferred &&
                                                             can_coerce(common, type, CastContext::kImplicit) &&
                                                             !can_coerce(type, common, CastContext::kImplicit)) {
      common = type;
    }
  }
  if (common.oid == oid::kUnknown) return kText;
  return same_modifier ? common : Type{common.oid};
}

}  // namespace

std::optional<Type> find_common_type(std::span<const Type> types) {
  return common_type(types, [](Type, std::size_t) {});
}

Type resolve_common_type(std::span<const Type> types, std::string_view construct, std::span<const Offset> offsets) {
  return *common_type(types, [&](Type common, std::size_t i) {
    throw SqlError(sqlstate::kDatatypeMismatch, std::string(construct) + " types " + format_type(Type{common.oid}) + " and " +
                                                    format_type(Type{types[i].oid}) + " cannot be matched")
        .at(i < offsets.size() ? offsets[i] : Offset{});
  });
}

std::optional<CastPath> find_cast_path(Oid source, Oid target, CastContext context) {
  using Method = CastPath::Method;
  if (source == target) return CastPath{Method::kNone};
  if (source == oid::kUnknown) return CastPath{Method::kInputOutput};
  const auto strength = [](CastContext c) {
    return c == CastContext::kImplicit ? 0 : c == CastContext::kAssignment ? 1 : 2;
  };
  if (const CastFunction* function = find_cast(source, target)) {
    if (strength(context) < strength(function->context)) return std::nullopt;
    return CastPath{function->kernel == nullptr ? Method::kRelabel : Method::kFunction, function};
  }
  if (context == CastContext::kExplicit && source >= kFirstUserOid && is_range_type(source) && multirange_over(source) == target) {
    return CastPath{Method::kFunction, &multirange_cast()};
  }
  // An array goes where its elements go.
  const TypeInfo *from = find_type(source), *to = find_type(target);
  if (from != nullptr && to != nullptr && is_array_type(source) && is_array_type(target) && !is_vector_type(target)) {
    const std::optional<CastPath> element = find_cast_path(from->element, to->element, context);
    if (!element) return std::nullopt;
    // For a single address cidr prints the mask, inet does not.
    const bool same_texts = element->method == Method::kNone || (element->method == Method::kRelabel && from->element != oid::kCidr);
    if (same_texts && !is_vector_type(source)) return CastPath{Method::kRelabel};
    const bool stable = element->function == nullptr || element->function->volatility != Volatility::kImmutable;
    return CastPath{Method::kFunction, &array_cast(stable)};
  }
  if ((source == oid::kRecord && is_composite_type(target)) || (target == oid::kRecord && is_composite_type(source))) {
    return CastPath{Method::kFunction, &row_cast()};
  }
  if (context != CastContext::kImplicit && category_of(target) == TypeCategory::kString) {
    return CastPath{Method::kInputOutput};
  }
  if (context == CastContext::kExplicit && category_of(source) == TypeCategory::kString) {
    return CastPath{Method::kInputOutput};
  }
  return std::nullopt;
}

}  // namespace redquel::sql
