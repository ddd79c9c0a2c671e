#include "sql/catalog/mapping.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "sql/catalog/catalog.h"
#include "sql/catalog/prefixes.h"
#include "sql/error.h"
#include "sql/functions/quote.h"
#include "sql/sqlstate.h"
#include "sql/types/array_value.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {

namespace {

using Layout = Mapping::Layout;
using Role = Mapping::Role;
using Format = Mapping::Format;

constexpr std::array<std::string_view, 8> kLayouts{"hash", "strings", "string", "set", "zset", "list", "hash_fields", "stream"};
constexpr std::array<std::string_view, 8> kRedisTypes{"hash", "string", "string", "set", "zset", "list", "hash", "stream"};

struct RoleName {
  std::string_view name;
  Role role;
};
constexpr RoleName kRoles[] = {{"member", Role::kMember}, {"score", Role::kScore}, {"position", Role::kPosition}, {"value", Role::kValue},
                              {"field", Role::kName},    {"id", Role::kId},       {"ttl", Role::kTtl},           {"time", Role::kTime},
                              {"sequence", Role::kSequence}};

struct FormatName {
  std::string_view name;
  Format format;
};
constexpr FormatName kFormats[] = {{"text", Format::kText}, {"bool01", Format::kBool01}, {"unix", Format::kUnix},
                                   {"unix_ms", Format::kUnixMs}, {"list", Format::kList}, {"json", Format::kJson}, {"raw", Format::kRaw}};

SqlError invalid_value(std::string_view option, std::string_view value, std::string_view allowed) {
  return SqlError(sqlstate::kFdwInvalidAttributeValue, fmt::format("invalid value for option \"{}\": \"{}\"", option, value))
      .hint(fmt::format("It is one of {}.", allowed));
}

SqlError invalid_option(std::string_view option, std::string_view allowed) {
  return SqlError(sqlstate::kFdwInvalidOptionName, fmt::format("invalid option \"{}\"", option))
      .hint(fmt::format("Valid options in this context are: {}", allowed));
}

SqlError wrong_columns(std::string message) { return SqlError(sqlstate::kInvalidTableDefinition, std::move(message)); }

Layout read_layout(const std::string& value) {
  const auto found = std::find(kLayouts.begin(), kLayouts.end(), value);
  if (found != kLayouts.end()) return static_cast<Layout>(found - kLayouts.begin());
  if (value == "ohm") return Layout::kHash;
  throw invalid_value("layout", value, "hash, strings, string, set, zset, list, hash_fields, stream, ohm");
}

Format read_format(const std::string& value) {
  for (const FormatName& name : kFormats) {
    if (name.name == value) return name.format;
  }
  throw invalid_value("format", value, "text, bool01, unix, unix_ms, list, json, raw");
}

Role read_role(const std::string& value) {
  for (const RoleName& name : kRoles) {
    if (name.name == value) return name.role;
  }
  throw invalid_value("role", value, "member, score, position, field, value, id, time, sequence, ttl");
}

bool is_number(Type type) {
  return is_integer_type(type.oid) || type.oid == oid::kFloat4 || type.oid == oid::kFloat8 || type.oid == oid::kNumeric;
}
bool is_time(Type type) { return type.oid == oid::kTimestamp || type.oid == oid::kTimestamptz || type.oid == oid::kDate; }

/// Roles that columns of a layout may have beside its slots.
std::vector<Role> roles_of(const Mapping& mapping) {
  switch (mapping.layout) {
    case Layout::kHash:
    case Layout::kStrings: return {Role::kField, Role::kTtl};
    case Layout::kString: return {mapping.parts == Mapping::Parts::kWhole ? Role::kValue : Role::kField, Role::kTtl};
    case Layout::kSet: return {Role::kMember, Role::kTtl};
    case Layout::kZset: return {Role::kMember, Role::kScore, Role::kTtl};
    case Layout::kList: return {Role::kValue, Role::kPosition, Role::kTtl};
    case Layout::kHashFields: return {Role::kName, Role::kValue, Role::kTtl};
    case Layout::kStream: return {Role::kField, Role::kId, Role::kTime, Role::kSequence, Role::kTtl};
  }
  return {};
}

std::string_view role_word(Role role) {
  for (const RoleName& name : kRoles) {
    if (name.role == role) return name.name;
  }
  return role == Role::kField ? "a field" : "a slot";
}

/// Returns the role of a column without option `role`: by its name, else the first role that is left.
Role natural_role(const Mapping& mapping, const ColumnDef& column) {
  const std::vector<Role> roles = roles_of(mapping);
  for (const Role role : roles) {
    const bool is_common = role == Role::kField || role == Role::kTtl || role == Role::kTime || role == Role::kSequence;
    const bool is_named = !is_common && column.name == role_word(role);
    if (is_named || (role == Role::kId && column.name == "id") || (role == Role::kName && column.name == "name")) return role;
  }
  return roles.front();
}

void check_format(const ColumnDef& column, const Mapping::Column& mapped) {
  const auto require = [&](bool fits, std::string_view format, std::string_view types) {
    if (!fits) {
      throw wrong_columns(fmt::format("format \"{}\" of column \"{}\" needs a column of type {}, not {}", format, column.name, types,
                                      format_type(column.type)));
    }
  };
  switch (mapped.format) {
    case Format::kText: break;
    case Format::kBool01: require(column.type.oid == oid::kBool, "bool01", "boolean"); break;
    case Format::kUnix: require(is_time(column.type), "unix", "timestamp, timestamptz or date"); break;
    case Format::kUnixMs: require(is_time(column.type), "unix_ms", "timestamp, timestamptz or date"); break;
    case Format::kList: require(is_array_type(column.type.oid), "list", "array"); break;
    case Format::kJson: require(column.type.oid == kJsonb.oid || column.type.oid == kJson.oid, "json", "json or jsonb"); break;
    case Format::kRaw: require(column.type.oid == oid::kBytea, "raw", "bytea"); break;
  }
  const bool is_timed = mapped.format == Format::kUnix || mapped.format == Format::kUnixMs;
  if (mapped.role == Role::kScore && !is_number(column.type) && !is_timed) {
    throw wrong_columns(fmt::format("column \"{}\" cannot be a score: its type {} is no number, and it has no format unix or unix_ms",
                                    column.name, format_type(column.type)));
  }
  if ((mapped.role == Role::kPosition || mapped.role == Role::kTtl) && !is_integer_type(column.type.oid)) {
    throw wrong_columns(fmt::format("column \"{}\" with role {} must be of an integer type", column.name, role_word(mapped.role)));
  }
  if (mapped.role == Role::kSequence && !is_integer_type(column.type.oid)) {
    throw wrong_columns(fmt::format("column \"{}\" with role sequence must be of an integer type", column.name));
  }
  if (mapped.role == Role::kTime && column.type.oid != oid::kInt8 && !is_time(column.type)) {
    throw wrong_columns(fmt::format("column \"{}\" with role time must be of type timestamp, timestamptz, date or bigint", column.name));
  }
  if (mapped.role == Role::kId && column.type.oid != oid::kText && column.type.oid != oid::kVarchar) {
    throw wrong_columns(fmt::format("column \"{}\" with role id must be of type text", column.name));
  }
}

std::int64_t read_number(std::string_view option, const std::string& value, std::int64_t least, std::int64_t most) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  const bool is_number = error == std::errc() && end == value.data() + value.size();
  if (!is_number || number < least || number > most) {
    throw SqlError(sqlstate::kFdwInvalidAttributeValue, fmt::format("invalid value for option \"{}\": \"{}\"", option, value))
        .hint(fmt::format("It is a number from {} to {}.", least, most));
  }
  return number;
}

