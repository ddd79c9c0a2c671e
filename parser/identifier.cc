#include <algorithm>
#include <array>

#include "parser/deparse.h"
#include "parser/sql_writer.h"

namespace redquel::parser {
namespace {

/// PostgreSQL 15's keywords that are not free to be names everywhere: pg_get_keywords() without category U.
constexpr std::array<std::string_view, 151> kKeywords = {
    "all",
    "analyse",
    "analyze",
    "and",
    "any",
    "array",
    "as",
    "asc",
    "asymmetric",
    "authorization",
    "between",
    "bigint",
    "binary",
    "bit",
    "boolean",
    "both",
    "case",
    "cast",
    "char",
    "character",
    "check",
    "coalesce",
    "collate",
    "collation",
    "column",
    "concurrently",
    "constraint",
    "create",
    "cross",
    "current_catalog",
    "current_date",
    "current_role",
    "current_schema",
    "current_time",
    "current_timestamp",
    "current_user",
    "dec",
    "decimal",
    "default",
    "deferrable",
    "desc",
    "distinct",
    "do",
    "else",
    "end",
    "except",
    "exists",
    "extract",
    "false",
    "fetch",
    "float",
    "for",
    "foreign",
    "freeze",
    "from",
    "full",
    "grant",
    "greatest",
    "group",
    "grouping",
    "having",
    "ilike",
    "in",
    "initially",
    "inner",
    "inout",
    "int",
    "integer",
    "intersect",
    "interval",
    "into",
    "is",
    "isnull",
    "join",
    "lateral",
    "leading",
    "least",
    "left",
    "like",
    "limit",
    "localtime",
    "localtimestamp",
    "national",
    "natural",
    "nchar",
    "none",
    "normalize",
    "not",
    "notnull",
    "null",
    "nullif",
    "numeric",
    "offset",
    "on",
    "only",
    "or",
    "order",
    "out",
    "outer",
    "overlaps",
    "overlay",
    "placing",
    "position",
    "precision",
    "primary",
    "real",
    "references",
    "returning",
    "right",
    "row",
    "select",
    "session_user",
    "setof",
    "similar",
    "smallint",
    "some",
    "substring",
    "symmetric",
    "table",
    "tablesample",
    "then",
    "time",
    "timestamp",
    "to",
    "trailing",
    "treat",
    "trim",
    "true",
    "union",
    "unique",
    "user",
    "using",
    "values",
    "varchar",
    "variadic",
    "verbose",
    "when",
    "where",
    "window",
    "with",
    "xmlattributes",
    "xmlconcat",
    "xmlelement",
    "xmlexists",
    "xmlforest",
    "xmlnamespaces",
    "xmlparse",
    "xmlpi",
    "xmlroot",
    "xmlserialize",
    "xmltable",
};

bool is_plain(std::string_view name) {
  if (name.empty() || !((name[0] >= 'a' && name[0] <= 'z') || name[0] == '_')) return false;
  const bool simple = std::all_of(name.begin(), name.end(),
                                  [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
  return simple && !std::binary_search(kKeywords.begin(), kKeywords.end(), name);
}

}  // namespace

std::string quote_identifier(std::string_view name) {
  if (is_plain(name)) return std::string(name);
  std::string quoted = "\"";
  for (const char c : name) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string quote_literal(std::string_view text) {
  const bool escapes = text.find('\\') != std::string_view::npos;
  std::string quoted = escapes ? " E'" : "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += c;
    quoted += c;
  }
  return quoted + '\'';
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
