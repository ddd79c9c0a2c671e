#pragma once

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "sql/types/binary_reader.h"
#include "sql/types/binary_writer.h"
#include "sql/types/compare.h"
#include "sql/types/type_operations.h"

namespace redquel::sql {

// A type is defined by a class of static functions over plain values. It derives from StoredAs<T>, which has the operations that all types
// of one storage share, adds `parse` and `format`, and replaces what differs. define_type() makes the row's TypeOperations of it:
//
//   struct MoneyType : StoredAs<std::int64_t> {
//     static Value parse(const TextInput& input) { return parse_money(input.text); }
//     static void format(Type, Value value, const SessionSettings&, std::string& out) { append_money(value, out); }
//   };
//
// A class may also have properties, append_as_text, canonical, canonical_is_output, ordered_bytes, postgres_hash, memory_image and payload_size:
// TypeOperations says what their absence means.

/// Spreads the bits of a number over the hash.
constexpr std::uint64_t kHashMultiplier = 0x9E3779B97F4A7C15;
inline std::uint64_t mix_hash(std::uint64_t bits) {
  bits = (bits ^ (bits >> 32)) * kHashMultiplier;
  return bits ^ (bits >> 29);
}

/// `T`: the C++ type of a storage, std::string_view for text.
template <class T>
struct StoredAs {
  using Value = T;
  static constexpr bool kIsText = std::is_same_v<T, std::string_view>;
  static constexpr bool kIsNumber = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;

  static constexpr IndexOrder kIndexOrder = IndexOrder::kLexical;
  static constexpr JsonForm kJsonForm = JsonForm::kString;
  static constexpr bool kIsKeptAsText = kIsText, kComparesAsBytes = true, kIsStructured = false, kIsUnsigned = false, kNamesObjects = false;
  static constexpr bool kIsNeverEscaped = false, kIsContinuous = false, kHasOrderClass = true, kHasHashClass = true;
  static constexpr bool kHasBinaryInput = true, kHasBinaryOutput = true;
  static constexpr const ModifierOperations* kModifier = nullptr;

  static bool prints_stored_form(Type, const SessionSettings&) { return true; }
  static bool depends_on_settings(Type) { return false; }
  static bool has_textual_equality(Type) { return true; }
  static bool has_ordered_form(Type) { return true; }

  static auto decode(Type, BinaryReader& reader) {
    if constexpr (kIsText) {
      return reader.text();
    } else if constexpr (std::is_same_v<T, bool>) {
      return reader.byte() != 0;
    } else if constexpr (std::is_same_v<T, float>) {
      return std::bit_cast<float>(reader.integer<std::uint32_t>());
    } else if constexpr (std::is_same_v<T, double>) {
      return std::bit_cast<double>(reader.integer<std::uint64_t>());
    } else if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(reader.integer<std::make_unsigned_t<T>>());
    }
  }
  static void encode(Type, const T& value, std::string& out, EncodingConverter* client) {
    if constexpr (kIsText) {
      put_text(value, out, client);
    } else if constexpr (std::is_same_v<T, bool>) {
      out.push_back(value ? '\1' : '\0');
    } else if constexpr (std::is_same_v<T, float>) {
      put_binary(std::bit_cast<std::uint32_t>(value), out);
    } else if constexpr (std::is_same_v<T, double>) {
      put_binary(std::bit_cast<std::uint64_t>(value), out);
    } else if constexpr (std::is_integral_v<T>) {
      put_binary(static_cast<std::make_unsigned_t<T>>(value), out);
    }
  }

  static int compare(Type, const T& a, const T& b) {
    if constexpr (kIsText) {
      return compare_text(a, b);
    } else if constexpr (std::is_floating_point_v<T>) {
      return compare_floats(a, b);
    } else {
      return (a > b) - (a < b);
    }
  }
  static std::uint64_t hash(Type, const T& value) {
    if constexpr (kIsText) {
      return std::hash<std::string_view>()(value);
    } else if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(value)) return kHashMultiplier;
      return mix_hash(std::bit_cast<std::uint64_t>(value == 0 ? 0.0 : static_cast<double>(value)));
    } else {
      return mix_hash(static_cast<std::uint64_t>(static_cast<std::int64_t>(value)));
    }
  }
  static double score(const T& value) {
    if constexpr (kIsNumber) {
      return static_cast<double>(value);
    } else {
      return 0;
    }
  }
};

