// Blocks, declarations and names of a body in PL/pgSQL, and the texts of SQL in it.

#include <fmt/format.h>

#include <algorithm>

#include "parser/parse.h"
#include "parser/plpgsql_parser.h"
#include "sql/routine_sqlstate.h"
#include "sql/sqlstate.h"

namespace redquel::parser::plpgsql {

using sql::SqlError;

Parser::Parser(std::string_view body, const Signature& signature) : text_(body), signature_(signature), tokens_(scan(body)) {}

Body parse_body(std::string_view body, const Signature& signature) { return Parser(body, signature).parse(); }

Body Parser::parse() {
  push(Scope::Kind::kBlock, signature_.name);
  std::size_t number = 0;
  for (std::size_t i = 0; i < signature_.arguments.size(); ++i) {
    const Signature::Argument& argument = signature_.arguments[i];
    Variable variable;
    ++number;
    variable.name = argument.name.empty() ? fmt::format("${}", number) : argument.name;
    variable.argument = i;
    const std::size_t made = make_hidden(std::move(variable));
    if (!argument.name.empty()) scopes_.back().names.emplace_back(argument.name, made);
    if (argument.has_number) scopes_.back().names.emplace_back(fmt::format("${}", number), made);
  }
  Variable found;
  found.name = "found";
  found.type = "pg_catalog.bool";
  body_.found = make_hidden(std::move(found));
  scopes_.back().names.emplace_back("found", body_.found);
  while (peek().is_symbol("#")) {
    take();
    const Token& option = take();
    const Token& value = take();
    if (option.is_word("variable_conflict")) {
      if (value.is_word("error")) body_.conflict = Body::Conflict::kError;
      else if (value.is_word("use_variable")) body_.conflict = Body::Conflict::kVariable;
      else if (value.is_word("use_column")) body_.conflict = Body::Conflict::kColumn;
      else syntax_error(value);
    } else if (option.is_word("print_strict_params")) {
      body_.print_strict_params = value.is_word("on");
    } else if (!option.is_word("option")) {
      syntax_error(option);
    }
  }
  std::string label;
  if (take_symbol("<<")) {
    label = expect_name();
    expect_symbol(">>");
  }
  const Token& first = peek();
  body_.block.line = line_of(first);
  if (!first.is_word("declare") && !first.is_word("begin")) syntax_error(first);
  body_.block.node = block(std::move(label));
  body_.block.number = body_.statements++;
  take_symbol(";");
  if (peek().kind != Token::Kind::kEnd) syntax_error(peek());
  return std::move(body_);
}

// ---- tokens ----

const Token& Parser::peek(std::size_t ahead) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }

const Token& Parser::take() {
  const Token& token = tokens_[at_];
  if (at_ + 1 < tokens_.size()) ++at_;
  return token;
}

bool Parser::take_word(std::string_view word) {
  if (!peek().is_word(word)) return false;
  take();
  return true;
}

bool Parser::take_symbol(std::string_view symbol) {
  if (!peek().is_symbol(symbol)) return false;
  take();
  return true;
}

void Parser::expect_word(std::string_view word) {
  if (!take_word(word)) syntax_error(peek());
}

void Parser::expect_symbol(std::string_view symbol) {
  if (!take_symbol(symbol)) syntax_error(peek());
}

std::string Parser::expect_name() {
  if (!peek().is_name()) syntax_error(peek());
  return take().value;
}

std::uint32_t Parser::line_of(const Token& token) const {
  // As PostgreSQL counts: a line break right behind the opening quote begins line 2.
  return 1 + static_cast<std::uint32_t>(std::ranges::count(text_.substr(0, token.offset), '\n'));
}

std::string_view Parser::written(const Token& token) const { return text_.substr(token.offset, token.length); }

void Parser::syntax_error(const Token& token, std::string_view message) const {
  const std::string place = token.kind == Token::Kind::kEnd ? std::string("at end of input") : fmt::format("at or near \"{}\"", written(token));
  throw SqlError(sqlstate::kSyntaxError, fmt::format("{} {}", message, place)).at(token.offset);
}

