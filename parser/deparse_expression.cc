#include "parser/deparse.h"
#include "parser/sql_writer.h"
#include "sql/stack_depth.h"

namespace redquel::parser {
namespace {

/// Returns true for expressions that need no parentheses as an operand.
struct Primary {
  bool operator()(const ast::IntegerLiteral& literal) const { return literal.value >= 0; }
  bool operator()(const ast::NumericLiteral& literal) const { return !literal.text.starts_with('-'); }
  bool operator()(const ast::SubLink& link) const {
    return link.kind != ast::SubLinkKind::kAny && link.kind != ast::SubLinkKind::kAll;
  }
  bool operator()(const ast::NullLiteral&) const { return true; }
  bool operator()(const ast::BooleanLiteral&) const { return true; }
  bool operator()(const ast::StringLiteral&) const { return true; }
  bool operator()(const ast::BitStringLiteral&) const { return true; }
  bool operator()(const ast::ColumnRef&) const { return true; }
  bool operator()(const ast::ParameterRef&) const { return true; }
  bool operator()(const ast::FunctionCall&) const { return true; }
  bool operator()(const ast::NullIf&) const { return true; }
  bool operator()(const ast::Case&) const { return true; }
  bool operator()(const ast::Coalesce&) const { return true; }
  bool operator()(const ast::MinMax&) const { return true; }
  bool operator()(const ast::Row&) const { return true; }
  bool operator()(const ast::ArrayLiteral&) const { return true; }
  bool operator()(const ast::SqlValueFunction&) const { return true; }
  bool operator()(const ast::GroupingCall&) const { return true; }
  template <typename Other>
  bool operator()(const Other&) const {
    return false;
  }
};

std::string_view value_function_name(ast::ValueFunction function) {
  switch (function) {
    case ast::ValueFunction::kCurrentDate:
      return "CURRENT_DATE";
    case ast::ValueFunction::kCurrentTime:
      return "CURRENT_TIME";
    case ast::ValueFunction::kCurrentTimestamp:
      return "CURRENT_TIMESTAMP";
    case ast::ValueFunction::kLocalTime:
      return "LOCALTIME";
    case ast::ValueFunction::kLocalTimestamp:
      return "LOCALTIMESTAMP";
    case ast::ValueFunction::kCurrentRole:
      return "CURRENT_ROLE";
    case ast::ValueFunction::kCurrentUser:
      return "CURRENT_USER";
    case ast::ValueFunction::kUser:
      return "USER";
    case ast::ValueFunction::kSessionUser:
      return "SESSION_USER";
    case ast::ValueFunction::kCurrentCatalog:
      return "CURRENT_CATALOG";
    case ast::ValueFunction::kCurrentSchema:
      return "CURRENT_SCHEMA";
  }
  return "CURRENT_DATE";
}

struct WriteExpression {
  SqlWriter& sql;