void read_versions(Mapping& mapping, const ColumnDef& column, const std::string& value) {
  constexpr std::int64_t kMost = 1'000'000;
  mapping.versions = read_number("versions", value, 1, kMost);
  const bool is_last = mapping.key.has_slot(column.number) && is_integer_type(column.type.oid);
  if (!is_last || mapping.layout != Layout::kString || mapping.version != 0) {
    throw wrong_columns("option \"versions\" belongs to one slot of an integer type in the key of layout string");
  }
  mapping.version = column.number;
}

Mapping::Column read_column(Mapping& mapping, const ColumnDef& column, const MappingOptions& options) {
  constexpr std::string_view kAllowed = "field, format, delimiter, absent, role, versions, width, parent";
  Mapping::Column mapped;
  mapped.number = column.number;
  mapped.field = column.name;
  mapped.delimiter = ",";
  std::optional<Role> role;
  bool has_field = false, has_parent = false;
  for (const auto& [name, value] : options) {
    if (name == "parent") {
      has_parent = true;  // the caller knows which table the name means
    } else if (name == "field") {
      has_field = true;
      if (value.empty()) {
        throw SqlError(sqlstate::kFdwInvalidAttributeValue, fmt::format("option \"field\" of column \"{}\" is empty", column.name));
      }
      mapped.field = value;
    } else if (name == "format") {
      mapped.format = read_format(value);
    } else if (name == "delimiter") {
      if (value.empty()) {
        throw SqlError(sqlstate::kFdwInvalidAttributeValue, fmt::format("option \"delimiter\" of column \"{}\" is empty", column.name));
      }
      mapped.delimiter = value;
    } else if (name == "absent") {
      if (value != "null" && value != "default" && value != "empty") throw invalid_value("absent", value, "null, default, empty");
      mapped.absent = value == "empty" ? Mapping::Absent::kEmpty : value == "null" ? Mapping::Absent::kNull : Mapping::Absent::kDefault;
    } else if (name == "versions") {
      read_versions(mapping, column, value);
    } else if (name == "width") {
      mapped.width = static_cast<int>(read_number("width", value, 1, 18));
    } else if (name == "role") {
      role = read_role(value);
    } else {
      throw invalid_option(name, kAllowed);
    }
  }
  if (mapping.key.has_slot(column.number)) {
    if (role) throw wrong_columns(fmt::format("column \"{}\" is a slot of the key and can have no other role", column.name));
    mapped.role = Role::kSlot;
    if (has_field && mapping.layout != Layout::kHash) {
      throw wrong_columns(fmt::format("option \"field\" of column \"{}\", a slot of the key, belongs to layout hash", column.name));
    }
    mapped.repeats_key = has_field;
  } else {
    mapped.role = role.value_or(natural_role(mapping, column));
    const std::vector<Role> roles = roles_of(mapping);
    if (std::find(roles.begin(), roles.end(), mapped.role) == roles.end()) {
      throw wrong_columns(fmt::format("column \"{}\" has role {}, which layout {} does not have", column.name, role_word(mapped.role),
                                      layout_name(mapping.layout)));
    }
  }
  const bool tells_rows = mapped.role == Role::kSlot || mapped.role == Role::kMember || mapped.role == Role::kName;
  if (has_parent && !tells_rows && !(mapped.role == Role::kValue && mapping.layout == Layout::kList)) {
    throw wrong_columns(fmt::format("option \"parent\" of column \"{}\" belongs to a slot, a member, the name of a field or an element of a list", column.name));
  }
  if (mapped.absent == Mapping::Absent::kDefault && mapped.role != Role::kField) {
    throw wrong_columns(fmt::format("option absent 'default' of column \"{}\" belongs to a field", column.name));
  }
  check_format(column, mapped);
  constexpr std::array<Role, 4> kPadded{Role::kMember, Role::kName, Role::kValue, Role::kField};
  const bool may_be_padded = std::find(kPadded.begin(), kPadded.end(), mapped.role) != kPadded.end() && is_integer_type(column.type.oid);
  if (mapped.width > 0 && (!may_be_padded || mapped.format != Format::kText)) {
    throw wrong_columns(fmt::format("option \"width\" of column \"{}\" belongs to an integer that is a member, a field or a value", column.name));
  }
  if (mapped.role == Role::kTime && is_time(column.type)) mapped.format = Format::kUnixMs;
  return mapped;
}