void Parser::refuse(const Token& token, std::string_view sqlstate, const std::string& message) const {
  throw SqlError(sqlstate, message).at(token.offset);
}

// ---- names ----

std::optional<std::size_t> Parser::find_name(std::string_view name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    for (const auto& [known, variable] : scope->names) {
      if (known == name) return variable;
    }
  }
  return std::nullopt;
}

std::optional<Parser::Found> Parser::find_variable(const std::vector<std::string>& names) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    for (const auto& [known, variable] : scope->names) {
      if (known == names[0]) return Found{variable, 1};
    }
    if (names.size() < 2 || scope->label.empty() || scope->label != names[0]) continue;
    for (const auto& [known, variable] : scope->names) {
      if (known == names[1]) return Found{variable, 2};
    }
  }
  return std::nullopt;
}

std::size_t Parser::make_hidden(Variable variable) {
  body_.variables.push_back(std::move(variable));
  return body_.variables.size() - 1;
}

std::size_t Parser::declare(Variable variable, const Token& at) {
  for (const auto& [known, other] : scopes_.back().names) {
    if (known == variable.name) syntax_error(at, "duplicate declaration");
  }
  const std::string name = variable.name;
  const std::size_t made = make_hidden(std::move(variable));
  scopes_.back().names.emplace_back(name, made);
  return made;
}

void Parser::collect_uses(std::size_t begin, std::size_t end, std::vector<VariableUse>& uses) const {
  const auto add = [&](VariableUse use) {
    const bool is_known = std::ranges::any_of(uses, [&](const VariableUse& other) {
      return other.variable == use.variable && other.block == use.block && other.name == use.name && other.field == use.field && other.all_fields == use.all_fields;
    });
    if (!is_known) uses.push_back(std::move(use));
  };
  for (std::size_t i = begin; i < end; ++i) {
    const Token& token = tokens_[i];
    const bool is_first = i == begin || !tokens_[i - 1].is_symbol(".");
    if (token.kind == Token::Kind::kParameter) {
      if (const auto variable = find_name(token.value)) add({{}, token.value, *variable, {}, false});
      continue;
    }
    if (!token.is_name() || !is_first) continue;
    std::vector<std::string> names = {token.value};
    bool star = false;
    for (std::size_t next = i + 1; next + 1 < end && tokens_[next].is_symbol(".") && names.size() < 3; next += 2) {
      star = tokens_[next + 1].is_symbol("*");
      if (!tokens_[next + 1].is_name()) break;
      names.push_back(tokens_[next + 1].value);
    }
    const std::optional<Found> found = find_variable(names);
    if (!found) continue;
    const std::string block = found->words == 2 ? names[0] : std::string();
    const std::string& name = names[found->words - 1];
    const bool has_field = names.size() > found->words;
    if (has_field) {
      add({block, name, found->variable, names[found->words], false});
    } else {
      add({block, name, found->variable, {}, star});
    }
  }
}

// ---- SQL ----

SqlText Parser::text_between(std::size_t begin, std::size_t end) {
  SqlText text;
  if (begin >= end) return text;
  const std::uint32_t first = tokens_[begin].offset, last = tokens_[end - 1].offset + tokens_[end - 1].length;
  text.text = text_.substr(first, last - first);
  text.number = body_.texts++;
  collect_uses(begin, end, text.uses);
  return text;
}

namespace {

/// Parses SQL; errors are at the place in the body.
void check_sql(const std::string& text, std::size_t added, std::uint32_t offset) {
  try {
    parser::parse(text);
  } catch (const SqlError& error) {
    const std::uint32_t place = error.position().value_or(static_cast<std::uint32_t>(added));
    throw SqlError(error.sqlstate(), error.message())
        .detail(error.detail())
        .hint(error.hint())
        .at(offset + (place > added ? place - static_cast<std::uint32_t>(added) : 0));
  }
}

}  // namespace