  void operator()(const ast::NullLiteral&) const { sql << "NULL"; }
  void operator()(const ast::BooleanLiteral& literal) const { sql << (literal.value ? "true" : "false"); }
  void operator()(const ast::IntegerLiteral& literal) const { sql << std::to_string(literal.value); }
  void operator()(const ast::NumericLiteral& literal) const { sql << literal.text; }
  void operator()(const ast::StringLiteral& literal) const { sql.literal(literal.value); }
  void operator()(const ast::BitStringLiteral& literal) const {
    sql << std::string_view(literal.text).substr(0, 1) << "'" << std::string_view(literal.text).substr(1) << "'";
  }
  void operator()(const ast::ColumnRef& column) const { sql.column(column); }
  void operator()(const ast::ParameterRef& parameter) const { sql.parameter(parameter); }
  void operator()(const ast::FunctionCall& call) const { sql.function_call(call); }
  void operator()(const ast::OperatorCall& call) const { sql.operator_call(call); }
  void operator()(const ast::ArrayComparison& comparison) const {
    sql.operand(*comparison.left);
    sql << " ";
    sql.operator_name(comparison.name);
    sql << (comparison.all ? " ALL (" : " ANY (");
    sql.expression(*comparison.array);
    sql << ")";
  }
  void operator()(const ast::DistinctFrom& test) const {
    sql.operand(*test.left);
    sql << (test.negated ? " IS NOT DISTINCT FROM " : " IS DISTINCT FROM ");
    sql.operand(*test.right);
  }
  void operator()(const ast::NullIf& call) const {
    sql << "NULLIF(";
    sql.expression(*call.left);
    sql << ", ";
    sql.expression(*call.right);
    sql << ")";
  }
  void operator()(const ast::InList& in) const {
    sql.operand(*in.argument);
    sql << (in.negated ? " NOT IN (" : " IN (");
    sql.expressions(in.items);
    sql << ")";
  }
  void operator()(const ast::Like& like) const {
    sql.operand(*like.argument);
    if (like.negated) sql << " NOT";
    switch (like.kind) {
      case ast::LikeKind::kLike:
        sql << " LIKE ";
        break;
      case ast::LikeKind::kILike:
        sql << " ILIKE ";
        break;
      case ast::LikeKind::kSimilarTo:
        sql << " SIMILAR TO ";
        break;
    }
    sql.operand(*like.pattern);
    if (like.escape) {
      sql << " ESCAPE ";
      sql.operand(*like.escape);
    }
  }
  void operator()(const ast::Between& between) const {
    sql.operand(*between.argument);
    if (between.negated) sql << " NOT";
    sql << (between.symmetric ? " BETWEEN SYMMETRIC " : " BETWEEN ");
    sql.operand(*between.low);
    sql << " AND ";
    sql.operand(*between.high);
  }
  void operator()(const ast::And& all) const { joined(all.arguments, " AND "); }
  void operator()(const ast::Or& any) const { joined(any.arguments, " OR "); }
  void operator()(const ast::Not& negation) const {
    sql << "NOT ";
    sql.operand(*negation.argument);
  }
  void operator()(const ast::NullTest& test) const {
    sql.operand(*test.argument);
    sql << (test.negated ? " IS NOT NULL" : " IS NULL");
  }
  void operator()(const ast::BooleanTest& test) const {
    sql.operand(*test.argument);
    sql << (test.negated ? " IS NOT " : " IS ");
    sql << (test.value == ast::TruthValue::kTrue    ? "TRUE"
            : test.value == ast::TruthValue::kFalse ? "FALSE"
                                                    : "UNKNOWN");
  }
  void operator()(const ast::Case& expression) const {
    sql << "CASE";
    if (expression.argument) {
      sql << " ";
      sql.operand(*expression.argument);
    }
    for (const ast::CaseWhen& when : expression.whens) {
      sql << " WHEN ";
      sql.expression(*when.condition);
      sql << " THEN ";
      sql.expression(*when.result);
    }
    if (expression.otherwise) {
      sql << " ELSE ";
      sql.expression(*expression.otherwise);
    }
    sql << " END";
  }
  void operator()(const ast::Coalesce& call) const { called("COALESCE", call.arguments); }
  void operator()(const ast::MinMax& call) const { called(call.greatest ? "GREATEST" : "LEAST", call.arguments); }
  void operator()(const ast::TypeCast& cast) const {
    sql.operand(*cast.argument);
    sql << "::";
    sql.type(cast.type);
  }
  void operator()(const ast::Collate& collate) const {
    sql.operand(*collate.argument);
    sql << " COLLATE ";
    sql.qualified(collate.collation);
  }
  void operator()(const ast::SubLink& link) const { sql.sub_link(link); }
  void operator()(const ast::Row& row) const { called(row.explicit_row ? "ROW" : "", row.items); }
  void operator()(const ast::ArrayLiteral& array) const {
    sql << "ARRAY[";
    sql.expressions(array.items);
    sql << "]";
  }
  void operator()(const ast::Indirection& indirection) const {
    sql << "(";
    sql.expression(*indirection.base);
    sql << ")";
    sql.indirection(indirection.steps);
  }
  void operator()(const ast::SqlValueFunction& function) const {
    sql << value_function_name(function.function);
    if (function.precision) sql << "(" << std::to_string(*function.precision) << ")";
  }
  void operator()(const ast::GroupingCall& call) const { called("GROUPING", call.arguments); }
  void operator()(const ast::DefaultValue&) const { sql << "DEFAULT"; }
  void operator()(const ast::CurrentOf& current) const {
    sql << "CURRENT OF ";
    sql.name(current.cursor);
  }

