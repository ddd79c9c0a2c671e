#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parser/plpgsql_parse.h"
#include "parser/plpgsql_scanner.h"
#include "sql/error.h"

namespace redquel::parser::plpgsql {

/// The parser of one body: by recursive descent, over its tokens. Statements are in plpgsql_statements.cc, declarations in
/// plpgsql_declarations.cc.
class Parser {
 public:
  Parser(std::string_view body, const Signature& signature);

  Body parse();

 private:
  /// The names of one block.
  struct Scope {
    enum class Kind : std::uint8_t { kBlock, kLoop } kind = Kind::kBlock;
    std::string label;
    std::vector<std::pair<std::string, std::size_t>> names;
  };
  struct Found {
    std::size_t variable = 0;
    std::size_t words = 0;  // of the name that mean it: 2 with a label
  };
  using Words = std::initializer_list<std::string_view>;

  // tokens
  const Token& peek(std::size_t ahead = 0) const;
  const Token& take();
  bool take_word(std::string_view word);
  bool take_symbol(std::string_view symbol);
  void expect_word(std::string_view word);
  void expect_symbol(std::string_view symbol);
  std::string expect_name();
  std::uint32_t line_of(const Token& token) const;
  std::string_view written(const Token& token) const;
  [[noreturn]] void syntax_error(const Token& token, std::string_view message = "syntax error") const;
  [[noreturn]] void refuse(const Token& token, std::string_view sqlstate, const std::string& message) const;

  // names
  std::optional<std::size_t> find_name(std::string_view name) const;
  std::optional<Found> find_variable(const std::vector<std::string>& names) const;
  std::size_t declare(Variable variable, const Token& at);
  std::size_t make_hidden(Variable variable);
  void collect_uses(std::size_t begin, std::size_t end, std::vector<VariableUse>& uses) const;
  void push(Scope::Kind kind, std::string label) { scopes_.push_back({kind, std::move(label), {}}); }
  std::string loop_end(const std::string& label);
  void check_end_label(const std::string& label);

  // SQL
  SqlText text_between(std::size_t begin, std::size_t end);
  /// Takes tokens until one of these words or symbols outside of parentheses, which stays. `wanted`: for the message.
  SqlText read_expression(Words words, Words symbols, std::string_view wanted);
  SqlText read_until(std::string_view word_or_symbol);
  void check_expression(const SqlText& text, std::size_t begin) const;
  void check_statement(const SqlText& text, std::size_t begin) const;
  SqlText read_query(Words words);
  std::vector<SqlText> read_using(Words words);
  Target read_target();
  Into read_into();

  // statements
  Statements statements();
  std::unique_ptr<const Statement> statement();
  Block block(std::string label);
  void declarations(Block& block);
  void declaration(Block& block);
  Variable::Cursor cursor_declaration(const Token& name);
  std::string read_type(Words words, Words symbols);
  /// The variable of `name%TYPE`, a type that begins at that token.
  std::optional<std::size_t> variable_of_type(std::size_t begin) const;
  std::vector<Handler> handlers(Block& block);
  If if_statement();
  Case case_statement();
  Loop loop(std::string label);
  Loop while_loop(std::string label);
  std::unique_ptr<Statement> for_loop(std::string label);
  Foreach foreach_loop(std::string label);
  Exit exit_statement(bool is_exit);
  std::unique_ptr<Statement> return_statement();
  std::variant<SqlText, Dynamic> query_or_execute(Words words);
  Raise raise();
  Assert assertion();
  Execute execute();
  GetDiagnostics get_diagnostics(bool stacked);
  Open open();
  std::vector<SqlText> cursor_arguments(std::size_t cursor);
  Fetch fetch(bool moves);
  std::size_t cursor_variable();
  EndTransaction end_transaction(bool commit);
  std::unique_ptr<Statement> sql_statement(bool perform);
  bool begins_assignment() const;
  std::unique_ptr<Statement> assignment();

  std::string_view text_;
  const Signature& signature_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  std::vector<Scope> scopes_;
  Body body_;
};

}  // namespace redquel::parser::plpgsql
