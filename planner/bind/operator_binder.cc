#include <fmt/format.h>

#include <algorithm>

#include "planner/bind/expression_binder.h"
#include "planner/bind/name_uses.h"
#include "planner/bind/plan_nodes.h"
#include "sql/error.h"
#include "sql/functions/array_subscript.h"
#include "sql/functions/polymorphic.h"
#include "sql/functions/resolve.h"
#include "sql/functions/row_functions.h"
#include "sql/sqlstate.h"
#include "sql/types/array_value.h"
#include "sql/types/row_value.h"
#include "sql/types/text_io.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::ExpressionPtr;
using BooleanKind = sql::Logical::Kind;
using sql::SqlError;

namespace {

/// Operators live in pg_catalog alone.
std::string operator_name(const BindState& state, const ast::QualifiedName& name, std::optional<std::uint32_t> offset) {
  return function_name(state, name, offset);
}

const ast::Row* as_row(const ast::ExpressionPtr& expression) {
  return expression ? std::get_if<ast::Row>(&expression->node) : nullptr;
}

const ast::SubLink* as_scalar_subquery(const ast::ExpressionPtr& expression) {
  const auto* link = expression ? std::get_if<ast::SubLink>(&expression->node) : nullptr;
  return link && link->kind == ast::SubLinkKind::kScalar ? link : nullptr;
}

bool is_array_literal(const ast::ExpressionPtr& expression) { return std::holds_alternative<ast::ArrayLiteral>(expression->node); }

/// `-5` is a constant, not a call.
const std::string* negated_number(const ast::OperatorCall& call, std::string& text) {
  if (call.left || call.name.back() != "-" || call.name.size() != 1) return nullptr;
  if (const auto* integer = std::get_if<ast::IntegerLiteral>(&call.right->node); integer && integer->value >= 0) {
    text = fmt::format("-{}", integer->value);
  } else if (const auto* number = std::get_if<ast::NumericLiteral>(&call.right->node);
             number && number->text[0] != '-') {
    text = "-" + number->text;
  } else {
    return nullptr;
  }
  return &text;
}

}  // namespace

ExpressionPtr ExpressionBinder::node(const ast::OperatorCall& call, const Whole& whole) {
  std::string number;
  if (negated_number(call, number)) return node(ast::NumericLiteral{number}, whole);
  const auto offset = token(whole);
  const std::string name = operator_name(state_, call.name, offset);
  const ast::Row* left_row = as_row(call.left);
  const ast::Row* right_row = as_row(call.right);
  if (left_row && right_row) {
    const Operands left = row_items(left_row->items);
    return compare_rows(name, left, row_items(right_row->items), offset);
  }
  if (const ast::SubLink* query = as_scalar_subquery(call.right); left_row && query) {
    const Operands left = row_items(left_row->items);
    return compare_rows(
        name, left,
        bind_row_subquery(*query, left.size(), "subquery has too many columns", "subquery has too few columns", offset),
        offset);
  }
  const ExpressionPtr left = call.left ? bind(*call.left) : nullptr;
  const ExpressionPtr right = bind(*call.right);
  return with_offset(make_operator(state_, name, left, right, offset), start(whole));
}

ExpressionPtr ExpressionBinder::compare(std::string_view name, const ExpressionPtr& left, const ExpressionPtr& right,
                                        std::optional<std::uint32_t> offset) {
  ExpressionPtr result = make_operator(state_, name, left, right, offset);
  if (result->type.oid != sql::oid::kBool) {
    throw SqlError(sqlstate::kDatatypeMismatch,
                   fmt::format("row comparison operator must yield type boolean, not type {}", sql::format_type(result->type)))
        .at(offset);
  }
  return result;
}

