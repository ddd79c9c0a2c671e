// record, composite types and enums.

#include <fmt/format.h>

#include <algorithm>

#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/types/binary_io.h"
#include "sql/types/index_value.h"
#include "sql/types/record_header.h"
#include "sql/types/row_value.h"
#include "sql/types/structured_compare.h"
#include "sql/types/structured_index.h"
#include "sql/types/text_io.h"
#include "sql/types/text_order.h"
#include "sql/types/type_definition.h"
#include "sql/types/type_families.h"
#include "sql/types/user_types.h"

namespace redquel::sql {
namespace {

/// A row with its fields as these settings print them.
void append_row_value(Oid type, std::string_view value, const SessionSettings& settings, std::string& out) {
  // Nothing is looked at then: while a type changes, rows of its new form are written before it is known.
  if (type != oid::kRecord && settings == SessionSettings{}) {
    out += value;
    return;
  }
  if (type == oid::kRecord) {
    const RecordHeader header = read_record_header(value);
    if (std::ranges::all_of(header.types, [&](Type field) { return output_is_storage_form(field, settings); })) {
      out += value.substr(header.length);
      return;
    }
  }
  const RowValue row = read_row(type, value);
  RowValue printed;
  for (std::size_t i = 0; i < row.fields.size(); ++i) {
    std::optional<std::string> text;
    if (row.fields[i]) text = format_value(row.types[i], stored_value(row.types[i], *row.fields[i]), settings);
    printed.add(row.types[i], text);
  }
  append_plain_row(printed, out);
}

/// A literal of a composite type, every field in its storage form.
std::string parse_row(Oid type, std::string_view text, const SessionSettings& settings, Now now) {
  const UserType& composite = user_type(type);
  const std::vector<std::optional<std::string>> fields = split_row_literal(text, composite.fields.size());
  RowValue row;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const Type field = composite.fields[i].type;
    std::optional<std::string> stored;
    if (fields[i]) stored = format_value(field, apply_modifier(field, parse_value(field, *fields[i], settings, now), false));
    row.add(field, stored);
  }
  return row_text(type, row);
}

/// Reads the form of record_recv: the number of fields, then type, length and bytes of each.
std::string decode_row(Oid type, BinaryReader& reader) {
  const std::vector<CompositeField>& fields = user_type(type).fields;
  const std::uint32_t count = reader.integer<std::uint32_t>();
  if (count != fields.size()) {
    throw SqlError(sqlstate::kDatatypeMismatch,
                   fmt::format("wrong number of columns: {}, expected {}", static_cast<std::int32_t>(count), fields.size()));
  }
  RowValue row;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const Oid given = reader.integer<std::uint32_t>();
    const Type field = fields[i].type;
    const Oid declared = fields[i].domain != 0 ? fields[i].domain : field.oid;
    if (given != declared) {
      const auto named = [](Oid oid) { return fmt::format("{} ({})", oid, format_type(Type{oid})); };
      throw SqlError(sqlstate::kDatatypeMismatch,
                     fmt::format("binary data has type {} instead of expected {} in record column {}", named(given), named(declared), i + 1));
    }
    const auto size = static_cast<std::int32_t>(reader.integer<std::uint32_t>());
    if (size < -1) throw SqlError(sqlstate::kInvalidBinaryRepresentation, "insufficient data left in message");
    std::optional<std::string> stored;
    if (size >= 0) {
      stored = format_value(field, apply_modifier(field, decode_binary(field, reader.take(static_cast<std::size_t>(size)), reader.client()), false));
    }
    row.add(field, stored);
  }
  return row_text(type, row);
}

void encode_row(Oid type, std::string_view text, std::string& out, EncodingConverter* client) {
  const RowValue row = read_row(type, text);
  const UserType* composite = find_user_type(type);
  put_binary(static_cast<std::uint32_t>(row.fields.size()), out);
  for (std::size_t i = 0; i < row.fields.size(); ++i) {
    const Oid domain = composite != nullptr && i < composite->fields.size() ? composite->fields[i].domain : 0;
    put_binary(domain != 0 ? domain : row.types[i].oid, out);
    if (!row.fields[i]) {
      put_binary(std::uint32_t{0xFFFFFFFF}, out);
      continue;
    }
    std::string bytes;
    encode_binary(row.types[i], stored_value(row.types[i], *row.fields[i]), bytes, client);
    put_sized(bytes, out);
  }
}

