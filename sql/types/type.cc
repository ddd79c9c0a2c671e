#include "sql/types/type.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/types/type_families.h"
#include "sql/types/type_oids.h"
#include "sql/types/user_types.h"
#include "sql/types/varlena.h"
#include "sql/value_errors.h"

namespace redquel::sql {
namespace {

// Spellings that the SQL grammar turns into pg_catalog names.
constexpr std::pair<std::string_view, Oid> kSpellings[] = {
    {"bigint", oid::kInt8},     {"boolean", oid::kBool}, {"character", oid::kBpchar}, {"dec", oid::kNumeric},
    {"decimal", oid::kNumeric}, {"int", oid::kInt4},     {"integer", oid::kInt4},     {"real", oid::kFloat4},
    {"smallint", oid::kInt2},   {"float", oid::kFloat8},
};

/// Marks the highest oid of the built-in types below which a direct table is worth its room.
constexpr std::size_t kDirect = 6200;

/// The rows of all families with the array types that follow from them, in order of oid.
class TypeTable {
 public:
  TypeTable() {
    for (const std::span<const TypeRow> family : type_families()) {
      for (const TypeRow& row : family) types_.push_back(row.type);
    }
    const auto has_row = [&](Oid oid) { return std::ranges::find(types_, oid, &TypeInfo::oid) != types_.end(); };
    std::vector<TypeInfo> arrays;
    for (const TypeInfo& type : types_) {
      if (type.array != 0 && !has_row(type.array)) arrays.push_back(array_over(type));
    }
    types_.insert(types_.end(), arrays.begin(), arrays.end());
    std::ranges::sort(types_, {}, &TypeInfo::oid);
    std::ranges::stable_partition(types_, [](const TypeInfo& type) { return !is_extension_type(type.oid); });
    for (const TypeInfo& type : types_) {
      assert(type.oid < kDirect && by_oid_[type.oid] == nullptr);
      by_oid_[type.oid] = &type;
      if (!is_extension_type(type.oid)) ++built_in_;
    }
  }

  const TypeInfo* const* by_oid() const { return by_oid_.data(); }
  /// Without the types of extensions, which have a name while their extension is created.
  std::span<const TypeInfo> types() const { return std::span(types_).first(built_in_); }

 private:
  TypeInfo array_over(const TypeInfo& element) {
    TypeInfo array;
    array.oid = element.array;
    array.name = texts_.emplace_back(fmt::format("_{}", element.name));
    array.display_name = texts_.emplace_back(fmt::format("{}[]", element.display_name));
    array.category = TypeCategory::kArray;
    array.alignment = element.alignment == 'd' ? 'd' : 'i';
    array.element = element.oid;
    array.operations = &kArrayOperations;
    return array;
  }

  std::deque<std::string> texts_;
  std::vector<TypeInfo> types_;
  std::size_t built_in_ = 0;  // of types_
  std::array<const TypeInfo*, kDirect> by_oid_{};
};

const TypeTable& type_table() {
  static const TypeTable table;
  return table;
}

/// TypeTable::by_oid() once it is made: values are compared and printed by look-ups, which pay for no guard of a static.
constinit std::atomic<const TypeInfo* const*> built_in_types = nullptr;

[[gnu::noinline]] const TypeInfo* const* make_built_in_types() {
  built_in_types.store(type_table().by_oid(), std::memory_order_release);
  return type_table().by_oid();
}

}  // namespace

std::span<const std::span<const TypeRow>> type_families() {
  static const std::span<const TypeRow> families[] = {
      number_types(), text_types(), text_search_types(), datetime_types(), json_types(),   bit_string_types(), network_types(), money_types(),
      geometric_types(), range_types(), row_types(), vector_types(), system_types(),     pseudo_types(),
  };
  return families;
}

const TypeInfo* find_type(Oid oid) {
  if (oid >= kDirect) [[unlikely]] return find_user_type_info(oid);
  const TypeInfo* const* types = built_in_types.load(std::memory_order_acquire);
  if (types != nullptr) [[likely]] return types[oid];
  return make_built_in_types()[oid];
}

const TypeInfo& type_info(Oid oid) {
  const TypeInfo* info = find_type(oid);
  if (info == nullptr) [[unlikely]] throw unknown_type(oid);
  return *info;
}

const TypeInfo* find_type(std::string_view name) {
  for (const TypeInfo& info : all_types())
    if (info.name == name) return &info;
  for (const auto& [spelling, oid] : kSpellings)
    if (spelling == name) return find_type(oid);
  return nullptr;
}

std::span<const TypeInfo> all_types() { return type_table().types(); }

std::string format_type(Type type) {
  const TypeInfo* info = find_type(type.oid);
  if (info == nullptr) return "???";
  if (info->oid >= kFirstUserOid) return std::string(info->display_name);
  if (info->category == TypeCategory::kArray && info->name.front() == '_') {  // not int2vector
    return format_type(Type{info->element, type.modifier}) + "[]";
  }
  const ModifierOperations* modifier = info->operations->modifier;
  if (type.modifier < 0 || modifier == nullptr) return std::string(info->display_name);
  return modifier->name(info->display_name, type.modifier);
}

std::int32_t encode_length(std::string_view name, std::span<const std::int32_t> written, std::int32_t longest) {
  const auto invalid = [](std::string message) { return SqlError(sqlstate::kInvalidParameterValue, std::move(message)); };
  if (written.size() != 1) throw invalid("invalid type modifier");
  if (written[0] < 1) throw invalid(fmt::format("length for type {} must be at least 1", name));
  if (written[0] > longest) throw invalid(fmt::format("length for type {} cannot exceed {}", name, longest));
  return written[0];
}

std::int32_t encode_modifier(Oid type, std::span<const std::int32_t> written) {
  if (written.empty()) return -1;
  const TypeInfo& info = type_info(type);
  if (info.operations->modifier != nullptr) return info.operations->modifier->encode(written);
  if (info.element != 0 && info.category == TypeCategory::kArray) return encode_modifier(info.element, written);
  throw SqlError(sqlstate::kSyntaxError, fmt::format("type modifier is not allowed for type \"{}\"", info.name));
}

}  // namespace redquel::sql
