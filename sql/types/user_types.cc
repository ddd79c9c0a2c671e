#include "sql/types/user_types.h"

#include <algorithm>
#include <random>
#include <unordered_map>
#include <utility>

#include "sql/functions/quote.h"
#include "sql/types/type_families.h"
#include "sql/value_errors.h"

namespace redquel::sql {

/// One type with the texts that TypeInfo's views look at.
struct UserTypes::Entry {
  UserTypePtr type;
  std::string array_name, display_name, array_display_name;
  std::string multirange_array_name, multirange_display_name, multirange_array_display_name;
  std::unordered_map<std::string_view, const EnumLabel*> labels;
  TypeInfo info, array_info, multirange_info, multirange_array_info;
};

namespace {

using Entry = UserTypes::Entry;

constinit thread_local const KnownTypes* current = nullptr;

std::string display_name_of(const UserType& type, const std::string& name) {
  const std::string quoted = quote_identifier(name);
  const bool is_visible = type.schema == "public" || type.schema.starts_with("pg_temp_");
  return is_visible ? quoted : quote_identifier(type.schema) + "." + quoted;
}

TypeInfo array_info(Oid oid, const std::string& name, const std::string& display_name, Oid element, char alignment) {
  TypeInfo info;
  info.oid = oid;
  info.name = name;
  info.display_name = display_name;
  info.category = TypeCategory::kArray;
  info.alignment = alignment == 'd' ? 'd' : 'i';
  info.element = element;
  info.operations = &kArrayOperations;
  return info;
}

void add_multirange(Entry& entry) {
  const UserType& type = *entry.type;
  entry.multirange_array_name = "_" + type.range.multirange_name;
  entry.multirange_display_name = display_name_of(type, type.range.multirange_name);
  entry.multirange_array_display_name = entry.multirange_display_name + "[]";
  TypeInfo& info = entry.multirange_info;
  info = entry.info;
  info.oid = type.range.multirange;
  info.name = type.range.multirange_name;
  info.display_name = entry.multirange_display_name;
  info.array = type.range.multirange_array;
  info.subtype = info.multirange = 0;
  info.range = type.oid;
  info.operations = &kMultirangeOperations;
  entry.multirange_array_info = array_info(type.range.multirange_array, entry.multirange_array_name, entry.multirange_array_display_name,
                                           type.range.multirange, info.alignment);
}

/// `before`: the entry of the type in the base, or null. Its labels keep their places under the names that they had: while values are written
/// anew because a label is renamed, values with both names are there.
std::shared_ptr<const Entry> make_entry(const UserTypePtr& type, const Entry* before) {
  auto entry = std::make_shared<Entry>();
  entry->type = type;
  entry->array_name = "_" + type->name;
  entry->display_name = display_name_of(*type, type->name);
  entry->array_display_name = entry->display_name + "[]";
  for (const EnumLabel& label : type->labels) entry->labels[label.name] = &label;
  if (before != nullptr) {
    for (const auto& [name, label] : before->labels) {
      const auto now = std::ranges::find(type->labels, label->oid, &EnumLabel::oid);
      if (now != type->labels.end()) entry->labels.try_emplace(name, &*now);
    }
  }
  const bool is_domain = type->kind == UserType::Kind::kDomain, is_enum = type->kind == UserType::Kind::kEnum;
  const bool is_range = type->kind == UserType::Kind::kRange;
  const TypeInfo* base = is_domain ? find_type(type->base.oid) : nullptr;
  TypeInfo& info = entry->info;
  info = base != nullptr ? *base : TypeInfo{};
  if (base == nullptr) {
    info.operations = is_enum ? &kEnumOperations : is_range ? &kRangeOperations : &kCompositeOperations;
    info.category = is_enum ? kEnumCategory : is_range ? kRangeCategory : kCompositeCategory;
    info.length = is_enum ? 4 : -1;
    if (!is_enum && !is_range) info.operators = oid::kRecord;
    info.alignment = is_enum ? 'i' : 'd';
    if (is_range) {
      const TypeInfo* subtype = find_type(type->base.oid);
      info.alignment = subtype != nullptr && subtype->alignment == 'd' ? 'd' : 'i';
      info.subtype = type->base.oid;
      info.multirange = type->range.multirange;
    }
  }
  info.oid = type->oid;
  info.name = type->name;
  info.display_name = entry->display_name;
  info.array = type->array;
  // Values of a domain are values of the type under it, elements too.
  entry->array_info = array_info(type->array, entry->array_name, entry->array_display_name, base != nullptr ? base->oid : type->oid, info.alignment);
  if (is_range) add_multirange(*entry);
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
         a.base == b.base && a.range.multirange == b.range.multirange && a.range.multirange_name == b.range.multirange_name;
}

const Entry* find_entry(Oid oid) {
  if (oid < kFirstUserOid || current == nullptr || current->types == nullptr) return nullptr;
  return current->types->find(oid);
}

}  // namespace

UserTypes::UserTypes() = default;
UserTypes::UserTypes(std::shared_ptr<const UserTypes> base) : base_(std::move(base)) {}
UserTypes::UserTypes(const UserTypes& other) = default;
UserTypes::~UserTypes() = default;

const UserTypes::Entry* UserTypes::find(Oid oid) const {
  for (const UserTypes* types = this; types != nullptr; types = types->base_.get()) {
    if (const auto* found = types->by_oid_.get(oid)) return found->get();
  }
  return nullptr;
}

const UserType* UserTypes::find_type(Oid oid) const {
  const Entry* entry = find(oid);
  return entry != nullptr && entry->type->oid == oid ? entry->type.get() : nullptr;
}

void UserTypes::put(std::shared_ptr<const Entry> entry) {
  const UserType& type = *entry->type;
  for (const Oid oid : {type.oid, type.array, type.range.multirange, type.range.multirange_array}) {
    if (oid != 0) by_oid_.insert_or_assign(oid, entry);
  }
}

void UserTypes::remove(Oid oid) {
  const auto* found = by_oid_.get(oid);
  if (found == nullptr) return;
  const UserTypePtr type = (*found)->type;
  for (const Oid part : {type->oid, type->array, type->range.multirange, type->range.multirange_array}) by_oid_.erase(part);
}

bool UserTypes::share(const UserTypes& other, const UserType& definition) {
  if (other.base_ != nullptr) return false;  // its entries look at those of its base
  const auto* found = other.by_oid_.get(definition.oid);
  if (found == nullptr) return false;
  const UserType* known = (*found)->type.get();
  if (known != &definition && !is_same(*known, definition)) return false;
  put(*found);
  return true;
}

void UserTypes::add(std::vector<UserTypePtr> types) {
  // Types made of others come after them: a domain may be over an array of another one.
  const KnownTypesScope scope(UserTypesPtr(UserTypesPtr(), this));
  const auto may_be_made = [](const UserTypePtr& type) {
    using enum UserType::Kind;
    return type->kind == kEnum || type->kind == kComposite || sql::find_type(type->base.oid) != nullptr;
  };
  while (!types.empty()) {
    const auto blocked = std::stable_partition(types.begin(), types.end(), may_be_made);
    if (blocked == types.begin()) return;  // over types that do not exist
    std::for_each(types.begin(), blocked, [&](const UserTypePtr& type) { put(make_entry(type, base_ ? base_->find(type->oid) : nullptr)); });
    types.erase(types.begin(), blocked);
  }
}

KnownTypesScope::KnownTypesScope(const KnownTypes* known) : outer_(std::exchange(current, known)) {}
KnownTypesScope::KnownTypesScope(UserTypesPtr types) : own_{std::move(types)}, outer_(std::exchange(current, &own_)) {}
KnownTypesScope::~KnownTypesScope() { current = outer_; }

const KnownTypes* known_types() { return current; }
const KnownTypes* exchange_known_types(const KnownTypes* known) { return std::exchange(current, known); }

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

const UserType& user_type(Oid oid) {
  if (const UserType* type = find_user_type(oid)) return *type;
  throw unknown_type(oid);
}

const TypeInfo* find_user_type_info(Oid oid) {
  const Entry* entry = find_entry(oid);
  if (entry == nullptr) return nullptr;
  if (entry->type->oid == oid) return &entry->info;
  if (entry->type->array == oid) return &entry->array_info;
  return entry->type->range.multirange == oid ? &entry->multirange_info : &entry->multirange_array_info;
}

const UserType* find_user_range(Oid oid) {
  const Entry* entry = find_entry(oid);
  if (entry == nullptr || entry->type->kind != UserType::Kind::kRange) return nullptr;
  return oid == entry->type->oid || oid == entry->type->range.multirange ? entry->type.get() : nullptr;
}

Oid declared_element(Oid array) {
  const Entry* entry = find_entry(array);
  if (entry != nullptr && entry->type->array == array) return entry->type->oid;
  const TypeInfo* info = find_type(array);
  const bool is_array = info != nullptr && (info->category == TypeCategory::kArray || array == oid::kRecordArray);
  return is_array ? info->element : 0;
}

Type array_under(Type array) {
  const Entry* entry = find_entry(array.oid);
  if (entry == nullptr || entry->type->kind != UserType::Kind::kDomain || entry->type->array != array.oid) return array;
  const TypeInfo* base = find_type(entry->type->base.oid);
  return base == nullptr || base->array == 0 ? array : Type{base->array, entry->type->base.modifier};
}

const EnumLabel* find_label(Oid enumeration, std::string_view name) {
  const Entry* entry = find_entry(enumeration);
  if (entry == nullptr) return nullptr;
  const auto found = entry->labels.find(name);
  return found == entry->labels.end() ? nullptr : found->second;
}

}  // namespace redquel::sql
