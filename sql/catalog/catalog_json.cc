#include "sql/catalog/catalog_json.h"

#include <array>
#include <boost/json.hpp>
#include <concepts>

#include "sql/catalog/catalog_references.h"
#include "sql/catalog/mapping.h"
#include "sql/catalog/spread_table.h"
#include "sql/catalog/stored_place.h"
#include "sql/catalog/stored_words.h"
#include "sql/catalog/table_keys.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::sql {

namespace json = boost::json;

namespace {

// One function per struct lists its members once, for both directions: a visitor either writes them into an object or reads them.

class Writer;
class Reader;

template <typename Visitor>
void visit(Visitor& visitor, Type& type) {
  visitor.member("oid", type.oid);
  visitor.member("modifier", type.modifier);
}

template <typename Visitor>
void visit(Visitor& visitor, ColumnDef& column) {
  visitor.member("number", column.number);
  visitor.member("name", column.name);
  visitor.member("field", column.field);
  visitor.member("type", column.type);
  visitor.member("domain", column.domain);
  visitor.member("not_null", column.not_null);
  visitor.member("default", column.default_sql);
  visitor.member("generated", column.generated_sql);
  visitor.word("identity", column.identity, kIdentityNames);
  visitor.member("sequence", column.sequence);
  visitor.member("missing", column.missing);
  visitor.member("hidden", column.hidden);
  visitor.member("collation", column.collation);
  visitor.member("comment", column.comment);
  visitor.member("acl", column.acl);
}

template <typename Visitor>
void visit(Visitor& visitor, IndexDef::Part& part) {
  visitor.member("column", part.column);
  visitor.member("descending", part.descending);
  visitor.member("nulls_first", part.nulls_first);
  visitor.member("shown_column", part.shown_column);
  visitor.member("expression", part.expression_sql);
  visitor.member("operator_class", part.operator_class);
}

template <typename Visitor>
void visit(Visitor& visitor, IndexDef& index) {
  visitor.member("oid", index.oid);
  visitor.member("name", index.name);
  visitor.word("method", index.method, kMethodNames);
  visitor.word("state", index.state, kStateNames);
  visitor.member("rebuilding", index.rebuilding);
  visitor.member("unique", index.unique);
  visitor.member("primary", index.primary);
  visitor.member("constraint", index.constraint);
  visitor.member("exclusion", index.exclusion);
  visitor.member("nulls_not_distinct", index.nulls_not_distinct);
  visitor.member("deferrable", index.deferrable);
  visitor.member("initially_deferred", index.initially_deferred);
  visitor.member("parts", index.parts);
  visitor.member("predicate", index.predicate_sql);
  visitor.member("included", index.included);
  visitor.member("short_members", index.short_members);
  visitor.member("definition_suffix", index.definition_suffix);
  if (!index.key.empty() || index.method > IndexMethod::kHash) {
    visitor.member("key", index.key);
    visitor.member("maintained", index.maintained);
    visitor.member("length", index.length);
    visitor.member("entry", index.member);
    visitor.member("field", index.field);
  }
  visitor.member("comment", index.comment);
  visitor.member("constraint_comment", index.constraint_comment);
}

template <typename Visitor>
void visit(Visitor& visitor, CheckDef& check) {
  visitor.member("name", check.name);
  visitor.member("expression", check.expression_sql);
  visitor.member("comment", check.comment);
  visitor.member("no_inherit", check.no_inherit);
  visitor.member("not_valid", check.not_valid);
}

template <typename Visitor>
void visit(Visitor& visitor, ForeignKeyDef& key) {
  visitor.member("oid", key.oid);
  visitor.member("name", key.name);
  visitor.member("columns", key.columns);
  visitor.member("referenced", key.referenced);
  visitor.member("referenced_columns", key.referenced_columns);
  visitor.member("referenced_index", key.referenced_index);
  visitor.member("index", key.index);
  visitor.member("match_full", key.match_full);
  visitor.word("on_delete", key.on_delete, kActionNames);
  visitor.word("on_update", key.on_update, kActionNames);
  visitor.member("set_columns", key.set_columns);
  visitor.member("deferrable", key.deferrable);
  visitor.member("initially_deferred", key.initially_deferred);
  visitor.member("not_valid", key.not_valid);
  visitor.member("comment", key.comment);
}

template <typename Visitor>
void visit(Visitor& visitor, Mapping::Column& column) {
  visitor.member("number", column.number);
  if constexpr (std::is_same_v<Visitor, Reader>) column.role = Mapping::Role::kSlot;  // what is not written
  visitor.word("role", column.role, kRoleNames);
  visitor.member("field", column.field);
  visitor.word("format", column.format, kFormatNames);
  visitor.member("delimiter", column.delimiter);
  visitor.word("absent", column.absent, kAbsentNames);
  visitor.member("default", column.default_text);
  visitor.member("repeats_key", column.repeats_key);
  visitor.member("parent", column.parent);
  visitor.member("width", column.width);
}

template <typename Visitor>
void visit(Visitor& visitor, Mapping::Option& option) {
  visitor.member("column", option.column);
  visitor.member("name", option.name);
  visitor.member("value", option.value);
}

template <typename Visitor>
void visit(Visitor& visitor, KeyTemplate& key) {
  std::string text = key.parts().empty() ? std::string() : key.stored_text();
  visitor.member("template", text);
  if (!text.empty()) key = KeyTemplate::parse_stored(text);
}

template <typename Visitor>
void visit(Visitor& visitor, Mapping& mapping) {
  visitor.word("layout", mapping.layout, kLayoutNames);
  visitor.member("key", mapping.key);
  visitor.member("ohm", mapping.ohm);
  visitor.member("database", mapping.database);
  if (mapping.versions != 0 || std::is_same_v<Visitor, Reader>) {
    visitor.member("versions", mapping.versions);
    visitor.member("version", mapping.version);
  }
  visitor.member("counter", mapping.counter);
  visitor.word("parts", mapping.parts, kPartsNames);
  visitor.member("delimiter", mapping.delimiter);
  visitor.member("columns", mapping.columns);
  visitor.member("options", mapping.options);
}

template <typename Visitor>
void visit(Visitor& visitor, PolicyDef::Reference& reference) {
  visitor.member("relation", reference.relation);
  visitor.member("columns", reference.columns);
}

template <typename Visitor>
void visit(Visitor& visitor, PolicyDef& policy) {
  visitor.member("oid", policy.oid);
  visitor.member("name", policy.name);
  visitor.member("restrictive", policy.restrictive);
  visitor.word("command", policy.command, kPolicyCommandNames);
  visitor.member("roles", policy.roles);
  visitor.member("using", policy.using_sql);
  visitor.member("check", policy.check_sql);
  visitor.member("references", policy.references);
  visitor.member("comment", policy.comment);
}

template <typename Visitor>
void visit(Visitor& visitor, TableDef& table) {
  visitor.member("oid", table.oid);
  visitor.member("row_type", table.row_type);
  if (table.row_array != 0 || std::is_same_v<Visitor, Reader>) visitor.member("row_array", table.row_array);
  visitor.member("schema", table.schema);
  visitor.member("name", table.name);
  visit_place(visitor, "prefix", table.prefix);
  visitor.member("version", table.version);
  visitor.member("columns", table.columns);
  visitor.member("next_column", table.next_column);
  visitor.member("used_fields", table.used_fields);
  visitor.member("primary_key", table.primary_key);
  visitor.member("primary_key_name", table.primary_key_name);
  visitor.member("primary_key_included", table.primary_key_included);
  visitor.member("primary_key_oid", table.primary_key_oid);
  visitor.member("primary_key_comment", table.primary_key_comment);
  visitor.member("primary_key_constraint_comment", table.primary_key_constraint_comment);
  visitor.member("presence", table.presence);
  visitor.member("stores_key", table.stores_key);
  visitor.member("indexes", table.indexes);
  visitor.member("checks", table.checks);
  visitor.member("foreign_keys", table.foreign_keys);
  visitor.member("referencing", table.referencing);
  visitor.member("comment", table.comment);
  visitor.member("owner", table.owner);
  visitor.word("on_commit", table.on_commit, kOnCommitNames);
  visitor.member("mapping", table.mapping);
  visitor.member("computed", table.computed);
  visitor.member("next_computed", table.next_computed);
  visitor.member("ttl", table.ttl);
  visitor.member("ttl_milliseconds", table.ttl_milliseconds);
  visitor.member("ttl_column", table.ttl_column);
  visitor.member("cache", table.cache);
  visitor.member("materialized", table.materialized);
  if (table.materialized) {  // what is not written is false
    if constexpr (std::is_same_v<Visitor, Reader>) table.populated = false;
    visitor.member("populated", table.populated);
  }
  visitor.member("acl", table.acl);
  visitor.member("row_security", table.row_security);
  visitor.member("force_row_security", table.force_row_security);
  visitor.member("policies", table.policies);
  visitor.member("spread", table.spread);
}

template <typename Visitor>
void visit(Visitor& visitor, SequenceDef& sequence) {
  visitor.member("oid", sequence.oid);
  visitor.member("schema", sequence.schema);
  visitor.member("name", sequence.name);
  if (Visitor::kWrites && sequence.foreign) visitor.member("key", sequence.key);
  else visit_place(visitor, "key", sequence.key);
  visitor.member("type", sequence.type);
  visitor.member("start", sequence.start);
  visitor.member("increment", sequence.increment);
  visitor.member("minimum", sequence.minimum);
  visitor.member("maximum", sequence.maximum);
  visitor.member("cache", sequence.cache);
  visitor.member("cycle", sequence.cycle);
  visitor.member("owner_table", sequence.owner_table);
  visitor.member("owner_column", sequence.owner_column);
  visitor.member("foreign", sequence.foreign);
  if (std::is_same_v<Visitor, Reader> || sequence.changes != 0) visitor.member("changes", sequence.changes);
  visitor.member("comment", sequence.comment);
  visitor.member("owner", sequence.owner);
  visitor.member("acl", sequence.acl);
}

template <typename Visitor>
void visit(Visitor& visitor, ViewDef::Column& column) {
  visitor.member("name", column.name);
  visitor.member("type", column.type);
  visitor.member("comment", column.comment);
  visitor.member("default", column.default_sql);
  visitor.member("updatable", column.updatable);
  visitor.member("acl", column.acl);
}

template <typename Visitor>
void visit(Visitor& visitor, ViewDef::Reference& reference) {
  visitor.member("relation", reference.relation);
  visitor.member("columns", reference.columns);
}

template <typename Visitor>
void visit(Visitor& visitor, ViewDef& view) {
  visitor.member("oid", view.oid);
  visitor.member("row_type", view.row_type);
  visitor.member("rule", view.rule);
  visitor.member("schema", view.schema);
  visitor.member("name", view.name);
  visitor.member("columns", view.columns);
  visitor.member("query", view.query);
  visitor.member("definition", view.definition);
  visitor.member("pretty_definition", view.pretty_definition);
  visitor.member("references", view.references);
  visitor.word("check_option", view.check_option, kCheckOptionNames);
  visitor.member("base", view.base);
  visitor.member("options", view.options);
  visitor.member("comment", view.comment);
  visitor.member("owner", view.owner);
  visitor.member("acl", view.acl);
}

template <typename Visitor>
void visit(Visitor& visitor, EnumLabel& label) {
  visitor.member("oid", label.oid);
  visitor.member("name", label.name);
  visitor.member("order", label.order);
}

template <typename Visitor>
void visit(Visitor& visitor, CompositeField& field) {
  visitor.member("name", field.name);
  visitor.member("type", field.type);
  visitor.member("domain", field.domain);
  visitor.member("comment", field.comment);
}

template <typename Visitor>
void visit(Visitor& visitor, RangeParts& parts) {
  visitor.member("multirange", parts.multirange);
  visitor.member("multirange_array", parts.multirange_array);
  visitor.member("multirange_name", parts.multirange_name);
  visitor.member("collation", parts.collation);
  visitor.member("subtype_diff", parts.subtype_diff);
}

template <typename Visitor>
void visit(Visitor& visitor, UserType& type) {
  visitor.member("oid", type.oid);
  visitor.member("array", type.array);
  visitor.member("schema", type.schema);
  visitor.member("name", type.name);
  visitor.member("owner", type.owner);
  visitor.member("comment", type.comment);
  visitor.word("kind", type.kind, kTypeKindNames);
  visitor.member("labels", type.labels);
  visitor.member("fields", type.fields);
  visitor.member("relation", type.relation);
  visitor.member("base", type.base);
  visitor.member("base_domain", type.base_domain);
  if (type.kind == UserType::Kind::kRange) visitor.member("range", type.range);
  if (type.kind == UserType::Kind::kDomain) visitor.member("collation", type.range.collation);
  visitor.member("not_null", type.not_null);
  visitor.member("default", type.default_sql);
  visitor.member("checks", type.checks);
  visitor.member("acl", type.acl);
}

template <typename Visitor>
void visit(Visitor& visitor, SchemaDef& schema) {
  visitor.member("oid", schema.oid);
  visitor.member("name", schema.name);
  visitor.member("owner", schema.owner);
  visitor.member("comment", schema.comment);
  visitor.member("acl", schema.acl);
}

template <typename Visitor>
void visit(Visitor& visitor, DefaultAclDef& definition) {
  visitor.member("oid", definition.oid);
  visitor.member("role", definition.role);
  visitor.member("schema", definition.schema);
  std::string kind(1, definition.kind);
  visitor.member("kind", kind);
  definition.kind = kind.empty() ? 'r' : kind.front();
  visitor.member("acl", definition.acl);
}

/// The list of an object that every database has.
struct StoredAcl {
  Acl acl;
};

template <typename Visitor>
void visit(Visitor& visitor, StoredAcl& stored) {
  visitor.member("acl", stored.acl);
}

template <typename Visitor>
void visit(Visitor& visitor, UserMappingDef& mapping) {
  visitor.member("oid", mapping.oid);
  visitor.member("role", mapping.role);
  visitor.member("user", mapping.user);
}

template <typename Visitor>
void visit(Visitor& visitor, ForeignServerDef& server) {
  visitor.member("owner", server.owner);
  visitor.member("acl", server.acl);
  visitor.member("comment", server.comment);
  visitor.member("mappings", server.mappings);
}

template <typename Visitor>
void visit(Visitor& visitor, FunctionDef::Parameter& parameter) {
  visitor.member("name", parameter.name);
  visitor.member("type", parameter.type);
  visitor.member("default", parameter.default_sql);
  visitor.word("mode", parameter.mode, kParameterModeNames);
}

template <typename Visitor>
void visit(Visitor& visitor, FunctionDef::Column& column) {
  visitor.member("name", column.name);
  visitor.member("type", column.type);
}

template <typename Visitor>
void visit(Visitor& visitor, FunctionDef& function) {
  visitor.member("oid", function.oid);
  visitor.member("schema", function.schema);
  visitor.member("name", function.name);
  visitor.member("parameters", function.parameters);
  visitor.member("result", function.result);
  if (function.result_relation != 0 || std::is_same_v<Visitor, Reader>) visitor.member("result_relation", function.result_relation);
  visitor.member("procedure", function.procedure);
  visitor.member("columns", function.columns);
  visitor.member("returns_set", function.returns_set);
  visitor.member("table_syntax", function.table_syntax);
  visitor.member("body", function.body);
  visitor.member("standard_body", function.standard_body);
  visitor.member("atomic_body", function.atomic_body);
  visitor.member("strict", function.strict);
  visitor.member("window", function.window);
  visitor.word("volatility", function.volatility, kVolatilityNames);
  visitor.member("options", function.options);
  visitor.member("comment", function.comment);
  visitor.member("owner", function.owner);
  visitor.member("acl", function.acl);
}

/// Structs of which `visit` knows the members.
template <typename T>
concept Definition = std::is_class_v<T> && !std::same_as<T, std::string> && !std::same_as<T, AclItem> && !std::same_as<T, std::shared_ptr<const Mapping>> &&
                     !std::same_as<T, std::shared_ptr<const ViewDef>>;

class Writer {
 public:
  static constexpr bool kWrites = true;
  json::object object;

