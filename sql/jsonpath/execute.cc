#include "sql/jsonpath/execute.h"

#include <fmt/format.h>

#include <cmath>

#include "sql/error.h"
#include "sql/interrupts.h"
#include "sql/jsonpath/datetime.h"
#include "sql/jsonpath/object_number.h"
#include "sql/sqlstate.h"
#include "sql/stack_depth.h"
#include "sql/types/jsonb.h"
#include "sql/types/number_text.h"
#include "sql/types/numeric.h"

namespace redquel::sql {
namespace {

using Item = JsonPathItem;
using Kind = Item::Kind;
using Value = JsonPathValue;
using Values = JsonPathValues;

/// The result of a step. kError: an error in the data, suppressed.
enum class Outcome : std::uint8_t { kFound, kNone, kError };
/// SQL/JSON predicates have three values.
enum class Truth : std::uint8_t { kFalse, kTrue, kUnknown };

template <class T>
class Scoped {
 public:
  Scoped(T& place, T value) : place_(place), saved_(place) { place = value; }
  ~Scoped() { place_ = saved_; }
  Scoped(const Scoped&) = delete;
  Scoped& operator=(const Scoped&) = delete;

 private:
  T& place_;
  T saved_;
};

/// About as much work as walking so many bytes.
constexpr std::size_t kStepWork = 100;

class Run {
 public:
  explicit Run(const JsonPathQuery& query)
      : query_(query), lax_(query.path.lax), ignores_structure_(lax_), throws_(!query.silent), current_{query.document} {
    if (query.variables[0] == '{') return;
    throw SqlError(sqlstate::kInvalidParameterValue, "\"vars\" argument is not an object")
        .detail("Jsonpath parameters should be encoded as key-value pairs of \"vars\" object.");
  }

  Outcome execute(Values* found) {
    const Value root{query_.document};
    if (lax_ || found != nullptr) return step(*query_.path.root, root, found, lax_);
    // Strict mode must see all values to know that there is no error.
    Values all;
    const Outcome outcome = step(*query_.path.root, root, &all, lax_);
    if (outcome == Outcome::kError) return outcome;
    return all.empty() ? Outcome::kNone : Outcome::kFound;
  }

 private:
  // ---- values and errors --------------------------------------------------------------------------------------------

  Value keep(std::string text) { return {texts_.emplace_back(std::move(text))}; }
  Value keep(const Numeric& number) { return keep(number.to_string()); }
  Value keep_string(std::string_view text) {
    std::string quoted;
    append_json_string(text, quoted);
    return keep(std::move(quoted));
  }

  template <class... Arguments>
  Outcome error(std::string_view sqlstate, fmt::format_string<Arguments...> format, Arguments&&... arguments) const {
    if (throws_) throw SqlError(sqlstate, fmt::format(format, std::forward<Arguments>(arguments)...));
    return Outcome::kError;
  }
  template <class... Arguments>
  Outcome structure_error(std::string_view sqlstate, fmt::format_string<Arguments...> format, Arguments&&... arguments) const {
    if (ignores_structure_) return Outcome::kNone;
    return error(sqlstate, format, std::forward<Arguments>(arguments)...);
  }

  // ---- steps --------------------------------------------------------------------------------------------------------

  /// `found` null: only whether there is any.
  Outcome next(const Item& item, const Value& value, Values* found) { return pass(item.next.get(), value, found); }
  Outcome pass(const Item* following, const Value& value, Values* found) {
    if (following != nullptr) return step(*following, value, found, lax_);
    if (found != nullptr) found->push_back(value);
    return Outcome::kFound;
  }

