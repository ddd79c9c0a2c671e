#include "sql/types/access_item.h"

#include <algorithm>

#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::sql {
namespace {

/// A role's name: the quotes go, doubled ones stay as one.
std::string take_role(std::string_view& rest) {
  std::string name;
  bool quoted = false;
  for (; !rest.empty() && (quoted || (rest[0] != '=' && rest[0] != '/' && rest[0] != ' ')); rest.remove_prefix(1)) {
    if (rest[0] != '"') {
      name += rest[0];
    } else if (quoted && rest.starts_with("\"\"")) {
      name += '"';
      rest.remove_prefix(1);
    } else {
      quoted = !quoted;
    }
  }
  return name;
}

std::string quoted_role(const std::string& name) {
  const auto is_plain = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (std::ranges::all_of(name, is_plain)) return name;
  std::string quoted = "\"";
  for (const char c : name) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

}  // namespace

AccessItem read_access_item(std::string_view text) {
  std::string_view rest = text;
  const auto skip_blanks = [&] {
    while (rest.starts_with(' ')) rest.remove_prefix(1);
  };
  skip_blanks();
  AccessItem item{.grantee = take_role(rest)};
  if (!rest.starts_with('=')) {
    if (item.grantee != "group" && item.grantee != "user") {
      throw SqlError(sqlstate::kInvalidTextRepresentation, "unrecognized key word: \"" + item.grantee + "\"")
          .hint("ACL key word must be \"group\" or \"user\".");
    }
    skip_blanks();
    item.grantee = take_role(rest);
    if (item.grantee.empty()) {
      throw SqlError(sqlstate::kInvalidTextRepresentation, "missing name").hint("A name must follow the \"group\" or \"user\" key word.");
    }
  }
  if (!rest.starts_with('=')) throw SqlError(sqlstate::kInvalidTextRepresentation, "missing \"=\" sign");
  rest.remove_prefix(1);
  std::uint32_t last = 0;
  while (!rest.empty() && rest.front() != '/' && rest.front() != ' ') {
    if (rest.front() == '*') {
      item.grantable |= last;
    } else {
      const std::size_t place = kPrivilegeLetters.find(rest.front());
      if (place == std::string_view::npos) {
        throw SqlError(sqlstate::kInvalidTextRepresentation, "invalid mode character: must be one of \"" + std::string(kPrivilegeLetters) + "\"");
      }
      last = std::uint32_t{1} << place;
      item.privileges |= last;
    }
    rest.remove_prefix(1);
  }
  item.grantor = "postgres";  // as PostgreSQL: the one who made the cluster
  if (rest.starts_with('/')) {
    rest.remove_prefix(1);
    item.grantor = take_role(rest);
    if (item.grantor.empty()) throw SqlError(sqlstate::kInvalidTextRepresentation, "a name must follow the \"/\" sign");
  }
  skip_blanks();
  if (!rest.empty()) throw SqlError(sqlstate::kInvalidTextRepresentation, "extra garbage at the end of the ACL specification");
  return item;
}

std::string access_item_text(const AccessItem& item) {
  std::string text = quoted_role(item.grantee) + "=";
  for (std::size_t i = 0; i < kPrivilegeLetters.size(); ++i) {
    if ((item.privileges >> i & 1) != 0) text += kPrivilegeLetters[i];
    if ((item.grantable >> i & 1) != 0) text += '*';
  }
  return text + "/" + quoted_role(item.grantor);
}

}  // namespace redquel::sql