  template <typename T>
  void member(std::string_view name, T& value) {
    if (!is_absent(value)) object.emplace(key(name), to_json(value));
  }
  template <typename Enum, std::size_t size>
  void word(std::string_view name, Enum value, const std::array<std::string_view, size>& words) {
    const auto index = static_cast<std::size_t>(value);
    if (index != 0) object.emplace(key(name), key(words[index]));
  }

 private:
  static json::string_view key(std::string_view text) { return {text.data(), text.size()}; }
  // Numbers are always written: 0 is not every number's default.
  template <typename T>
  static bool is_absent(const T&) {
    return false;
  }
  static bool is_absent(bool value) { return !value; }
  static bool is_absent(const std::string& value) { return value.empty(); }
  template <typename T>
  static bool is_absent(const std::vector<T>& value) {
    return value.empty();
  }
  template <typename T>
  static bool is_absent(const std::optional<T>& value) {
    return !value.has_value();
  }
  template <typename T>
  static bool is_absent(const std::shared_ptr<const T>& value) {
    return value == nullptr;
  }
  static json::value to_json(const std::string& text) { return json::value(key(text)); }
  static json::value to_json(const AclItem& item) { return json::value(encode(item)); }
  static json::value to_json(bool value) { return json::value(value); }
  static json::value to_json(double value) { return json::value(value); }
  template <std::integral T>
  static json::value to_json(T value) {
    return json::value(static_cast<std::int64_t>(value));
  }
  template <typename T>
  static json::value to_json(std::optional<T>& value) {
    return to_json(*value);
  }
  template <typename T>
  static json::value to_json(std::vector<T>& values) {
    json::array array;
    for (T& value : values) array.push_back(to_json(value));
    return array;
  }
  template <typename T>
  static json::value to_json(std::shared_ptr<const T>& part) {
    T copy = *part;
    return to_json(copy);
  }
  template <Definition T>
  static json::value to_json(T& definition) {
    Writer writer;
    visit(writer, definition);
    return std::move(writer.object);
  }
};

class Reader {
 public:
  static constexpr bool kWrites = false;
  explicit Reader(const json::value& value) : object_(value.as_object()) {}