/// 32 bits without a sign: oids and transactions.
struct StoredAsUnsigned : StoredAs<std::int32_t> {
  static constexpr bool kIsUnsigned = true;
  static int compare(Type, Value a, Value b) {
    const auto x = static_cast<std::uint32_t>(a), y = static_cast<std::uint32_t>(b);
    return (x > y) - (x < y);
  }
  static double score(Value value) { return static_cast<std::uint32_t>(value); }
  static std::uint64_t postgres_hash(Type, Value value, HashSeed seed) { return hash_word(static_cast<std::uint32_t>(value), seed.value); }
};

template <class Value>
decltype(auto) value_of(const Datum& datum) {
  if constexpr (std::is_same_v<Value, std::string_view>) {
    return std::string_view(std::get<std::string>(datum));
  } else {
    return std::get<Value>(datum);
  }
}

/// Reads without copying where the column can lend the value.
template <class Value>
decltype(auto) value_of(const Column& column, std::size_t row) {
  if constexpr (std::is_same_v<Value, bool>) {
    return column.get<bool>(row);
  } else {
    return column.ref<Value>(row);
  }
}

template <class Value>
Datum datum_of(Value&& value) {
  if constexpr (std::is_same_v<std::decay_t<Value>, std::string_view>) {
    return std::string(value);
  } else {
    return std::forward<Value>(value);
  }
}

template <class Value>
constexpr Storage storage_for() {
  if constexpr (std::is_same_v<Value, bool>) return Storage::kBool;
  if constexpr (std::is_same_v<Value, std::int16_t>) return Storage::kInt2;
  if constexpr (std::is_same_v<Value, std::int32_t>) return Storage::kInt4;
  if constexpr (std::is_same_v<Value, std::int64_t>) return Storage::kInt8;
  if constexpr (std::is_same_v<Value, float>) return Storage::kFloat4;
  if constexpr (std::is_same_v<Value, double>) return Storage::kFloat8;
  if constexpr (std::is_same_v<Value, Numeric>) return Storage::kNumeric;
  if constexpr (std::is_same_v<Value, Interval>) return Storage::kInterval;
  if constexpr (std::is_same_v<Value, Uuid>) return Storage::kUuid;
  return Storage::kText;
}

