#include "sql/system_tables/type_layout.h"

#include <algorithm>
#include <vector>

#include "sql/system_tables/facts.h"
#include "sql/types/range_value.h"
#include "sql/types/row_value.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

struct OperatorClass {
  Oid oid, method, input;
};

/// The default classes of all methods.
std::vector<OperatorClass> read_operator_classes() {
  const FactTable& facts = operator_class_facts();
  const std::size_t oid = facts.column("oid"), method = facts.column("opcmethod"), input = facts.column("opcintype"),
                    is_default = facts.column("opcdefault");
  std::vector<OperatorClass> classes;
  for (const std::string_view line : facts.lines()) {
    const std::vector<FactValue> row = facts.values(line);
    if (row[is_default] == "t") classes.push_back({fact_oid(row[oid]), fact_oid(row[method]), fact_oid(row[input])});
  }
  return classes;
}

}  // namespace

Oid named_operator_class(Oid method, std::string_view name) {
  const FactTable& facts = operator_class_facts();
  const std::size_t oid = facts.column("oid"), own_method = facts.column("opcmethod"), own_name = facts.column("opcname");
  for (const std::string_view line : facts.lines()) {
    const std::vector<FactValue> row = facts.values(line);
    if (row[own_name] == name && fact_oid(row[own_method]) == method) return fact_oid(row[oid]);
  }
  return 0;
}

bool passed_by_value(const TypeInfo& type) {
  if (const TypeFacts* known = find_type_facts(type.oid)) return known->by_value;
  return type.length == 1 || type.length == 2 || type.length == 4 || type.length == 8;
}

char storage_letter(const TypeInfo& type) {
  if (const TypeFacts* known = find_type_facts(type.oid)) return known->storage;
  return type.length == -1 ? 'x' : 'p';
}

Oid collation_of(Oid type) {
  if (const TypeFacts* known = find_type_facts(type)) return known->collation;
  if (type == oid::kCitext) return oid::kDefaultCollation;
  const TypeInfo* info = find_type(type);
  return info != nullptr && is_true_array(*info) ? collation_of(info->element) : 0;
}

Oid collation_of(Type type, std::string_view written) {
  if (written == "C") return oid::kCCollation;
  if (written == "POSIX") return oid::kPosixCollation;
  if (written == "ucs_basic") return oid::kUcsBasicCollation;
  return collation_of(type.oid);
}

bool is_true_array(const TypeInfo& type) {
  if (type.category != TypeCategory::kArray || type.element == 0) return false;
  if (type.oid >= kFirstUserOid) return true;  // an array of a domain is not the array of the type under it
  const TypeInfo* element = find_type(type.element);
  return element != nullptr && element->array == type.oid;
}

Oid operator_class_of(Oid method, Oid type) {
  static const std::vector<OperatorClass> classes = read_operator_classes();
  const auto find = [&](Oid input) {
    const auto found = std::ranges::find_if(classes, [&](const OperatorClass& entry) { return entry.method == method && entry.input == input; });
    return found == classes.end() ? Oid{0} : found->oid;
  };
  // Types without an entry of their own use that of another type: a binary compatible one, or one of their kind.
  if (const Oid own = find(type); own != 0) return own;
  const TypeInfo* info = find_type(type);
  if (info == nullptr) return 0;
  if (info->operators != 0) return find(info->operators);
  if (is_range_type(type)) return find(oid::kAnyRange);
  if (is_multirange_type(type)) return find(oid::kAnyMultirange);
  if (is_true_array(*info)) return find(oid::kAnyArray);
  return is_enum_type(type) ? find(oid::kAnyEnum) : 0;
}

}  // namespace redquel::sql
