// json, jsonb and jsonpath.

#include <fmt/format.h>

#include "sql/jsonpath/jsonpath.h"
#include "sql/sqlstate.h"
#include "sql/types/byte_text.h"
#include "sql/types/json_text.h"
#include "sql/types/jsonb.h"
#include "sql/types/numeric_binary.h"
#include "sql/types/type_definition.h"
#include "sql/types/type_families.h"

namespace redquel::sql {
namespace {

struct JsonType : StoredAs<std::string_view> {
  static constexpr JsonForm kJsonForm = JsonForm::kJson;
  static constexpr bool kHasOrderClass = false;
  static Value parse(const TextInput& input) {
    check_json(input.text);
    return input.text;
  }
  static void format(Type, Value value, const SessionSettings&, std::string& out) { out += value; }
  static std::string decode(Type, BinaryReader& reader) {
    std::string text = reader.text();
    check_json(text);
    return text;
  }
  static std::size_t payload_size(Type, Value value) { return value.size(); }
};

void check_version(int version, std::string_view error) {
  if (version != 1) throw SqlError(sqlstate::kInternalError, fmt::format("{} {}", error, version));
}

std::uint64_t hash_json_scalar(std::string_view value, std::uint64_t seed) {
  switch (json_kind(value)) {
    case JsonKind::kNull: return seed + 1;
    case JsonKind::kString: return hash_bytes(json_string(value), seed);
    case JsonKind::kNumber: return hash_numeric(Numeric::parse(value), seed);
    default: {
      const bool truth = value == "true";
      return seed != 0 ? hash_word(truth ? 1 : 0, seed) : truth ? 2 : 4;
    }
  }
}

/// The contents of a container follow its mark; names of members are strings before their values.
void add_json_hash(std::string_view value, std::uint64_t seed, std::uint64_t& hash) {
  constexpr std::uint64_t kArrayMark = 0x40000000'40000000, kObjectMark = 0x20000000'20000000;
  if (!is_json_container(value)) {
    hash = rotated_hash(hash) ^ hash_json_scalar(value, seed);
    return;
  }
  const bool is_object = value[0] == '{';
  hash ^= is_object ? kObjectMark : kArrayMark;
  for (JsonReader reader(value); reader.next();) {
    if (is_object) add_json_hash(reader.key(), seed, hash);
    add_json_hash(reader.value(), seed, hash);
  }
}

/// No prefix of bytes shows the order, and equal values may differ in the zeros of their numbers.
struct JsonbType : StoredAs<std::string_view> {
  static constexpr JsonForm kJsonForm = JsonForm::kJson;
  static constexpr bool kComparesAsBytes = false;
  static std::string parse(const TextInput& input) { return parse_jsonb(input.text); }
  static void format(Type, Value value, const SessionSettings&, std::string& out) { out += value; }
  static std::string decode(Type, BinaryReader& reader) {
    check_version(reader.byte(), "unsupported jsonb version number");
    return parse_jsonb(reader.text());
  }
  static void encode(Type, Value value, std::string& out, EncodingConverter* client) {
    out.push_back('\1');  // the version of the format
    put_text(value, out, client);
  }
  static int compare(Type, Value a, Value b) { return compare_jsonb(a, b); }
  static std::uint64_t hash(Type, Value value) { return hash_jsonb(value); }
  static bool has_textual_equality(Type) { return false; }
  static bool has_ordered_form(Type) { return false; }
  static std::string canonical(Type, Value value) { return jsonb_key(value); }
  static std::uint64_t postgres_hash(Type, Value value, HashSeed seed) {
    if (is_json_container(value) && json_count(value) == 0) return seed.value;
    std::uint64_t hash = 0;
    // A scalar is an array of one to jsonb.
    add_json_hash(is_json_container(value) ? std::string(value) : fmt::format("[{}]", value), seed.value, hash);
    return hash;
  }
};

struct JsonpathType : StoredAs<std::string_view> {
  static constexpr bool kHasOrderClass = false;
  static std::string parse(const TextInput& input) { return to_string(parse_jsonpath(input.text)); }
  static void format(Type, Value value, const SessionSettings&, std::string& out) { out += value; }
  static std::string decode(Type, BinaryReader& reader) {
    check_version(reader.byte(), "unsupported jsonpath version number:");
    return to_string(parse_jsonpath(reader.text()));
  }
  static void encode(Type, Value value, std::string& out, EncodingConverter* client) {
    out.push_back('\1');
    put_text(value, out, client);
  }
};

}  // namespace

std::span<const TypeRow> json_types() {
  static constexpr TypeRow kRows[] = {
      type_row<JsonType>({.oid = oid::kJson, .name = "json", .array = oid::kJsonArray}, {"json_in", "json_out", "json_send"}),
      type_row<JsonbType>({.oid = oid::kJsonb, .name = "jsonb", .array = oid::kJsonbArray},
                          {"jsonb_in", "jsonb_out", "jsonb_send", "jsonb_hash", "jsonb_hash_extended"},
                          {"jsonb_cmp"}),
      type_row<JsonpathType>({.oid = oid::kJsonpath, .name = "jsonpath", .array = oid::kJsonpathArray},
                             {"jsonpath_in", "jsonpath_out", "jsonpath_send"}),
  };
  return kRows;
}

}  // namespace redquel::sql