ExpressionPtr ExpressionBinder::compare_rows(std::string_view name, const Operands& left, const Operands& right,
                                             std::optional<std::uint32_t> offset) {
  if (left.size() != right.size()) throw SqlError(sqlstate::kSyntaxError, "unequal number of entries in row expressions").at(offset);
  if (left.empty()) throw SqlError(sqlstate::kFeatureNotSupported, "cannot compare rows of zero length").at(offset);
  if (left.size() == 1) return compare(name, left[0], right[0], offset);
  Operands terms;
  if (name == "=" || name == "<>") {
    for (std::size_t i = 0; i < left.size(); ++i) terms.push_back(compare(name, left[i], right[i], offset));
    return make_boolean(name == "=" ? BooleanKind::kAnd : BooleanKind::kOr, std::move(terms), offset);
  }
  const bool is_pattern_order = name == "~<~" || name == "~<=~" || name == "~>~" || name == "~>=~";
  if (name != "<" && name != "<=" && name != ">" && name != ">=" && !is_pattern_order) {
    for (std::size_t i = 0; i < left.size(); ++i) compare(name, left[i], right[i], offset);
    throw SqlError(sqlstate::kFeatureNotSupported, fmt::format("could not determine interpretation of row comparison operator {}", name))
        .hint("Row comparison operators must be associated with btree operator families.")
        .at(offset);
  }
  if (is_pattern_order) {
    for (std::size_t i = 0; i < left.size(); ++i) compare(name, left[i], right[i], offset);  // for errors that name it
  }
  // (a, b, c) < (d, e, f)  is  a < d OR (a = d AND (b < e OR (b = e AND c < f)))
  const std::string strict = is_pattern_order ? fmt::format("~{}~", name[1]) : std::string(1, name[0]);
  ExpressionPtr result = compare(name, left.back(), right.back(), offset);
  for (std::size_t i = left.size() - 1; i-- > 0;) {
    check_repeatable(*left[i]);
    check_repeatable(*right[i]);
    ExpressionPtr first = compare(strict, left[i], right[i], offset);
    ExpressionPtr tie = make_boolean(BooleanKind::kAnd, {compare("=", left[i], right[i], offset), result}, offset);
    result = make_boolean(BooleanKind::kOr, {std::move(first), std::move(tie)}, offset);
  }
  return result;
}

ExpressionPtr ExpressionBinder::bind_array(const ast::Expression& written, sql::Type operand, std::optional<std::uint32_t> offset) {
  ExpressionPtr array = bind(written);
  if (is_unknown(*array)) {
    const sql::Type element = operand.oid == sql::oid::kUnknown ? sql::kText : operand;
    array = coerce(state_, array, array_over(element, offset), sql::CastContext::kImplicit);
  }
  if (sql::is_array_type(array->type.oid)) return array;
  throw SqlError(sqlstate::kWrongObjectType, "op ANY/ALL (array) requires array on right side").at(offset);
}

ExpressionPtr ExpressionBinder::array_test(const std::string& name, ExpressionPtr operand, ExpressionPtr array, bool all,
                                           const Whole& whole) {
  const sql::Type element{sql::type_info(array->type.oid).element};
  const sql::ResolvedFunction resolved = resolve_any_operator(state_, name, operand->type, element, token(whole));
  if (resolved.result != sql::kBool) {
    throw SqlError(sqlstate::kWrongObjectType, "op ANY/ALL (array) requires operator to yield boolean").at(token(whole));
  }
  operand = coerce(state_, operand, resolved.arguments[0], sql::CastContext::kImplicit);
  if (resolved.arguments[1].oid != element.oid) {
    array = coerce(state_, array, array_over(resolved.arguments[1], token(whole)), sql::CastContext::kImplicit);
  }
  return sql::make_expression(
      sql::kBool, sql::ArrayTest{resolved.function, resolved.arguments[1], std::move(operand), std::move(array), all}, start(whole));
}

namespace {

/// Returns true if the value is made of columns, so that a row may fail to have one.
bool computes_from_rows(const sql::Expression& value) {
  if (std::holds_alternative<sql::ColumnRef>(value.node)) return false;
  if (const auto* cast = std::get_if<sql::CastCall>(&value.node); cast != nullptr && cast->method == sql::CastCall::Method::kRelabel) {
    return computes_from_rows(*cast->operand);
  }
  std::vector<std::uint32_t> columns;
  sql::collect_columns(value, columns);
  return !columns.empty();
}

}  // namespace