  Outcome step(const Item& item, const Value& value, Values* found, bool unwrap) {
    check_stack_depth();
    meter_.add(kStepWork);
    const bool is_array = value.is(JsonKind::kArray), is_object = value.is(JsonKind::kObject);
    switch (item.kind) {
      case Kind::kNull:
        return next(item, {"null"}, found);
      case Kind::kTrue:
        return next(item, {"true"}, found);
      case Kind::kFalse:
        return next(item, {"false"}, found);
      case Kind::kNumber:
        return next(item, {item.text}, found);
      case Kind::kString:
        return next(item, keep_string(item.text), found);
      case Kind::kVariable:
        return next(item, variable(item.text), found);
      case Kind::kRoot:
        return next(item, {query_.document}, found);
      case Kind::kCurrent:
        return next(item, current_, found);
      case Kind::kLast:
        return next(item, keep(std::to_string(array_size_ - 1)), found);
      case Kind::kKey:
        if (is_object) return member(item, value, found);
        if (unwrap && is_array) return each_element(item, value, found, false);
        return structure_error(sqlstate::kSqlJsonMemberNotFound, "jsonpath member accessor can only be applied to an object");
      case Kind::kAnyKey:
        if (is_object) return descend(item.next.get(), value, found, 1, 1, 1, false, lax_);
        if (unwrap && is_array) return each_element(item, value, found, false);
        return structure_error(sqlstate::kSqlJsonObjectNotFound, "jsonpath wildcard member accessor can only be applied to an object");
      case Kind::kAnyElement:
        if (is_array) return descend(item.next.get(), value, found, 1, 1, 1, false, lax_);
        if (lax_) return next(item, value, found);
        return structure_error(sqlstate::kSqlJsonArrayNotFound, "jsonpath wildcard array accessor can only be applied to an array");
      case Kind::kSubscripts:
        if (is_array || lax_) return subscripts(item, value, found);
        return structure_error(sqlstate::kSqlJsonArrayNotFound, "jsonpath array accessor can only be applied to an array");
      case Kind::kAnyLevel:
        return any_level(item, value, found);
      case Kind::kFilter: {
        if (unwrap && is_array) return each_element(item, value, found, false);
        const Scoped current(current_, value);
        if (test(*item.left, value) != Truth::kTrue) return Outcome::kNone;
        break;
      }
      case Kind::kMethod:
        return method(item, value, found, unwrap);
      case Kind::kDatetime:
        if (unwrap && is_array) return each_element(item, value, found, false);
        return datetime(item, value, found);
      case Kind::kPlus:
      case Kind::kMinus:
        return sign(item, value, found);
      case Kind::kAdd:
      case Kind::kSubtract:
      case Kind::kMultiply:
      case Kind::kDivide:
      case Kind::kModulo:
        return arithmetic(item, value, found);
      default: {
        const Truth truth = test(item, value);
        return next(item, {truth == Truth::kUnknown ? "null" : truth == Truth::kTrue ? "true" : "false"}, found);
      }
    }
    return next(item, value, found);
  }

  Value variable(std::string_view name) const {
    const std::string_view value = jsonb_member(query_.variables, name);
    if (value.empty()) throw SqlError(sqlstate::kUndefinedObject, fmt::format("could not find jsonpath variable \"{}\"", name));
    return {value};
  }

  Outcome member(const Item& item, const Value& value, Values* found) {
    const std::string_view member = jsonb_member(value.text, item.text);
    if (!member.empty()) return next(item, {member}, found);
    return structure_error(sqlstate::kSqlJsonMemberNotFound, "JSON object does not contain key \"{}\"", item.text);
  }

  /// The item applied to each element of an array.
  Outcome each_element(const Item& item, const Value& array, Values* found, bool unwrap_elements) {
    return descend(&item, array, found, 1, 1, 1, false, unwrap_elements);
  }

