// boolean, the integers, the floats and numeric.

#include <fmt/format.h>

#include <limits>

#include "sql/sqlstate.h"
#include "sql/types/number_text.h"
#include "sql/types/numeric_binary.h"
#include "sql/types/type_definition.h"
#include "sql/types/type_families.h"
#include "sql/types/varlena.h"

namespace redquel::sql {
namespace {

struct BoolType : StoredAs<bool> {
  static constexpr JsonForm kJsonForm = JsonForm::kBoolean;
  static constexpr bool kIsNeverEscaped = true;
  static Value parse(const TextInput& input) { return parse_bool(input.text); }
  static void format(Type, Value value, const SessionSettings&, std::string& out) { out.push_back(value ? 't' : 'f'); }
  static void append_as_text(Value value, std::string& out) { out += value ? "true" : "false"; }
  static std::uint64_t postgres_hash(Type, Value value, HashSeed seed) { return hash_word(value ? 1 : 0, seed.value); }
  static std::string memory_image(Type, Value value) { return word_image(value ? 1 : 0); }
};

template <class T>
struct IntegerType : StoredAs<T> {
  static constexpr IndexOrder kIndexOrder = sizeof(T) == 8 ? IndexOrder::kScore : IndexOrder::kExactScore;
  static constexpr JsonForm kJsonForm = JsonForm::kNumber;
  static constexpr bool kIsNeverEscaped = true;
  static T parse(const TextInput& input) {
    if constexpr (sizeof(T) == 2) return parse_int2(input.text);
    if constexpr (sizeof(T) == 4) return parse_int4(input.text);
    if constexpr (sizeof(T) == 8) return parse_int8(input.text);
  }
  static void format(Type, T value, const SessionSettings&, std::string& out) { append_integer(value, out); }
  static TypeProperties properties(Type) { return {.precision = 8 * static_cast<std::int32_t>(sizeof(T)), .radix = 2, .scale = 0}; }
  static std::uint64_t postgres_hash(Type, T value, HashSeed seed) {
    if constexpr (sizeof(T) == 8) {
      return hash_long(value, seed.value);
    } else {
      return hash_word(static_cast<std::uint32_t>(std::int32_t{value}), seed.value);
    }
  }
  static std::string memory_image(Type, T value) { return word_image_of(value); }
};

template <class T>
struct FloatType : StoredAs<T> {
  static constexpr IndexOrder kIndexOrder = IndexOrder::kScore;
  static constexpr JsonForm kJsonForm = JsonForm::kNumber;
  static constexpr bool kIsContinuous = true;
  static T parse(const TextInput& input) {
    if constexpr (sizeof(T) == 4) return parse_float4(input.text);
    if constexpr (sizeof(T) == 8) return parse_float8(input.text);
  }
  static void format(Type, T value, const SessionSettings& settings, std::string& out) {
    if constexpr (sizeof(T) == 4) {
      append_float4(value, settings.extra_float_digits, out);
    } else {
      append_float8(value, settings.extra_float_digits, out);
    }
  }
  static TypeProperties properties(Type) { return {.precision = std::numeric_limits<T>::digits, .radix = 2}; }
  static bool prints_stored_form(Type, const SessionSettings& settings) { return settings.extra_float_digits > 0; }
  static bool depends_on_settings(Type) { return true; }
  static bool has_textual_equality(Type) { return false; }
  /// -0 is 0.
  static std::string canonical(Type type, T value) {
    std::string text;
    format(type, value == 0 ? T{0} : value, {}, text);
    return text;
  }
  static double score(T value) {
    if (std::isnan(value)) return std::numeric_limits<double>::infinity();
    return value == 0 ? 0.0 : value;
  }
  static std::uint64_t postgres_hash(Type, T value, HashSeed seed) { return hash_double(value, seed.value); }
  static std::string memory_image(Type, T value) {
    if constexpr (sizeof(T) == 4) return word_image_of(std::bit_cast<std::int32_t>(value));
    if constexpr (sizeof(T) == 8) return word_image(std::bit_cast<std::uint64_t>(value));
  }
};

constexpr std::int32_t kMaxPrecision = 1000, kMinScale = -1000, kMaxScale = 1000;

constexpr ModifierOperations kNumericModifier{
    .encode = [](std::span<const std::int32_t> written) -> std::int32_t {
      if (written.empty() || written.size() > 2) throw SqlError(sqlstate::kInvalidParameterValue, "invalid NUMERIC type modifier");
      const std::int32_t precision = written[0], scale = written.size() == 2 ? written[1] : 0;
      if (precision < 1 || precision > kMaxPrecision) {
        throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("NUMERIC precision {} must be between 1 and {}", precision, kMaxPrecision));
      }
      if (scale < kMinScale || scale > kMaxScale) {
        throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("NUMERIC scale {} must be between {} and {}", scale, kMinScale, kMaxScale));
      }
      return ((precision << 16) | (scale & 0x7FF)) + kVarlenaHeader;
    },
    .name =
        [](std::string_view, std::int32_t modifier) {
          const std::int32_t packed = modifier - kVarlenaHeader;
          const std::int32_t scale = ((packed & 0x7FF) ^ 1024) - 1024;  // eleven bits with sign
          return fmt::format("numeric({},{})", (packed >> 16) & 0xFFFF, scale);
        },
    .has_effect = [](std::int32_t modifier) { return modifier >= kVarlenaHeader; },
    .apply = [](Type type, Datum value, bool) -> Datum { return std::get<Numeric>(value).with_modifier(type.modifier); },
};