  template <typename T>
  void member(std::string_view name, T& value) {
    if (const json::value* found = object_.if_contains(json::string_view(name.data(), name.size()))) from_json(*found, value);
  }
  template <typename Enum, std::size_t size>
  void word(std::string_view name, Enum& value, const std::array<std::string_view, size>& words) {
    std::string text;
    member(name, text);
    for (std::size_t index = 0; index < size; ++index) {
      if (text == words[index]) value = static_cast<Enum>(index);
    }
  }

 private:
  static void from_json(const json::value& from, std::string& text) {
    const json::string& string = from.as_string();
    text.assign(string.data(), string.size());
  }
  static void from_json(const json::value& from, AclItem& item) {
    std::string text;
    from_json(from, text);
    item = decode_acl_item(text).value();
  }
  static void from_json(const json::value& from, bool& value) { value = from.as_bool(); }
  static void from_json(const json::value& from, double& value) { value = from.to_number<double>(); }
  template <std::integral T>
  static void from_json(const json::value& from, T& value) {
    value = from.to_number<T>();
  }
  template <typename T>
  static void from_json(const json::value& from, std::optional<T>& value) {
    from_json(from, value.emplace());
  }
  template <typename T>
  static void from_json(const json::value& from, std::vector<T>& values) {
    values.clear();
    for (const json::value& element : from.as_array()) from_json(element, values.emplace_back());
  }
  template <typename T>
  static void from_json(const json::value& from, std::shared_ptr<const T>& part) {
    T read;
    from_json(from, read);
    part = std::make_shared<const T>(std::move(read));
  }
  template <Definition T>
  static void from_json(const json::value& from, T& definition) {
    Reader reader(from);
    visit(reader, definition);
  }

