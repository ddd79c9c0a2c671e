#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql/column.h"
#include "sql/datum.h"
#include "sql/session_settings.h"
#include "sql/types/datetime.h"
#include "sql/types/postgres_hash.h"
#include "sql/types/type.h"

namespace redquel::sql {

class BinaryReader;
class EncodingConverter;

/// The argument of an input function.
struct TextInput {
  Type type;
  std::string_view text;
  const SessionSettings& settings;
  Now now;
};

/// How an ordered index (zset) of a type orders its entries. Stored keys depend on it.
enum class IndexOrder : std::uint8_t {
  kLexical,     // score 0; the member begins with bytes in order
  kScore,       // a score that different values may share
  kExactScore,  // a score of its own for each value
};

/// The value as JSON: a string of its text form, or one of the others.
enum class JsonForm : std::uint8_t { kString, kNumber, kBoolean, kDateTime, kJson };

/// The modifier of a type: varchar(n), numeric(p,s), time(p).
struct ModifierOperations {
  /// Returns the modifier as written in SQL. Throws 22023.
  std::int32_t (*encode)(std::span<const std::int32_t> written);
  /// Returns format_type()'s text; the modifier is not negative.
  std::string (*name)(std::string_view display_name, std::int32_t modifier);
  /// Returns true if `apply` can change or refuse a value; the modifier is not negative.
  bool (*has_effect)(std::int32_t modifier);
  /// The length coercion of a value that is not NULL. Throws 22001, 22003, 22026.
  Datum (*apply)(Type, Datum, bool explicit_cast);
  /// The SQL function of the length coercion has a third argument: may the value be cut?
  bool may_cut = false;
};

/// The numbers by which information_schema describes a type with its modifier.
struct TypeProperties {
  std::optional<std::int32_t> maximum_length, octet_length, precision, radix, scale, datetime_precision;
  std::optional<std::string> interval_type;
};

/// What a type does with its values. Values are not NULL; columns are not encoded. type_traits.h makes it of a class of plain functions.
/// A null function means the default that its comment names.
struct TypeOperations {
  // Text form (text_io.h).
  Datum (*parse)(const TextInput&);
  void (*append_parsed)(const TextInput&, Column&);
  /// Appends texts in storage form. NULL where `nulls` is not empty and not 0.
  void (*append_stored)(Type, std::span<const std::string_view> texts, std::span<const std::uint8_t> nulls, Column&);
  void (*format)(Type, const Datum&, const SessionSettings&, std::string& out);
  void (*format_row)(const Column&, std::size_t row, const SessionSettings&, std::string& out);
  bool (*prints_stored_form)(Type, const SessionSettings&);
  bool (*depends_on_settings)(Type);
  /// Appends the result of a cast to text; null: the output form.
  void (*append_as_text)(const Column&, std::size_t row, std::string& out);
  const ModifierOperations* modifier;  // null: the type has no modifier
  TypeProperties (*properties)(Type);  // null: none

  // Binary form (binary_io.h); null `decode` or `encode`: 42883.
  Datum (*decode)(Type, BinaryReader&);
  void (*encode)(Type, const Datum&, std::string& out, EncodingConverter* client);
  void (*encode_row)(const Column&, std::size_t row, std::string& out, EncodingConverter* client);

  // Order and equality (compare.h, text_order.h).
  int (*compare)(Type, const Datum&, const Datum&);
  int (*compare_rows)(const Column&, std::size_t row_a, const Column&, std::size_t row_b);
  int (*compare_texts)(Type, std::string_view, std::string_view);  // null unless the storage is text
  std::uint64_t (*hash)(Type, const Datum&);
  std::uint64_t (*hash_row)(const Column&, std::size_t row);
  std::uint64_t (*hash_text)(Type, std::string_view);  // null unless the storage is text
  bool (*has_textual_equality)(Type);

  // Index form (index_value.h).
  std::string (*canonical)(Type, const Datum&);  // null: the text form
  bool (*canonical_is_output)(Type);             // null: has_textual_equality
  double (*score)(const Datum&);                 // null: the order is lexical
  std::string (*ordered_bytes)(Type, const Datum&);  // null: the text form
  bool (*has_ordered_form)(Type);

  // PostgreSQL's own numbers.
  /// hashtext() and its like; null: 42883.
  std::uint64_t (*postgres_hash)(Type, const Datum&, HashSeed);
  /// Bytes whose order is that of the value in PostgreSQL's memory (*<); null: 0A000.
  std::string (*memory_image)(Type, const Datum&);
  /// pg_column_size() of a type without a fixed length, without the header; null: 0A000.
  std::size_t (*payload_size)(const Column&, std::size_t row);

  IndexOrder index_order;
  JsonForm json_form;
  bool is_kept_as_text;       // a column holds the storage form
  bool compares_as_bytes;     // memcmp of the storage form is the order
  bool is_structured;         // values are made of values of other types, or of labels
  bool is_unsigned;           // 32 bits without a sign
  bool names_objects;         // regclass and its relatives: the text form is a name in the catalog (object_names.h)
  bool is_never_escaped;      // the text form stands in keys as it is
  bool is_continuous;         // values hardly repeat: a btree keeps the zset only
  bool has_order_class;       // a default operator class of btree and hash
  bool has_hash_class;        // a default operator class of hash, if has_order_class
};

/// The names of a type's functions in pg_proc; empty: there is none.
struct TypeFunctionNames {
  std::string_view input, output, send, hash, hash_extended;
  bool is_stable = false;  // input and output depend on settings or on the catalog
};

/// The names of the functions in pg_proc that follow from a type's order; empty: there is none, or one with a body of its own
/// (three_way_functions.cc).
struct OrderFunctionNames {
  std::string_view compare, larger, smaller;
};

/// A row of a family of types.
struct TypeRow {
  TypeInfo type;
  TypeFunctionNames functions;
  OrderFunctionNames order;
};

inline const TypeOperations& operations_of(Oid type) { return *type_info(type).operations; }

}  // namespace redquel::sql