  /// The values from `first` to `last` levels below a container, each given to `item` (or found where there is none).
  Outcome descend(const Item* item, const Value& container, Values* found, std::uint32_t level, std::uint32_t first,
                  std::uint32_t last, bool ignores_structure, bool unwrap) {
    check_stack_depth();
    Outcome outcome = Outcome::kNone;
    if (level > last) return outcome;
    const bool leaves_only = first == Item::kLastLevel && last == Item::kLastLevel;
    for (JsonReader reader(container.text); reader.next();) {
      const Value value{reader.value()};
      if (level >= first || (leaves_only && !value.is_container())) {
        if (item != nullptr) {
          const Scoped ignoring(ignores_structure_, ignores_structure_ || ignores_structure);
          outcome = step(*item, value, found, unwrap);
        } else {
          outcome = pass(nullptr, value, found);
        }
        if (ends(outcome, found)) return outcome;
      }
      if (level < last && value.is_container()) {
        outcome = descend(item, value, found, level + 1, first, last, ignores_structure, unwrap);
        if (ends(outcome, found)) return outcome;
      }
    }
    return outcome;
  }
  static bool ends(Outcome outcome, const Values* found) {
    return outcome == Outcome::kError || (outcome == Outcome::kFound && found == nullptr);
  }

  Outcome any_level(const Item& item, const Value& value, Values* found) {
    Outcome outcome = Outcome::kNone;
    if (item.first == 0) {
      const Scoped ignoring(ignores_structure_, true);
      outcome = next(item, value, found);
      if (outcome == Outcome::kFound && found == nullptr) return outcome;
    }
    if (!value.is_container()) return outcome;
    return descend(item.next.get(), value, found, 1, item.first, item.last, true, lax_);
  }

  Outcome subscripts(const Item& item, const Value& value, Values* found) {
    const bool single = !value.is(JsonKind::kArray);
    const auto size = single ? 1 : static_cast<std::int32_t>(json_count(value.text));
    const Scoped sized(array_size_, size);
    Outcome outcome = Outcome::kNone;
    for (const Item::Subscript& subscript : item.subscripts) {
      std::int32_t from = 0, to = 0;
      if (index(*subscript.from, value, from) == Outcome::kError) return Outcome::kError;
      to = from;
      if (subscript.to && index(*subscript.to, value, to) == Outcome::kError) return Outcome::kError;
      if (!ignores_structure_ && (from < 0 || from > to || to >= size)) {
        return error(sqlstate::kInvalidSqlJsonSubscript, "jsonpath array subscript is out of bounds");
      }
      outcome = Outcome::kNone;
      std::int32_t at = 0;
      const auto take = [&](std::string_view element) {
        if (at >= from && at <= to) outcome = next(item, {element}, found);
        ++at;
        return !ends(outcome, found);
      };
      if (single) {
        if (value.datetime != nullptr) {
          if (from <= 0 && to >= 0) outcome = next(item, value, found);
        } else {
          take(value.text);
        }
      } else {
        for (JsonReader reader(value.text); at <= to && reader.next();) {
          if (!take(reader.value())) break;
        }
      }
      if (ends(outcome, found)) return outcome;
    }
    return outcome;
  }

  Outcome index(const Item& item, const Value& value, std::int32_t& result) {
    Values found;
    const Outcome outcome = step(item, value, &found, lax_);
    if (outcome == Outcome::kError) return outcome;
    if (found.size() != 1 || !found[0].is(JsonKind::kNumber)) {
      return error(sqlstate::kInvalidSqlJsonSubscript, "jsonpath array subscript is not a single numeric value");
    }
    try {
      result = Numeric::parse(found[0].text).truncated(0).to_int32();
    } catch (const SqlError&) {
      return error(sqlstate::kInvalidSqlJsonSubscript, "jsonpath array subscript is out of integer range");
    }
    return Outcome::kFound;
  }

  // ---- arithmetic ---------------------------------------------------------------------------------------------------

  /// The values of an operand, arrays among them replaced by their elements in lax mode.
  Outcome operand(const Item& item, const Value& value, bool unwrap, Values& found) {
    if (!unwrap || !lax_) return step(item, value, &found, lax_);
    Values whole;
    const Outcome outcome = step(item, value, &whole, lax_);
    if (outcome == Outcome::kError) return outcome;
    for (const Value& each : whole) {
      if (each.is(JsonKind::kArray)) {
        descend(nullptr, each, &found, 1, 1, 1, false, false);
      } else {
        found.push_back(each);
      }
    }
    return Outcome::kFound;
  }