struct NumericType : StoredAs<Numeric> {
  static constexpr JsonForm kJsonForm = JsonForm::kNumber;
  static constexpr bool kIsContinuous = true;
  static constexpr const ModifierOperations* kModifier = &kNumericModifier;
  static Value parse(const TextInput& input) { return Numeric::parse(input.text); }
  static void format(Type, const Value& value, const SessionSettings&, std::string& out) { value.append_to(out); }
  static TypeProperties properties(Type type) {
    if (type.modifier < 0) return {.radix = 10};
    const std::int32_t packed = type.modifier - kVarlenaHeader;
    return {.precision = (packed >> 16) & 0xFFFF, .radix = 10, .scale = packed & 0xFFFF};
  }
  static bool has_textual_equality(Type) { return false; }

  static Value decode(Type, BinaryReader& reader) {
    const auto invalid = [](std::string_view part) {
      return SqlError(sqlstate::kInvalidBinaryRepresentation, fmt::format("invalid {} in external \"numeric\" value", part));
    };
    NumericGroups groups;
    const std::size_t count = reader.integer<std::uint16_t>();
    groups.weight = static_cast<std::int16_t>(reader.integer<std::uint16_t>());
    groups.sign = reader.integer<std::uint16_t>();
    groups.scale = reader.integer<std::uint16_t>();
    if (groups.sign != NumericGroups::kPositive && groups.sign != NumericGroups::kNegative && groups.sign != NumericGroups::kNan &&
        groups.sign != NumericGroups::kInfinity && groups.sign != NumericGroups::kNegativeInfinity) {
      throw invalid("sign");
    }
    if (groups.scale > Numeric::kMaxScale) throw invalid("scale");
    groups.digits.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      groups.digits.push_back(reader.integer<std::uint16_t>());
      if (groups.digits.back() >= 10000) throw invalid("digit");
    }
    return from_groups(groups);
  }
  static void encode(Type, const Value& value, std::string& out, EncodingConverter*) {
    const NumericGroups groups = to_groups(value);
    put_binary(static_cast<std::uint16_t>(groups.digits.size()), out);
    put_binary(static_cast<std::uint16_t>(groups.weight), out);
    put_binary(groups.sign, out);
    put_binary(groups.scale, out);
    for (const std::uint16_t group : groups.digits) put_binary(group, out);
  }

  static int compare(Type, const Value& a, const Value& b) { return a.compare(b); }
  static std::uint64_t hash(Type, const Value& value) { return value.hash(); }
  static std::string canonical(Type, const Value& value) { return value.trimmed().to_string(); }
  static std::string ordered_bytes(Type, const Value& value) { return ordered_numeric(value); }
  static std::uint64_t postgres_hash(Type, const Value& value, HashSeed seed) { return hash_numeric(value, seed.value); }
  static std::size_t payload_size(Type, const Value& value) { return numeric_size(value); }
};

}  // namespace

std::span<const TypeRow> number_types() {
  using enum TypeCategory;
  static constexpr TypeRow kRows[] = {
      type_row<BoolType>({.oid = oid::kBool, .name = "bool", .display_name = "boolean", .category = kBoolean, .preferred = true, .length = 1,
                          .alignment = 'c', .array = oid::kBoolArray},
                         {.input = "boolin", .output = "boolout", .send = "boolsend"},
                         {"btboolcmp"}),
      type_row<IntegerType<std::int64_t>>({.oid = oid::kInt8, .name = "int8", .display_name = "bigint", .category = TypeCategory::kNumeric,
                                           .length = 8, .alignment = 'd', .array = oid::kInt8Array},
                                          {"int8in", "int8out", "int8send", "hashint8", "hashint8extended"},
                                          {"btint8cmp", "int8larger", "int8smaller"}),
      type_row<IntegerType<std::int16_t>>({.oid = oid::kInt2, .name = "int2", .display_name = "smallint", .category = TypeCategory::kNumeric,
                                           .length = 2, .alignment = 's', .array = oid::kInt2Array},
                                          {"int2in", "int2out", "int2send", "hashint2", "hashint2extended"},
                                          {"", "int2larger", "int2smaller"}),
      type_row<IntegerType<std::int32_t>>({.oid = oid::kInt4, .name = "int4", .display_name = "integer", .category = TypeCategory::kNumeric,
                                           .length = 4, .array = oid::kInt4Array},
                                          {"int4in", "int4out", "int4send", "hashint4", "hashint4extended"},
                                          {"btint4cmp", "int4larger", "int4smaller"}),
      type_row<FloatType<float>>({.oid = oid::kFloat4, .name = "float4", .display_name = "real", .category = TypeCategory::kNumeric,
                                  .length = 4, .array = oid::kFloat4Array},
                                 {"float4in", "float4out", "float4send", "hashfloat4", "hashfloat4extended"},
                                 {"btfloat4cmp", "float4larger", "float4smaller"}),
      type_row<FloatType<double>>({.oid = oid::kFloat8, .name = "float8", .display_name = "double precision",
                                   .category = TypeCategory::kNumeric, .preferred = true, .length = 8, .alignment = 'd',
                                   .array = oid::kFloat8Array},
                                  {"float8in", "float8out", "float8send", "hashfloat8", "hashfloat8extended"},
                                  {"btfloat8cmp", "float8larger", "float8smaller"}),
      type_row<NumericType>({.oid = oid::kNumeric, .name = "numeric", .category = TypeCategory::kNumeric, .array = oid::kNumericArray},
                            {"numeric_in", "numeric_out", "numeric_send", "hash_numeric", "hash_numeric_extended"},
                            {"numeric_cmp", "numeric_larger", "numeric_smaller"}),
  };
  return kRows;
}

}  // namespace redquel::sql
