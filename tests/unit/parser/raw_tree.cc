#include "tests/unit/parser/raw_tree.h"

#include <cctype>
#include <string_view>

#include "parser/protobuf_tree.h"

namespace redquel::parser {
namespace {

/// Removes `"key":-12` and the comma that goes with it.
void remove_numbers(std::string& json, std::string_view key) {
  const std::string needle = "\"" + std::string(key) + "\":";
  std::string out;
  std::size_t at = 0;
  for (std::size_t found; (found = json.find(needle, at)) != std::string::npos;) {
    out.append(json, at, found - at);
    at = found + needle.size();
    while (at < json.size() && (json[at] == '-' || std::isdigit(static_cast<unsigned char>(json[at])) != 0)) ++at;
    if (!out.empty() && out.back() == ',') {
      out.pop_back();
    } else if (at < json.size() && json[at] == ',') {
      ++at;
    }
  }
  json = out.append(json, at);
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

}  // namespace

std::string raw_tree(const std::string& sql) {
  PgQueryParseResult result = pg_query_parse(sql.c_str());
  std::string json = result.error == nullptr ? result.parse_tree : "";
  pg_query_free_parse_result(result);
  for (const char* key : {"location", "stmt_location", "stmt_len"}) remove_numbers(json, key);
  replace_all(json, "COERCE_SQL_SYNTAX", "COERCE_EXPLICIT_CALL");
  return json;
}

}  // namespace redquel::parser
