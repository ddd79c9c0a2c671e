// Expressions and lines as PostgreSQL's pg_get_viewdef() writes them: what the parser made of BETWEEN, IN and LIKE, literals with
// their types, parentheses around every operator or only where they are needed.

#include <algorithm>
#include <optional>
#include <utility>

#include "parser/sql_writer.h"

namespace redquel::parser {

namespace {

enum class Form { kPrimary, kOperator, kArrayTest, kAnd, kOr, kNot, kTest, kCast };

struct FormVisitor {
  Form operator()(const ast::OperatorCall&) const { return Form::kOperator; }
  Form operator()(const ast::ArrayComparison&) const { return Form::kArrayTest; }
  Form operator()(const ast::Like&) const { return Form::kOperator; }
  Form operator()(const ast::InList& in) const { return in.items.size() == 1 ? Form::kOperator : Form::kArrayTest; }
  Form operator()(const ast::Between& between) const { return between.negated ? Form::kOr : Form::kAnd; }
  Form operator()(const ast::And&) const { return Form::kAnd; }
  Form operator()(const ast::Or&) const { return Form::kOr; }
  Form operator()(const ast::Not&) const { return Form::kNot; }
  Form operator()(const ast::NullTest&) const { return Form::kTest; }
  Form operator()(const ast::BooleanTest&) const { return Form::kTest; }
  Form operator()(const ast::DistinctFrom&) const { return Form::kTest; }
  Form operator()(const ast::Collate&) const { return Form::kTest; }
  Form operator()(const ast::SubLink& link) const {
    const bool is_test = link.kind != ast::SubLinkKind::kScalar && link.kind != ast::SubLinkKind::kArray;
    return is_test ? Form::kTest : Form::kPrimary;
  }
  Form operator()(const ast::TypeCast&) const { return Form::kCast; }
  template <class Other>
  Form operator()(const Other&) const {
    return Form::kPrimary;
  }
};

Form form_of(const ast::Expression& expression) { return std::visit(FormVisitor{}, expression.node); }

/// 2: * / %, 1: + -, 0: any other operator.
int arithmetic_rank(const ast::Expression& expression) {
  const auto* call = std::get_if<ast::OperatorCall>(&expression.node);
  if (call == nullptr || !call->left || call->name.size() != 1) return 0;
  const std::string& name = call->name[0];
  if (name == "*" || name == "/" || name == "%") return 2;
  return name == "+" || name == "-" ? 1 : 0;
}

std::uint32_t calls_at(const ast::Expression& expression, std::uint32_t start) {
  if (expression.start != start) return 0;
  if (std::holds_alternative<ast::FunctionCall>(expression.node) || std::holds_alternative<ast::SqlValueFunction>(expression.node)) return 1;
  const auto* call = std::get_if<ast::OperatorCall>(&expression.node);
  if (call == nullptr) return 0;
  return 1 + (call->left ? calls_at(*call->left, start) : 0);
}

}  // namespace

void SqlWriter::line(int before, int after, int plus) {
  while (!out_.empty() && out_.back() == ' ') out_.pop_back();
  indentation_ += before;
  out_ += '\n';
  out_.append(static_cast<std::size_t>(std::max(indentation_, 0) + plus), ' ');
  indentation_ += after;
}

void SqlWriter::sort_value(const ast::Expression& written) {
  if (!lays_out() || sorted_ == nullptr) return operand(written);
  const ast::Expression* value = &written;
  const std::vector<ast::Target>& targets = sorted_->targets;
  const auto* column = std::get_if<ast::ColumnRef>(&written.node);
  const auto is_star = [](const ast::Target& target) {
    const auto* reference = std::get_if<ast::ColumnRef>(&target.value->node);
    return reference != nullptr && reference->star;
  };
  if (const auto* number = std::get_if<ast::IntegerLiteral>(&written.node)) {
    const auto index = static_cast<std::size_t>(number->value) - 1;
    if (index < targets.size() && std::ranges::none_of(targets, is_star)) value = targets[index].value.get();
  } else if (column != nullptr && !names_->columns.contains(column)) {
    const auto found = std::ranges::find_if(targets, [&](const ast::Target& target) {
      const auto* reference = std::get_if<ast::ColumnRef>(&target.value->node);
      if (target.name.empty() && reference != nullptr && !reference->star) return reference->names.back() == column->names.back();
      return target.name == column->names.back();
    });
    if (found != targets.end()) value = found->value.get();
  }
  const bool is_column = std::holds_alternative<ast::ColumnRef>(value->node);
  const bool is_call = form_of(*value) == Form::kPrimary;
  const bool parentheses = !is_column && (layout_ == QueryLayout::kPretty || is_call);
  const ast::Select* sorted = std::exchange(sorted_, nullptr);
  if (parentheses) *this << "(";
  expression(*value);
  if (parentheses) *this << ")";
  sorted_ = sorted;
}

const std::string* SqlWriter::implicit_cast(const ast::Expression& expression) const {
  if (names_ == nullptr || parent_ == nullptr || std::holds_alternative<ast::TypeCast>(parent_->node)) return nullptr;
  // Operators begin where their first operand does: the place of a cast says how many calls begin there.
  const auto found = names_->casts.find(expression.start + (calls_at(expression, expression.start) << 24));
  return found == names_->casts.end() ? nullptr : &found->second;
}

bool SqlWriter::needs_parentheses(const ast::Expression& operand) const {
  if (implicit_cast(operand) != nullptr) return false;
  const Form form = form_of(operand);
  if (layout_ == QueryLayout::kPlain || form == Form::kPrimary || parent_ == nullptr) return false;
  if (form == Form::kArrayTest) return true;
  const Form parent = form_of(*parent_);
  if (parent == Form::kAnd || parent == Form::kOr || parent == Form::kNot) {
    if (form == Form::kOr) return parent != Form::kOr;
    return parent == Form::kNot && form == Form::kAnd;
  }
  if (form == Form::kCast) return false;
  const int inner = arithmetic_rank(operand), outer = arithmetic_rank(*parent_);
  if (inner == 0 || outer == 0) return true;
  const bool is_left = std::get<ast::OperatorCall>(parent_->node).left.get() == &operand;
  return !(inner > outer || (inner == outer && is_left));
}

struct SqlWriter::LaidOut {
  SqlWriter& sql;
  const ast::Expression& whole;

