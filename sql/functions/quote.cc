#include "sql/functions/quote.h"

#include <algorithm>
#include <iterator>

namespace redquel::sql {
namespace {

/// Words that PostgreSQL 15 reserves at least in some place (pg_get_keywords() without the unreserved ones), sorted.
constexpr std::string_view kKeywords[] = {"all",
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
                                          "xmltable"};

bool is_plain_word(std::string_view name) {
  if (name.empty() || !(name[0] == '_' || (name[0] >= 'a' && name[0] <= 'z'))) return false;
  return std::ranges::all_of(name, [](char c) { return c == '_' || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); });
}

}  // namespace

void append_quoted_identifier(std::string_view name, std::string& out) {
  if (is_plain_word(name) && !std::binary_search(std::begin(kKeywords), std::end(kKeywords), name)) {
    out += name;
    return;
  }
  out += '"';
  for (char c : name) {
    if (c == '"') out += c;
    out += c;
  }
  out += '"';
}

std::string quote_identifier(std::string_view name) {
  std::string out;
  append_quoted_identifier(name, out);
  return out;
}

void append_quoted_literal(std::string_view text, std::string& out) {
  if (text.find('\\') != std::string_view::npos) out += 'E';
  out += '\'';
  for (char c : text) {
    if (c == '\'' || c == '\\') out += c;
    out += c;
  }
  out += '\'';
}

}  // namespace redquel::sql