 private:
  void called(std::string_view name, const ast::Expressions& arguments) const {
    sql << name << "(";
    sql.expressions(arguments);
    sql << ")";
  }
  void joined(const ast::Expressions& arguments, std::string_view separator) const {
    bool first = true;
    for (const ast::ExpressionPtr& argument : arguments) {
      if (!first) sql << separator;
      first = false;
      sql.operand(*argument);
    }
  }
};

}  // namespace

void SqlWriter::expression(const ast::Expression& expression) {
  sql::check_stack_depth();
  if (lays_out()) return laid_out_expression(expression);
  written_expression(expression);
}

void SqlWriter::written_expression(const ast::Expression& expression) {
  std::visit(WriteExpression{*this}, expression.node);
}

void SqlWriter::column(const ast::ColumnRef& column) {
  const auto star = names_ == nullptr ? decltype(names_->stars.end()){} : names_->stars.find(&column);
  if (names_ != nullptr && star != names_->stars.end() && star->second.size() == 1 && star->second[0].column.empty()) {
    owned_name(star->second[0].names, star->second[0].owner);  // a whole row: columns have names
    // The stored text is parsed again: t.* within ROW() or VALUES would mean all columns.
    if (lays_out() || column.star) *this << ".*";
    return;
  }
  const bool is_known = names_ != nullptr && names_->columns.contains(&column);
  const auto owner = is_known ? names_->owners.find(&column) : decltype(names_->owners.end()){};
  if (is_known && owner != names_->owners.end()) {
    owned_name(names_->columns.at(&column), owner->second);
  } else {
    qualified(is_known ? names_->columns.at(&column) : column.names);
  }
  if (column.star && !is_known) *this << (column.names.empty() ? "*" : ".*");
}

void SqlWriter::owned_name(const ast::QualifiedName& names, const ast::FromItem* owner) {
  const auto found = source_names_.find(owner);
  name(found == source_names_.end() ? names.front() : found->second);
  if (names.size() == 1) return;
  *this << ".";
  name(names.back());
}

void SqlWriter::parameter(const ast::ParameterRef& parameter) {
  if (names_ != nullptr && names_->parameters.contains(&parameter)) return qualified(names_->parameters.at(&parameter));
  *this << "$" << std::to_string(parameter.number);
}

void SqlWriter::operand(const ast::Expression& expression) {
  if (lays_out()) {
    const bool parentheses = needs_parentheses(expression);
    if (parentheses) *this << "(";
    this->expression(expression);
    if (parentheses) *this << ")";
    return;
  }
  if (std::visit(Primary{}, expression.node)) return this->expression(expression);
  *this << "(";
  this->expression(expression);
  *this << ")";
}

void SqlWriter::expressions(const ast::Expressions& expressions) {
  list(expressions, [this](const ast::ExpressionPtr& item) { expression(*item); });
}

void SqlWriter::operator_call(const ast::OperatorCall& call) {
  if (call.left) {
    operand(*call.left);
    *this << " ";
  }
  operator_name(call.name);
  *this << " ";
  operand(*call.right);
}

void SqlWriter::function_call(const ast::FunctionCall& call) {
  const bool is_known = names_ != nullptr && names_->functions.contains(&call);
  if (!is_known) {
    qualified(call.name);
  } else if (layout_ == QueryLayout::kCompact) {
    qualified(names_->functions.at(&call));
  } else {
    // The schema is shown where the search path does not lead to it (ViewDef::definition).
    *this << "\1";
    name(names_->functions.at(&call).front());
    *this << ".\2";
    name(names_->functions.at(&call).back());
    *this << "\3";
  }
  *this << "(";
  if (call.distinct) *this << "DISTINCT ";
  if (call.star) *this << "*";
  std::size_t left = call.arguments.size();
  list(call.arguments, [&](const ast::Argument& argument) {
    if (--left == 0 && call.variadic) *this << "VARIADIC ";
    if (!argument.name.empty()) {
      name(argument.name);
      *this << " => ";
    }
    expression(*argument.value);
  });
  if (!call.order_by.empty() && !call.within_group) {
    *this << " ORDER BY ";
    sort_keys(call.order_by);
  }
  *this << ")";
  if (call.within_group) {
    *this << " WITHIN GROUP (ORDER BY ";
    sort_keys(call.order_by);
    *this << ")";
  }
  if (call.filter) {
    *this << " FILTER (WHERE ";
    expression(*call.filter);
    *this << ")";
  }
  if (call.over) {
    *this << " OVER ";
    if (!call.over->name.empty()) {
      name(call.over->name);
    } else {
      window(*call.over);
    }
  }
}

void SqlWriter::sub_link(const ast::SubLink& link) {
  switch (link.kind) {
    case ast::SubLinkKind::kExists:
      *this << "EXISTS (";
      break;
    case ast::SubLinkKind::kArray:
      *this << "ARRAY(";
      break;
    case ast::SubLinkKind::kScalar:
      *this << "(";
      break;
    case ast::SubLinkKind::kAny:
    case ast::SubLinkKind::kAll:
      if (!lays_out()) {
        operand(*link.test);
      } else {
        expression(*link.test);
      }
      if (link.operator_name.empty() || (lays_out() && link.kind == ast::SubLinkKind::kAny && link.operator_name.back() == "=")) {
        *this << " IN (";
      } else {
        *this << " ";
        operator_name(link.operator_name);
        *this << (link.kind == ast::SubLinkKind::kAll ? " ALL (" : " ANY (");
      }
      break;
  }
  names_nothing_ = true;
  select(*link.query);
  *this << ")";
}

void SqlWriter::indirection(const std::vector<ast::IndirectionStep>& steps) {
  struct WriteStep {
    SqlWriter& sql;
    void operator()(const ast::FieldStep& field) const {
      sql << ".";
      sql.name(field.name);
    }
    void operator()(const ast::StarStep&) const { sql << ".*"; }
    void operator()(const ast::SubscriptStep& subscript) const {
      sql << "[";
      sql.expression(*subscript.index);
      sql << "]";
    }
    void operator()(const ast::SliceStep& slice) const {
      sql << "[";
      if (slice.lower) sql.operand(*slice.lower);
      sql << " : ";
      if (slice.upper) sql.operand(*slice.upper);
      sql << "]";
    }
  };
  for (const ast::IndirectionStep& step : steps) std::visit(WriteStep{*this}, step);
}

void SqlWriter::sort_keys(const std::vector<ast::SortKey>& keys) {
  list(keys, [this](const ast::SortKey& key) {
    sort_value(*key.value);
    if (lays_out()) {
      const bool is_greater = key.direction == ast::SortDirection::kUsing && key.using_operator.back() == ">";
      const bool descends = is_greater || key.direction == ast::SortDirection::kDescending;
      if (descends) *this << " DESC";
      if (descends && key.nulls == ast::SortNulls::kLast) *this << " NULLS LAST";
      if (!descends && key.nulls == ast::SortNulls::kFirst) *this << " NULLS FIRST";
      return;
    }
    switch (key.direction) {
      case ast::SortDirection::kDefault:
        break;
      case ast::SortDirection::kAscending:
        *this << " ASC";
        break;
      case ast::SortDirection::kDescending:
        *this << " DESC";
        break;
      case ast::SortDirection::kUsing:
        *this << " USING ";
        operator_name(key.using_operator);
        break;
    }
    if (key.nulls == ast::SortNulls::kFirst) *this << " NULLS FIRST";
    if (key.nulls == ast::SortNulls::kLast) *this << " NULLS LAST";
  });
}

void SqlWriter::window(const ast::WindowDefinition& window) {
  *this << "(";
  std::string_view separator;
  const auto next_part = [&] {
    *this << separator;
    separator = " ";
  };
  if (!window.base.empty()) {
    next_part();
    name(window.base);
  }
  if (!window.partition_by.empty()) {
    next_part();
    *this << "PARTITION BY ";
    list(window.partition_by, [this](const ast::ExpressionPtr& value) { lays_out() ? sort_value(*value) : expression(*value); });
  }
  if (!window.order_by.empty()) {
    next_part();
    *this << "ORDER BY ";
    sort_keys(window.order_by);
  }
  if (window.frame.explicit_frame) {
    next_part();
    frame(window.frame);
  }
  *this << ")";
}

void SqlWriter::frame(const ast::WindowFrame& frame) {
  switch (frame.mode) {
    case ast::FrameMode::kRange:
      *this << "RANGE ";
      break;
    case ast::FrameMode::kRows:
      *this << "ROWS ";
      break;
    case ast::FrameMode::kGroups:
      *this << "GROUPS ";
      break;
  }
  const auto bound = [this](ast::FrameBound bound, const ast::ExpressionPtr& offset) {
    if (offset) {
      operand(*offset);
      *this << " ";
    }
    switch (bound) {
      case ast::FrameBound::kUnboundedPreceding:
        *this << "UNBOUNDED PRECEDING";
        break;
      case ast::FrameBound::kOffsetPreceding:
        *this << "PRECEDING";
        break;
      case ast::FrameBound::kCurrentRow:
        *this << "CURRENT ROW";
        break;
      case ast::FrameBound::kOffsetFollowing:
        *this << "FOLLOWING";
        break;
      case ast::FrameBound::kUnboundedFollowing:
        *this << "UNBOUNDED FOLLOWING";
        break;
    }
  };
  if (frame.between) *this << "BETWEEN ";
  bound(frame.start, frame.start_offset);
  if (frame.between) {
    *this << " AND ";
    bound(frame.end, frame.end_offset);
  }
  switch (frame.exclusion) {
    case ast::FrameExclusion::kNoOthers:
      break;
    case ast::FrameExclusion::kCurrentRow:
      *this << " EXCLUDE CURRENT ROW";
      break;
    case ast::FrameExclusion::kGroup:
      *this << " EXCLUDE GROUP";
      break;
    case ast::FrameExclusion::kTies:
      *this << " EXCLUDE TIES";
      break;
  }
}

std::string to_sql(const ast::Expression& expression) {
  SqlWriter writer;
  writer.expression(expression);
  return writer.take();
}

std::string to_sql(const ast::Expression& expression, const QueryNames& names, QueryLayout layout) {
  SqlWriter writer(names, layout);
  writer.expression(expression);
  return writer.take();
}

std::string to_sql(const ast::TypeName& type) {
  SqlWriter writer;
  writer.type(type);
  return writer.take();
}

std::string to_sql(const ast::Statement& statement) {
  SqlWriter writer;
  writer.statement(statement);
  return writer.take();
}

std::string to_sql(const ast::Statement& statement, const QueryNames& names, QueryLayout layout) {
  SqlWriter sql(names, layout, 1);
  sql.statement(statement);
  return sql.take();
}

std::string to_sql(const ast::Select& query, const QueryNames& names, QueryLayout layout) {
  SqlWriter writer(names, layout);
  writer.select(query);
  return writer.take();
}

std::string to_sql(const ast::Select& query) {
  SqlWriter writer;
  writer.select(query);
  return writer.take();
}

}  // namespace redquel::parser