  Outcome arithmetic(const Item& item, const Value& value, Values* found) {
    Values left, right;
    if (operand(*item.left, value, true, left) == Outcome::kError) return Outcome::kError;
    if (operand(*item.right, value, true, right) == Outcome::kError) return Outcome::kError;
    for (const auto& [side, values] : {std::pair("left", &left), std::pair("right", &right)}) {
      if (values->size() == 1 && values->front().is(JsonKind::kNumber)) continue;
      return error(sqlstate::kSingletonSqlJsonItemRequired, "{} operand of jsonpath operator {} is not a single numeric value", side,
                   jsonpath_operator(item.kind));
    }
    Numeric result;
    try {
      result = compute(item.kind, Numeric::parse(left[0].text), Numeric::parse(right[0].text));
    } catch (const SqlError&) {
      if (throws_) throw;
      return Outcome::kError;
    }
    return next(item, keep(result), found);
  }

  static Numeric compute(Kind kind, const Numeric& a, const Numeric& b) {
    switch (kind) {
      case Kind::kAdd:
        return a + b;
      case Kind::kSubtract:
        return a - b;
      case Kind::kMultiply:
        return a * b;
      case Kind::kDivide:
        return a / b;
      default:
        return a % b;
    }
  }

  Outcome sign(const Item& item, const Value& value, Values* found) {
    Values operands;
    if (operand(*item.left, value, true, operands) == Outcome::kError) return Outcome::kError;
    Outcome result = Outcome::kNone;
    for (const Value& each : operands) {
      const bool is_number = each.is(JsonKind::kNumber);
      if (!item.next && found == nullptr) {
        if (is_number) return Outcome::kFound;
        continue;
      }
      if (!is_number) {
        return error(sqlstate::kSqlJsonNumberNotFound, "operand of unary jsonpath operator {} is not a numeric value",
                     jsonpath_operator(item.kind));
      }
      const Value made = item.kind == Kind::kMinus ? keep(Numeric::parse(each.text).negated()) : each;
      const Outcome outcome = next(item, made, found);
      if (ends(outcome, found)) return outcome;
      if (outcome == Outcome::kFound) result = outcome;
    }
    return result;
  }

  // ---- methods ------------------------------------------------------------------------------------------------------

  Outcome method(const Item& item, const Value& value, Values* found, bool unwrap) {
    const std::string_view name = item.text;
    if (name == "type") {
      return next(item, keep_string(value.datetime ? datetime_type_name(*value.datetime) : json_kind_name(value.kind())), found);
    }
    if (name == "size") {
      if (value.is(JsonKind::kArray)) return next(item, keep(std::to_string(json_count(value.text))), found);
      if (lax_) return next(item, {"1"}, found);
      return structure_error(sqlstate::kSqlJsonArrayNotFound, "jsonpath item method .size() can only be applied to an array");
    }
    if (unwrap && value.is(JsonKind::kArray)) return each_element(item, value, found, false);
    if (name == "keyvalue") return key_values(item, value, found);
    if (name == "double") return to_double(item, value, found);
    if (!value.is(JsonKind::kNumber)) {
      return error(sqlstate::kNonNumericSqlJsonItem, "jsonpath item method .{}() can only be applied to a numeric value", name);
    }
    const Numeric number = Numeric::parse(value.text);
    return next(item, keep(name == "abs" ? number.abs() : name == "floor" ? number.floor() : number.ceiling()), found);
  }

