// Arrays of every type, int2vector and oidvector.

#include <fmt/format.h>

#include <algorithm>

#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/types/array_value.h"
#include "sql/types/binary_io.h"
#include "sql/types/index_value.h"
#include "sql/types/structured_compare.h"
#include "sql/types/structured_index.h"
#include "sql/types/text_io.h"
#include "sql/types/text_order.h"
#include "sql/types/type_definition.h"
#include "sql/types/type_families.h"
#include "sql/types/type_oids.h"
#include "sql/types/user_types.h"
#include "sql/types/varlena.h"

namespace redquel::sql {
namespace {

/// The array's text with every element changed by `change`, which is given the text and gives another.
template <class Change>
std::string map_array(Oid array, std::string_view text, Change change) {
  ArrayValue value = read_array(array, text);
  std::vector<std::optional<std::string_view>> elements = std::move(value.elements);
  value.elements.clear();
  for (const auto& element : elements) {
    if (element) {
      value.add(change(*element));
    } else {
      value.elements.push_back(std::nullopt);
    }
  }
  return array_text(array, value);
}

/// An array's text form with every element in the form that its type prints.
std::string parse_array(Oid array, std::string_view text, const SessionSettings& settings, Now now) {
  const Type element{type_info(array).element};
  return map_array(array, text, [&](std::string_view item) { return format_value(element, parse_value(element, item, settings, now)); });
}

/// A stored array with its elements as these settings print them.
void append_array_value(Oid array, std::string_view value, const SessionSettings& settings, std::string& out) {
  const Type element{type_info(array).element};
  if (output_is_storage_form(element, settings)) {
    out += value;
  } else {
    out += map_array(array, value, [&](std::string_view item) { return format_value(element, stored_value(element, item), settings); });
  }
}

std::string decode_array(Oid array, BinaryReader& reader) {
  const auto invalid = [](std::string message) { return SqlError(sqlstate::kInvalidBinaryRepresentation, std::move(message)); };
  const auto dimensions = static_cast<std::int32_t>(reader.integer<std::uint32_t>());
  if (dimensions < 0) throw invalid(fmt::format("invalid number of dimensions: {}", dimensions));
  check_array_depth(static_cast<std::size_t>(dimensions));
  if (reader.integer<std::uint32_t>() > 1) throw invalid("invalid array flags");
  const Oid element = type_info(array).element, declared = declared_element(array), given = reader.integer<std::uint32_t>();
  if (given != declared) {
    const auto named = [](Oid type) { return fmt::format("{} ({})", type, format_type(Type{type})); };
    throw SqlError(sqlstate::kDatatypeMismatch,
                   fmt::format("binary data has array element type {} instead of expected {}", named(given), named(declared)));
  }
  ArrayValue value;
  for (std::int32_t i = 0; i < dimensions; ++i) {
    const auto length = static_cast<std::int32_t>(reader.integer<std::uint32_t>());
    const auto lower = static_cast<std::int32_t>(reader.integer<std::uint32_t>());
    if (length < 0) throw invalid("invalid array dimension");
    value.dimensions.push_back({lower, length});
  }
  const std::int64_t count = check_array_size(value.dimensions);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto size = static_cast<std::int32_t>(reader.integer<std::uint32_t>());
    if (size < -1) throw invalid("insufficient data left in message");
    if (size == -1) {
      value.elements.push_back(std::nullopt);
    } else {
      const std::string_view bytes = reader.take(static_cast<std::size_t>(size));
      value.add(format_value(Type{element}, decode_binary(Type{element}, bytes, reader.client())));
    }
  }
  return array_text(array, value);
}

void encode_array(Type type, std::string_view text, std::string& out, EncodingConverter* client) {
  const ArrayValue value = read_array(type.oid, text);
  const Type element{type_info(type.oid).element};
  const bool has_null = std::ranges::any_of(value.elements, [](const auto& item) { return !item; });
  // A vector has one dimension, even without elements.
  static const std::vector<ArrayDimension> kEmptyVector{{.lower = 0, .length = 0}};
  const bool is_empty_vector = is_vector_type(type.oid) && value.dimensions.empty();
  const std::vector<ArrayDimension>& dimensions = is_empty_vector ? kEmptyVector : value.dimensions;
  put_binary(static_cast<std::uint32_t>(dimensions.size()), out);
  put_binary(static_cast<std::uint32_t>(has_null ? 1 : 0), out);
  put_binary(declared_element(type.oid), out);
  for (const ArrayDimension& dimension : dimensions) {
    put_binary(static_cast<std::uint32_t>(dimension.length), out);
    put_binary(static_cast<std::uint32_t>(dimension.lower), out);
  }
  for (const auto& item : value.elements) {
    if (!item) {
      put_binary(std::uint32_t{0xFFFFFFFF}, out);
      continue;
    }
    std::string bytes;
    encode_binary(element, stored_value(element, *item), bytes, client);
    put_sized(bytes, out);
  }
}

/// Elements first, then how many there are, then the shape.
int compare_arrays(Oid type, std::string_view a, std::string_view b) {
  const ArrayValue left = read_array(type, a), right = read_array(type, b);
  const Oid element = type_info(type).element;
  const std::size_t common = std::min(left.elements.size(), right.elements.size());
  for (std::size_t i = 0; i < common; ++i) {
    const auto &x = left.elements[i], &y = right.elements[i];
    if (!x || !y) {  // NULL is above every value
      if (x.has_value() != y.has_value()) return x ? -1 : 1;
      continue;
    }
    if (const int order = compare_elements(element, *x, *y); order != 0) return order;
  }
  const auto compare_numbers = [](auto x, auto y) { return (x > y) - (x < y); };
  if (const int order = compare_numbers(left.elements.size(), right.elements.size()); order != 0) return order;
  if (const int order = compare_numbers(left.dimensions.size(), right.dimensions.size()); order != 0) return order;
  for (std::size_t i = 0; i < left.dimensions.size(); ++i) {
    if (const int order = compare_numbers(left.dimensions[i].length, right.dimensions[i].length); order != 0) return order;
  }
  for (std::size_t i = 0; i < left.dimensions.size(); ++i) {
    if (const int order = compare_numbers(left.dimensions[i].lower, right.dimensions[i].lower); order != 0) return order;
  }
  return 0;
}

std::uint64_t hash_array(Oid type, std::string_view value) {
  const ArrayValue array = read_array(type, value);
  std::uint64_t result = 1;
  for (const auto& element : array.elements) {
    result = result * 31 + (element ? hash_element(type_info(type).element, *element) : 0);
  }
  return result;
}

std::string canonical_array(Oid type, std::string_view text) {
  ArrayValue array = read_array(type, text);
  const Type element{type_info(type).element};
  std::vector<std::optional<std::string_view>> elements = std::move(array.elements);
  array.elements.clear();
  for (const auto& item : elements) {
    if (item) {
      array.add(canonical_text(element, stored_value(element, *item)));
    } else {
      array.elements.push_back(std::nullopt);
    }
  }
  return array_text(type, array);
}

/// Elements one after the other, then the shape: the end of an array comes before each element, NULL after.
std::string ordered_array(Oid type, std::string_view text) {
  const ArrayValue array = read_array(type, text);
  const Type element{type_info(type).element};
  std::string bytes;
  for (const auto& item : array.elements) {
    bytes += item ? kOrderedValue : kOrderedNull;
    if (item) append_escaped(ordered_element(element, *item), bytes);
  }
  bytes += kOrderedEnd;
  bytes += static_cast<char>('0' + array.dimensions.size());
  for (const ArrayDimension& dimension : array.dimensions) bytes += ordered_integer(dimension.length);
  for (const ArrayDimension& dimension : array.dimensions) bytes += ordered_integer(dimension.lower);
  return bytes;
}

std::size_t aligned(std::size_t size, char alignment) {
  const std::size_t unit = alignment == 'd' ? 8 : alignment == 'i' ? 4 : alignment == 's' ? 2 : 1;
  return (size + unit - 1) / unit * unit;
}

/// Bytes in PostgreSQL's memory with the header. 0A000 if an element has another form there.
std::size_t array_size(Oid type, std::string_view text) {
  const ArrayValue array = read_array(type, text);
  const Type element = element_type_of(Type{type});
  const TypeInfo& info = type_info(element.oid);
  const std::size_t header = 16 + 8 * array.dimensions.size();
  const bool has_nulls = std::ranges::any_of(array.elements, [](const auto& item) { return !item; });
  std::size_t size = aligned(header + (has_nulls ? (array.elements.size() + 7) / 8 : 0), 'd');
  if (array.dimensions.empty()) return header;
  for (const auto& item : array.elements) {
    if (!item) continue;
    size = aligned(size, info.alignment);
    if (info.length > 0) {
      size += static_cast<std::size_t>(info.length);
      continue;
    }
    Column one(element);
    append_element(one, *item);
    const auto payload_size = operations_of(element.oid).payload_size;
    if (payload_size == nullptr) throw not_supported("pg_column_size() of type " + format_type(element));
    size += kVarlenaHeader + payload_size(one, 0);
  }
  return aligned(size, info.alignment);
}

/// The operations that int2vector and oidvector have in common with arrays.
struct ElementsType : StoredAs<std::string_view> {
  static constexpr bool kComparesAsBytes = false, kIsStructured = true;
  static std::string parse(const TextInput& input) {
    std::string array = parse_array(input.type.oid, input.text, input.settings, input.now);
    const Type under = array_under(input.type);  // an array of a domain takes the domain's modifier
    return under.modifier < 0 ? array : std::get<std::string>(apply_modifier(under, std::move(array), false));
  }
  static void format(Type type, Value value, const SessionSettings& settings, std::string& out) {
    append_array_value(type.oid, value, settings, out);
  }
  static Type element_of(Type array) { return Type{type_info(array.oid).element}; }
  static bool prints_stored_form(Type type, const SessionSettings& settings) { return output_is_storage_form(element_of(type), settings); }
  static bool depends_on_settings(Type type) { return output_depends_on_settings(element_of(type)); }
  static std::string decode(Type type, BinaryReader& reader) { return decode_array(type.oid, reader); }
  static void encode(Type type, Value value, std::string& out, EncodingConverter* client) { encode_array(type, value, out, client); }
  static int compare(Type type, Value a, Value b) { return compare_arrays(type.oid, a, b); }
  static std::uint64_t hash(Type type, Value value) {
    return has_textual_equality(type) ? StoredAs::hash(type, value) : hash_array(type.oid, value);
  }
  static bool has_textual_equality(Type type) { return sql::has_textual_equality(element_of(type).oid); }
  static bool has_ordered_form(Type type) { return sql::has_ordered_form(element_type_of(type)); }
  static std::string canonical(Type type, Value value) {
    return has_textual_equality(type) ? std::string(value) : canonical_array(type.oid, value);
  }
  static std::string ordered_bytes(Type type, Value value) { return ordered_array(type.oid, value); }
  static std::uint64_t postgres_hash(Type type, Value value, HashSeed seed) {
    std::uint64_t hash = 1;
    for (const auto& item : read_array(type.oid, value).elements) hash = mixed_hash(hash, postgres_hash_of_stored(element_of(type), item, seed));
    return hash;
  }
};

struct ArrayType : ElementsType {
  static std::size_t payload_size(Type type, Value value) { return array_size(type.oid, value) - kVarlenaHeader; }
};

struct OidVectorType : ElementsType {
  static std::uint64_t postgres_hash(Type, Value value, HashSeed seed) {
    std::string bytes;
    for (const auto& item : read_array(oid::kOidVector, value).elements) {
      const std::int32_t number = std::get<std::int32_t>(stored_value(kOidType, item.value_or("0")));
      bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
    }
    return hash_bytes(bytes, seed.value);
  }
};

}  // namespace

