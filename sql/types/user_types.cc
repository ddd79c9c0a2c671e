#include "sql/types/user_types.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <random>
#include <shared_mutex>
#include <unordered_map>

#include "sql/functions/quote.h"

namespace redquel::sql {
namespace {

/// One type with what TypeInfo's views look at.
struct Entry {
  UserTypePtr type;
  std::string array_name, display_name, array_display_name;
  std::unordered_map<std::string_view, const EnumLabel*> labels;
  TypeInfo info, array_info;
};

/// Entries stay for good, replaced ones too: whoever looked one up may still hold it.
struct Registry {
  std::shared_mutex mutex;
  std::unordered_map<Oid, const Entry*> by_oid;
  std::deque<std::unique_ptr<const Entry>> entries;
};

Registry& registry() {
  static Registry instance;
  return instance;
}

std::unique_ptr<const Entry> make_entry(const UserTypePtr& type) {
  auto entry = std::make_unique<Entry>();
  entry->type = type;
  entry->array_name = "_" + type->name;
  entry->display_name = quote_identifier(type->name);
  if (type->schema != "public" && !type->schema.starts_with("pg_temp_")) entry->display_name = quote_identifier(type->schema) + "." + entry->display_name;
  entry->array_display_name = entry->display_name + "[]";
  for (const EnumLabel& label : type->labels) entry->labels[label.name] = &label;
  const bool is_domain = type->kind == UserType::Kind::kDomain, is_enum = type->kind == UserType::Kind::kEnum;
  const TypeInfo* base = is_domain ? find_type(type->base.oid) : nullptr;
  TypeInfo& info = entry->info;
  info = base != nullptr ? *base : TypeInfo{};
  if (base == nullptr) {
    info.storage = Storage::kText;
    info.category = is_enum ? kEnumCategory : kCompositeCategory;
    info.preferred = false;
    info.length = is_enum ? 4 : -1;
    info.alignment = is_enum ? 'i' : 'd';
  }
  info.oid = type->oid;
  info.name = type->name;
  info.display_name = entry->display_name;
  info.array = type->array;
  entry->array_info = {type->array, entry->array_name, entry->array_display_name, Storage::kText, TypeCategory::kArray,
                       false,       -1,                type->oid,                 0,              info.alignment == 'd' ? 'd' : 'i'};
  return entry;
}

/// Every load of the catalog makes new objects of the same definitions.
bool is_same(const UserType& a, const UserType& b) {
  const auto same_labels = std::ranges::equal(a.labels, b.labels, [](const EnumLabel& x, const EnumLabel& y) {
    return x.oid == y.oid && x.name == y.name && x.order == y.order;
  });
  const auto same_fields = std::ranges::equal(a.fields, b.fields, [](const CompositeField& x, const CompositeField& y) {
    return x.name == y.name && x.type == y.type && x.domain == y.domain;
  });
  return same_labels && same_fields && a.array == b.array && a.schema == b.schema && a.name == b.name && a.kind == b.kind &&
         a.base == b.base;
}

const Entry* find_entry(Oid oid) {
  if (oid < kFirstUserOid) return nullptr;
  Registry& all = registry();
  const std::shared_lock lock(all.mutex);
  const auto found = all.by_oid.find(oid);
  return found == all.by_oid.end() ? nullptr : found->second;
}

}  // namespace

void register_user_types(const std::map<Oid, UserTypePtr>& types) {
  Registry& all = registry();
  const auto add = [&](const UserTypePtr& type) {
    const Entry* known = find_entry(type->oid);
    if (known != nullptr && is_same(*known->type, *type)) return;
    std::unique_ptr<const Entry> entry = make_entry(type);
    const std::unique_lock lock(all.mutex);
    all.by_oid[type->oid] = entry.get();
    if (type->array != 0) all.by_oid[type->array] = entry.get();
    all.entries.push_back(std::move(entry));
  };
  for (const auto& [oid, type] : types) {
    if (type->kind != UserType::Kind::kDomain) add(type);
  }
  for (const auto& [oid, type] : types) {
    if (type->kind == UserType::Kind::kDomain) add(type);
  }
}

Oid new_type_oid() {
  static thread_local std::mt19937_64 generator{std::random_device{}()};
  // Above what counters of tables and indexes reach, below the sign bit that drivers stumble over.
  std::uniform_int_distribution<Oid> any(1U << 24, (1U << 31) - 1);
  while (true) {
    const Oid oid = any(generator);
    if (find_entry(oid) == nullptr) return oid;
  }
}

const UserType* find_user_type(Oid oid) {
  const Entry* entry = find_entry(oid);
  return entry != nullptr && entry->type->oid == oid ? entry->type.get() : nullptr;
}

const TypeInfo* find_user_type_info(Oid oid) {
  const Entry* entry = find_entry(oid);
  if (entry == nullptr) return nullptr;
  return entry->type->oid == oid ? &entry->info : &entry->array_info;
}

const EnumLabel* find_label(Oid enumeration, std::string_view name) {
  const Entry* entry = find_entry(enumeration);
  if (entry == nullptr) return nullptr;
  const auto found = entry->labels.find(name);
  return found == entry->labels.end() ? nullptr : found->second;
}

}  // namespace redquel::sql