  std::optional<std::string_view> literal_type() const {
    if (sql.names_ == nullptr) return std::nullopt;
    const auto found = sql.names_->literal_types.find(whole.offset);
    return found == sql.names_->literal_types.end() ? std::nullopt : std::optional<std::string_view>(found->second);
  }
  void typed(std::string_view type) const { sql << "::" << type; }
  void operator()(const ast::StringLiteral& literal) const {
    sql.literal(literal.value);
    if (const auto type = literal_type()) typed(*type);
  }
  void operator()(const ast::NullLiteral&) const {
    sql << "NULL";
    if (const auto type = literal_type()) typed(*type);
  }
  void operator()(const ast::IntegerLiteral& literal) const {
    if (literal.value >= 0) {
      sql << std::to_string(literal.value);
    } else {
      sql << "'" << std::to_string(literal.value) << "'::integer";
    }
  }
  void operator()(const ast::NumericLiteral& literal) const {
    const bool is_bigint = literal.text.find_first_not_of("-0123456789") == std::string::npos && literal.text.size() < 20;
    if (is_bigint) {
      sql << "'" << literal.text << "'::bigint";
    } else if (literal.text.starts_with('-')) {
      sql << "'" << literal.text << "'::numeric";
    } else {
      sql << literal.text;
    }
  }
  void operator()(const ast::TypeCast& cast) const {
    if (const auto* text = std::get_if<ast::StringLiteral>(&cast.argument->node)) {
      sql.literal(text->value);
    } else if (std::holds_alternative<ast::NullLiteral>(cast.argument->node)) {
      sql << "NULL";
    } else {
      const bool parentheses = sql.layout_ == QueryLayout::kPlain || form_of(*cast.argument) != Form::kPrimary;
      if (parentheses) sql << "(";
      sql.expression(*cast.argument);
      if (parentheses) sql << ")";
    }
    sql << "::";
    sql.type(cast.type);
  }
  void operator()(const ast::Case& choice) const {
    sql.line(0, 4, 0);
    sql << "CASE";
    if (choice.argument) {
      sql << " ";
      sql.expression(*choice.argument);
    }
    for (const ast::CaseWhen& branch : choice.whens) {
      sql.line(0, 0, 0);
      sql << "WHEN ";
      sql.expression(*branch.condition);
      sql << " THEN ";
      sql.expression(*branch.result);
    }
    if (choice.otherwise) {
      sql.line(0, 0, 0);
      sql << "ELSE ";
      sql.expression(*choice.otherwise);
    }
    sql.line(-4, 0, 0);
    sql << "END";
  }
  void operator()(const ast::Like& like) const {
    if (like.kind == ast::LikeKind::kSimilarTo || like.escape) return sql.written_expression(whole);
    sql.operand(*like.argument);
    sql << (like.negated ? " !~~" : " ~~") << (like.kind == ast::LikeKind::kILike ? "* " : " ");
    sql.operand(*like.pattern);
  }
  void operator()(const ast::InList& in) const {
    sql.operand(*in.argument);
    if (in.items.size() == 1) {
      sql << (in.negated ? " <> " : " = ");
      return sql.operand(*in.items[0]);
    }
    sql << (in.negated ? " <> ALL (ARRAY[" : " = ANY (ARRAY[");
    sql.expressions(in.items);
    sql << "])";
  }
  void operator()(const ast::Between& between) const {
    if (between.symmetric) return sql.written_expression(whole);
    const auto side = [&](std::string_view name, const ast::Expression& bound) {
      if (sql.layout_ == QueryLayout::kPlain) sql << "(";
      sql.operand(*between.argument);
      sql << " " << name << " ";
      sql.operand(bound);
      if (sql.layout_ == QueryLayout::kPlain) sql << ")";
    };
    side(between.negated ? "<" : ">=", *between.low);
    sql << (between.negated ? " OR " : " AND ");
    side(between.negated ? ">" : "<=", *between.high);
  }
  void operator()(const ast::SubLink& link) const {
    if (link.kind != ast::SubLinkKind::kExists) return sql.written_expression(whole);
    const bool is_pretty = sql.layout_ == QueryLayout::kPretty;
    if (is_pretty) sql << "(";
    sql.written_expression(whole);
    if (is_pretty) sql << ")";
  }
  template <class Other>
  void operator()(const Other&) const {
    sql.written_expression(whole);
  }
};

void SqlWriter::laid_out_expression(const ast::Expression& expression) {
  const Form form = form_of(expression);
  const bool parentheses = layout_ == QueryLayout::kPlain && form != Form::kPrimary && form != Form::kCast;
  const std::string* cast = implicit_cast(expression);
  const bool is_enclosed = cast != nullptr && (layout_ == QueryLayout::kPlain || (form != Form::kPrimary && form != Form::kCast));
  const ast::Expression* outer = std::exchange(parent_, &expression);
  if (is_enclosed) *this << "(";
  if (parentheses) *this << "(";
  std::visit(LaidOut{*this, expression}, expression.node);
  if (parentheses) *this << ")";
  if (is_enclosed) *this << ")";
  if (cast != nullptr) *this << "::" << *cast;
  parent_ = outer;
}

}  // namespace redquel::parser