void check_columns(const Mapping& mapping, const TableDef& table) {
  std::set<std::string> fields;
  std::set<Role> roles;
  for (const Mapping::Column& column : mapping.columns) {
    const std::string& name = table.find_column(column.number)->name;
    if (column.role == Role::kField || column.repeats_key) {
      if (!fields.insert(column.field).second) {
        throw wrong_columns(fmt::format("column \"{}\" is the second one for field \"{}\"", name, column.field));
      }
    } else if (column.role != Role::kSlot && !roles.insert(column.role).second) {
      throw wrong_columns(fmt::format("column \"{}\" is the second one with role {} of layout {}", name, role_word(column.role),
                                      layout_name(mapping.layout)));
    }
  }
  const auto require = [&](Role role) {
    if (!roles.contains(role)) throw wrong_columns(fmt::format("layout {} needs a column with role {}", layout_name(mapping.layout), role_word(role)));
  };
  switch (mapping.layout) {
    case Layout::kSet:
    case Layout::kZset: require(Role::kMember); break;
    case Layout::kList: require(Role::kValue); break;
    case Layout::kHashFields: require(Role::kName); break;
    case Layout::kString:
      if (mapping.parts == Mapping::Parts::kWhole) require(Role::kValue);
      break;
    default: break;
  }
  const bool has_field_slot = mapping.key.has_slot(KeyTemplate::kFieldSlot);
  if (has_field_slot && mapping.layout != Layout::kStrings) {
    throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("slot {{*}} belongs to layout strings, not {}", layout_name(mapping.layout)));
  }
  if (!has_field_slot && mapping.layout == Layout::kStrings) {
    throw SqlError(sqlstate::kInvalidParameterValue, "the key of layout strings needs the slot {*} for the column's field");
  }
  const bool has_fields = mapping.layout == Layout::kHash || mapping.layout == Layout::kStrings;
  if (has_fields && fields.empty() && mapping.layout == Layout::kStrings) throw wrong_columns("layout strings needs a column that is not in the key");
}