void Parser::check_expression(const SqlText& text, std::size_t begin) const {
  check_sql("SELECT " + text.text, kExpressionOffset, tokens_[begin].offset);
}

void Parser::check_statement(const SqlText& text, std::size_t begin) const { check_sql(text.text, 0, tokens_[begin].offset); }

SqlText Parser::read_expression(Words words, Words symbols, std::string_view wanted) {
  const std::size_t begin = at_;
  std::size_t depth = 0;
  while (true) {
    const Token& token = peek();
    if (depth == 0) {
      const bool ends = std::ranges::any_of(words, [&](std::string_view word) { return token.is_word(word); }) ||
                        std::ranges::any_of(symbols, [&](std::string_view symbol) { return token.is_symbol(symbol); });
      if (ends) break;
    }
    if (token.is_symbol("(") || token.is_symbol("[")) ++depth;
    if (token.is_symbol(")") || token.is_symbol("]")) {
      if (depth == 0) syntax_error(token, "mismatched parentheses");
      --depth;
    }
    if (token.kind == Token::Kind::kEnd || token.is_symbol(";")) {
      if (depth > 0) syntax_error(token, "mismatched parentheses");
      refuse(token, sqlstate::kSyntaxError, fmt::format("missing \"{}\" at end of SQL expression", wanted));
    }
    take();
  }
  if (begin == at_) syntax_error(peek(), "missing expression");
  SqlText text = text_between(begin, at_);
  check_expression(text, begin);
  return text;
}

SqlText Parser::read_until(std::string_view word_or_symbol) {
  return read_expression({word_or_symbol}, {word_or_symbol}, word_or_symbol);
}

SqlText Parser::read_query(Words words) {
  const std::size_t begin = at_;
  std::size_t depth = 0;
  while (true) {
    const Token& token = peek();
    const bool ends = depth == 0 && (token.is_symbol(";") || std::ranges::any_of(words, [&](std::string_view word) { return token.is_word(word); }));
    if (ends) break;
    if (token.kind == Token::Kind::kEnd) syntax_error(token, "unexpected end of function definition");
    if (token.is_symbol("(")) ++depth;
    if (token.is_symbol(")") && depth > 0) --depth;
    take();
  }
  if (begin == at_) syntax_error(peek(), "missing SQL statement");
  SqlText text = text_between(begin, at_);
  check_statement(text, begin);
  return text;
}

std::vector<SqlText> Parser::read_using(Words words) {
  std::vector<SqlText> values;
  do {
    values.push_back(read_expression(words, {",", ";"}, ";"));
  } while (take_symbol(","));
  return values;
}

Target Parser::read_target() {
  const Token& first = peek();
  if (first.kind != Token::Kind::kParameter && !first.is_name()) syntax_error(first);
  std::vector<std::string> names = {take().value};
  Target target;
  const std::size_t begin = at_ - 1;
  while (names.size() < 3 && peek().is_symbol(".") && peek(1).is_name()) {
    take();
    names.push_back(take().value);
  }
  const std::optional<Found> found = find_variable(names);
  if (!found) refuse(first, sqlstate::kSyntaxError, fmt::format("\"{}\" is not a known variable", names[0]));
  target.variable = found->variable;
  for (std::size_t i = found->words; i < names.size(); ++i) target.steps.push_back({.field = names[i], .lower = {}, .upper = {}});
  while (true) {
    if (peek().is_symbol(".") && peek(1).is_name()) {
      take();
      target.steps.push_back({.field = take().value, .lower = {}, .upper = {}});
    } else if (take_symbol("[")) {
      Step step;
      if (!peek().is_symbol(":")) step.lower = read_expression({}, {"]", ":"}, "]");
      if (take_symbol(":")) {
        step.slice = true;
        if (!peek().is_symbol("]")) step.upper = read_until("]");
      }
      expect_symbol("]");
      target.steps.push_back(std::move(step));
    } else {
      break;
    }
  }
  const Token& last = tokens_[at_ - 1];
  target.text = text_.substr(tokens_[begin].offset, last.offset + last.length - tokens_[begin].offset);
  const Variable& variable = body_.variables[target.variable];
  if (variable.constant) refuse(first, sqlstate::kErrorInAssignment, fmt::format("variable \"{}\" is declared CONSTANT", variable.name));
  return target;
}

