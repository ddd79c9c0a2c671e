// Pseudo-types: parameters and results of functions only.

#include <fmt/format.h>

#include "sql/sqlstate.h"
#include "sql/types/type_definition.h"
#include "sql/types/type_families.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

struct PseudoType : StoredAs<std::string_view> {
  static constexpr bool kHasBinaryInput = false;
  static Value parse(const TextInput& input) {
    throw SqlError(sqlstate::kFeatureNotSupported, fmt::format("cannot accept a value of type {}", type_info(input.type.oid).name));
  }
  static void format(Type, Value value, const SessionSettings&, std::string& out) { out += value; }
};

struct VoidType : PseudoType {
  static Value parse(const TextInput&) { return {}; }
};

constexpr TypeRow pseudo_row(Oid oid, std::string_view name, std::int16_t length, char alignment, TypeFunctionNames functions = {},
                             OrderFunctionNames order = {}) {
  return type_row<PseudoType>({.oid = oid, .name = name, .category = TypeCategory::kPseudo, .length = length, .alignment = alignment},
                              functions, order);
}

}  // namespace

std::span<const TypeRow> pseudo_types() {
  static constexpr TypeRow kRows[] = {
      pseudo_row(269, "table_am_handler", 4, 'i'),
      pseudo_row(325, "index_am_handler", 4, 'i'),
      type_row<PseudoType>({.oid = oid::kAny, .name = "any", .display_name = "\"any\"", .category = TypeCategory::kPseudo, .length = 4}),
      pseudo_row(oid::kAnyArray, "anyarray", -1, 'd', {"", "array_out", "array_send", "hash_array", "hash_array_extended", true},
                 {"btarraycmp", "array_larger", "array_smaller"}),
      type_row<VoidType>({.oid = oid::kVoid, .name = "void", .category = TypeCategory::kPseudo, .length = 4}),
      pseudo_row(2279, "trigger", 4, 'i'),
      pseudo_row(2280, "language_handler", 4, 'i'),
      pseudo_row(2281, "internal", 8, 'd'),
      pseudo_row(oid::kAnyElement, "anyelement", 4, 'i'),
      pseudo_row(oid::kAnyNonArray, "anynonarray", 4, 'i'),
      pseudo_row(3115, "fdw_handler", 4, 'i'),
      pseudo_row(3310, "tsm_handler", 4, 'i'),
      pseudo_row(oid::kAnyEnum, "anyenum", 4, 'i', {"", "enum_out", "enum_send", "hashenum", "hashenumextended", true},
                 {"enum_cmp", "enum_larger", "enum_smaller"}),
      pseudo_row(oid::kAnyRange, "anyrange", -1, 'd', {"", "range_out", "range_send", "hash_range", "hash_range_extended", true},
                 {"range_cmp"}),
      pseudo_row(3838, "event_trigger", 4, 'i'),
      pseudo_row(oid::kAnyMultirange, "anymultirange", -1, 'd',
                 {"", "multirange_out", "multirange_send", "hash_multirange", "hash_multirange_extended", true},
                 {"multirange_cmp"}),
      pseudo_row(oid::kAnyCompatibleMultirange, "anycompatiblemultirange", -1, 'd'),
      pseudo_row(oid::kAnyCompatible, "anycompatible", 4, 'i'),
      pseudo_row(oid::kAnyCompatibleArray, "anycompatiblearray", -1, 'd'),
      pseudo_row(oid::kAnyCompatibleNonArray, "anycompatiblenonarray", 4, 'i'),
      pseudo_row(oid::kAnyCompatibleRange, "anycompatiblerange", -1, 'd'),
  };
  return kRows;
}

}  // namespace redquel::sql