  Outcome to_double(const Item& item, const Value& value, Values* found) {
    const bool is_string = value.is(JsonKind::kString);
    if (!is_string && !value.is(JsonKind::kNumber)) {
      return error(sqlstate::kNonNumericSqlJsonItem, "jsonpath item method .double() can only be applied to a string or numeric value");
    }
    double number = NAN;
    try {
      number = parse_float8(is_string ? json_string(value.text) : std::string(value.text));
    } catch (const SqlError&) {
      number = NAN;
    }
    if (!std::isfinite(number)) {
      if (is_string) {
        return error(sqlstate::kNonNumericSqlJsonItem,
                     "string argument of jsonpath item method .double() is not a valid representation of a double precision "
                     "number");
      }
      return error(sqlstate::kNonNumericSqlJsonItem,
                   "numeric argument of jsonpath item method .double() is out of range for type double precision");
    }
    return next(item, is_string ? keep(Numeric::from_double(number)) : value, found);
  }

  Outcome key_values(const Item& item, const Value& value, Values* found) {
    if (!value.is(JsonKind::kObject)) {
      return error(sqlstate::kSqlJsonObjectNotFound, "jsonpath item method .keyvalue() can only be applied to an object");
    }
    const std::int64_t id = object_number(query_.document, value.text);
    Outcome result = Outcome::kNone;
    for (JsonReader reader(value.text); reader.next();) {
      JsonbObject pair;
      pair.add("key", std::string(reader.key()));
      pair.add("value", std::string(reader.value()));
      pair.add("id", std::to_string(id));
      std::string text;
      pair.append_to(text);
      const Outcome outcome = next(item, keep(std::move(text)), found);
      if (ends(outcome, found)) return outcome;
      if (outcome == Outcome::kFound) result = outcome;
    }
    return result;
  }

  Outcome datetime(const Item& item, const Value& value, Values* found) {
    if (!value.is(JsonKind::kString)) {
      return error(sqlstate::kInvalidArgumentForSqlJsonDatetimeFunction, "jsonpath item method .datetime() can only be applied to a string");
    }
    const std::string text = json_string(value.text);
    std::optional<JsonPathDatetime> parsed;
    try {
      parsed = item.left ? parse_datetime(text, item.left->text) : parse_iso_datetime(text);
    } catch (const SqlError&) {
      if (throws_) throw;
      return Outcome::kError;
    }
    if (!parsed) {
      if (!throws_) return Outcome::kError;
      throw SqlError(sqlstate::kInvalidArgumentForSqlJsonDatetimeFunction, fmt::format("datetime format is not recognized: \"{}\"", text))
          .hint("Use a datetime template argument to specify the input data format.");
    }
    const JsonPathDatetime& made = datetimes_.emplace_back(*parsed);
    Value result = keep(datetime_text(made));
    result.datetime = &made;
    return next(item, result, found);
  }

  // ---- predicates ---------------------------------------------------------------------------------------------------

  Truth test(const Item& item, const Value& value) {
    check_stack_depth();
    switch (item.kind) {
      case Kind::kAnd: {
        const Truth left = test(*item.left, value);
        if (left == Truth::kFalse) return left;
        const Truth right = test(*item.right, value);
        return right == Truth::kTrue ? left : right;
      }
      case Kind::kOr: {
        const Truth left = test(*item.left, value);
        if (left == Truth::kTrue) return left;
        const Truth right = test(*item.right, value);
        return right == Truth::kFalse ? left : right;
      }
      case Kind::kNot: {
        const Truth operand = test(*item.left, value);
        if (operand == Truth::kUnknown) return operand;
        return operand == Truth::kTrue ? Truth::kFalse : Truth::kTrue;
      }
      case Kind::kIsUnknown:
        return test(*item.left, value) == Truth::kUnknown ? Truth::kTrue : Truth::kFalse;
      case Kind::kExists: {
        const Scoped silent(throws_, false);
        Values found;
        const Outcome outcome = step(*item.left, value, lax_ ? nullptr : &found, lax_);
        if (outcome == Outcome::kError) return Truth::kUnknown;
        return (lax_ ? outcome == Outcome::kFound : !found.empty()) ? Truth::kTrue : Truth::kFalse;
      }
      default:
        return test_pairs(item, value);
    }
  }