  const json::object& object_;
};

template <typename T>
std::string encode_definition(T definition) {
  Writer writer;
  visit(writer, definition);
  return json::serialize(writer.object);
}

template <typename T>
T decode(std::string_view text, std::string_view kind) {
  try {
    json::value value = json::parse(json::string_view(text.data(), text.size()));
    T definition;
    Reader reader(value);
    visit(reader, definition);
    return definition;
  } catch (const std::exception&) {
    throw SqlError(sqlstate::kDataCorrupted, "a " + std::string(kind) + " definition in redquel:catalog cannot be read");
  }
}

}  // namespace

std::string encode_table(const TableDef& table) { return encode_definition(table); }
TableDef decode_table(std::string_view text) {
  TableDef table = decode<TableDef>(text, "table");
  check_references(table);
  make_parts(table);
  return table;
}

std::string encode_sequence(const SequenceDef& sequence) { return encode_definition(sequence); }
SequenceDef decode_sequence(std::string_view text) { return decode<SequenceDef>(text, "sequence"); }
std::string encode_view(const ViewDef& view) { return encode_definition(view); }
ViewDef decode_view(std::string_view text) { return decode<ViewDef>(text, "view"); }
std::string encode_schema(const SchemaDef& schema) { return encode_definition(schema); }
SchemaDef decode_schema(std::string_view text) { return decode<SchemaDef>(text, "schema"); }
std::string encode_user_type(const UserType& type) { return encode_definition(type); }
UserType decode_user_type(std::string_view text) { return decode<UserType>(text, "type"); }

std::string encode_function(const FunctionDef& function) { return encode_definition(function); }
FunctionDef decode_function(std::string_view text) { return decode<FunctionDef>(text, "function"); }

std::string encode_default_acl(const DefaultAclDef& definition) { return encode_definition(definition); }
DefaultAclDef decode_default_acl(std::string_view text) { return decode<DefaultAclDef>(text, "default privileges"); }

std::string encode_server(const ForeignServerDef& server) { return encode_definition(server); }
ForeignServerDef decode_server(std::string_view text) { return decode<ForeignServerDef>(text, "server"); }

std::string encode_acl(const Acl& acl) { return encode_definition(StoredAcl{acl}); }
Acl decode_acl(std::string_view text) { return decode<StoredAcl>(text, "privilege").acl; }

}  // namespace redquel::sql