ExpressionPtr ExpressionBinder::node(const ast::ArrayComparison& comparison, const Whole& whole) {
  const auto offset = token(whole);
  const std::string name = operator_name(state_, comparison.name, offset);
  const ExpressionPtr operand = bind(*comparison.left);
  Operands items;
  const auto* literal = std::get_if<ast::ArrayLiteral>(&comparison.array->node);
  const bool is_flat = literal != nullptr && !std::ranges::any_of(literal->items, is_array_literal);
  if (is_flat) items = bind_all(literal->items);
  // An array of arrays is one array of more dimensions, whose elements count.
  const bool is_list = is_flat && std::ranges::none_of(items, [](const ExpressionPtr& item) { return sql::is_array_type(item->type.oid); });
  if (is_list) {
    if (items.empty()) throw SqlError(sqlstate::kIndeterminateDatatype, "cannot determine type of empty array").at(start(*comparison.array));
    sql::Type element;
    items = coerce_to_common(items, "ARRAY", element);
    if (std::ranges::any_of(items, [](const ExpressionPtr& item) { return computes_from_rows(*item); })) {
      // The array is computed as a whole, with its errors, regardless of the compared value.
      const sql::Type type = array_over(element, start(*comparison.array));
      const ExpressionPtr array = sql::make_expression(type, sql::FunctionCall{&sql::array_constructor(), items}, start(*comparison.array));
      ExpressionPtr test = array_test(name, operand, array, comparison.all, whole);
      const sql::Type compared = std::get<sql::ArrayTest>(test->node).element;
      if (state_.names != nullptr && compared.oid != element.oid) state_.names->array_casts[&whole] = type_in_words(array_over(compared, offset));
      return test;
    }
  } else {
    items.clear();
    const ExpressionPtr array = bind_array(*comparison.array, operand->type, offset);
    const auto* constant = std::get_if<sql::Constant>(&array->node);
    if (constant == nullptr || sql::is_null(constant->value)) return array_test(name, operand, array, comparison.all, whole);
    // Known elements are a list, for which there are index lookups.
    const sql::Type element{sql::type_info(array->type.oid).element};
    for (const auto& text : sql::read_array(array->type.oid, std::get<std::string>(constant->value)).elements) {
      items.push_back(sql::make_constant(element, text ? sql::stored_value(element, *text) : sql::Datum{}));
    }
    if (items.empty()) return sql::make_constant(sql::kBool, comparison.all);
  }
  const Listed listed = is_list ? Listed::kArray : Listed::kLiteral;
  if (name == "=" && !comparison.all) return in_list(operand, items, false, whole, listed);
  if (name == "<>" && comparison.all) return in_list(operand, items, true, whole, listed);
  if (items.size() > 1) check_repeatable(*operand);
  Operands terms;
  for (const ExpressionPtr& item : items) {
    terms.push_back(make_operator(state_, name, operand, item, offset));
    if (terms.back()->type != sql::kBool) {
      throw SqlError(sqlstate::kWrongObjectType, "op ANY/ALL (array) requires operator to yield boolean").at(offset);
    }
  }
  return make_boolean(comparison.all ? BooleanKind::kAnd : BooleanKind::kOr, std::move(terms), start(whole));
}

ExpressionPtr ExpressionBinder::distinct_test(const ExpressionPtr& left, const ExpressionPtr& right, bool negated,
                                              const Whole& whole) {
  const sql::ResolvedFunction equal = sql::resolve_operator("=", left->type, right->type, token(whole));
  return sql::make_expression(
      sql::kBool,
      sql::DistinctTest{equal.function, coerce(state_, left, equal.arguments[0], sql::CastContext::kImplicit),
                        coerce(state_, right, equal.arguments[1], sql::CastContext::kImplicit), negated},
      start(whole));
}

ExpressionPtr ExpressionBinder::node(const ast::DistinctFrom& test, const Whole& whole) {
  const ast::Row* left_row = as_row(test.left);
  const ast::Row* right_row = as_row(test.right);
  if (left_row && right_row) {
    const Operands left = row_items(left_row->items), right = row_items(right_row->items);
    if (left.size() != right.size())
      throw SqlError(sqlstate::kSyntaxError, "unequal number of entries in row expressions").at(token(whole));
    Operands terms;
    for (std::size_t i = 0; i < left.size(); ++i)
      terms.push_back(distinct_test(left[i], right[i], test.negated, whole));
    if (terms.size() == 1) return terms[0];
    return make_boolean(test.negated ? BooleanKind::kAnd : BooleanKind::kOr, std::move(terms), start(whole));
  }
  // A bare NULL makes it a null test.
  const bool left_null = std::holds_alternative<ast::NullLiteral>(test.left->node);
  const bool right_null = std::holds_alternative<ast::NullLiteral>(test.right->node);
  if (left_null || right_null) {
    const ExpressionPtr operand = bind(right_null ? *test.left : *test.right);
    return sql::make_expression(sql::kBool, sql::NullTest{operand, !test.negated}, start(whole));
  }
  const ExpressionPtr left = bind(*test.left);
  return distinct_test(left, bind(*test.right), test.negated, whole);
}

