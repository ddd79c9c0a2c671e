#include <cctype>
#include <string>

#include "sql/expressions/expression.h"
#include "sql/functions/user_function_call.h"
#include "sql/types/text_io.h"

namespace redquel::sql {
namespace {

void append(const Expression& expression, std::string& out);

void append_list(const std::vector<ExpressionPtr>& list, std::string& out) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i > 0) out += ", ";
    append(*list[i], out);
  }
}

void append_quoted(std::string_view text, std::string& out) {
  const bool escape = text.find('\\') != std::string_view::npos;
  out += escape ? "E'" : "'";
  for (char c : text) {
    if (c == '\'' || c == '\\') out += c;
    out += c;
  }
  out += '\'';
}

/// A constant as PostgreSQL shows it in plans: with its type unless the text alone says it.
void append_constant(Type type, const Datum& value, std::string& out) {
  if (is_null(value)) {
    out += "NULL";
    if (type.oid != oid::kUnknown) out += "::" + format_type(type);
    return;
  }
  if (type.oid == oid::kBool) {
    out += std::get<bool>(value) ? "true" : "false";
    return;
  }
  const std::string text = format_value(type, value);
  if (type.oid == oid::kInt4 && text[0] != '-') {
    out += text;
    return;
  }
  if (type.oid == oid::kNumeric && text.find_first_not_of("0123456789.") == std::string::npos &&
      text.find('.') != std::string::npos) {
    out += text;
    return;
  }
  append_quoted(text, out);
  if (type.oid != oid::kUnknown) out += "::" + format_type(type);
}

bool is_operator(const ScalarFunction& function) {
  return std::isalpha(static_cast<unsigned char>(function.name[0])) == 0 && function.name[0] != '_';
}

struct Printer {
  const Expression& expression;
  std::string& out;

  void operator()(const Constant& constant) const { append_constant(expression.type, constant.value, out); }
  void operator()(const ColumnRef& column) const {
    out += column.name.empty() ? "#" + std::to_string(column.column) : column.name;
  }
  void operator()(const ParameterRef& parameter) const { out += "$" + std::to_string(parameter.slot + 1); }

  void operator()(const FunctionCall& call) const {
    if (call.function == &user_function_call()) {
      const auto constant = [&](std::size_t i) { return std::get<Constant>(call.arguments[i]->node).value; };
      const UserFunctionHead head = read_user_function_head(constant(0), constant(1));
      out += head.name + '(';
      append_list({call.arguments.begin() + static_cast<std::ptrdiff_t>(head.size()), call.arguments.end()}, out);
      out += ')';
      return;
    }
    if (!is_operator(*call.function) || call.arguments.empty() || call.arguments.size() > 2) {
      out += call.function->name;
      out += '(';
      append_list(call.arguments, out);
      out += ')';
      return;
    }
    out += '(';
    if (call.arguments.size() == 2) {
      append(*call.arguments[0], out);
      out += ' ';
    }
    out += call.function->name;
    out += ' ';
    append(*call.arguments.back(), out);
    out += ')';
  }

  void operator()(const CastCall& cast) const {
    out += '(';
    append(*cast.operand, out);
    out += ")::" + format_type(expression.type);
  }

  void operator()(const Logical& logical) const {
    if (logical.kind == Logical::Kind::kNot) {
      out += "(NOT ";
      append(*logical.operands.front(), out);
      out += ')';
      return;
    }
    out += '(';
    for (std::size_t i = 0; i < logical.operands.size(); ++i) {
      if (i > 0) out += logical.kind == Logical::Kind::kAnd ? " AND " : " OR ";
      append(*logical.operands[i], out);
    }
    out += ')';
  }

  void operator()(const NullTest& test) const {
    out += '(';
    append(*test.operand, out);
    out += test.negated ? " IS NOT NULL)" : " IS NULL)";
  }

  void operator()(const BooleanTest& test) const {
    out += '(';
    append(*test.operand, out);
    out += test.negated ? " IS NOT " : " IS ";
    switch (test.kind) {
      case BooleanTest::Kind::kTrue:
        out += "TRUE)";
        break;
      case BooleanTest::Kind::kFalse:
        out += "FALSE)";
        break;
      case BooleanTest::Kind::kUnknown:
        out += "UNKNOWN)";
        break;
    }
  }

  void operator()(const CaseCall& call) const {
    out += "CASE";
    for (const CaseCall::Branch& branch : call.branches) {
      out += " WHEN ";
      append(*branch.condition, out);
      out += " THEN ";
      append(*branch.result, out);
    }
    out += " ELSE ";
    append(*call.otherwise, out);
    out += " END";
  }

  void operator()(const CoalesceCall& call) const {
    out += "COALESCE(";
    append_list(call.arguments, out);
    out += ')';
  }

  void operator()(const GreatestLeast& call) const {
    out += call.greatest ? "GREATEST(" : "LEAST(";
    append_list(call.arguments, out);
    out += ')';
  }

  void operator()(const DistinctTest& test) const {
    out += '(';
    append(*test.left, out);
    out += test.negated ? " IS NOT DISTINCT FROM " : " IS DISTINCT FROM ";
    append(*test.right, out);
    out += ')';
  }

  void operator()(const NullIfCall& call) const {
    out += "NULLIF(";
    append(*call.left, out);
    out += ", ";
    append(*call.right, out);
    out += ')';
  }

  void operator()(const InListTest& test) const {
    out += '(';
    append(*test.operand, out);
    out += test.negated ? " NOT IN (" : " IN (";
    append_list(test.list, out);
    out += "))";
  }

  void operator()(const DomainTest& test) const {
    out += '(';
    append(*test.operand, out);
    out += ")::" + test.domain;
  }

  void operator()(const ArrayTest& test) const {
    out += '(';
    append(*test.operand, out);
    out += ' ';
    out += test.comparison->name;
    out += test.all ? " ALL (" : " ANY (";
    append(*test.array, out);
    out += "))";
  }
};

void append(const Expression& expression, std::string& out) { std::visit(Printer{expression, out}, expression.node); }

/// Returns true if the first parenthesis closes at the end.
bool is_enclosed(std::string_view text) {
  if (text.size() < 2 || text.front() != '(' || text.back() != ')') return false;
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\'') quoted = !quoted;
    if (quoted) continue;
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && --depth == 0) return i + 1 == text.size();
  }
  return false;
}

}  // namespace

std::string to_string(const Expression& expression) {
  std::string out;
  append(expression, out);
  if (is_enclosed(out)) return out.substr(1, out.size() - 2);
  return out;
}

}  // namespace redquel::sql
