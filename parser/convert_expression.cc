#include <algorithm>
#include <string_view>
#include <utility>

#include "parser/convert.h"
#include "sql/error.h"
#include "sql/interrupts.h"
#include "sql/stack_depth.h"

namespace redquel::parser {
namespace {

using ast::Expression;
using ast::ExpressionPtr;

template <typename Kind>
ExpressionPtr make(std::uint32_t offset, std::uint32_t start, Kind&& kind) {
  return std::make_unique<const Expression>(
      Expression{.offset = offset, .start = start, .node = std::forward<Kind>(kind)});
}

std::uint32_t leftmost(std::uint32_t offset, const ExpressionPtr& argument) {
  return argument ? std::min(offset, argument->start) : offset;
}

std::uint32_t leftmost(std::uint32_t offset, const ast::Expressions& arguments) {
  return arguments.empty() ? offset : leftmost(offset, arguments.front());
}

// --- constants and names -------------------------------------------------------------------------------------------

ExpressionPtr convert_constant(const PgQuery__AConst& constant) {
  const std::uint32_t at = convert_location(constant.location);
  if (constant.isnull) return make(at, at, ast::NullLiteral{});
  switch (constant.val_case) {
    case PG_QUERY__A__CONST__VAL_IVAL:
      return make(at, at, ast::IntegerLiteral{constant.ival->ival});
    case PG_QUERY__A__CONST__VAL_FVAL:
      return make(at, at, ast::NumericLiteral{constant.fval->fval});
    case PG_QUERY__A__CONST__VAL_BOOLVAL:
      return make(at, at, ast::BooleanLiteral{constant.boolval->boolval != 0});
    case PG_QUERY__A__CONST__VAL_BSVAL:
      return make(at, at, ast::BitStringLiteral{constant.bsval->bsval});
    case PG_QUERY__A__CONST__VAL_SVAL:
      return make(at, at, ast::StringLiteral{constant.sval->sval});
    default:
      return make(at, at, ast::NullLiteral{});
  }
}

ExpressionPtr convert_column_ref(const PgQuery__ColumnRef& column) {
  const Nodes fields = nodes(column.fields, column.n_fields);
  const std::uint32_t at = convert_location(column.location);
  const bool star = !fields.empty() && fields.back()->node_case == PG_QUERY__NODE__NODE_A_STAR;
  return make(at, at, ast::ColumnRef{convert_names(fields), star});
}

// --- functions and windows -----------------------------------------------------------------------------------------

std::vector<ast::Argument> convert_arguments(Nodes items) {
  std::vector<ast::Argument> arguments;
  arguments.reserve(items.size());
  for (const Node* item : items) {
    if (item->node_case == PG_QUERY__NODE__NODE_NAMED_ARG_EXPR) {
      const PgQuery__NamedArgExpr& named = *item->named_arg_expr;
      arguments.push_back({convert_expression(named.arg), named.name, convert_location(named.location)});
    } else {
      ExpressionPtr value = convert_expression(item);
      const std::uint32_t at = value->offset;
      arguments.push_back({std::move(value), {}, at});
    }
  }
  return arguments;
}

ExpressionPtr convert_function(const PgQuery__FuncCall& call) {
  ast::FunctionCall result;
  result.name = convert_names(nodes(call.funcname, call.n_funcname));
  result.arguments = convert_arguments(nodes(call.args, call.n_args));
  result.star = call.agg_star;
  result.distinct = call.agg_distinct;
  result.variadic = call.func_variadic;
  result.within_group = call.agg_within_group;
  result.sql_syntax = call.funcformat == PG_QUERY__COERCION_FORM__COERCE_SQL_SYNTAX;
  result.order_by = convert_sort_keys(nodes(call.agg_order, call.n_agg_order));
  result.filter = convert_expression(call.agg_filter);
  if (call.over != nullptr) result.over = std::make_unique<const ast::WindowDefinition>(convert_window(*call.over));
  const std::uint32_t at = convert_location(call.location);
  std::uint32_t start = at;
  for (const ast::Argument& argument : result.arguments) start = std::min(start, argument.value->start);
  return make(at, start, std::move(result));
}

ast::WindowFrame convert_frame(const PgQuery__WindowDef& window) {
  // FRAMEOPTION_… of PostgreSQL's nodes/parsenodes.h.
  const auto has = [&window](std::int32_t bit) { return (window.frame_options & bit) != 0; };
  const auto bound = [&has](std::int32_t start_bit) {
    // The bit of an end follows that of the start.
    const auto is = [&](std::int32_t bit) { return has(bit * start_bit); };
    if (is(0x20)) return ast::FrameBound::kUnboundedPreceding;
    if (is(0x80)) return ast::FrameBound::kUnboundedFollowing;
    if (is(0x800)) return ast::FrameBound::kOffsetPreceding;
    if (is(0x2000)) return ast::FrameBound::kOffsetFollowing;
    return ast::FrameBound::kCurrentRow;
  };
  ast::WindowFrame frame;
  frame.explicit_frame = has(0x1);
  frame.between = has(0x10);
  frame.mode = has(0x8) ? ast::FrameMode::kGroups : has(0x4) ? ast::FrameMode::kRows : ast::FrameMode::kRange;
  frame.start = bound(1);
  frame.end = bound(2);
  frame.start_offset = convert_expression(window.start_offset);
  frame.end_offset = convert_expression(window.end_offset);
  frame.exclusion = has(0x8000)    ? ast::FrameExclusion::kCurrentRow
                    : has(0x10000) ? ast::FrameExclusion::kGroup
                    : has(0x20000) ? ast::FrameExclusion::kTies
                                   : ast::FrameExclusion::kNoOthers;
  return frame;
}

// --- operators -----------------------------------------------------------------------------------------------------

/// The escape that LIKE … ESCAPE and SIMILAR TO hide in a function call around the pattern.
std::pair<ExpressionPtr, ExpressionPtr> convert_pattern(const Node* node) {
  if (node->node_case == PG_QUERY__NODE__NODE_FUNC_CALL) {
    const PgQuery__FuncCall& call = *node->func_call;
    const std::vector<std::string> name = convert_names(nodes(call.funcname, call.n_funcname));
    const bool hidden = name.size() == 2 && name[0] == "pg_catalog" &&
                        (name[1] == "like_escape" || name[1] == "similar_to_escape") && call.n_args > 0;
    if (hidden) {
      return {convert_expression(call.args[0]), call.n_args > 1 ? convert_expression(call.args[1]) : nullptr};
    }
  }
  return {convert_expression(node), nullptr};
}

ExpressionPtr convert_operator(const PgQuery__AExpr& expression) {
  const std::uint32_t at = convert_location(expression.location);
  ast::QualifiedName name = convert_names(nodes(expression.name, expression.n_name));
  const bool negated = !name.empty() && (name.back() == "<>" || name.back().starts_with("!"));
  ExpressionPtr left = convert_expression(expression.lexpr);
  const std::uint32_t start = leftmost(at, left);
  const auto like = [&](ast::LikeKind kind) {
    auto [pattern, escape] = convert_pattern(expression.rexpr);
    return make(at, start, ast::Like{kind, negated, std::move(left), std::move(pattern), std::move(escape)});
  };
  const auto between = [&](bool is_negated, bool symmetric) {
    ast::Expressions bounds = convert_expressions(list_items(expression.rexpr));
    return make(at, start,
                ast::Between{is_negated, symmetric, std::move(left), std::move(bounds.at(0)), std::move(bounds.at(1))});
  };
  switch (expression.kind) {
    case PG_QUERY__A__EXPR__KIND__AEXPR_OP_ANY:
    case PG_QUERY__A__EXPR__KIND__AEXPR_OP_ALL:
      return make(at, start,
                  ast::ArrayComparison{std::move(name), expression.kind == PG_QUERY__A__EXPR__KIND__AEXPR_OP_ALL,
                                       std::move(left), convert_expression(expression.rexpr)});
    case PG_QUERY__A__EXPR__KIND__AEXPR_DISTINCT:
    case PG_QUERY__A__EXPR__KIND__AEXPR_NOT_DISTINCT:
      return make(at, start,
                  ast::DistinctFrom{expression.kind == PG_QUERY__A__EXPR__KIND__AEXPR_NOT_DISTINCT, std::move(left),
                                    convert_expression(expression.rexpr)});
    case PG_QUERY__A__EXPR__KIND__AEXPR_NULLIF:
      return make(at, start, ast::NullIf{std::move(left), convert_expression(expression.rexpr)});
    case PG_QUERY__A__EXPR__KIND__AEXPR_IN:
      return make(at, start, ast::InList{negated, std::move(left), convert_expressions(list_items(expression.rexpr))});
    case PG_QUERY__A__EXPR__KIND__AEXPR_LIKE:
      return like(ast::LikeKind::kLike);
    case PG_QUERY__A__EXPR__KIND__AEXPR_ILIKE:
      return like(ast::LikeKind::kILike);
    case PG_QUERY__A__EXPR__KIND__AEXPR_SIMILAR:
      return like(ast::LikeKind::kSimilarTo);
    case PG_QUERY__A__EXPR__KIND__AEXPR_BETWEEN:
      return between(false, false);
    case PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN:
      return between(true, false);
    case PG_QUERY__A__EXPR__KIND__AEXPR_BETWEEN_SYM:
      return between(false, true);
    case PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN_SYM:
      return between(true, true);
    default:
      return make(at, start, ast::OperatorCall{std::move(name), std::move(left), convert_expression(expression.rexpr)});
  }
}

ExpressionPtr convert_boolean_operator(const PgQuery__BoolExpr& expression) {
  const std::uint32_t at = convert_location(expression.location);
  ast::Expressions arguments = convert_expressions(nodes(expression.args, expression.n_args));
  const std::uint32_t start = leftmost(at, arguments);
  switch (expression.boolop) {
    case PG_QUERY__BOOL_EXPR_TYPE__AND_EXPR:
      return make(at, start, ast::And{std::move(arguments)});
    case PG_QUERY__BOOL_EXPR_TYPE__OR_EXPR:
      return make(at, start, ast::Or{std::move(arguments)});
    default:
      return make(at, start, ast::Not{std::move(arguments.at(0))});
  }
}

ExpressionPtr convert_boolean_test(const PgQuery__BooleanTest& test) {
  ast::BooleanTest result;
  switch (test.booltesttype) {
    case PG_QUERY__BOOL_TEST_TYPE__IS_NOT_TRUE:
      result.negated = true;
      [[fallthrough]];
    case PG_QUERY__BOOL_TEST_TYPE__IS_TRUE:
      result.value = ast::TruthValue::kTrue;
      break;
    case PG_QUERY__BOOL_TEST_TYPE__IS_NOT_FALSE:
      result.negated = true;
      [[fallthrough]];
    case PG_QUERY__BOOL_TEST_TYPE__IS_FALSE:
      result.value = ast::TruthValue::kFalse;
      break;
    case PG_QUERY__BOOL_TEST_TYPE__IS_NOT_UNKNOWN:
      result.negated = true;
      [[fallthrough]];
    default:
      result.value = ast::TruthValue::kUnknown;
      break;
  }
  result.argument = convert_expression(test.arg);
  const std::uint32_t at = convert_location(test.location);
  const std::uint32_t start = leftmost(at, result.argument);
  return make(at, start, std::move(result));
}

// --- the rest ------------------------------------------------------------------------------------------------------

ExpressionPtr convert_case(const PgQuery__CaseExpr& expression) {
  ast::Case result;
  result.argument = convert_expression(expression.arg);
  for (const Node* item : nodes(expression.args, expression.n_args)) {
    const PgQuery__CaseWhen& when = *item->case_when;
    result.whens.push_back(
        {convert_expression(when.expr), convert_expression(when.result), convert_location(when.location)});
  }
  result.otherwise = convert_expression(expression.defresult);
  const std::uint32_t at = convert_location(expression.location);
  return make(at, at, std::move(result));
}

/// TRUE and FALSE: the grammar wraps them into an implicit cast without a location.
bool is_boolean_constant(const PgQuery__TypeCast& cast) {
  return cast.location < 0 && cast.type_name->location < 0 && cast.arg->node_case == PG_QUERY__NODE__NODE_A_CONST &&
         cast.arg->a_const->val_case == PG_QUERY__A__CONST__VAL_BOOLVAL;
}

ExpressionPtr convert_cast(const PgQuery__TypeCast& cast) {
  if (is_boolean_constant(cast)) return convert_constant(*cast.arg->a_const);
  ExpressionPtr argument = convert_expression(cast.arg);
  ast::TypeName type = convert_type(*cast.type_name);
  std::uint32_t start = argument->start;
  if (cast.type_name->location >= 0) start = std::min(start, type.offset);
  const std::uint32_t at = convert_location(cast.location, convert_location(cast.type_name->location, start));
  return make(at, std::min(at, start), ast::TypeCast{std::move(argument), std::move(type)});
}

ExpressionPtr convert_sub_link(const PgQuery__SubLink& link) {
  ast::SubLink result;
  switch (link.sub_link_type) {
    case PG_QUERY__SUB_LINK_TYPE__EXISTS_SUBLINK:
      result.kind = ast::SubLinkKind::kExists;
      break;
    case PG_QUERY__SUB_LINK_TYPE__ALL_SUBLINK:
      result.kind = ast::SubLinkKind::kAll;
      break;
    case PG_QUERY__SUB_LINK_TYPE__ANY_SUBLINK:
      result.kind = ast::SubLinkKind::kAny;
      break;
    case PG_QUERY__SUB_LINK_TYPE__ARRAY_SUBLINK:
      result.kind = ast::SubLinkKind::kArray;
      break;
    default:
      result.kind = ast::SubLinkKind::kScalar;
      break;
  }
  result.test = convert_expression(link.testexpr);
  result.operator_name = convert_names(nodes(link.oper_name, link.n_oper_name));
  result.query = convert_query(link.subselect);
  const std::uint32_t at = convert_location(link.location);
  const std::uint32_t start = leftmost(at, result.test);
  return make(at, start, std::move(result));
}

ExpressionPtr convert_value_function(const PgQuery__SQLValueFunction& function) {
  ast::SqlValueFunction result;
  switch (function.op) {
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_TIME:
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_TIME_N:
      result.function = ast::ValueFunction::kCurrentTime;
      break;
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_TIMESTAMP:
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_TIMESTAMP_N:
      result.function = ast::ValueFunction::kCurrentTimestamp;
      break;
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_LOCALTIME:
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_LOCALTIME_N:
      result.function = ast::ValueFunction::kLocalTime;
      break;
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_LOCALTIMESTAMP:
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_LOCALTIMESTAMP_N:
      result.function = ast::ValueFunction::kLocalTimestamp;
      break;
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_ROLE:
      result.function = ast::ValueFunction::kCurrentRole;
      break;
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_USER:
      result.function = ast::ValueFunction::kCurrentUser;
      break;
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_USER:
      result.function = ast::ValueFunction::kUser;
      break;
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_SESSION_USER:
      result.function = ast::ValueFunction::kSessionUser;
      break;
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_CATALOG:
      result.function = ast::ValueFunction::kCurrentCatalog;
      break;
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_SCHEMA:
      result.function = ast::ValueFunction::kCurrentSchema;
      break;
    default:
      result.function = ast::ValueFunction::kCurrentDate;
      break;
  }
  if (function.typmod >= 0) {
    switch (function.op) {
      case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_TIME_N:
      case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_TIMESTAMP_N:
      case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_LOCALTIME_N:
      case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_LOCALTIMESTAMP_N:
        result.precision = function.typmod;
        break;
      default:
        break;
    }
  }
  const std::uint32_t at = convert_location(function.location);
  return make(at, at, result);
}

ExpressionPtr convert_indirection_expression(const PgQuery__AIndirection& indirection) {
  ExpressionPtr base = convert_expression(indirection.arg);
  const std::uint32_t at = base->offset;
  const std::uint32_t start = base->start;
  return make(at, start,
              ast::Indirection{std::move(base),
                               convert_indirection(nodes(indirection.indirection, indirection.n_indirection))});
}

[[noreturn]] void refuse_xml(const PgQuery__XmlExpr& xml) {
  const auto name = [&xml]() -> std::string_view {
    switch (xml.op) {
      case PG_QUERY__XML_EXPR_OP__IS_XMLCONCAT:
        return "XMLCONCAT";
      case PG_QUERY__XML_EXPR_OP__IS_XMLELEMENT:
        return "XMLELEMENT";
      case PG_QUERY__XML_EXPR_OP__IS_XMLFOREST:
        return "XMLFOREST";
      case PG_QUERY__XML_EXPR_OP__IS_XMLPARSE:
        return "XMLPARSE";
      case PG_QUERY__XML_EXPR_OP__IS_XMLPI:
        return "XMLPI";
      case PG_QUERY__XML_EXPR_OP__IS_XMLROOT:
        return "XMLROOT";
      case PG_QUERY__XML_EXPR_OP__IS_DOCUMENT:
        return "IS DOCUMENT";
      default:
        return "XML";
    }
  };
  throw sql::not_supported(name(), convert_location(xml.location));
}

}  // namespace

ast::Expressions convert_expressions(Nodes items) {
  ast::Expressions expressions;
  expressions.reserve(items.size());
  for (const Node* item : items) expressions.push_back(convert_expression(item));
  return expressions;
}

std::vector<ast::IndirectionStep> convert_indirection(Nodes items) {
  std::vector<ast::IndirectionStep> steps;
  steps.reserve(items.size());
  for (const Node* item : items) {
    switch (item->node_case) {
      case PG_QUERY__NODE__NODE_STRING:
        steps.emplace_back(ast::FieldStep{item->string->sval});
        break;
      case PG_QUERY__NODE__NODE_A_STAR:
        steps.emplace_back(ast::StarStep{});
        break;
      case PG_QUERY__NODE__NODE_A_INDICES: {
        const PgQuery__AIndices& indices = *item->a_indices;
        if (indices.is_slice) {
          steps.emplace_back(ast::SliceStep{convert_expression(indices.lidx), convert_expression(indices.uidx)});
        } else {
          steps.emplace_back(ast::SubscriptStep{convert_expression(indices.uidx)});
        }
        break;
      }
      default:
        break;
    }
  }
  return steps;
}

ast::SortKey convert_sort_key(const Node* node) {
  const PgQuery__SortBy& sort = *node->sort_by;
  ast::SortKey key;
  key.value = convert_expression(sort.node);
  key.direction = sort.sortby_dir == PG_QUERY__SORT_BY_DIR__SORTBY_ASC     ? ast::SortDirection::kAscending
                  : sort.sortby_dir == PG_QUERY__SORT_BY_DIR__SORTBY_DESC  ? ast::SortDirection::kDescending
                  : sort.sortby_dir == PG_QUERY__SORT_BY_DIR__SORTBY_USING ? ast::SortDirection::kUsing
                                                                           : ast::SortDirection::kDefault;
  key.nulls = sort.sortby_nulls == PG_QUERY__SORT_BY_NULLS__SORTBY_NULLS_FIRST  ? ast::SortNulls::kFirst
              : sort.sortby_nulls == PG_QUERY__SORT_BY_NULLS__SORTBY_NULLS_LAST ? ast::SortNulls::kLast
                                                                                : ast::SortNulls::kDefault;
  key.using_operator = convert_names(nodes(sort.use_op, sort.n_use_op));
  key.offset = convert_location(sort.location, key.value->offset);
  return key;
}

std::vector<ast::SortKey> convert_sort_keys(Nodes items) {
  std::vector<ast::SortKey> keys;
  keys.reserve(items.size());
  for (const Node* item : items) keys.push_back(convert_sort_key(item));
  return keys;
}

ast::WindowDefinition convert_window(const PgQuery__WindowDef& window) {
  return {.name = window.name,
          .base = window.refname,
          .partition_by = convert_expressions(nodes(window.partition_clause, window.n_partition_clause)),
          .order_by = convert_sort_keys(nodes(window.order_clause, window.n_order_clause)),
          .frame = convert_frame(window),
          .offset = convert_location(window.location)};
}

ast::ExpressionPtr convert_expression(const Node* node) {
  if (node == nullptr) return nullptr;
  sql::check_stack_depth();
  sql::note_analysis();
  switch (node->node_case) {
    case PG_QUERY__NODE__NODE_A_CONST:
      return convert_constant(*node->a_const);
    case PG_QUERY__NODE__NODE_COLUMN_REF:
      return convert_column_ref(*node->column_ref);
    case PG_QUERY__NODE__NODE_PARAM_REF: {
      const std::uint32_t at = convert_location(node->param_ref->location);
      return make(at, at, ast::ParameterRef{node->param_ref->number});
    }
    case PG_QUERY__NODE__NODE_A_EXPR:
      return convert_operator(*node->a_expr);
    case PG_QUERY__NODE__NODE_BOOL_EXPR:
      return convert_boolean_operator(*node->bool_expr);
    case PG_QUERY__NODE__NODE_FUNC_CALL:
      return convert_function(*node->func_call);
    case PG_QUERY__NODE__NODE_TYPE_CAST:
      return convert_cast(*node->type_cast);
    case PG_QUERY__NODE__NODE_CASE_EXPR:
      return convert_case(*node->case_expr);
    case PG_QUERY__NODE__NODE_SUB_LINK:
      return convert_sub_link(*node->sub_link);
    case PG_QUERY__NODE__NODE_BOOLEAN_TEST:
      return convert_boolean_test(*node->boolean_test);
    case PG_QUERY__NODE__NODE_A_INDIRECTION:
      return convert_indirection_expression(*node->a_indirection);
    case PG_QUERY__NODE__NODE_SQLVALUE_FUNCTION:
      return convert_value_function(*node->sqlvalue_function);
    case PG_QUERY__NODE__NODE_NULL_TEST: {
      const PgQuery__NullTest& test = *node->null_test;
      const std::uint32_t at = convert_location(test.location);
      ExpressionPtr argument = convert_expression(test.arg);
      const std::uint32_t start = leftmost(at, argument);
      return make(at, start,
                  ast::NullTest{test.nulltesttype == PG_QUERY__NULL_TEST_TYPE__IS_NOT_NULL, std::move(argument)});
    }
    case PG_QUERY__NODE__NODE_COALESCE_EXPR: {
      const PgQuery__CoalesceExpr& coalesce = *node->coalesce_expr;
      const std::uint32_t at = convert_location(coalesce.location);
      return make(at, at, ast::Coalesce{convert_expressions(nodes(coalesce.args, coalesce.n_args))});
    }
    case PG_QUERY__NODE__NODE_MIN_MAX_EXPR: {
      const PgQuery__MinMaxExpr& min_max = *node->min_max_expr;
      const std::uint32_t at = convert_location(min_max.location);
      return make(at, at,
                  ast::MinMax{min_max.op == PG_QUERY__MIN_MAX_OP__IS_GREATEST,
                              convert_expressions(nodes(min_max.args, min_max.n_args))});
    }
    case PG_QUERY__NODE__NODE_COLLATE_CLAUSE: {
      const PgQuery__CollateClause& collate = *node->collate_clause;
      ExpressionPtr argument = convert_expression(collate.arg);
      const std::uint32_t start = argument->start;
      return make(convert_location(collate.location), start,
                  ast::Collate{std::move(argument), convert_names(nodes(collate.collname, collate.n_collname))});
    }
    case PG_QUERY__NODE__NODE_ROW_EXPR: {
      const PgQuery__RowExpr& row = *node->row_expr;
      const std::uint32_t at = convert_location(row.location);
      return make(at, at,
                  ast::Row{convert_expressions(nodes(row.args, row.n_args)),
                           row.row_format == PG_QUERY__COERCION_FORM__COERCE_EXPLICIT_CALL});
    }
    case PG_QUERY__NODE__NODE_A_ARRAY_EXPR: {
      const PgQuery__AArrayExpr& array = *node->a_array_expr;
      const std::uint32_t at = convert_location(array.location);
      return make(at, at, ast::ArrayLiteral{convert_expressions(nodes(array.elements, array.n_elements))});
    }
    case PG_QUERY__NODE__NODE_GROUPING_FUNC: {
      const PgQuery__GroupingFunc& grouping = *node->grouping_func;
      const std::uint32_t at = convert_location(grouping.location);
      return make(at, at, ast::GroupingCall{convert_expressions(nodes(grouping.args, grouping.n_args))});
    }
    case PG_QUERY__NODE__NODE_SET_TO_DEFAULT: {
      const std::uint32_t at = convert_location(node->set_to_default->location);
      return make(at, at, ast::DefaultValue{});
    }
    case PG_QUERY__NODE__NODE_CURRENT_OF_EXPR:
      return make(0, 0, ast::CurrentOf{node->current_of_expr->cursor_name});
    case PG_QUERY__NODE__NODE_XML_EXPR:
      refuse_xml(*node->xml_expr);
    case PG_QUERY__NODE__NODE_XML_SERIALIZE:
      throw sql::not_supported("XMLSERIALIZE", convert_location(node->xml_serialize->location));
    default:
      throw sql::not_supported("this kind of expression");
  }
}

}  // namespace redquel::parser