const TypeOperations kArrayOperations = define_type<ArrayType>();

std::string apply_element_modifier(Type array, std::string_view text, bool explicit_cast) {
  const Type element = element_type_of(array);
  return map_array(array.oid, text, [&](std::string_view item) {
    return format_value(element, apply_modifier(element, parse_value(element, item, {}), explicit_cast));
  });
}

std::span<const TypeRow> vector_types() {
  using enum TypeCategory;
  static constexpr TypeRow kRows[] = {
      type_row<ElementsType>({.oid = oid::kInt2Vector, .name = "int2vector", .category = kArray, .element = oid::kInt2,
                              .array = oid::kInt2VectorArray},
                             {"int2vectorin", "int2vectorout", "int2vectorsend"}),
      type_row<OidVectorType>({.oid = oid::kOidVector, .name = "oidvector", .category = kArray, .element = oid::kOid,
                               .array = oid::kOidVectorArray},
                              {"oidvectorin", "oidvectorout", "oidvectorsend", "hashoidvector", "hashoidvectorextended"},
                              {"btoidvectorcmp"}),
      type_row<ArrayType>({.oid = oid::kRecordArray, .name = "_record", .display_name = "record[]", .category = kPseudo, .alignment = 'd',
                           .element = oid::kRecord}),
      type_row<ArrayType>({.oid = oid::kCstringArray, .name = "_cstring", .display_name = "cstring[]", .category = kArray, .alignment = 'd',
                           .element = oid::kCstring}),
  };
  return kRows;
}

}  // namespace redquel::sql
