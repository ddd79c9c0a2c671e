// Loops of a body in PL/pgSQL, and what leaves them (manual 43.6.5, 43.6.6, 43.6.7).

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "parser/plpgsql_parser.h"
#include "sql/sqlstate.h"

namespace redquel::parser::plpgsql {

using sql::SqlError;

std::string Parser::loop_end(const std::string& label) {
  expect_word("end");
  expect_word("loop");
  check_end_label(label);
  scopes_.pop_back();
  return label;
}

Loop Parser::loop(std::string label) {
  Loop made_loop;
  push(Scope::Kind::kLoop, label);
  made_loop.body = statements();
  made_loop.label = loop_end(label);
  return made_loop;
}

Loop Parser::while_loop(std::string label) {
  Loop made_loop;
  push(Scope::Kind::kLoop, label);
  made_loop.condition = read_until("loop");
  expect_word("loop");
  made_loop.body = statements();
  made_loop.label = loop_end(label);
  return made_loop;
}

std::unique_ptr<Statement> Parser::for_loop(std::string label) {
  const std::size_t begin = at_;
  const Token& name = peek();
  std::size_t end = at_;
  while (!tokens_[end].is_word("in") && tokens_[end].kind != Token::Kind::kEnd && !tokens_[end].is_symbol(";")) ++end;
  if (!tokens_[end].is_word("in")) syntax_error(tokens_[std::min(end, at_ + 1)]);
  at_ = end + 1;
  const auto target = [&] {
    const std::size_t place = at_;
    at_ = begin;
    const bool is_known = find_name(peek().value).has_value() || peek(1).is_symbol(".");
    if (!is_known) {
      throw SqlError(sqlstate::kSyntaxError, "loop variable of loop over rows must be a record variable or list of scalar variables").at(name.offset);
    }
    Into into = read_into();
    if (at_ != end) syntax_error(peek());
    at_ = place;
    return into;
  };
  if (take_word("execute")) {
    ForQuery loop;
    loop.into = target();
    Dynamic dynamic;
    dynamic.query = read_expression({"loop", "using"}, {}, "LOOP");
    if (take_word("using")) {
      do {
        dynamic.arguments.push_back(read_expression({"loop"}, {","}, "LOOP"));
      } while (take_symbol(","));
    }
    loop.query = std::move(dynamic);
    expect_word("loop");
    push(Scope::Kind::kLoop, label);
    loop.body = statements();
    loop.label = loop_end(label);
    return std::make_unique<Statement>(Statement{.node = std::move(loop)});
  }
  const std::optional<std::size_t> cursor = peek().is_name() ? find_name(peek().value) : std::nullopt;
  const bool is_cursor = cursor && (peek(1).is_word("loop") || peek(1).is_symbol("(")) &&
                         (body_.variables[*cursor].cursor || body_.variables[*cursor].type == "refcursor");
  if (is_cursor) {
    ForCursor loop;
    const Token& at = take();
    if (!body_.variables[*cursor].cursor) syntax_error(at, "cursor FOR loop must use a bound cursor variable");
    loop.cursor = *cursor;
    loop.arguments = cursor_arguments(*cursor);
    expect_word("loop");
    push(Scope::Kind::kLoop, label);
    Variable row;
    row.name = name.value;
    row.type = "record";
    loop.row = declare(std::move(row), name);
    loop.body = statements();
    loop.label = loop_end(label);
    return std::make_unique<Statement>(Statement{.node = std::move(loop)});
  }
  const bool reverse = peek().is_word("reverse");
  std::size_t depth = 0, place = at_;
  while (!(depth == 0 && (tokens_[place].is_symbol("..") || tokens_[place].is_word("loop"))) && tokens_[place].kind != Token::Kind::kEnd) {
    if (tokens_[place].is_symbol("(") || tokens_[place].is_symbol("[")) ++depth;
    if ((tokens_[place].is_symbol(")") || tokens_[place].is_symbol("]")) && depth > 0) --depth;
    ++place;
  }
  if (tokens_[place].is_symbol("..")) {
    ForInteger loop;
    if (end != begin + 1) syntax_error(tokens_[begin + 1], "integer FOR loop must have only one target variable");
    loop.reverse = reverse;
    if (reverse) take();
    loop.from = read_until("..");
    expect_symbol("..");
    loop.to = read_expression({"loop", "by"}, {}, "LOOP");
    if (take_word("by")) loop.step = read_until("loop");
    expect_word("loop");
    push(Scope::Kind::kLoop, label);
    Variable variable;
    variable.name = name.value;
    variable.is_integer = true;
    variable.line = line_of(name);
    loop.variable = declare(std::move(variable), name);
    loop.body = statements();
    loop.label = loop_end(label);
    return std::make_unique<Statement>(Statement{.node = std::move(loop)});
  }
  if (reverse) throw SqlError(sqlstate::kSyntaxError, "cannot specify REVERSE in query FOR loop").at(peek().offset);
  ForQuery loop;
  loop.into = target();
  loop.query = read_query({"loop"});
  expect_word("loop");
  push(Scope::Kind::kLoop, label);
  loop.body = statements();
  loop.label = loop_end(label);
  return std::make_unique<Statement>(Statement{.node = std::move(loop)});
}

Foreach Parser::foreach_loop(std::string label) {
  Foreach loop;
  loop.into = read_into();
  if (take_word("slice")) {
    const Token& slice = take();
    if (slice.kind != Token::Kind::kNumber) syntax_error(slice);
    std::from_chars(slice.value.data(), slice.value.data() + slice.value.size(), loop.slice);
  }
  expect_word("in");
  expect_word("array");
  loop.array = read_until("loop");
  expect_word("loop");
  push(Scope::Kind::kLoop, label);
  loop.body = statements();
  loop.label = loop_end(label);
  return loop;
}

Exit Parser::exit_statement(bool is_exit) {
  Exit made_exit;
  made_exit.is_exit = is_exit;
  const Token& at = peek();
  if (at.is_name() && !at.is_word("when")) {
    made_exit.label = take().value;
    // The body's own block may be left by the routine's name.
    const auto scope = std::find_if(scopes_.rbegin(), scopes_.rend(), [&](const Scope& one) { return one.label == made_exit.label; });
    if (scope == scopes_.rend()) {
      throw SqlError(sqlstate::kSyntaxError,
                     fmt::format("there is no label \"{}\" attached to any block or loop enclosing this statement", made_exit.label))
          .at(at.offset);
    }
    if (!is_exit && scope->kind != Scope::Kind::kLoop) {
      throw SqlError(sqlstate::kSyntaxError, fmt::format("block label \"{}\" cannot be used in CONTINUE", made_exit.label)).at(at.offset);
    }
  } else if (std::ranges::none_of(scopes_, [](const Scope& scope) { return scope.kind == Scope::Kind::kLoop; })) {
    throw SqlError(sqlstate::kSyntaxError, is_exit ? "EXIT cannot be used outside a loop, unless it has a label" : "CONTINUE cannot be used outside a loop")
        .at(tokens_[at_ - 1].offset);
  }
  if (take_word("when")) made_exit.condition = read_until(";");
  return made_exit;
}

}  // namespace redquel::parser::plpgsql