/// Field by field; both rows must have fields of the same types. 42804.
int compare_rows(Oid type, std::string_view a, std::string_view b) {
  const RowValue left = read_row(type, a), right = read_row(type, b);
  const std::size_t common = std::min(left.fields.size(), right.fields.size());
  for (std::size_t i = 0; i < common; ++i) {
    if (left.types[i].oid != right.types[i].oid) {
      throw SqlError(sqlstate::kDatatypeMismatch, fmt::format("cannot compare dissimilar column types {} and {} at record column {}",
                                                              format_type(Type{left.types[i].oid}), format_type(Type{right.types[i].oid}), i + 1));
    }
    const auto &x = left.fields[i], &y = right.fields[i];
    if (!x || !y) {  // NULL is above every value
      if (x.has_value() != y.has_value()) return x ? -1 : 1;
      continue;
    }
    if (const int order = compare_elements(left.types[i].oid, *x, *y); order != 0) return order;
  }
  if (left.fields.size() != right.fields.size()) {
    throw SqlError(sqlstate::kDatatypeMismatch, "cannot compare record types with different numbers of columns");
  }
  return 0;
}

std::uint64_t hash_row(Oid type, std::string_view value) {
  const RowValue row = read_row(type, value);
  std::uint64_t result = 1;
  for (std::size_t i = 0; i < row.fields.size(); ++i) {
    result = result * 31 + (row.fields[i] ? hash_element(row.types[i].oid, *row.fields[i]) : 0);
  }
  return result;
}

std::string canonical_row(Oid type, std::string_view text) {
  RowValue row = read_row(type, text), canonical;
  for (std::size_t i = 0; i < row.fields.size(); ++i) {
    std::optional<std::string> field;
    if (row.fields[i]) field = canonical_text(row.types[i], stored_value(row.types[i], *row.fields[i]));
    canonical.add(row.types[i], field, row.names.empty() ? std::string() : row.names[i]);
  }
  return row_text(type, canonical);
}

/// Fields one after the other, NULL last.
std::string ordered_row(Oid type, std::string_view text) {
  const RowValue row = read_row(type, text);
  std::string bytes;
  for (std::size_t i = 0; i < row.fields.size(); ++i) {
    bytes += row.fields[i] ? kOrderedValue : kOrderedNull;
    if (row.fields[i]) append_escaped(ordered_element(row.types[i], *row.fields[i]), bytes);
  }
  return bytes + kOrderedEnd;
}

/// A value of type record says its fields' types.
struct RecordType : StoredAs<std::string_view> {
  static constexpr bool kComparesAsBytes = false, kIsStructured = true;
  [[noreturn]] static void refuse_input() {
    throw SqlError(sqlstate::kFeatureNotSupported, "input of anonymous composite types is not implemented");
  }
  static std::string parse(const TextInput&) { refuse_input(); }
  static void format(Type type, Value value, const SessionSettings& settings, std::string& out) {
    append_row_value(type.oid, value, settings, out);
  }
  static bool prints_stored_form(Type, const SessionSettings&) { return false; }
  static bool depends_on_settings(Type) { return true; }
  static std::string decode(Type, BinaryReader&) { refuse_input(); }
  static void encode(Type type, Value value, std::string& out, EncodingConverter* client) { encode_row(type.oid, value, out, client); }
  static int compare(Type type, Value a, Value b) { return compare_rows(type.oid, a, b); }
  static std::uint64_t hash(Type type, Value value) { return hash_row(type.oid, value); }
  static bool has_textual_equality(Type) { return false; }
  static std::string canonical(Type type, Value value) { return canonical_row(type.oid, value); }
  static std::string ordered_bytes(Type type, Value value) { return ordered_row(type.oid, value); }
  static std::uint64_t postgres_hash(Type type, Value value, HashSeed seed) {
    const RowValue row = read_row(type.oid, value);
    std::uint64_t hash = 0;
    for (std::size_t i = 0; i < row.fields.size(); ++i) hash = mixed_hash(hash, postgres_hash_of_stored(row.types[i], row.fields[i], seed));
    return hash;
  }
};