/// Ohm's keys are "User:1"; what it keeps beside them begins like them.
void finish_ohm(Mapping& mapping, const TableDef& table) {
  const std::vector<KeyTemplate::Part>& parts = mapping.key.parts();
  const bool fits = parts.size() == 2 && parts[0].column == 0 && parts[0].literal.ends_with(':') && parts[1].column > 0 && parts[1].width == 0;
  if (!fits) {
    throw SqlError(sqlstate::kInvalidParameterValue, "the key of layout ohm is the name of the model, a colon and the slot of the id: 'User:{id}'");
  }
  const ColumnDef& id = *table.find_column(parts[1].column);
  if (mapping.counter.empty() && is_integer_type(id.type.oid) && id.default_sql.empty()) mapping.counter = ohm_key(mapping, "id");
}

void check_table_options(const Mapping& mapping, bool has_delimiter) {
  if (mapping.layout != Layout::kString && (mapping.parts != Mapping::Parts::kWhole || has_delimiter)) {
    throw SqlError(sqlstate::kFdwInvalidAttributeValue,
                   fmt::format("options \"format\" and \"delimiter\" of a table belong to layout string, not {}", layout_name(mapping.layout)));
  }
}

bool is_number_slot(const TableDef& table, std::int16_t column) {
  const ColumnDef* found = table.find_column(column);
  return found != nullptr && is_integer_type(found->type.oid);
}

/// The key templates that a table's keys have: one for each field of the strings layout.
std::vector<KeyTemplate> forms_of(const Mapping& mapping) {
  if (mapping.layout != Layout::kStrings) return {mapping.key};
  std::vector<KeyTemplate> forms;
  for (const Mapping::Column& column : mapping.columns) {
    if (column.role != Role::kField) continue;
    const std::string text = mapping.key.text([](std::int16_t number) { return fmt::format("#{}", number); });
    const std::size_t slot = text.find("{*}");
    forms.push_back(KeyTemplate::parse_stored(text.substr(0, slot) + template_literal(column.field) + text.substr(slot + 3)));
  }
  return forms;
}

}  // namespace

