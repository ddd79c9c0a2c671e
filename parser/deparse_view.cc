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
  if (layout_ == QueryLayout::kLine) {
    if (out_.ends_with(',') || out_.ends_with(')')) out_ += ' ';
    return;
  }
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
  if (is_plain() || form == Form::kPrimary || parent_ == nullptr) return false;
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

  const QueryNames::Literal* find_literal(const ast::Expression& expression) const {
    const bool is_literal = std::holds_alternative<ast::StringLiteral>(expression.node) || std::holds_alternative<ast::NullLiteral>(expression.node);
    if (sql.names_ == nullptr || !is_literal) return nullptr;
    const auto found = sql.names_->literals.find(expression.offset);
    return found == sql.names_->literals.end() ? nullptr : &found->second;
  }
  void typed(std::string_view type) const { sql << "::" << type; }
  /// Backslashes mean nothing in it.
  void plain_literal(std::string_view text) const {
    sql << "'";
    for (const char c : text) sql << (c == '\'' ? std::string_view("''") : std::string_view(&c, 1));
    sql << "'";
  }
  /// A literal without its type.
  void value(const ast::Expression& expression, const QueryNames::Literal* literal) const {
    const auto* written = std::get_if<ast::StringLiteral>(&expression.node);
    if (written == nullptr) {
      sql << "NULL";
    } else if (literal != nullptr && literal->is_bare) {
      sql << *literal->text;
    } else {
      plain_literal(literal != nullptr && literal->text ? *literal->text : written->value);
    }
  }
  void constant() const {
    const QueryNames::Literal* literal = find_literal(whole);
    value(whole, literal);
    if (literal != nullptr && !literal->is_bare) typed(literal->type);
  }
  void operator()(const ast::StringLiteral&) const { constant(); }
  void operator()(const ast::NullLiteral&) const { constant(); }
  void operator()(const ast::BitStringLiteral& literal) const {
    std::string bits;
    for (const char digit : std::string_view(literal.text).substr(1)) {
      if (literal.text[0] == 'b') {
        bits += digit;
        continue;
      }
      const int number = digit <= '9' ? digit - '0' : (digit | 0x20) - 'a' + 10;
      for (int bit = 8; bit > 0; bit /= 2) bits += (number & bit) != 0 ? '1' : '0';
    }
    sql << "'" << bits << "'::\"bit\"";
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
    if (sql.names_ != nullptr && sql.names_->cast_types.contains(&cast)) return known_cast(cast, sql.names_->cast_types.at(&cast));
    if (const auto* text = std::get_if<ast::StringLiteral>(&cast.argument->node)) {
      plain_literal(text->value);
    } else if (std::holds_alternative<ast::NullLiteral>(cast.argument->node)) {
      sql << "NULL";
    } else {
      const bool parentheses = sql.is_plain() || form_of(*cast.argument) != Form::kPrimary;
      if (parentheses) sql << "(";
      sql.expression(*cast.argument);
      if (parentheses) sql << ")";
    }
    sql << "::";
    sql.type(cast.type);
  }
  /// A literal that is read as a value of the type needs no cast besides its length.
  void known_cast(const ast::TypeCast& cast, const QueryNames::CastType& type) const {
    const QueryNames::Literal* literal = find_literal(*cast.argument);
    if (literal != nullptr && !type.is_domain) {
      value(*cast.argument, literal);
      if (type.has_modifier || !literal->is_bare) typed(type.name);
      return;
    }
    const bool parentheses = sql.is_plain() || form_of(*cast.argument) != Form::kPrimary;
    if (parentheses) sql << "(";
    sql.expression(*cast.argument);
    if (parentheses) sql << ")";
    typed(type.name);
  }
  void operator()(const ast::Case& choice) const {
    if (sql.layout_ == QueryLayout::kLine) return sql.written_expression(whole);
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
      if (sql.is_plain()) sql << "(";
      sql.operand(*between.argument);
      sql << " " << name << " ";
      sql.operand(bound);
      if (sql.is_plain()) sql << ")";
    };
    side(between.negated ? "<" : ">=", *between.low);
    sql << (between.negated ? " OR " : " AND ");
    side(between.negated ? ">" : "<=", *between.high);
  }
  void operator()(const ast::FunctionCall& call) const {
    if (!call.sql_syntax || call.name.size() != 2 || !written_in_sql(call.name[1], call.arguments)) sql.written_expression(whole);
  }
  /// The forms in which the SQL standard calls functions; false: this is none of them.
  bool written_in_sql(std::string_view name, const std::vector<ast::Argument>& arguments) const {
    const std::size_t count = arguments.size();
    const auto value = [&](std::size_t i) { sql.expression(*arguments[i].value); };
    const auto word = [&](std::size_t i) {
      const auto* literal = std::get_if<ast::StringLiteral>(&arguments[i].value->node);
      return literal == nullptr ? std::string() : literal->value;
    };
    const auto call = [&](std::string_view opening, std::initializer_list<std::string_view> words) {
      sql << opening;
      std::size_t i = 0;
      for (const std::string_view before : words) {
        if (i == count) break;
        sql << before;
        value(i++);
      }
      sql << ")";
    };
    if (name == "timezone" && count == 2) {
      sql << "(";
      sql.operand(*arguments[1].value);
      sql << " AT TIME ZONE ";
      sql.operand(*arguments[0].value);
      sql << ")";
    } else if (name == "extract" && count == 2 && !word(0).empty()) {
      sql << "EXTRACT(" << word(0) << " FROM ";
      value(1);
      sql << ")";
    } else if (name == "overlaps" && count == 4) {
      call("((", {"", ", ", ") OVERLAPS (", ", "});
      sql << ")";
    } else if (name == "position" && count == 2) {
      sql << "POSITION((";
      value(1);
      sql << ") IN (";
      value(0);
      sql << "))";
    } else if (name == "overlay" && count >= 3) {
      call("OVERLAY(", {"", " PLACING ", " FROM ", " FOR "});
    } else if (name == "substring" && count >= 2) {
      call("SUBSTRING(", {"", " FROM ", " FOR "});
    } else if (name == "btrim" || name == "ltrim" || name == "rtrim") {
      sql << (name == "btrim" ? "TRIM(BOTH" : name == "ltrim" ? "TRIM(LEADING" : "TRIM(TRAILING");
      if (count > 1) {
        sql << " ";
        value(1);
      }
      sql << " FROM ";
      value(0);
      sql << ")";
    } else {
      return false;
    }
    return true;
  }
  void operator()(const ast::Indirection& indirection) const {
    const bool is_column = std::holds_alternative<ast::ColumnRef>(indirection.base->node);
    const bool is_field = !indirection.steps.empty() && std::holds_alternative<ast::FieldStep>(indirection.steps.front());
    if (!is_column || is_field) return sql.written_expression(whole);
    sql.expression(*indirection.base);
    sql.indirection(indirection.steps);
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
  const bool parentheses = is_plain() && form != Form::kPrimary && form != Form::kCast;
  const std::string* cast = implicit_cast(expression);
  const bool is_enclosed = cast != nullptr && (is_plain() || (form != Form::kPrimary && form != Form::kCast));
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