template <class Test>
bool all_fields(Type composite, Test test) {
  return std::ranges::all_of(user_type(composite.oid).fields, test);
}

struct CompositeType : RecordType {
  static std::string parse(const TextInput& input) { return parse_row(input.type.oid, input.text, input.settings, input.now); }
  static bool prints_stored_form(Type type, const SessionSettings& settings) {
    return all_fields(type, [&](const CompositeField& field) {
      return output_is_storage_form(Type{field.type.oid}, settings) && !has_modifier_effect(field.type);
    });
  }
  static std::string decode(Type type, BinaryReader& reader) { return decode_row(type.oid, reader); }
  static std::uint64_t hash(Type type, Value value) {
    return has_textual_equality(type) ? StoredAs::hash(type, value) : hash_row(type.oid, value);
  }
  static bool has_textual_equality(Type type) {
    return all_fields(type, [](const CompositeField& field) { return sql::has_textual_equality(field.type.oid); });
  }
  static bool has_ordered_form(Type type) {
    return all_fields(type, [](const CompositeField& field) { return sql::has_ordered_form(field.type); });
  }
  static std::string canonical(Type type, Value value) {
    return has_textual_equality(type) ? std::string(value) : canonical_row(type.oid, value);
  }
};

/// In the order in which the type declares its labels.
int compare_labels(Oid type, std::string_view a, std::string_view b) {
  if (a == b) return 0;
  const EnumLabel *left = find_label(type, a), *right = find_label(type, b);
  if (left == nullptr || right == nullptr) throw SqlError(sqlstate::kDataCorrupted, "a stored value is no label of its enum type");
  return left->order < right->order ? -1 : 1;
}

/// Returns the label itself. 22P02
std::string_view checked_label(Type type, std::string_view text) {
  const EnumLabel* label = find_label(type.oid, text);
  if (label != nullptr && label->name == text) return text;
  throw SqlError(sqlstate::kInvalidTextRepresentation, fmt::format("invalid input value for enum {}: \"{}\"", format_type(type), text));
}

struct EnumType : StoredAs<std::string_view> {
  static constexpr bool kComparesAsBytes = false, kIsStructured = true;
  static Value parse(const TextInput& input) { return checked_label(input.type, input.text); }
  static void format(Type, Value value, const SessionSettings&, std::string& out) { out += value; }
  static std::string decode(Type type, BinaryReader& reader) {
    std::string label = reader.text();
    checked_label(type, label);
    return label;
  }
  static int compare(Type type, Value a, Value b) { return compare_labels(type.oid, a, b); }
  static std::string ordered_bytes(Type type, Value value) {
    const EnumLabel* label = find_label(type.oid, value);
    return ordered_float(label == nullptr ? 0 : label->order);
  }
  static std::uint64_t postgres_hash(Type type, Value value, HashSeed seed) {
    const EnumLabel* label = find_label(type.oid, value);
    return hash_word(label == nullptr ? 0 : label->oid, seed.value);
  }
  static std::string memory_image(Type type, Value value) {
    const EnumLabel* label = find_label(type.oid, value);
    return word_image(label == nullptr ? 0 : label->oid);
  }
};

}  // namespace

const TypeOperations kCompositeOperations = define_type<CompositeType>();
const TypeOperations kEnumOperations = define_type<EnumType>();

std::span<const TypeRow> row_types() {
  static constexpr TypeRow kRows[] = {
      type_row<RecordType>({.oid = oid::kRecord, .name = "record", .category = TypeCategory::kPseudo, .alignment = 'd',
                            .array = oid::kRecordArray},
                           {"", "record_out", "record_send", "hash_record", "hash_record_extended", true},
                           {"btrecordcmp"}),
  };
  return kRows;
}

}  // namespace redquel::sql