template <class T>
constexpr TypeOperations define_type() {
  using Value = typename T::Value;
  TypeOperations operations{};
  operations.parse = [](const TextInput& input) { return datum_of(T::parse(input)); };
  operations.append_parsed = [](const TextInput& input, Column& column) { column.append(T::parse(input)); };
  operations.append_stored = [](Type type, std::span<const std::string_view> texts, std::span<const std::uint8_t> nulls, Column& column) {
    const SessionSettings stored;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (!nulls.empty() && nulls[i] != 0) {
        column.append_null();
      } else {
        column.append(T::parse(TextInput{type, texts[i], stored, {}}));
      }
    }
  };
  operations.format = [](Type type, const Datum& value, const SessionSettings& settings, std::string& out) {
    T::format(type, value_of<Value>(value), settings, out);
  };
  operations.format_row = [](const Column& column, std::size_t row, const SessionSettings& settings, std::string& out) {
    T::format(column.type(), value_of<Value>(column, row), settings, out);
  };
  operations.prints_stored_form = T::prints_stored_form;
  operations.depends_on_settings = T::depends_on_settings;
  if constexpr (requires { &T::append_as_text; }) {
    operations.append_as_text = [](const Column& column, std::size_t row, std::string& out) {
      T::append_as_text(value_of<Value>(column, row), out);
    };
  }
  operations.modifier = T::kModifier;
  if constexpr (requires { &T::properties; }) operations.properties = T::properties;

  if constexpr (T::kHasBinaryInput) {
    operations.decode = [](Type type, BinaryReader& reader) { return datum_of(T::decode(type, reader)); };
  }
  if constexpr (T::kHasBinaryOutput) {
    operations.encode = [](Type type, const Datum& value, std::string& out, EncodingConverter* client) {
      T::encode(type, value_of<Value>(value), out, client);
    };
    operations.encode_row = [](const Column& column, std::size_t row, std::string& out, EncodingConverter* client) {
      T::encode(column.type(), value_of<Value>(column, row), out, client);
    };
  }

  operations.compare = [](Type type, const Datum& a, const Datum& b) { return T::compare(type, value_of<Value>(a), value_of<Value>(b)); };
  operations.compare_rows = [](const Column& a, std::size_t row_a, const Column& b, std::size_t row_b) {
    return T::compare(a.type(), value_of<Value>(a, row_a), value_of<Value>(b, row_b));
  };
  operations.hash = [](Type type, const Datum& value) { return T::hash(type, value_of<Value>(value)); };
  operations.hash_row = [](const Column& column, std::size_t row) { return T::hash(column.type(), value_of<Value>(column, row)); };
  if constexpr (T::kIsText) {
    operations.compare_texts = [](Type type, std::string_view a, std::string_view b) { return T::compare(type, a, b); };
    operations.hash_text = [](Type type, std::string_view value) { return T::hash(type, value); };
  }
  operations.has_textual_equality = T::has_textual_equality;

  if constexpr (requires { &T::canonical; }) {
    operations.canonical = [](Type type, const Datum& value) { return T::canonical(type, value_of<Value>(value)); };
  }
  if constexpr (requires { &T::canonical_is_output; }) operations.canonical_is_output = T::canonical_is_output;
  if constexpr (T::kIndexOrder != IndexOrder::kLexical) {
    operations.score = [](const Datum& value) { return T::score(value_of<Value>(value)); };
  }
  if constexpr (requires { &T::ordered_bytes; }) {
    operations.ordered_bytes = [](Type type, const Datum& value) { return T::ordered_bytes(type, value_of<Value>(value)); };
  }
  operations.has_ordered_form = T::has_ordered_form;

  if constexpr (requires { &T::postgres_hash; }) {
    operations.postgres_hash = [](Type type, const Datum& value, HashSeed seed) { return T::postgres_hash(type, value_of<Value>(value), seed); };
  }
  if constexpr (requires { &T::memory_image; }) {
    operations.memory_image = [](Type type, const Datum& value) { return T::memory_image(type, value_of<Value>(value)); };
  }
  if constexpr (requires { &T::payload_size; }) {
    operations.payload_size = [](const Column& column, std::size_t row) { return T::payload_size(column.type(), value_of<Value>(column, row)); };
  }

  operations.index_order = T::kIndexOrder;
  operations.json_form = T::kJsonForm;
  operations.is_kept_as_text = T::kIsKeptAsText;
  operations.compares_as_bytes = T::kComparesAsBytes;
  operations.is_structured = T::kIsStructured;
  operations.is_unsigned = T::kIsUnsigned;
  operations.names_objects = T::kNamesObjects;
  operations.is_never_escaped = T::kIsNeverEscaped;
  operations.is_continuous = T::kIsContinuous;
  operations.has_order_class = T::kHasOrderClass;
  operations.has_hash_class = T::kHasHashClass;
  return operations;
}

/// The one TypeOperations of a class.
template <class T>
inline constexpr TypeOperations kOperations = define_type<T>();

/// A row of a family's table: `type` without storage and operations, which follow from the class. An empty display name is the name.
template <class T>
constexpr TypeRow type_row(TypeInfo type, TypeFunctionNames functions = {}, OrderFunctionNames order = {}) {
  type.storage = storage_for<typename T::Value>();
  type.operations = &kOperations<T>;
  if (type.display_name.empty()) type.display_name = type.name;
  return {type, functions, order};
}

// Images of values in PostgreSQL's memory (TypeOperations::memory_image).

/// A value that fits a machine word is compared as one without a sign.
inline std::string word_image(std::uint64_t word) {
  std::string image;
  put_binary(word, image);
  return image;
}
inline std::string word_image_of(std::int64_t number) { return word_image(static_cast<std::uint64_t>(number)); }

/// The binary form of numbers of these widths, each turned round: memory has the lowest byte first.
std::string turned_image(std::string bytes, std::initializer_list<std::size_t> widths);

template <class T>
std::string binary_of(Type type, const typename T::Value& value) {
  std::string bytes;
  T::encode(type, value, bytes, nullptr);
  return bytes;
}

}  // namespace redquel::sql
