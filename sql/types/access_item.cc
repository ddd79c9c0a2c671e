#include "sql/types/access_item.h"

#include <array>

#include "sql/error.h"

namespace redquel::sql {
namespace {

/// A role's name as it stands in an item, with the quotes that it may have.
std::string_view take_role(std::string_view& rest) {
  std::size_t end = 0;
  bool quoted = false;
  while (end < rest.size() && (quoted || (rest[end] != '=' && rest[end] != '/' && rest[end] != ' '))) {
    if (rest[end] == '"') quoted = !quoted;
    ++end;
  }
  const std::string_view name = rest.substr(0, end);
  rest.remove_prefix(end);
  return name;
}

}  // namespace

std::string parse_access_item(std::string_view text) {
  std::string_view rest = text;
  const auto skip_blanks = [&] {
    while (rest.starts_with(' ')) rest.remove_prefix(1);
  };
  skip_blanks();
  std::string_view grantee = take_role(rest);
  if (!rest.starts_with('=')) {
    if (grantee != "group" && grantee != "user") {
      throw SqlError("22P02", "unrecognized key word: \"" + std::string(grantee) + "\"").hint("ACL key word must be \"group\" or \"user\".");
    }
    skip_blanks();
    grantee = take_role(rest);
    if (grantee.empty()) throw SqlError("22P02", "missing name").hint("A name must follow the \"group\" or \"user\" key word.");
  }
  if (!rest.starts_with('=')) throw SqlError("22P02", "missing \"=\" sign");
  rest.remove_prefix(1);
  std::array<bool, kPrivilegeLetters.size()> given{}, may_grant{};
  std::size_t last = kPrivilegeLetters.size();
  while (!rest.empty() && rest.front() != '/' && rest.front() != ' ') {
    if (rest.front() == '*') {
      if (last < given.size()) may_grant[last] = true;
    } else {
      last = kPrivilegeLetters.find(rest.front());
      if (last == std::string_view::npos) {
        throw SqlError("22P02", "invalid mode character: must be one of \"" + std::string(kPrivilegeLetters) + "\"");
      }
      given[last] = true;
    }
    rest.remove_prefix(1);
  }
  std::string_view grantor = "postgres";  // as PostgreSQL: the one who made the cluster
  if (rest.starts_with('/')) {
    rest.remove_prefix(1);
    grantor = take_role(rest);
    if (grantor.empty()) throw SqlError("22P02", "a name must follow the \"/\" sign");
  }
  skip_blanks();
  if (!rest.empty()) throw SqlError("22P02", "extra garbage at the end of the ACL specification");
  std::string item = std::string(grantee) + "=";
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i]) item += kPrivilegeLetters[i];
    if (may_grant[i]) item += '*';
  }
  return item + "/" + std::string(grantor);
}

}  // namespace redquel::sql