const Mapping::Column& Mapping::column(std::int16_t number) const {
  const auto found = std::find_if(columns.begin(), columns.end(), [&](const Column& c) { return c.number == number; });
  if (found == columns.end()) throw SqlError(sqlstate::kInternalError, fmt::format("column {} is missing from the mapping", number));
  return *found;
}

const Mapping::Column* Mapping::with_role(Role role) const {
  const auto found = std::find_if(columns.begin(), columns.end(), [&](const Column& c) { return c.role == role; });
  return found == columns.end() ? nullptr : &*found;
}

std::optional<std::string> Mapping::render_key(const KeyTemplate::TextOfColumn& text, std::string_view field) const {
  return key.render([&](std::int16_t number) -> std::optional<std::string> {
    if (number == KeyTemplate::kFieldSlot) return std::string(field);
    return text(number);
  });
}

Mapping make_mapping(const TableDef& table, const MappingOptions& options, const std::vector<MappingOptions>& columns) {
  constexpr std::string_view kAllowed = "layout, key, model, counter, database, format, delimiter";
  constexpr std::int64_t kMostDatabases = 1'000'000;
  Mapping mapping;
  std::optional<std::string> layout, key, model;
  bool has_delimiter = false;
  for (const auto& [name, value] : options) {
    if (name == "layout") {
      layout = value;
    } else if (name == "key") {
      key = value;
    } else if (name == "counter") {
      if (value.empty()) throw SqlError(sqlstate::kFdwInvalidAttributeValue, "option \"counter\" is empty");
      mapping.counter = value;
    } else if (name == "database") {
      mapping.database = static_cast<int>(read_number("database", value, 0, kMostDatabases));
    } else if (name == "model") {
      model = value;
    } else if (name == "format") {
      if (value != "json" && value != "delimited" && value != "text") throw invalid_value("format", value, "text, delimited, json");
      mapping.parts = value == "json" ? Mapping::Parts::kJson : value == "text" ? Mapping::Parts::kWhole : Mapping::Parts::kDelimited;
    } else if (name == "delimiter") {
      if (value.empty()) throw SqlError(sqlstate::kFdwInvalidAttributeValue, "option \"delimiter\" is empty");
      mapping.delimiter = value;
      has_delimiter = true;
    } else {
      throw invalid_option(name, kAllowed);
    }
  }
  if (!layout) {
    throw SqlError(sqlstate::kFdwOptionNameNotFound, "option \"layout\" is required")
        .hint("It is one of hash, strings, string, set, zset, list, hash_fields, stream, ohm.");
  }
  mapping.ohm = *layout == "ohm";
  if (model && (!mapping.ohm || key)) {
    throw SqlError(sqlstate::kFdwInvalidAttributeValue, "option \"model\" belongs to layout ohm, in place of option \"key\"");
  }
  if (model) key = *model + ":{id}";
  if (!key) throw SqlError(sqlstate::kFdwOptionNameNotFound, "option \"key\" is required").hint("It is the template of the keys: 'theme:{id}'.");
  mapping.layout = read_layout(*layout);
  if (has_delimiter && mapping.parts == Mapping::Parts::kWhole) mapping.parts = Mapping::Parts::kDelimited;
  if (mapping.parts == Mapping::Parts::kDelimited && !has_delimiter) {
    throw SqlError(sqlstate::kFdwOptionNameNotFound, "format delimited needs option \"delimiter\"");
  }
  check_table_options(mapping, has_delimiter);
  mapping.key = KeyTemplate::parse(*key, [&](std::string_view name) -> std::int16_t {
    const ColumnDef* column = table.find_column(name);
    return column == nullptr ? std::int16_t{0} : column->number;
  });
  for (std::size_t i = 0; i < table.columns.size(); ++i) mapping.columns.push_back(read_column(mapping, table.columns[i], columns[i]));
  check_columns(mapping, table);
  if (mapping.ohm) finish_ohm(mapping, table);
  for (const auto& [name, value] : options) {
    const bool is_key = name == "key" || name == "model";
    mapping.options.push_back({0, is_key ? "key" : name, is_key ? mapping.key.stored_text() : value});
  }
  for (std::size_t i = 0; i < columns.size(); ++i) {
    for (const auto& [name, value] : columns[i]) mapping.options.push_back({table.columns[i].number, name, value});
  }
  return mapping;
}