ExpressionPtr ExpressionBinder::in_list(const ExpressionPtr& operand, const Operands& list, bool negated,
                                        const Whole& whole, Listed listed) {
  const std::string_view name = negated ? "<>" : "=";
  if (list.size() == 1) return with_offset(compare(name, operand, list[0], token(whole)), start(whole));
  Operands all = {operand};
  all.insert(all.end(), list.begin(), list.end());
  std::optional<sql::Type> common;
  try {
    common = common_type(all, "IN");
    sql::equality_operator(*common);
  } catch (const SqlError&) {
    common.reset();  // no common type: each comparison is resolved for itself, and says what is wrong
  }
  if (!common) {
    check_repeatable(*operand);
    Operands terms;
    for (const ExpressionPtr& item : list) terms.push_back(compare(name, operand, item, token(whole)));
    return make_boolean(negated ? BooleanKind::kAnd : BooleanKind::kOr, std::move(terms), start(whole));
  }
  const sql::ScalarFunction& equal = sql::equality_operator(*common);
  const sql::Type compared = sql::is_polymorphic(equal.arguments[0]) ? sql::Type{common->oid} : sql::Type{equal.arguments[0]};
  const auto convert = [&](const ExpressionPtr& value) {
    return coerce(state_, coerce(state_, value, sql::Type{common->oid}, sql::CastContext::kImplicit), compared, sql::CastContext::kImplicit);
  };
  sql::InListTest test{&equal, convert(operand), {}, negated};
  const sql::Oid element = listed == Listed::kArray ? list[0]->type.oid : common->oid;
  const sql::Oid array = sql::type_info(compared.oid).array;
  if (state_.names != nullptr && listed != Listed::kLiteral && element != compared.oid && array != 0) {
    state_.names->array_casts[&whole] = type_in_words(sql::Type{array});
  }
  for (const ExpressionPtr& item : list) {
    const ExpressionPtr common_item = listed == Listed::kItems ? coerce(state_, item, sql::Type{common->oid}, sql::CastContext::kImplicit) : item;
    const Scoped<NameUses*> unnoted(state_.names, nullptr);  // the array is converted as a whole
    test.list.push_back(convert(common_item));
  }
  return sql::make_expression(sql::kBool, std::move(test), start(whole));
}

ExpressionPtr ExpressionBinder::node(const ast::InList& list, const Whole& whole) {
  if (const ast::Row* row = as_row(list.argument)) {
    const Operands operand = row_items(row->items);
    if (list.items.size() > 1) std::ranges::for_each(operand, [](const ExpressionPtr& e) { check_repeatable(*e); });
    Operands terms;
    for (const ast::ExpressionPtr& item : list.items) {
      const ast::Row* other = as_row(item);
      if (other == nullptr) return in_list(bind(*list.argument), bind_all(list.items), list.negated, whole);
      terms.push_back(compare_rows(list.negated ? "<>" : "=", operand, row_items(other->items), token(whole)));
    }
    if (terms.size() == 1) return terms[0];
    return make_boolean(list.negated ? BooleanKind::kAnd : BooleanKind::kOr, std::move(terms), start(whole));
  }
  const ExpressionPtr operand = bind(*list.argument);
  return in_list(operand, bind_all(list.items), list.negated, whole);
}

ExpressionPtr ExpressionBinder::node(const ast::Like& like, const Whole& whole) {
  const auto offset = token(whole);
  const ExpressionPtr operand = bind(*like.argument);
  ExpressionPtr pattern = bind(*like.pattern);
  std::string_view name;
  switch (like.kind) {
    case ast::LikeKind::kLike:
      name = like.negated ? "!~~" : "~~";
      break;
    case ast::LikeKind::kILike:
      name = like.negated ? "!~~*" : "~~*";
      break;
    case ast::LikeKind::kSimilarTo:
      name = like.negated ? "!~" : "~";
      break;
  }
  if (like.kind == ast::LikeKind::kSimilarTo) {
    Operands arguments = {pattern};
    if (like.escape) arguments.push_back(bind(*like.escape));
    pattern = call("similar_to_escape", std::move(arguments), offset);
  } else if (like.escape) {
    pattern = call("like_escape", {pattern, bind(*like.escape)}, offset);
  }
  return with_offset(make_operator(state_, name, operand, pattern, offset), start(whole));
}

