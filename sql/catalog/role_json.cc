#include "sql/catalog/role_json.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <charconv>
#include <limits>

namespace redquel::sql {

namespace json = boost::json;

namespace {

constexpr std::string_view kRole = "role:", kMember = "member:", kSetting = "setting:", kDatabase = "database:";
constexpr std::size_t kNameBytes = 63;

/// Marks a value that cannot be read.
struct Damaged {};

std::string_view view(const json::string& text) { return {text.data(), text.size()}; }
json::string_view view(std::string_view text) { return {text.data(), text.size()}; }

Oid parse_oid(std::string_view text) {
  Oid oid = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), oid);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || std::to_string(oid) != text) throw Damaged{};
  return oid;
}

json::object parse(std::string_view text) {
  boost::system::error_code error;
  json::value value = json::parse(view(text), error);
  if (error || !value.is_object()) throw Damaged{};
  return std::move(value.as_object());
}

bool flag(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(view(name));
  if (value == nullptr) return false;
  if (!value->is_bool()) throw Damaged{};
  return value->as_bool();
}

std::optional<std::int64_t> number(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(view(name));
  if (value == nullptr) return std::nullopt;
  if (!value->is_int64()) throw Damaged{};
  return value->as_int64();
}

std::string text(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(view(name));
  if (value == nullptr) return {};
  if (!value->is_string()) throw Damaged{};
  return std::string(view(value->as_string()));
}

std::int32_t connection_limit(const json::object& object) {
  const std::int64_t limit = number(object, "connection_limit").value_or(-1);
  if (limit < -1 || limit > std::numeric_limits<std::int32_t>::max()) throw Damaged{};
  return static_cast<std::int32_t>(limit);
}

Oid stored_oid(const json::object& object, std::string_view name) {
  const std::optional<std::int64_t> oid = number(object, name);
  if (!oid || *oid <= 0 || *oid > std::numeric_limits<Oid>::max()) throw Damaged{};
  return static_cast<Oid>(*oid);
}

RoleDef decode_role(std::string_view oid, std::string_view value) {
  const json::object object = parse(value);
  RoleDef role;
  role.oid = parse_oid(oid);
  role.name = text(object, "name");
  role.superuser = flag(object, "superuser");
  role.inherit = !flag(object, "noinherit");
  role.create_role = flag(object, "create_role");
  role.create_database = flag(object, "create_database");
  role.can_login = flag(object, "can_login");
  role.replication = flag(object, "replication");
  role.bypass_row_security = flag(object, "bypass_row_security");
  role.connection_limit = connection_limit(object);
  role.valid_until = number(object, "valid_until");
  role.owner_name = text(object, "owner_name");
  role.comment = text(object, "comment");
  if (role.name.empty() || role.name.size() > kNameBytes || role.owner_name.size() > kNameBytes) throw Damaged{};
  // PostgreSQL's own roles are never stored, but for postgres.
  if (is_predefined_role(role.oid)) throw Damaged{};
  return role;
}

RoleMembership decode_membership(std::string_view oids, std::string_view value) {
  const std::size_t colon = oids.find(':');
  if (colon == std::string_view::npos) throw Damaged{};
  const json::object object = parse(value);
  return {parse_oid(oids.substr(0, colon)), parse_oid(oids.substr(colon + 1)), stored_oid(object, "grantor"), flag(object, "admin")};
}

RoleSetting decode_setting(std::string_view place, std::string_view value) {
  const std::size_t colon = place.rfind(':');
  if (colon == std::string_view::npos) throw Damaged{};
  RoleSetting setting{std::string(place.substr(0, colon)), parse_oid(place.substr(colon + 1)), {}};
  boost::system::error_code error;
  const json::value list = json::parse(view(value), error);
  if (error || !list.is_array()) throw Damaged{};
  for (const json::value& item : list.as_array()) {
    if (!item.is_string()) throw Damaged{};
    const std::string_view pair = view(item.as_string());
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos || equals == 0) throw Damaged{};
    setting.values.emplace_back(pair.substr(0, equals), pair.substr(equals + 1));
  }
  return setting;
}

DatabaseFacts decode_database(std::string_view value) {
  const json::object object = parse(value);
  DatabaseFacts facts{stored_oid(object, "owner"), connection_limit(object), std::nullopt};
  if (!object.contains("acl")) return facts;
  const json::value& list = object.at("acl");
  if (!list.is_array()) throw Damaged{};
  facts.acl.emplace();
  for (const json::value& item : list.as_array()) {
    const std::optional<AclItem> decoded = item.is_string() ? decode_acl_item(view(item.as_string())) : std::nullopt;
    if (!decoded) throw Damaged{};
    facts.acl->push_back(*decoded);
  }
  return facts;
}

}  // namespace

