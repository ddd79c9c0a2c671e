#include "sql/catalog/catalog_json.h"

#include <array>
#include <boost/json.hpp>
#include <concepts>

#include "sql/catalog/catalog_references.h"
#include "sql/catalog/definition_members.h"
#include "sql/catalog/spread_table.h"
#include "sql/catalog/table_keys.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::sql {

namespace json = boost::json;

namespace {

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

std::string encode_extension(const ExtensionDef& extension) { return encode_definition(extension); }
ExtensionDef decode_extension(std::string_view text) { return decode<ExtensionDef>(text, "extension"); }

std::string encode_publication(const PublicationDef& publication) { return encode_definition(publication); }
PublicationDef decode_publication(std::string_view text) { return decode<PublicationDef>(text, "publication"); }

std::string encode_default_acl(const DefaultAclDef& definition) { return encode_definition(definition); }
DefaultAclDef decode_default_acl(std::string_view text) { return decode<DefaultAclDef>(text, "default privileges"); }

std::string encode_server(const ForeignServerDef& server) { return encode_definition(server); }
ForeignServerDef decode_server(std::string_view text) { return decode<ForeignServerDef>(text, "server"); }

std::string encode_acl(const Acl& acl) { return encode_definition(StoredAcl{acl}); }
Acl decode_acl(std::string_view text) { return decode<StoredAcl>(text, "privilege").acl; }

}  // namespace redquel::sql