Into Parser::read_into() {
  Into into;
  into.strict = take_word("strict");
  do {
    into.targets.push_back(read_target());
  } while (take_symbol(","));
  return into;
}

// ---- blocks ----

Block Parser::block(std::string label) {
  Block made;
  made.label = label;
  push(Scope::Kind::kBlock, label);
  if (take_word("declare")) declarations(made);
  expect_word("begin");
  made.body = statements();
  if (take_word("exception")) made.handlers = handlers(made);
  expect_word("end");
  check_end_label(label);
  scopes_.pop_back();
  return made;
}

void Parser::check_end_label(const std::string& label) {
  if (!peek().is_name()) return;
  const Token& end = take();
  if (label.empty()) refuse(end, sqlstate::kSyntaxError, fmt::format("end label \"{}\" specified for unlabeled block", end.value));
  if (end.value != label) refuse(end, sqlstate::kSyntaxError, fmt::format("end label \"{}\" differs from block's label \"{}\"", end.value, label));
}

void Parser::declarations(Block& block) {
  while (!peek().is_word("begin")) {
    if (peek().is_symbol("<<")) refuse(peek(), sqlstate::kSyntaxError, "block label must be placed before DECLARE, not after");
    if (take_word("declare")) continue;
    declaration(block);
  }
}

std::string Parser::read_type(Words words, Words symbols) {
  const std::size_t begin = at_;
  std::size_t depth = 0;
  while (true) {
    const Token& token = peek();
    const bool ends = depth == 0 && (std::ranges::any_of(words, [&](std::string_view word) { return token.is_word(word); }) ||
                                     std::ranges::any_of(symbols, [&](std::string_view symbol) { return token.is_symbol(symbol); }));
    if (ends) break;
    if (token.kind == Token::Kind::kEnd || token.is_symbol(";")) {
      if (depth > 0) syntax_error(token, "mismatched parentheses");
      syntax_error(token, "incomplete data type declaration");
    }
    if (token.is_symbol("(")) ++depth;
    if (token.is_symbol(")")) depth -= depth > 0 ? 1 : 0;
    take();
  }
  if (begin == at_) syntax_error(peek(), "missing data type declaration");
  const Token& last = tokens_[at_ - 1];
  return std::string(text_.substr(tokens_[begin].offset, last.offset + last.length - tokens_[begin].offset));
}

std::optional<std::size_t> Parser::variable_of_type(std::size_t begin) const {
  const std::size_t count = at_ - begin;
  const bool is_copy = count >= 3 && tokens_[at_ - 2].is_symbol("%") && (tokens_[at_ - 1].is_word("type") || tokens_[at_ - 1].is_word("rowtype"));
  if (!is_copy || (count != 3 && count != 5)) return std::nullopt;
  std::vector<std::string> names = {tokens_[begin].value};
  if (count == 5) names.push_back(tokens_[begin + 2].value);
  const std::optional<Found> found = find_variable(names);
  if (!found || found->words != names.size()) return std::nullopt;
  return found->variable;
}

