// text and its relatives, "char", name, bytea and uuid; types whose values are text to redquel.

#include <fmt/format.h>

#include <algorithm>

#include "sql/ascii.h"
#include "sql/sqlstate.h"
#include "sql/types/byte_text.h"
#include "sql/types/conversions.h"
#include "sql/types/index_value.h"
#include "sql/types/text_io.h"
#include "sql/types/type_definition.h"
#include "sql/types/type_families.h"
#include "sql/types/varlena.h"

namespace redquel::sql {
namespace {

struct TextType : StoredAs<std::string_view> {
  static Value parse(const TextInput& input) { return input.text; }
  static void format(Type, Value value, const SessionSettings&, std::string& out) { out += value; }
  static std::uint64_t postgres_hash(Type, Value value, HashSeed seed) { return hash_bytes(value, seed.value); }
  static std::string memory_image(Type, Value value) { return std::string(value); }
  static std::size_t payload_size(Type, Value value) { return value.size(); }
};

/// PostgreSQL reports these limits of texts: bytes of a character, bytes of a text.
constexpr std::int32_t kBytesOfCharacter = 4, kTextBytes = 1 << 30;

struct UnlimitedTextType : TextType {
  static TypeProperties properties(Type) { return {.octet_length = kTextBytes}; }
};

TypeProperties length_properties(Type type) {
  if (type.modifier < 0) return {.octet_length = kTextBytes};
  const std::int32_t length = type.modifier - kVarlenaHeader;
  return {.maximum_length = length, .octet_length = length * kBytesOfCharacter};
}

/// varchar(n), char(n): n characters at most.
template <bool is_padded>
constexpr ModifierOperations kLengthModifier{
    .encode = [](std::span<const std::int32_t> written) { return encode_length(is_padded ? "char" : "varchar", written) + kVarlenaHeader; },
    .name = [](std::string_view name, std::int32_t modifier) { return fmt::format("{}({})", name, modifier - kVarlenaHeader); },
    .has_effect = [](std::int32_t modifier) { return modifier >= kVarlenaHeader; },
    .apply = [](Type type, Datum value, bool explicit_cast) -> Datum {
      std::string text = std::get<std::string>(std::move(value));
      const std::size_t kept = utf8_prefix(text, static_cast<std::size_t>(type.modifier - kVarlenaHeader));
      if (kept < text.size()) {
        // Blanks may go without an error.
        if (!explicit_cast && text.find_first_not_of(' ', kept) != std::string::npos) {
          throw SqlError(sqlstate::kStringDataRightTruncation, fmt::format("value too long for type {}", format_type(type)));
        }
        text.resize(kept);
      }
      if (is_padded) append_padding(type, text, text);
      return text;
    },
    .may_cut = true,
};

struct VarcharType : TextType {
  static constexpr const ModifierOperations* kModifier = &kLengthModifier<false>;
  static TypeProperties properties(Type type) { return length_properties(type); }
};

/// Text that is compared without regard to case.
struct CitextType : UnlimitedTextType {
  static constexpr bool kComparesAsBytes = false;
  static int compare(Type, Value a, Value b) { return compare_citext(a, b); }
  static std::uint64_t hash(Type type, Value value) { return TextType::hash(type, lower_case(value)); }
  static bool has_textual_equality(Type) { return false; }
  static std::string canonical(Type, Value value) { return lower_case(value); }
  static bool canonical_is_output(Type) { return false; }
  static std::string ordered_bytes(Type, Value value) { return lower_case(value); }
  static std::uint64_t postgres_hash(Type, Value value, HashSeed seed) { return hash_bytes(lower_case(value), seed.value); }
};

/// A column holds the value without its padding, which does not count in comparisons.
struct BpcharType : TextType {
  static constexpr bool kComparesAsBytes = false;
  static constexpr const ModifierOperations* kModifier = &kLengthModifier<true>;
  static TypeProperties properties(Type type) { return length_properties(type); }
  static void format(Type type, Value value, const SessionSettings&, std::string& out) {
    out += value;
    append_padding(type, value, out);
  }
  static void append_as_text(Value value, std::string& out) { out += without_trailing_blanks(value); }
  static bool prints_stored_form(Type type, const SessionSettings&) { return type.modifier < 0; }  // else its blanks are put back
  static void encode(Type type, Value value, std::string& out, EncodingConverter* client) {
    put_text(value, out, client);
    append_padding(type, value, out);
  }
  static int compare(Type, Value a, Value b) { return compare_bpchar(a, b); }
  static std::uint64_t hash(Type type, Value value) { return TextType::hash(type, without_trailing_blanks(value)); }
  static bool has_textual_equality(Type) { return false; }
  static std::string canonical(Type, Value value) { return std::string(without_trailing_blanks(value)); }
  static bool canonical_is_output(Type type) { return type.modifier >= 0; }  // printing pads it
  static std::string ordered_bytes(Type type, Value value) { return canonical(type, value); }
  static std::uint64_t postgres_hash(Type, Value value, HashSeed seed) { return hash_bytes(without_trailing_blanks(value), seed.value); }
  static std::size_t payload_size(Type type, Value value) {
    std::string padded(value);
    append_padding(type, value, padded);
    return padded.size();
  }
};

struct NameType : TextType {
  static std::string parse(const TextInput& input) { return name_from_text(input.text); }
  static std::string decode(Type, BinaryReader& reader) {
    std::string name = reader.text();
    if (name.size() > 63) throw SqlError(sqlstate::kNameTooLong, "identifier too long").detail("Identifier must be less than 64 characters.");
    return name;
  }
};

/// "char" is one byte; one beyond ASCII is written in octal.
struct CharType : StoredAs<std::string_view> {
  static constexpr bool kIsKeptAsText = false;
  static std::string parse(const TextInput& input) { return char_from_text(input.text); }
  static void format(Type, Value value, const SessionSettings&, std::string& out) {
    const auto byte = value.empty() ? 0u : static_cast<unsigned char>(value[0]);
    if (byte >= 0x80) {
      out.push_back('\\');
      for (const int shift : {6, 3, 0}) out.push_back(static_cast<char>('0' + (byte >> shift & 7)));
    } else {
      out += value;
    }
  }
  static std::string decode(Type, BinaryReader& reader) {
    const std::string_view byte = reader.take(1);
    return std::string(byte[0] == '\0' ? std::string_view() : byte);
  }
  static void encode(Type, Value value, std::string& out, EncodingConverter*) {
    out += value;
    if (value.empty()) out.push_back('\0');
  }
  static std::int32_t number_of(Value value) { return value.empty() ? '\0' : static_cast<signed char>(value[0]); }
  static std::uint64_t postgres_hash(Type, Value value, HashSeed seed) { return hash_word(static_cast<std::uint32_t>(number_of(value)), seed.value); }
  static std::string memory_image(Type, Value value) { return word_image_of(number_of(value)); }
};

struct ByteaType : TextType {
  static constexpr bool kIsKeptAsText = false, kIsContinuous = true;
  static std::string parse(const TextInput& input) { return parse_bytea(input.text); }
  static void format(Type, Value value, const SessionSettings& settings, std::string& out) { append_bytea(value, settings.bytea_output, out); }
  static bool prints_stored_form(Type, const SessionSettings& settings) { return settings.bytea_output == ByteaOutput::kHex; }
  static bool depends_on_settings(Type) { return true; }
  static std::string decode(Type, BinaryReader& reader) { return std::string(reader.rest()); }
  static void encode(Type, Value value, std::string& out, EncodingConverter*) { out += value; }
  static std::string ordered_bytes(Type, Value bytes) {
    std::string result;
    for (const char byte : bytes) {
      const std::size_t size = byte == '\0' ? 2 : 1;
      if (result.size() + size > kMaxOrderedPrefix) break;  // never half of an escaped zero
      result.push_back(byte);
      if (byte == '\0') result.push_back('\xFF');
    }
    return result;
  }
};

struct UuidType : StoredAs<Uuid> {
  static constexpr bool kIsNeverEscaped = true;
  static Value parse(const TextInput& input) { return parse_uuid(input.text); }
  static void format(Type, const Value& value, const SessionSettings&, std::string& out) { append_uuid(value, out); }
  static Value decode(Type, BinaryReader& reader) {
    Uuid uuid;
    std::memcpy(uuid.bytes.data(), reader.take(uuid.bytes.size()).data(), uuid.bytes.size());
    return uuid;
  }
  static void encode(Type, const Value& value, std::string& out, EncodingConverter*) {
    out.append(reinterpret_cast<const char*>(value.bytes.data()), value.bytes.size());
  }
  static int compare(Type, const Value& a, const Value& b) { return std::memcmp(a.bytes.data(), b.bytes.data(), a.bytes.size()); }
  static std::uint64_t hash(Type, const Value& value) {
    std::uint64_t halves[2];
    std::memcpy(halves, value.bytes.data(), sizeof halves);
    return mix_hash(halves[0] ^ mix_hash(halves[1]));
  }
  static std::uint64_t postgres_hash(Type type, const Value& value, HashSeed seed) { return hash_bytes(binary_of<UuidType>(type, value), seed.value); }
  static std::string memory_image(Type type, const Value& value) { return binary_of<UuidType>(type, value); }
};

}  // namespace

std::span<const TypeRow> text_types() {
  using enum TypeCategory;
  static constexpr TypeRow kRows[] = {
      type_row<ByteaType>({.oid = oid::kBytea, .name = "bytea", .array = oid::kByteaArray}, {"byteain", "byteaout", "byteasend"}),
      type_row<CharType>({.oid = oid::kChar, .name = "char", .display_name = "\"char\"", .category = kInternal, .length = 1, .alignment = 'c',
                          .array = oid::kCharArray},
                         {"charin", "charout", "charsend", "hashchar", "hashcharextended"}),
      type_row<NameType>({.oid = oid::kName, .name = "name", .category = kString, .length = 64, .alignment = 'c', .element = oid::kChar,
                          .array = oid::kNameArray},
                         {"namein", "nameout", "namesend", "hashname", "hashnameextended"}),
      type_row<UnlimitedTextType>({.oid = oid::kText, .name = "text", .category = kString, .preferred = true, .array = oid::kTextArray},
                         {"textin", "textout", "textsend", "hashtext", "hashtextextended"},
                         {"", "text_larger", "text_smaller"}),
      type_row<TextType>({.oid = oid::kUnknown, .name = "unknown", .category = TypeCategory::kUnknown, .length = -2, .alignment = 'c'},
                         {"unknownin", "unknownout", "unknownsend"}),
      type_row<BpcharType>({.oid = oid::kBpchar, .name = "bpchar", .display_name = "character", .category = kString, .array = oid::kBpcharArray},
                           {"bpcharin", "bpcharout", "bpcharsend", "hashbpchar", "hashbpcharextended"},
                           {"", "bpchar_larger", "bpchar_smaller"}),
      type_row<CitextType>({.oid = oid::kCitext, .name = "citext", .category = kString, .array = oid::kCitextArray}),
      type_row<VarcharType>({.oid = oid::kVarchar, .name = "varchar", .display_name = "character varying", .category = kString,
                             .array = oid::kVarcharArray, .operators = oid::kText},
                            {"varcharin", "varcharout", "varcharsend"}),
      type_row<TextType>({.oid = oid::kRefcursor, .name = "refcursor", .array = oid::kRefcursorArray}),
      type_row<TextType>({.oid = oid::kCstring, .name = "cstring", .category = kPseudo, .length = -2, .alignment = 'c'}),
      type_row<UuidType>({.oid = oid::kUuid, .name = "uuid", .length = 16, .alignment = 'c', .array = oid::kUuidArray},
                         {"uuid_in", "uuid_out", "uuid_send", "uuid_hash", "uuid_hash_extended"},
                         {"uuid_cmp"}),
  };
  return kRows;
}

}  // namespace redquel::sql
