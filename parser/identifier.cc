#include "parser/deparse.h"
#include "parser/sql_writer.h"
#include "sql/functions/quote.h"

namespace redquel::parser {

std::string quote_identifier(std::string_view name) { return sql::quote_identifier(name); }

std::string quote_literal(std::string_view text) {
  // Like PostgreSQL's deparser: an E that follows a word must not become a part of it.
  std::string quoted = text.find('\\') != std::string_view::npos ? " " : "";
  sql::append_quoted_literal(text, quoted);
  return quoted;
}

void SqlWriter::name(std::string_view name) { out_ += quote_identifier(name); }

void SqlWriter::qualified(const ast::QualifiedName& names) {
  bool first = true;
  for (const std::string& part : names) {
    if (!first) out_ += '.';
    first = false;
    name(part);
  }
}

void SqlWriter::names(const std::vector<std::string>& names) {
  list(names, [this](const std::string& part) { name(part); });
}

void SqlWriter::operator_name(const ast::QualifiedName& names) {
  if (names.size() == 1) {
    out_ += names[0];
    return;
  }
  out_ += "OPERATOR(";
  for (std::size_t i = 0; i + 1 < names.size(); ++i) {
    name(names[i]);
    out_ += '.';
  }
  out_ += names.empty() ? "" : names.back();
  out_ += ')';
}

void SqlWriter::literal(std::string_view text) { out_ += quote_literal(text); }

}  // namespace redquel::parser