ExpressionPtr ExpressionBinder::node(const ast::Between& between, const Whole& whole) {
  const auto offset = token(whole);
  const bool rows = as_row(between.argument) && as_row(between.low) && as_row(between.high);
  const auto operands = [&](const ast::ExpressionPtr& side) {
    return rows ? row_items(as_row(side)->items) : Operands{bind(*side)};
  };
  const auto repeat = [](const Operands& side) {
    for (const ExpressionPtr& operand : side) check_repeatable(*operand);
  };
  const Operands value = operands(between.argument), low = operands(between.low), high = operands(between.high);
  repeat(value);
  const auto compared = [&](std::string_view name, const Operands& bound) {
    return rows ? compare_rows(name, value, bound, offset)
                : coerce_to_boolean(state_, make_operator(state_, name, value[0], bound[0], offset), "AND");
  };
  const auto range = [&](const Operands& from, const Operands& to) {
    ExpressionPtr first = compared(between.negated ? "<" : ">=", from);
    ExpressionPtr second = compared(between.negated ? ">" : "<=", to);
    return make_boolean(between.negated ? BooleanKind::kOr : BooleanKind::kAnd, {std::move(first), std::move(second)},
                        start(whole));
  };
  ExpressionPtr plain = range(low, high);
  if (!between.symmetric) return plain;
  repeat(low);
  repeat(high);
  return make_boolean(between.negated ? BooleanKind::kAnd : BooleanKind::kOr, {plain, range(high, low)}, start(whole));
}

ExpressionPtr ExpressionBinder::node(const ast::And& conjunction, const Whole& whole) {
  Operands operands;
  for (const ast::ExpressionPtr& argument : conjunction.arguments) operands.push_back(bind_boolean(*argument, "AND"));
  return make_boolean(BooleanKind::kAnd, std::move(operands), start(whole));
}

ExpressionPtr ExpressionBinder::node(const ast::Or& disjunction, const Whole& whole) {
  Operands operands;
  for (const ast::ExpressionPtr& argument : disjunction.arguments) operands.push_back(bind_boolean(*argument, "OR"));
  return make_boolean(BooleanKind::kOr, std::move(operands), start(whole));
}

ExpressionPtr ExpressionBinder::node(const ast::Not& negation, const Whole& whole) {
  return make_boolean(BooleanKind::kNot, {bind_boolean(*negation.argument, "NOT")}, start(whole));
}

ExpressionPtr ExpressionBinder::node(const ast::NullTest& test, const Whole& whole) {
  const auto one = [&](const ExpressionPtr& operand) {
    if (sql::is_row_type(operand->type.oid)) {
      const sql::ScalarFunction& function = test.negated ? sql::row_is_not_null() : sql::row_is_null();
      return sql::make_expression(sql::kBool, sql::FunctionCall{&function, {operand}}, start(whole));
    }
    return sql::make_expression(sql::kBool, sql::NullTest{operand, test.negated}, start(whole));
  };
  const ast::Row* row = as_row(test.argument);
  if (row == nullptr) return one(bind(*test.argument));
  // A row IS NULL if all its fields are, and IS NOT NULL if none is.
  Operands terms;
  for (const ExpressionPtr& item : row_items(row->items)) {
    // A row inside of the row is a value like any other.
    terms.push_back(sql::make_expression(sql::kBool, sql::NullTest{item, test.negated}, start(whole)));
  }
  if (terms.empty()) return sql::make_expression(sql::kBool, sql::Constant{true}, start(whole));
  return terms.size() == 1 ? terms[0] : make_boolean(BooleanKind::kAnd, std::move(terms), start(whole));
}

ExpressionPtr ExpressionBinder::node(const ast::BooleanTest& test, const Whole& whole) {
  sql::BooleanTest::Kind kind = sql::BooleanTest::Kind::kUnknown;
  std::string_view word = "UNKNOWN";
  if (test.value == ast::TruthValue::kTrue) kind = sql::BooleanTest::Kind::kTrue, word = "TRUE";
  if (test.value == ast::TruthValue::kFalse) kind = sql::BooleanTest::Kind::kFalse, word = "FALSE";
  ExpressionPtr operand = bind_boolean(*test.argument, fmt::format("IS {}{}", test.negated ? "NOT " : "", word));
  return sql::make_expression(sql::kBool, sql::BooleanTest{kind, test.negated, std::move(operand)}, start(whole));
}

}  // namespace redquel::planner