void add_hidden_ttl(TableDef& table, Mapping& mapping) {
  if (mapping.with_role(Role::kTtl) != nullptr) return;
  ColumnDef column;
  column.number = kTtlColumn;
  column.name = column.field = "ttl";
  column.type = kInt8;
  column.hidden = true;
  table.columns.push_back(std::move(column));
  mapping.columns.push_back({.number = kTtlColumn, .role = Role::kTtl, .field = "ttl", .delimiter = ","});
}

std::vector<std::int16_t> identity_columns(const Mapping& mapping) {
  std::vector<std::int16_t> columns;
  for (const std::int16_t slot : mapping.key.slots()) {
    if (slot > 0) columns.push_back(slot);
  }
  const auto add = [&](Role role) {
    const Mapping::Column* column = mapping.with_role(role);
    if (column == nullptr) return false;
    columns.push_back(column->number);
    return true;
  };
  bool is_known = true;
  switch (mapping.layout) {
    case Layout::kSet:
    case Layout::kZset: is_known = add(Role::kMember); break;
    case Layout::kList: is_known = add(Role::kPosition); break;
    case Layout::kHashFields: is_known = add(Role::kName); break;
    case Layout::kStream: is_known = add(Role::kId); break;
    default: break;
  }
  return is_known ? columns : std::vector<std::int16_t>();
}

std::string_view redis_type(Layout layout) { return kRedisTypes[static_cast<std::size_t>(layout)]; }
std::string_view layout_name(Layout layout) { return kLayouts[static_cast<std::size_t>(layout)]; }

bool may_overlap(const TableDef& a, const TableDef& b) {
  if (redis_type(a.mapping().layout) != redis_type(b.mapping().layout) || a.mapping().database != b.mapping().database) return false;
  const auto a_number = [&](std::int16_t column) { return is_number_slot(a, column); };
  const auto b_number = [&](std::int16_t column) { return is_number_slot(b, column); };
  for (const KeyTemplate& left : forms_of(a.mapping())) {
    for (const KeyTemplate& right : forms_of(b.mapping())) {
      if (KeyTemplate::may_overlap(left, a_number, right, b_number)) return true;
    }
  }
  return false;
}

bool may_reach(const TableDef& foreign, std::string_view prefix) {
  const Mapping& mapping = foreign.mapping();
  const auto is_number = [&](std::int16_t column) { return is_number_slot(foreign, column); };
  std::vector<KeyTemplate> forms = forms_of(mapping);
  for (const IndexDef& index : foreign.indexes) forms.push_back(index_key(index));
  const bool reaches = std::ranges::any_of(forms, [&](const KeyTemplate& form) { return form.may_reach(prefix, is_number); });
  const auto is_below = [&](std::string_view key) { return key.size() > prefix.size() && key.starts_with(prefix) && key[prefix.size()] == ':'; };
  if (reaches || is_below(mapping.counter)) return true;
  if (!mapping.ohm) return false;
  const std::string all = ohm_key(mapping, "all");  // and more that begins so
  return prefixes_collide(prefix, all.substr(0, all.rfind(':')));
}

std::string template_text(const KeyTemplate& key, const TableDef& table) {
  return key.text([&](std::int16_t number) {
    const ColumnDef* column = table.find_column(number);
    return column == nullptr ? fmt::format("#{}", number) : column->name;
  });
}