std::string role_field(Oid role) { return fmt::format("{}{}", kRole, role); }
std::string membership_field(Oid role, Oid member) { return fmt::format("{}{}:{}", kMember, role, member); }
std::string setting_field(std::string_view database, Oid role) { return fmt::format("{}{}:{}", kSetting, database, role); }
std::string database_field(std::string_view database) { return fmt::format("{}{}", kDatabase, database); }

std::string encode(const RoleDef& role) {
  json::object object;
  object["name"] = view(role.name);
  const auto set_flag = [&](std::string_view name, bool value) {
    if (value) object[view(name)] = true;
  };
  set_flag("superuser", role.superuser);
  set_flag("noinherit", !role.inherit);
  set_flag("create_role", role.create_role);
  set_flag("create_database", role.create_database);
  set_flag("can_login", role.can_login);
  set_flag("replication", role.replication);
  set_flag("bypass_row_security", role.bypass_row_security);
  if (role.connection_limit != -1) object["connection_limit"] = role.connection_limit;
  if (role.valid_until) object["valid_until"] = *role.valid_until;
  if (!role.owner_name.empty()) object["owner_name"] = view(role.owner_name);
  if (!role.comment.empty()) object["comment"] = view(role.comment);
  return json::serialize(object);
}

std::string encode(const RoleMembership& membership) {
  json::object object{{"grantor", static_cast<std::int64_t>(membership.grantor)}};
  if (membership.admin) object["admin"] = true;
  return json::serialize(object);
}

std::string encode(const RoleSetting& setting) {
  json::array list;
  for (const auto& [name, value] : setting.values) list.emplace_back(view(name + "=" + value));
  return json::serialize(list);
}

std::string encode(const DatabaseFacts& facts) {
  json::object object{{"owner", static_cast<std::int64_t>(facts.owner)}};
  if (facts.connection_limit != -1) object["connection_limit"] = facts.connection_limit;
  if (facts.acl) {
    json::array list;
    for (const AclItem& item : *facts.acl) list.emplace_back(encode(item));
    object["acl"] = std::move(list);
  }
  return json::serialize(object);
}

RoleSet decode_roles(std::span<const std::pair<std::string_view, std::string_view>> fields) {
  RoleSet roles;
  roles.is_stored = !fields.empty();
  bool has_postgres = false;
  std::vector<RoleMembership> memberships;
  const auto put_role = [&](RoleDef role) {
    const RoleDef* same_name = roles.find(role.name);
    if (same_name != nullptr && same_name->oid != role.oid) throw Damaged{};
    has_postgres = has_postgres || role.oid == kPostgresRole;
    roles.put(std::move(role));
  };
  for (const auto& [field, value] : fields) {
    try {
      if (field == kRolesVersionField) {
        roles.version = value;
      } else if (field == kNextRoleField) {
        roles.next_oid = std::max(parse_oid(value), kFirstRoleOid);
      } else if (field.starts_with(kRole)) {
        put_role(decode_role(field.substr(kRole.size()), value));
      } else if (field.starts_with(kMember)) {
        memberships.push_back(decode_membership(field.substr(kMember.size()), value));
      } else if (field.starts_with(kSetting)) {
        roles.put(decode_setting(field.substr(kSetting.size()), value));
      } else if (field.starts_with(kDatabase)) {
        roles.put(std::string(field.substr(kDatabase.size())), decode_database(value));
      }
    } catch (const Damaged&) {
      roles.damaged.emplace_back(field);
    }
  }
  for (const RoleMembership& membership : memberships) {
    const bool is_whole = roles.find(membership.role) != nullptr && roles.find(membership.member) != nullptr;
    if (is_whole && !roles.is_member(membership.role, membership.member)) {
      roles.put(membership);
    } else {
      roles.damaged.push_back(membership_field(membership.role, membership.member));
    }
  }
  // If roles are stored, postgres is one of them. If its entry is lost, postgres must not be restored silently.
  if (roles.is_stored && !has_postgres) {
    RoleDef lost = *roles.find(kPostgresRole);
    lost.superuser = lost.can_login = lost.create_role = lost.create_database = lost.replication = lost.bypass_row_security = false;
    roles.put(std::move(lost));
    roles.damaged.push_back(role_field(kPostgresRole));
  }
  for (const auto& [oid, role] : roles.roles()) {
    if (oid >= kFirstRoleOid && oid < 0x40000000U) roles.next_oid = std::max(roles.next_oid, oid + 1);
  }
  return roles;
}

}  // namespace redquel::sql
