// Statements of a body in PL/pgSQL (manual 43.5 to 43.9).

#include <fmt/format.h>

#include <algorithm>

#include "parser/plpgsql_parser.h"
#include "sql/sqlstate.h"

namespace redquel::parser::plpgsql {

using sql::SqlError;

namespace {

constexpr std::string_view kBlockEnds[] = {"end", "else", "elsif", "elseif", "when", "exception"};

template <class Node>
std::unique_ptr<Statement> made(Node node) {
  auto statement = std::make_unique<Statement>();
  statement->node = std::move(node);
  return statement;
}

}  // namespace

Statements Parser::statements() {
  Statements list;
  while (true) {
    const Token& token = peek();
    if (token.kind == Token::Kind::kEnd) syntax_error(token);
    const bool ends = token.kind == Token::Kind::kWord && std::ranges::find(kBlockEnds, token.value) != std::end(kBlockEnds);
    if (ends && !begins_assignment()) return list;
    list.push_back(statement());
  }
}

bool Parser::begins_assignment() const {
  if (!peek().is_name() && peek().kind != Token::Kind::kParameter) return false;
  const Token& next = peek(1);
  if (next.is_symbol(":=") || next.is_symbol("=")) return true;
  const bool is_part = next.is_symbol("[") || (next.is_symbol(".") && peek(2).is_name());
  if (!is_part) return false;
  return find_name(peek().value).has_value() || std::ranges::any_of(scopes_, [&](const Scope& scope) { return scope.label == peek().value; });
}

std::unique_ptr<Statement> Parser::assignment() {
  Assign assign;
  assign.target = read_target();
  if (!take_symbol(":=") && !take_symbol("=")) syntax_error(peek());
  assign.value = read_until(";");
  return made(std::move(assign));
}

std::unique_ptr<const Statement> Parser::statement() {
  std::string label;
  if (take_symbol("<<")) {
    label = expect_name();
    expect_symbol(">>");
  }
  const Token& first = peek();
  const std::uint32_t line = line_of(first);
  std::unique_ptr<Statement> statement;
  const bool is_variable = begins_assignment();
  if (first.is_word("declare") || first.is_word("begin")) {
    if (!is_variable) statement = made(block(std::move(label)));
  } else if (!is_variable && take_word("loop")) {
    statement = made(loop(std::move(label)));
  } else if (!is_variable && take_word("while")) {
    statement = made(while_loop(std::move(label)));
  } else if (!is_variable && take_word("for")) {
    statement = for_loop(std::move(label));
  } else if (!is_variable && take_word("foreach")) {
    statement = made(foreach_loop(std::move(label)));
  } else if (!label.empty()) {
    syntax_error(first);
  }
  if (!statement) {
    if (is_variable) statement = assignment();
    else if (take_word("if")) statement = made(if_statement());
    else if (take_word("case")) statement = made(case_statement());
    else if (take_word("exit")) statement = made(exit_statement(true));
    else if (take_word("continue")) statement = made(exit_statement(false));
    else if (take_word("return")) statement = return_statement();
    else if (take_word("raise")) statement = made(raise());
    else if (take_word("assert")) statement = made(assertion());
    else if (take_word("execute")) statement = made(execute());
    else if (take_word("perform")) statement = sql_statement(true);
    else if (first.is_word("get") && (peek(1).is_word("diagnostics") || peek(1).is_word("current") || peek(1).is_word("stacked"))) {
      take();
      const bool stacked = take_word("stacked");
      if (!stacked) take_word("current");
      statement = made(get_diagnostics(stacked));
    } else if (take_word("open")) statement = made(open());
    else if (take_word("fetch")) statement = made(fetch(false));
    else if (take_word("move")) statement = made(fetch(true));
    else if (take_word("close")) statement = made(Close{cursor_variable()});
    else if (take_word("null")) statement = made(Null{});
    else if (take_word("commit")) statement = made(end_transaction(true));
    else if (take_word("rollback")) statement = made(end_transaction(false));
    else statement = sql_statement(false);
  }
  expect_symbol(";");
  statement->line = line;
  statement->number = body_.statements++;
  return statement;
}

If Parser::if_statement() {
  If made_if;
  do {
    SqlText condition = read_until("then");
    expect_word("then");
    made_if.branches.push_back({std::move(condition), statements()});
  } while (take_word("elsif") || take_word("elseif"));
  if (take_word("else")) made_if.otherwise = statements();
  expect_word("end");
  expect_word("if");
  return made_if;
}

Case Parser::case_statement() {
  Case made_case;
  std::string name;
  if (!peek().is_word("when")) {
    made_case.value = read_until("when");
    Variable variable;
    name = fmt::format("__Case__Variable_{}__", body_.variables.size());
    variable.name = name;
    made_case.variable = make_hidden(std::move(variable));
  }
  if (!peek().is_word("when")) syntax_error(peek());
  while (take_word("when")) {
    SqlText condition = read_until("then");
    if (made_case.value) {
      condition.text = fmt::format("\"{}\" IN ({})", name, condition.text);
      condition.uses.insert(condition.uses.begin(), {{}, name, made_case.variable, {}, false});
    }
    expect_word("then");
    made_case.branches.push_back({std::move(condition), statements()});
  }
  if (take_word("else")) made_case.otherwise = statements();
  expect_word("end");
  expect_word("case");
  return made_case;
}

std::variant<SqlText, Dynamic> Parser::query_or_execute(Words words) {
  if (!take_word("execute")) return read_query(words);
  Dynamic dynamic;
  dynamic.query = read_expression({"using"}, {";"}, ";");
  if (take_word("using")) dynamic.arguments = read_using({});
  return dynamic;
}

std::unique_ptr<Statement> Parser::return_statement() {
  const Token& at = peek();
  if (at.is_word("next") && !peek(1).is_symbol(".")) {
    take();
    if (!signature_.returns_set) refuse(at, sqlstate::kDatatypeMismatch, "cannot use RETURN NEXT in a non-SETOF function");
    ReturnNext next;
    if (signature_.has_outputs && !peek().is_symbol(";")) {
      refuse(peek(), sqlstate::kDatatypeMismatch, "RETURN NEXT cannot have a parameter in function with OUT parameters");
    }
    if (!signature_.has_outputs) next.value = read_until(";");
    return made(std::move(next));
  }
  if (at.is_word("query")) {
    take();
    if (!signature_.returns_set) refuse(at, sqlstate::kDatatypeMismatch, "cannot use RETURN QUERY in a non-SETOF function");
    return made(ReturnQuery{query_or_execute({})});
  }
  Return result;
  if (peek().is_symbol(";")) {
    const bool needs_value = !signature_.returns_set && !signature_.returns_void && !signature_.procedure && !signature_.has_outputs;
    if (needs_value) syntax_error(peek(), "missing expression");
    return made(std::move(result));
  }
  if (signature_.returns_set) {
    throw SqlError(sqlstate::kDatatypeMismatch, "RETURN cannot have a parameter in function returning set")
        .hint("Use RETURN NEXT or RETURN QUERY.")
        .at(at.offset);
  }
  if (signature_.procedure) refuse(at, sqlstate::kSyntaxError, "RETURN cannot have a parameter in a procedure");
  if (signature_.returns_void) refuse(at, sqlstate::kDatatypeMismatch, "RETURN cannot have a parameter in function returning void");
  if (signature_.has_outputs) refuse(at, sqlstate::kDatatypeMismatch, "RETURN cannot have a parameter in function with OUT parameters");
  result.value = read_until(";");
  return made(std::move(result));
}

Raise Parser::raise() {
  Raise raise;
  if (peek().is_symbol(";")) {
    raise.again = true;
    return raise;
  }
  if (take_word("exception")) {
    raise.level = "error";
  } else {
    for (const std::string_view level : {"warning", "notice", "info", "log", "debug"}) {
      if (!take_word(level)) continue;
      raise.level = level;
      break;
    }
  }
  if (peek().is_symbol(";")) syntax_error(peek());
  const Token& first = peek();
  if (first.kind == Token::Kind::kString) {
    raise.format = take().value;
    while (take_symbol(",")) raise.arguments.push_back(read_expression({"using"}, {",", ";"}, ";"));
    std::size_t wanted = 0;
    for (std::size_t i = 0; i < raise.format->size(); ++i) {
      if ((*raise.format)[i] != '%') continue;
      if (raise.format->substr(i + 1, 1) == "%") ++i;
      else ++wanted;
    }
    if (wanted > raise.arguments.size()) refuse(first, sqlstate::kSyntaxError, "too few parameters specified for RAISE");
    if (wanted < raise.arguments.size()) refuse(first, sqlstate::kSyntaxError, "too many parameters specified for RAISE");
  } else if (!first.is_word("using")) {
    if (take_word("sqlstate")) {
      const Token& state = take();
      if (state.kind != Token::Kind::kString) syntax_error(state);
      const bool is_state = state.value.size() == 5 && state.value.find_first_not_of("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") == std::string::npos;
      if (!is_state) syntax_error(state, "invalid SQLSTATE code");
      raise.sqlstate = raise.condition = state.value;
    } else {
      raise.condition = expect_name();
      const std::vector<std::string> states = sqlstates_of(raise.condition);
      if (states.empty()) {
        throw SqlError(sqlstate::kUndefinedObject, fmt::format("unrecognized exception condition \"{}\"", raise.condition)).at(first.offset);
      }
      raise.sqlstate = states.front();
    }
  }
  if (take_word("using")) {
    do {
      const Token& option = peek();
      constexpr std::string_view kOptions[] = {"errcode", "message", "detail", "hint", "column", "constraint", "datatype", "table", "schema"};
      std::string name = expect_name();
      if (std::ranges::find(kOptions, name) == std::end(kOptions)) syntax_error(option, "unrecognized RAISE statement option");
      if (!take_symbol("=") && !take_symbol(":=")) syntax_error(peek(), "syntax error, expected \"=\"");
      raise.options.push_back({std::move(name), read_expression({}, {",", ";"}, ";")});
    } while (take_symbol(","));
  }
  return raise;
}

Assert Parser::assertion() {
  Assert made_assert;
  made_assert.condition = read_expression({}, {",", ";"}, ";");
  if (take_symbol(",")) made_assert.message = read_until(";");
  return made_assert;
}

Execute Parser::execute() {
  Execute made_execute;
  made_execute.query.query = read_expression({"into", "using"}, {";"}, ";");
  while (!peek().is_symbol(";")) {
    const Token& at = peek();
    if (take_word("into")) {
      if (made_execute.into) syntax_error(at);
      made_execute.into = read_into();
    } else if (take_word("using")) {
      if (!made_execute.query.arguments.empty()) syntax_error(at);
      made_execute.query.arguments = read_using({"into"});
    } else {
      syntax_error(at);
    }
  }
  return made_execute;
}

GetDiagnostics Parser::get_diagnostics(bool stacked) {
  constexpr std::string_view kCurrent[] = {"row_count", "pg_context"};
  constexpr std::string_view kStacked[] = {"returned_sqlstate", "column_name",       "constraint_name", "pg_datatype_name",  "message_text",
                                           "table_name",        "schema_name",       "pg_exception_detail", "pg_exception_hint", "pg_exception_context"};
  GetDiagnostics made_get;
  made_get.stacked = stacked;
  expect_word("diagnostics");
  do {
    GetDiagnostics::Item item;
    item.target = read_target();
    if (!take_symbol("=") && !take_symbol(":=")) syntax_error(peek());
    const Token& at = peek();
    item.name = expect_name();
    const bool is_current = std::ranges::find(kCurrent, item.name) != std::end(kCurrent);
    const bool is_stacked = std::ranges::find(kStacked, item.name) != std::end(kStacked);
    if (!is_current && !is_stacked) syntax_error(at, "unrecognized GET DIAGNOSTICS item");
    if (stacked ? !is_stacked : !is_current) {
      std::string upper = item.name;
      std::ranges::transform(upper, upper.begin(), [](char c) { return static_cast<char>(std::toupper(c)); });
      throw SqlError(sqlstate::kSyntaxError,
                     fmt::format("diagnostics item {} is not allowed in GET {} DIAGNOSTICS", upper, stacked ? "STACKED" : "CURRENT"))
          .at(at.offset);
    }
    made_get.items.push_back(std::move(item));
  } while (take_symbol(","));
  return made_get;
}

std::size_t Parser::cursor_variable() {
  const Token& at = peek();
  if (!at.is_name() && at.kind != Token::Kind::kParameter) syntax_error(at);
  std::vector<std::string> names = {take().value};
  if (peek().is_symbol(".") && peek(1).is_name()) {
    take();
    names.push_back(take().value);
  }
  const std::optional<Found> found = find_variable(names);
  if (!found) refuse(at, sqlstate::kSyntaxError, fmt::format("\"{}\" is not a known variable", names[0]));
  return found->variable;
}

std::vector<SqlText> Parser::cursor_arguments(std::size_t cursor) {
  const std::vector<std::size_t> wanted = body_.variables[cursor].cursor ? body_.variables[cursor].cursor->arguments : std::vector<std::size_t>{};
  const std::string& name = body_.variables[cursor].name;
  const Token& at = peek();
  if (!at.is_symbol("(")) {
    if (!wanted.empty()) throw SqlError(sqlstate::kSyntaxError, fmt::format("cursor \"{}\" has arguments", name)).at(at.offset);
    return {};
  }
  if (wanted.empty()) throw SqlError(sqlstate::kSyntaxError, fmt::format("cursor \"{}\" has no arguments", name)).at(at.offset);
  take();
  std::vector<std::optional<SqlText>> given(wanted.size());
  std::size_t next = 0;
  do {
    std::size_t place = next++;
    const Token& argument = peek();
    if (argument.is_name() && (peek(1).is_symbol(":=") || peek(1).is_symbol("=>"))) {
      const auto found = std::ranges::find_if(wanted, [&](std::size_t one) { return body_.variables[one].name == argument.value; });
      if (found == wanted.end()) {
        throw SqlError(sqlstate::kSyntaxError, fmt::format("cursor \"{}\" has no argument named \"{}\"", name, argument.value)).at(argument.offset);
      }
      place = static_cast<std::size_t>(found - wanted.begin());
      take();
      take();
    }
    if (place >= wanted.size()) throw SqlError(sqlstate::kSyntaxError, fmt::format("too many arguments for cursor \"{}\"", name)).at(argument.offset);
    if (given[place]) {
      throw SqlError(sqlstate::kSyntaxError,
                     fmt::format("value for parameter \"{}\" of cursor \"{}\" specified more than once", body_.variables[wanted[place]].name, name))
          .at(argument.offset);
    }
    given[place] = read_expression({}, {",", ")"}, ")");
  } while (take_symbol(","));
  expect_symbol(")");
  std::vector<SqlText> all;
  for (std::optional<SqlText>& one : given) {
    if (!one) throw SqlError(sqlstate::kSyntaxError, fmt::format("not enough arguments for cursor \"{}\"", name)).at(peek().offset);
    all.push_back(*std::move(one));
  }
  return all;
}

Open Parser::open() {
  Open made_open;
  made_open.cursor = cursor_variable();
  if (body_.variables[made_open.cursor].cursor) {
    made_open.arguments = cursor_arguments(made_open.cursor);
    return made_open;
  }
  if (peek().is_word("no") && peek(1).is_word("scroll")) {
    take();
    take();
    made_open.scroll = false;
  } else if (take_word("scroll")) {
    made_open.scroll = true;
  }
  if (!take_word("for")) syntax_error(peek(), "syntax error, expected \"FOR\"");
  made_open.query = query_or_execute({});
  return made_open;
}

Fetch Parser::fetch(bool moves) {
  using Direction = Fetch::Direction;
  Fetch made_fetch;
  made_fetch.moves = moves;
  const auto count = [&] { made_fetch.count = read_expression({"from", "in"}, {}, "FROM"); };
  const auto multiple = [&](Direction direction) {
    made_fetch.direction = direction;
    if (peek().is_word("from") || peek().is_word("in")) return;
    const bool is_cursor = peek().is_name() && !peek().is_word("all") && (peek(1).is_symbol(";") || peek(1).is_word("into"));
    if (is_cursor) return;
    if (take_word("all")) {
      made_fetch.all = true;
    } else {
      count();
    }
    if (!moves) throw SqlError(sqlstate::kFeatureNotSupported, "FETCH statement cannot return multiple rows");
  };
  const Token& first = peek();
  const bool is_direction = !(first.is_name() && (peek(1).is_symbol(";") || peek(1).is_word("into")));
  if (is_direction) {
    if (take_word("next")) {
    } else if (take_word("prior")) {
      made_fetch.direction = Direction::kBackward;
    } else if (take_word("first")) {
      made_fetch.direction = Direction::kAbsolute;
    } else if (take_word("last")) {
      made_fetch.direction = Direction::kAbsolute;
      made_fetch.rows = -1;
    } else if (take_word("absolute")) {
      made_fetch.direction = Direction::kAbsolute;
      count();
    } else if (take_word("relative")) {
      made_fetch.direction = Direction::kRelative;
      count();
    } else if (take_word("forward")) {
      multiple(Direction::kForward);
    } else if (take_word("backward")) {
      multiple(Direction::kBackward);
    } else if (take_word("all")) {
      made_fetch.all = true;
      if (!moves) throw SqlError(sqlstate::kFeatureNotSupported, "FETCH statement cannot return multiple rows");
    } else if (!first.is_word("from") && !first.is_word("in")) {
      count();
      if (!moves) throw SqlError(sqlstate::kFeatureNotSupported, "FETCH statement cannot return multiple rows");
    }
    if (!take_word("from")) take_word("in");
  }
  made_fetch.cursor = cursor_variable();
  if (moves) return made_fetch;
  if (!take_word("into")) syntax_error(peek(), "syntax error");
  made_fetch.into = read_into();
  return made_fetch;
}

EndTransaction Parser::end_transaction(bool commit) {
  EndTransaction end{.commit = commit};
  if (take_word("and")) {
    end.chain = !take_word("no");
    expect_word("chain");
  }
  return end;
}

std::unique_ptr<Statement> Parser::sql_statement(bool perform) {
  const std::size_t begin = at_;
  Sql made_sql;
  made_sql.perform = perform;
  made_sql.call = peek().is_word("call");
  if (!perform && !peek().is_name() && !peek().is_symbol("(")) syntax_error(peek());
  std::size_t into_begin = 0, into_end = 0;
  const bool is_import = peek().is_word("import");
  while (!peek().is_symbol(";")) {
    const Token& token = peek();
    if (token.kind == Token::Kind::kEnd) syntax_error(token, "unexpected end of function definition");
    const bool is_into = token.is_word("into") && !perform && !is_import && at_ > begin && !tokens_[at_ - 1].is_word("insert") && !tokens_[at_ - 1].is_word("merge");
    if (!is_into) {
      take();
      continue;
    }
    if (made_sql.into) syntax_error(token, "INTO specified more than once");
    into_begin = at_;
    take();
    made_sql.into = read_into();
    into_end = at_;
  }
  if (begin == at_) syntax_error(peek(), "missing SQL statement");
  made_sql.statement = text_between(begin, at_);
  if (made_sql.into) {
    // The clause is replaced by blanks, so that places in the text stay.
    const std::uint32_t from = tokens_[into_begin].offset, to = tokens_[into_end - 1].offset + tokens_[into_end - 1].length;
    for (std::uint32_t i = from; i < to; ++i) {
      char& c = made_sql.statement.text[i - tokens_[begin].offset];
      if (c != '\n') c = ' ';
    }
  }
  if (perform) {
    check_expression(made_sql.statement, begin);
    made_sql.statement.text = "SELECT " + made_sql.statement.text;
  } else {
    check_statement(made_sql.statement, begin);
  }
  return made(std::move(made_sql));
}

}  // namespace redquel::parser::plpgsql