std::optional<std::string> option_text(const CatalogSnapshot& catalog, const TableDef& table, const Mapping::Option& option) {
  if (option.column == 0) return option.name == "key" ? template_text(table.mapping().key, table) : option.value;
  if (option.name != "parent") return option.value;
  const auto parent = catalog.find_table(table.mapping().column(option.column).parent);
  if (!parent) return std::nullopt;
  const std::string name = quote_identifier(parent->name);
  return parent->schema == table.schema ? name : quote_identifier(parent->schema) + "." + name;
}

std::string ohm_key(const Mapping& mapping, std::string_view part) { return mapping.key.parts().front().literal + std::string(part); }

std::string ohm_index_key(const TableDef& table, std::int16_t column, bool is_unique) {
  const auto escaped = [](std::string_view text) {
    std::string result;
    for (const char c : text) result.append(c == '{' || c == '}' ? 2 : 1, c);
    return result;
  };
  const std::string field = escaped(table.mapping().column(column).field);
  if (is_unique) return escaped(ohm_key(table.mapping(), "uniques:")) + field;
  return fmt::format("{}{}:{{{}}}", escaped(ohm_key(table.mapping(), "indices:")), field, table.find_column(column)->name);
}

bool is_believed(const IndexDef& index) { return index.state == IndexState::kReady; }

bool has_unkept_structure(const TableDef& table) {
  return std::any_of(table.indexes.begin(), table.indexes.end(), [](const IndexDef& index) { return !index.mapped().maintained; });
}

KeyTemplate index_key(const IndexDef& index) { return KeyTemplate::parse_stored(index.mapped().key); }

std::string joined_slots(const std::vector<std::int16_t>& columns) {
  std::string text;
  for (const std::int16_t column : columns) text += fmt::format("{}{{#{}}}", text.empty() ? "" : ":", column);
  return text;
}

std::string natural_member(const TableDef& table, const KeyTemplate& structure) {
  std::vector<std::int16_t> rest;
  for (const std::int16_t column : table.primary_key) {
    if (!structure.has_slot(column)) rest.push_back(column);
  }
  return joined_slots(rest);
}

KeyTemplate index_member(const TableDef& table, const IndexDef& index) {
  return KeyTemplate::parse_stored(index.mapped().member.empty() ? natural_member(table, index_key(index)) : index.mapped().member);
}

std::vector<std::int16_t> columns_beside_key(const IndexDef& index) {
  const KeyTemplate key = index_key(index);
  std::vector<std::int16_t> columns;
  for (const IndexDef::Part& part : index.parts) {
    if (!key.has_slot(part.column)) columns.push_back(part.column);
  }
  return columns;
}

bool is_hash_lookup(const IndexDef& index) { return index.method == IndexMethod::kLookup && !columns_beside_key(index).empty(); }

KeyTemplate index_field(const IndexDef& index) {
  return KeyTemplate::parse_stored(index.mapped().field.empty() ? joined_slots(columns_beside_key(index)) : index.mapped().field);
}

std::int16_t ordered_column(const IndexDef& index) {
  const std::vector<std::int16_t> columns = columns_beside_key(index);
  return columns.empty() ? std::int16_t{0} : columns.front();
}

std::vector<std::int16_t> versioned_slots(const Mapping& mapping) {
  std::vector<std::int16_t> slots = mapping.key.slots();
  slots.erase(std::find(slots.begin(), slots.end(), mapping.version), slots.end());
  return slots;
}

const IndexDef* versions_index(const TableDef& table) {
  const std::vector<std::int16_t> slots = versioned_slots(table.mapping());
  for (const IndexDef& index : table.indexes) {
    if (index.method != IndexMethod::kZset || !index.mapped().maintained || !is_believed(index) || ordered_column(index) != table.mapping().version) continue;
    const std::vector<std::int16_t> own = index_key(index).slots();
    if (std::is_permutation(own.begin(), own.end(), slots.begin(), slots.end())) return &index;
  }
  return nullptr;
}

}  // namespace redquel::sql
