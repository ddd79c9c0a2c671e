// Expressions and lines as PostgreSQL's pg_get_viewdef() writes them: what the parser made of BETWEEN, IN and LIKE, literals with
// their types, parentheses around every operator or only where they are needed.

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "parser/sql_writer.h"

namespace redquel::parser {

namespace {

enum class Form { kPrimary, kOperator, kArrayTest, kAnd, kOr, kNot, kTest, kCast, kSubLink, kRowTest };

const ast::Row* as_row(const ast::ExpressionPtr& expression) { return expression ? std::get_if<ast::Row>(&expression->node) : nullptr; }

/// A comparison of two rows with items: field by field.
bool compares_rows(const ast::ExpressionPtr& left, const ast::ExpressionPtr& right) {
  const ast::Row *a = as_row(left), *b = as_row(right);
  return a != nullptr && b != nullptr && a->items.size() == b->items.size() && !a->items.empty();
}

/// Equality and inequality of rows become AND or OR over their fields.
Form form_of_fields(const ast::Row& row, bool is_and) { return row.items.size() == 1 ? Form::kOperator : is_and ? Form::kAnd : Form::kOr; }

struct FormVisitor {
  Form operator()(const ast::OperatorCall& call) const {
    if (!compares_rows(call.left, call.right)) return Form::kOperator;
    if (const std::string& name = call.name.back(); name == "=" || name == "<>") return form_of_fields(*as_row(call.left), name == "=");
    return as_row(call.left)->items.size() == 1 ? Form::kOperator : Form::kRowTest;
  }
  Form operator()(const ast::ArrayComparison&) const { return Form::kArrayTest; }
  Form operator()(const ast::Like&) const { return Form::kOperator; }
  Form operator()(const ast::InList& in) const {
    if (as_row(in.argument) == nullptr) return in.items.size() == 1 ? Form::kOperator : Form::kArrayTest;
    return in.items.size() == 1 ? form_of_fields(*as_row(in.argument), !in.negated) : in.negated ? Form::kAnd : Form::kOr;
  }
  Form operator()(const ast::Between& between) const { return between.negated == between.symmetric ? Form::kAnd : Form::kOr; }
  Form operator()(const ast::And&) const { return Form::kAnd; }
  Form operator()(const ast::Or&) const { return Form::kOr; }
  Form operator()(const ast::Not&) const { return Form::kNot; }
  Form operator()(const ast::NullTest&) const { return Form::kTest; }
  Form operator()(const ast::BooleanTest&) const { return Form::kTest; }
  Form operator()(const ast::DistinctFrom& test) const {
    if (test.negated) return Form::kNot;
    return compares_rows(test.left, test.right) && as_row(test.left)->items.size() > 1 ? Form::kOr : Form::kTest;
  }
  Form operator()(const ast::Collate&) const { return Form::kTest; }
  Form operator()(const ast::SubLink&) const { return Form::kSubLink; }
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

bool is_literal(const ast::Expression& expression) {
  return std::holds_alternative<ast::StringLiteral>(expression.node) || std::holds_alternative<ast::NullLiteral>(expression.node) ||
         std::holds_alternative<ast::IntegerLiteral>(expression.node) || std::holds_alternative<ast::NumericLiteral>(expression.node) ||
         std::holds_alternative<ast::BooleanLiteral>(expression.node) || std::holds_alternative<ast::BitStringLiteral>(expression.node);
}

/// An integer that fits eight bytes.
bool is_bigint(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  if (is_negative) text.remove_prefix(1);
  text.remove_prefix(std::min(text.find_first_not_of('0'), text.size()));
  const std::string_view most = is_negative ? "9223372036854775808" : "9223372036854775807";
  return text.find_first_not_of("0123456789") == std::string_view::npos && (text.size() < most.size() || (text.size() == most.size() && text <= most));
}

/// The digits of a number without its exponent, as numeric's output function has them: 1.5e3 is 1500, .5 is 0.5, 5. is 5.
std::string without_exponent(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  if (is_negative) text.remove_prefix(1);
  const std::size_t mark = text.find_first_of("eE");
  const int exponent = mark == std::string_view::npos ? 0 : std::stoi(std::string(text.substr(mark + 1)));
  text = text.substr(0, mark);
  const std::size_t point = std::min(text.find('.'), text.size());
  std::string whole(text.substr(0, point)), fraction(text.substr(std::min(point + 1, text.size())));
  if (exponent > 0) {
    const auto moved = static_cast<std::size_t>(exponent);
    if (fraction.size() < moved) fraction.append(moved - fraction.size(), '0');
    whole += fraction.substr(0, moved);
    fraction.erase(0, moved);
  } else if (exponent < 0) {
    const auto moved = static_cast<std::size_t>(-exponent);
    if (whole.size() < moved) whole.insert(0, moved - whole.size(), '0');
    fraction.insert(0, whole.substr(whole.size() - moved));
    whole.erase(whole.size() - moved);
  }
  whole.erase(0, std::min(whole.find_first_not_of('0'), whole.size()));
  if (whole.empty()) whole = "0";
  return (is_negative ? "-" : "") + whole + (fraction.empty() ? "" : "." + fraction);
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
  if (!lays_out()) return operand(written);
  if (names_ != nullptr && names_->sort_positions.contains(&written)) {
    *this << std::to_string(names_->sort_positions.at(&written));
    return;
  }
  const ast::Expression* value = &written;
  const std::span<const ast::Target> targets = sorted_ == nullptr ? std::span<const ast::Target>() : sorted_->targets;
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
  const std::string* cast = implicit_cast(*value);
  const bool is_column = std::holds_alternative<ast::ColumnRef>(value->node) && cast == nullptr;
  const auto* written_cast = std::get_if<ast::TypeCast>(&value->node);
  const bool is_known = written_cast != nullptr && names_ != nullptr && names_->cast_types.contains(written_cast);
  const bool is_converted = cast != nullptr || (is_known && names_->cast_types.at(written_cast).is_call && !is_literal(*written_cast->argument));
  const bool is_call = std::holds_alternative<ast::FunctionCall>(value->node) || is_converted;
  const bool parentheses = !is_column && !is_literal(*value) && (layout_ == QueryLayout::kPretty || is_call);
  const ast::Select* sorted = std::exchange(sorted_, nullptr);
  if (parentheses) *this << "(";
  expression(*value);
  if (parentheses) *this << ")";
  sorted_ = sorted;
}

const std::string* SqlWriter::implicit_cast(const ast::Expression& expression) const {
  if (names_ == nullptr || parent_ == nullptr || std::holds_alternative<ast::TypeCast>(parent_->node)) return nullptr;
  if (&expression == unconverted_) return nullptr;
  if (const auto* part = std::get_if<ast::Indirection>(&parent_->node); part != nullptr && part->base.get() == &expression) return nullptr;
  switch (form_of(expression)) {  // nothing that is true or false is converted unasked: the cast is that of its first operand
    case Form::kArrayTest:
    case Form::kAnd:
    case Form::kOr:
    case Form::kNot:
    case Form::kRowTest:
      return nullptr;
    case Form::kTest:
      if (!std::holds_alternative<ast::Collate>(expression.node)) return nullptr;
      break;
    case Form::kOperator:
      if (!std::holds_alternative<ast::OperatorCall>(expression.node)) return nullptr;
      break;
    default:
      break;
  }
  // Operators begin where their first operand does: the place of a cast says how many calls begin there.
  const auto found = names_->casts.find(expression.start + (calls_at(expression, expression.start) << 24));
  return found == names_->casts.end() ? nullptr : &found->second;
}

bool SqlWriter::needs_parentheses(const ast::Expression& operand) const {
  if (implicit_cast(operand) != nullptr) return false;
  const Form form = form_of(operand);
  if (is_plain() || form == Form::kPrimary || parent_ == nullptr) return false;
  if (form == Form::kArrayTest || form == Form::kRowTest) return true;
  const Form parent = form_of(*parent_);
  if (parent == Form::kAnd || parent == Form::kOr || parent == Form::kNot) {
    if (form == Form::kOr) return parent != Form::kOr;
    return parent == Form::kNot && form == Form::kAnd;
  }
  if (form == Form::kCast) return false;
  if (form == Form::kSubLink && parent == Form::kPrimary) return false;
  const int inner = arithmetic_rank(operand), outer = arithmetic_rank(*parent_);
  if (inner == 0 || outer == 0) return true;
  const bool is_left = std::get<ast::OperatorCall>(parent_->node).left.get() == &operand;
  return !(inner > outer || (inner == outer && is_left));
}

void SqlWriter::name_source(const ast::FromItem& item) {
  const auto* join = std::get_if<ast::Join>(&item.node);
  if (join != nullptr) {
    name_source(*join->left);
    name_source(*join->right);
  }
  if (!names_->sources.contains(&item)) return;
  const std::string& wanted = names_->sources.at(&item).name;
  if (wanted.empty() || join != nullptr) return;
  std::string name = wanted;
  for (int number = 1; std::ranges::find(used_names_, name) != used_names_.end(); ++number) name = wanted + "_" + std::to_string(number);
  used_names_.push_back(name);
  source_names_[&item] = std::move(name);
}

void SqlWriter::name_sources(const std::vector<ast::FromItem>& items) {
  if (names_ != nullptr) std::ranges::for_each(items, [this](const ast::FromItem& item) { name_source(item); });
}

std::optional<ast::Alias> SqlWriter::shown_alias(const ast::FromItem& item, const std::optional<ast::Alias>& written) const {
  const auto name = source_names_.find(&item);
  if (name == source_names_.end()) return written;
  const QueryNames::Source& source = names_->sources.at(&item);
  const bool is_own = std::holds_alternative<ast::TableRef>(item.node) && name->second == source.name;
  if (!written && is_own && source.columns.empty()) return std::nullopt;
  return ast::Alias{name->second, source.columns};
}

void SqlWriter::locked_source(const ast::LockingClause& locking, const ast::FromItem& item) {
  if (const auto* join = std::get_if<ast::Join>(&item.node); join != nullptr && !join->alias) {
    locked_source(locking, *join->left);
    return locked_source(locking, *join->right);
  }
  const auto* table = std::get_if<ast::TableRef>(&item.node);
  const bool has_rows = table != nullptr ? names_->relations.contains(&table->name) : std::holds_alternative<ast::SubqueryRef>(item.node);
  const auto source = source_names_.find(&item);
  if (!has_rows || source == source_names_.end()) return;
  const std::string& called = names_->sources.at(&item).name;
  if (!locking.relations.empty() && std::ranges::find(locking.relations, called, &ast::RelationName::name) == locking.relations.end()) return;
  line(-8, 8, 0);
  lock_strength(locking.strength);
  *this << " OF ";
  name(source->second);
  lock_wait(locking.wait);
}

void SqlWriter::unconverted(const ast::Expression& expression) {
  const Form form = form_of(expression);
  const bool parentheses = !is_plain() && form != Form::kPrimary && form != Form::kCast && implicit_cast(expression) != nullptr;
  const ast::Expression* outer = std::exchange(unconverted_, &expression);
  if (parentheses) *this << "(";
  this->expression(expression);
  if (parentheses) *this << ")";
  unconverted_ = outer;
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
    if (is_bigint(literal.text)) {
      sql << "'" << literal.text << "'::bigint";
    } else {
      const std::string text = without_exponent(literal.text);
      const bool is_bare = text.front() != '-' && text.find('.') != std::string::npos;
      sql << (is_bare ? text : "'" + text + "'::numeric");
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
    if (literal == nullptr && type.is_nothing) return sql.expression(*cast.argument);
    if (literal != nullptr && !type.is_domain) {
      value(*cast.argument, literal);
      if (type.has_modifier || !literal->is_bare) typed(type.name);
      return;
    }
    const auto* number = std::get_if<ast::NumericLiteral>(&cast.argument->node);
    const bool is_of_type = number != nullptr && number->text.find('.') != std::string::npos && type.name.starts_with("numeric(");
    const bool parentheses = (sql.is_plain() && !is_of_type) || form_of(*cast.argument) != Form::kPrimary;
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
    } else if (sql.names_ != nullptr && sql.names_->case_types.contains(&choice)) {
      sql.line(0, 0, 0);
      sql << "ELSE NULL";
      typed(sql.names_->case_types.at(&choice));
    }
    sql.line(-4, 0, 0);
    sql << "END";
  }
  void operator()(const ast::Like& like) const {
    const bool is_similar = like.kind == ast::LikeKind::kSimilarTo;
    sql.operand(*like.argument);
    sql << (is_similar ? like.negated ? " !~" : " ~" : like.negated ? " !~~" : " ~~") << (like.kind == ast::LikeKind::kILike ? "* " : " ");
    if (!is_similar && !like.escape) return sql.operand(*like.pattern);
    sql << (is_similar ? "similar_to_escape(" : "like_escape(");
    sql.expression(*like.pattern);
    if (like.escape) {
      sql << ", ";
      sql.expression(*like.escape);
    }
    sql << ")";
  }
  /// Comparisons of the fields of two rows, joined by a word; each in parentheses where all are.
  void by_field(const ast::Expression& left, const ast::Expression& right, std::string_view comparison, std::string_view word) const {
    const ast::Expressions &a = std::get<ast::Row>(left.node).items, &b = std::get<ast::Row>(right.node).items;
    const bool is_enclosed = sql.is_plain() && a.size() > 1;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (i != 0) sql << word;
      if (is_enclosed) sql << "(";
      sql.operand(*a[i]);
      sql << " " << comparison << " ";
      sql.operand(*b[i]);
      if (is_enclosed) sql << ")";
    }
  }
  void operator()(const ast::OperatorCall& call) const {
    if (!compares_rows(call.left, call.right)) return sql.written_expression(whole);
    const std::string& name = call.name.back();
    if (name == "=" || name == "<>" || as_row(call.left)->items.size() == 1) {
      return by_field(*call.left, *call.right, name, name == "<>" ? " OR " : " AND ");
    }
    if (!sql.is_plain()) sql << "(";  // comparisons of rows bring parentheses of their own
    sql << "ROW(";
    sql.expressions(as_row(call.left)->items);
    sql << ") " << name << " ROW(";
    sql.expressions(as_row(call.right)->items);
    sql << ")";
    if (!sql.is_plain()) sql << ")";
  }
  void operator()(const ast::DistinctFrom& test) const {
    if (test.negated) sql << "NOT ";
    const bool is_enclosed = test.negated && (sql.is_plain() || (compares_rows(test.left, test.right) && as_row(test.left)->items.size() > 1));
    if (is_enclosed) sql << "(";
    if (compares_rows(test.left, test.right)) {
      by_field(*test.left, *test.right, "IS DISTINCT FROM", " OR ");
    } else {
      sql.operand(*test.left);
      sql << " IS DISTINCT FROM ";
      sql.operand(*test.right);
    }
    if (is_enclosed) sql << ")";
  }
  /// `(a, b) IN ((1, 2), (3, 4))`.
  void row_in_list(const ast::InList& in) const {
    for (std::size_t i = 0; i < in.items.size(); ++i) {
      if (i != 0) sql << (in.negated ? " AND " : " OR ");
      const bool has_fields = as_row(in.argument)->items.size() > 1;
      const bool is_enclosed = in.items.size() > 1 && (sql.is_plain() || (has_fields && in.negated));
      if (is_enclosed) sql << "(";
      by_field(*in.argument, *in.items[i], in.negated ? "<>" : "=", in.negated ? " OR " : " AND ");
      if (is_enclosed) sql << ")";
    }
  }
  void operator()(const ast::InList& in) const {
    const bool compares = as_row(in.argument) != nullptr &&
                          std::ranges::all_of(in.items, [&](const ast::ExpressionPtr& item) { return compares_rows(in.argument, item); });
    if (compares) return row_in_list(in);
    sql.operand(*in.argument);
    if (in.items.size() == 1) {
      sql << (in.negated ? " <> " : " = ");
      return sql.operand(*in.items[0]);
    }
    sql << (in.negated ? " <> ALL (" : " = ANY (");
    converted_array([&] {
      sql << "ARRAY[";
      sql.expressions(in.items);
      sql << "]";
    });
    sql << ")";
  }
  void operator()(const ast::ArrayComparison& comparison) const {
    sql.operand(*comparison.left);
    sql << " ";
    sql.operator_name(comparison.name);
    sql << (comparison.all ? " ALL (" : " ANY (");
    converted_array([&] { sql.expression(*comparison.array); });
    sql << ")";
  }
  /// An array that is converted as a whole, where the elements that were written have another type.
  template <class Write>
  void converted_array(const Write& write) const {
    const auto cast = sql.names_ == nullptr ? decltype(sql.names_->array_casts.end()){} : sql.names_->array_casts.find(&whole);
    const bool is_converted = sql.names_ != nullptr && cast != sql.names_->array_casts.end();
    if (is_converted && sql.is_plain()) sql << "(";
    write();
    if (is_converted && sql.is_plain()) sql << ")";
    if (is_converted) typed(cast->second);
  }
  void operator()(const ast::Between& between) const {
    const auto side = [&](std::string_view name, const ast::Expression& bound) {
      if (sql.is_plain()) sql << "(";
      sql.operand(*between.argument);
      sql << " " << name << " ";
      sql.operand(bound);
      if (sql.is_plain()) sql << ")";
    };
    const auto sides = [&](const ast::Expression& low, const ast::Expression& high) {
      const bool is_enclosed = between.symmetric && (sql.is_plain() || between.negated);
      if (is_enclosed) sql << "(";
      side(between.negated ? "<" : ">=", low);
      sql << (between.negated ? " OR " : " AND ");
      side(between.negated ? ">" : "<=", high);
      if (is_enclosed) sql << ")";
    };
    sides(*between.low, *between.high);
    if (!between.symmetric) return;
    sql << (between.negated ? " AND " : " OR ");
    sides(*between.high, *between.low);
  }
  void operator()(const ast::FunctionCall& call) const {
    if (!call.sql_syntax || call.name.size() != 2 || !sql.call_in_words(call.name[1], call.arguments)) sql.written_expression(whole);
  }
  void operator()(const ast::Indirection& indirection) const {
    const bool is_column = std::holds_alternative<ast::ColumnRef>(indirection.base->node);
    const bool is_field = !indirection.steps.empty() && std::holds_alternative<ast::FieldStep>(indirection.steps.front());
    if (!is_column || is_field) return sql.written_expression(whole);
    sql.expression(*indirection.base);
    sql.indirection(indirection.steps);
  }
  void operator()(const ast::SubLink& link) const {
    if (link.kind == ast::SubLinkKind::kScalar || link.kind == ast::SubLinkKind::kArray) return sql.written_expression(whole);
    sql << "(";
    sql.written_expression(whole);
    sql << ")";
  }
  template <class Other>
  void operator()(const Other&) const {
    sql.written_expression(whole);
  }
};

void SqlWriter::laid_out_expression(const ast::Expression& expression) {
  const Form form = form_of(expression);
  const bool parentheses = is_plain() && form != Form::kPrimary && form != Form::kCast && form != Form::kSubLink;
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