  /// True where it holds for a pair of the operands' values: the first one decides in lax mode.
  Truth test_pairs(const Item& item, const Value& value) {
    const bool compares = item.kind != Kind::kStartsWith && item.kind != Kind::kLikeRegex;
    Values left, right;
    {
      const Scoped silent(throws_, false);
      if (operand(*item.left, value, true, left) == Outcome::kError) return Truth::kUnknown;
      if (item.right && operand(*item.right, value, compares, right) == Outcome::kError) return Truth::kUnknown;
    }
    if (!item.right) right.push_back({"null"});
    bool found = false, unknown = false;
    for (const Value& a : left) {
      for (const Value& b : right) {
        const Truth truth = test_pair(item, a, b);
        if (truth == Truth::kFalse) continue;
        if (truth == Truth::kUnknown && !lax_) return truth;
        if (truth == Truth::kTrue && lax_) return truth;
        (truth == Truth::kTrue ? found : unknown) = true;
      }
    }
    return found ? Truth::kTrue : unknown ? Truth::kUnknown : Truth::kFalse;
  }

  Truth test_pair(const Item& item, const Value& a, const Value& b) {
    if (item.kind == Kind::kLikeRegex) {
      if (!a.is(JsonKind::kString)) return Truth::kUnknown;
      return truth(RegularExpression::compiled(item.text, jsonpath_regex_flags(item.flags))->matches(json_string(a.text)));
    }
    if (item.kind == Kind::kStartsWith) {
      if (!a.is(JsonKind::kString) || !b.is(JsonKind::kString)) return Truth::kUnknown;
      return truth(json_string(a.text).starts_with(json_string(b.text)));
    }
    const bool null_a = a.is(JsonKind::kNull), null_b = b.is(JsonKind::kNull);
    if (null_a != null_b) return truth(item.kind == Kind::kNotEqual);
    if ((a.datetime != nullptr) != (b.datetime != nullptr)) return Truth::kUnknown;
    std::optional<int> order;
    if (a.datetime != nullptr) {
      order = compare_datetimes(*a.datetime, *b.datetime, query_.with_zone, query_.context);
    } else if (a.kind() == b.kind() && !a.is_container()) {
      order = compare_jsonb(a.text, b.text);
    }
    if (!order) return Truth::kUnknown;
    switch (item.kind) {
      case Kind::kEqual:
        return truth(*order == 0);
      case Kind::kNotEqual:
        return truth(*order != 0);
      case Kind::kLess:
        return truth(*order < 0);
      case Kind::kGreater:
        return truth(*order > 0);
      case Kind::kLessOrEqual:
        return truth(*order <= 0);
      default:
        return truth(*order >= 0);
    }
  }
  static Truth truth(bool holds) { return holds ? Truth::kTrue : Truth::kFalse; }

  const JsonPathQuery& query_;
  bool lax_, ignores_structure_, throws_;
  Value current_;                  // @
  std::int32_t array_size_ = 0;    // what `last` counts
  std::deque<std::string> texts_;  // what was computed
  WorkMeter meter_;
  std::deque<JsonPathDatetime> datetimes_;
};

}  // namespace

std::optional<std::vector<std::string>> run_jsonpath(const JsonPathQuery& query) {
  Values found;
  Run run(query);
  run.execute(&found);  // after an error that is kept silent: what was found before it
  std::vector<std::string> texts;
  texts.reserve(found.size());
  for (const Value& value : found) texts.emplace_back(value.text);
  return texts;
}

std::optional<bool> jsonpath_exists(const JsonPathQuery& query) {
  const Outcome outcome = Run(query).execute(nullptr);
  return outcome == Outcome::kError ? std::nullopt : std::optional(outcome == Outcome::kFound);
}

}  // namespace redquel::sql
