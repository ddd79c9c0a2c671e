#include "sql/privileges/acl_text.h"

#include <algorithm>
#include <charconv>

#include "sql/ascii.h"
#include "sql/catalog/role_set.h"
#include "sql/error.h"
#include "sql/name_errors.h"
#include "sql/privileges/right_names.h"
#include "sql/sqlstate.h"
#include "sql/types/array_value.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {

namespace {

constexpr std::size_t kLongestName = 63;

bool is_plain(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
/// Letters beyond ASCII are written in quotes, but need none.
bool needs_no_quotes(char c) { return is_plain(c) || static_cast<signed char>(c) < 0; }

void skip_blanks(std::string_view& rest) {
  while (!rest.empty() && is_blank(rest.front())) rest.remove_prefix(1);
}

/// Reads a role's name: quotes go, doubled ones inside of quotes stay as one.
std::string take_name(std::string_view& rest) {
  skip_blanks(rest);
  std::string name;
  bool quoted = false;
  for (; !rest.empty() && (quoted || needs_no_quotes(rest.front()) || rest.front() == '"'); rest.remove_prefix(1)) {
    if (rest.front() != '"') {
      name += rest.front();
    } else if (quoted && rest.starts_with("\"\"")) {
      name += '"';
      rest.remove_prefix(1);
    } else {
      quoted = !quoted;
      continue;
    }
    if (name.size() > kLongestName) {
      throw SqlError(sqlstate::kNameTooLong, "identifier too long").detail("Identifier must be less than 64 characters.");
    }
  }
  skip_blanks(rest);
  return name;
}

SqlError invalid(std::string message) { return SqlError(sqlstate::kInvalidTextRepresentation, std::move(message)); }

struct NamedItem {
  std::string grantee, grantor;
  AclItem item;
};

NamedItem take_item(std::string_view text) {
  std::string_view rest = text;
  NamedItem named{.grantee = take_name(rest)};
  if (!rest.starts_with('=')) {
    if (named.grantee != "group" && named.grantee != "user") {
      throw invalid("unrecognized key word: \"" + named.grantee + "\"").hint("ACL key word must be \"group\" or \"user\".");
    }
    named.grantee = take_name(rest);
    if (named.grantee.empty()) throw invalid("missing name").hint("A name must follow the \"group\" or \"user\" key word.");
  }
  if (!rest.starts_with('=')) throw invalid("missing \"=\" sign");
  rest.remove_prefix(1);
  Rights last = 0;
  for (; !rest.empty() && (rest.front() == '*' || is_letter(rest.front())); rest.remove_prefix(1)) {
    if (rest.front() == '*') {
      named.item.grantable |= last;
      continue;
    }
    const std::size_t bit = kRightLetters.find(rest.front());
    if (bit == std::string_view::npos) throw invalid("invalid mode character: must be one of \"" + std::string(kRightLetters) + "\"");
    last = Rights{1} << bit;
    named.item.rights |= last;
  }
  named.grantor = kBootstrapRole;  // as PostgreSQL, where none is written
  if (rest.starts_with('/')) {
    rest.remove_prefix(1);
    named.grantor = take_name(rest);
    if (named.grantor.empty()) throw invalid("a name must follow the \"/\" sign");
  }
  skip_blanks(rest);
  if (!rest.empty()) throw invalid("extra garbage at the end of the ACL specification");
  return named;
}

std::string role_text(Oid oid) {
  const RoleDef* role = known_roles()->find(oid);
  if (role == nullptr) return std::to_string(oid);
  if (std::ranges::all_of(role->name, is_plain)) return role->name;
  std::string quoted = "\"";
  for (const char c : role->name) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

/// nullopt: neither the name of a role nor digits.
std::optional<Oid> role_of_text(const std::string& name) {
  if (const RoleDef* role = known_roles()->find(name)) return role->oid;
  Oid oid = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), oid);
  if (error != std::errc{} || end != name.data() + name.size()) return std::nullopt;
  return oid;
}

}  // namespace

AclItem read_acl_item(std::string_view text) {
  NamedItem named = take_item(text);
  const auto role_named = [](const std::string& name) {
    const RoleDef* role = known_roles()->find(name);
    if (role == nullptr) throw undefined_role(name);
    return role->oid;
  };
  if (!named.grantee.empty()) named.item.grantee = role_named(named.grantee);
  named.item.grantor = role_named(named.grantor);
  return named.item;
}

AclItem decode_acl_item_text(std::string_view text) {
  NamedItem named = take_item(text);
  const auto role_named = [](const std::string& name) {
    const std::optional<Oid> role = role_of_text(name);
    if (!role) throw undefined_role(name);
    return *role;
  };
  if (!named.grantee.empty()) named.item.grantee = role_named(named.grantee);
  named.item.grantor = role_named(named.grantor);
  return named.item;
}

std::string acl_item_text(const AclItem& item) {
  std::string text = (item.grantee == kPublic ? "" : role_text(item.grantee)) + "=";
  for (std::size_t bit = 0; bit < kRightLetters.size(); ++bit) {
    if ((item.rights >> bit & 1) != 0) text += kRightLetters[bit];
    if ((item.grantable >> bit & 1) != 0) text += '*';
  }
  return text + "/" + role_text(item.grantor);
}

std::string acl_text(const Acl& acl) {
  if (acl.empty()) return "{}";
  std::string text;
  for (const AclItem& item : acl) append_array_element(acl_item_text(item), text);
  finish_array_text(text);
  return text;
}

std::optional<std::string> acl_text(const OptionalAcl& acl) { return acl ? std::optional(acl_text(*acl)) : std::nullopt; }

Acl decode_acl_text(std::string_view text) {
  Acl acl;
  const ArrayValue array = read_array(oid::kAclitemArray, text);
  if (array.dimensions.size() > 1) throw SqlError(sqlstate::kInvalidParameterValue, "ACL arrays must be one-dimensional");
  for (const std::optional<std::string_view>& element : array.elements) {
    if (!element) throw SqlError(sqlstate::kNullValueNotAllowed, "ACL arrays must not contain null values");
    acl.push_back(decode_acl_item_text(*element));
  }
  return acl;
}

}  // namespace redquel::sql