void Parser::declaration(Block& block) {
  const Token& name = peek();
  if (!name.is_name()) syntax_error(name);
  take();
  Variable variable;
  variable.name = name.value;
  variable.line = line_of(name);
  if (take_word("alias")) {
    expect_word("for");
    std::vector<std::string> names;
    const Token& of = take();
    names.push_back(of.value);
    if (take_symbol(".")) names.push_back(expect_name());
    const std::optional<Found> found = find_variable(names);
    if (!found) refuse(of, sqlstate::kUndefinedObject, fmt::format("variable \"{}\" does not exist", of.value));
    scopes_.back().names.emplace_back(name.value, found->variable);
    expect_symbol(";");
    return;
  }
  std::optional<bool> scroll;
  if (peek().is_word("no") && peek(1).is_word("scroll")) {
    take();
    take();
    scroll = false;
  } else if (peek().is_word("scroll") && peek(1).is_word("cursor")) {
    take();
    scroll = true;
  }
  if (take_word("cursor")) {
    variable.type = "refcursor";
    variable.cursor = cursor_declaration(name);
    variable.cursor->scroll = scroll;
    block.variables.push_back(declare(std::move(variable), name));
    return;
  }
  variable.constant = take_word("constant");
  const std::size_t type_begin = at_;
  variable.type = read_type({"not", "default", "collate"}, {":=", "=", ";"});
  variable.same_as = variable_of_type(type_begin);
  if (take_word("collate")) {
    variable.collation = expect_name();
    if (take_symbol(".")) variable.collation = expect_name();
  }
  if (take_word("not")) {
    expect_word("null");
    variable.not_null = true;
  }
  if (!take_symbol(";")) {
    if (!take_symbol(":=") && !take_symbol("=") && !take_word("default")) syntax_error(peek());
    variable.value = read_until(";");
    expect_symbol(";");
  } else if (variable.not_null) {
    throw SqlError(sqlstate::kNullValueNotAllowed, fmt::format("variable \"{}\" must have a default value, since it's declared NOT NULL", variable.name))
        .at(name.offset);
  }
  block.variables.push_back(declare(std::move(variable), name));
}

Variable::Cursor Parser::cursor_declaration(const Token& name) {
  Variable::Cursor cursor;
  push(Scope::Kind::kBlock, name.value);
  if (take_symbol("(")) {
    do {
      const Token& argument = peek();
      Variable variable;
      variable.name = expect_name();
      variable.line = line_of(argument);
      const std::size_t type_begin = at_;
      variable.type = read_type({}, {",", ")"});
      variable.same_as = variable_of_type(type_begin);
      cursor.arguments.push_back(declare(std::move(variable), argument));
    } while (take_symbol(","));
    expect_symbol(")");
  }
  if (!take_word("for") && !take_word("is")) syntax_error(peek());
  cursor.query = read_query({});
  expect_symbol(";");
  scopes_.pop_back();
  return cursor;
}

std::vector<Handler> Parser::handlers(Block& block) {
  push(Scope::Kind::kBlock, {});
  for (const auto& [name, variable] : {std::pair<std::string, std::size_t*>{"sqlstate", &block.sqlstate}, {"sqlerrm", &block.sqlerrm}}) {
    Variable text;
    text.name = name;
    text.type = "pg_catalog.text";
    text.constant = true;
    *variable = make_hidden(std::move(text));
    scopes_.back().names.emplace_back(name, *variable);
  }
  std::vector<Handler> made;
  while (peek().is_word("when")) {
    Handler handler;
    handler.line = line_of(take());
    do {
      const Token& condition = peek();
      if (take_word("sqlstate")) {
        const Token& state = take();
        const bool is_state = state.kind == Token::Kind::kString && state.value.size() == 5 &&
                              state.value.find_first_not_of("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") == std::string::npos;
        if (state.kind != Token::Kind::kString) syntax_error(state);
        if (!is_state) syntax_error(state, "invalid SQLSTATE code");
        handler.sqlstates.push_back(state.value);
      } else if (take_word("others")) {
        handler.sqlstates.emplace_back();
      } else {
        const std::vector<std::string> states = sqlstates_of(expect_name());
        if (states.empty()) {
          throw SqlError(sqlstate::kUndefinedObject, fmt::format("unrecognized exception condition \"{}\"", condition.value)).at(condition.offset);
        }
        handler.sqlstates.insert(handler.sqlstates.end(), states.begin(), states.end());
      }
    } while (take_word("or"));
    expect_word("then");
    handler.body = statements();
    made.push_back(std::move(handler));
  }
  if (made.empty()) syntax_error(peek());
  scopes_.pop_back();
  return made;
}

}  // namespace redquel::parser::plpgsql
