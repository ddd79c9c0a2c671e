// Entries of jsonb. Their rows are looked at again, because entries do not say where a key or a value stands.

#include <algorithm>

#include "sql/entries/entry_kind.h"
#include "sql/entries/families.h"
#include "sql/types/array_value.h"
#include "sql/types/jsonb.h"

namespace redquel::sql {
namespace {

/// Longer entries are cut: rows are looked at again.
constexpr std::size_t kMostBytes = 128;

/// "=7", "=\"clerk\"", "=true", "=null": a scalar.
std::string scalar_entry(std::string_view value) { return "=" + jsonb_key(value); }

EntryQuery inexact(EntryQuery query) {
  query.exact = false;
  return query;
}

EntryQuery every_of(const std::vector<std::string>& entries) {
  std::vector<EntryQuery> queries;
  for (const std::string& entry : entries) queries.push_back(one_entry(entry));
  return queries.empty() ? every_row() : inexact(all_of(std::move(queries)));
}

std::vector<std::string> cut_in_order(std::vector<std::string> entries) {
  for (std::string& entry : entries) entry.resize(std::min(entry.size(), kMostBytes));
  return in_order(std::move(entries));
}

/// jsonb_ops: the names of members, the strings in arrays, and scalars. A string in an array counts as a name: operator ? finds both.
class JsonbKeyEntries final : public EntryKind {
 public:
  Structure::Kind structure() const override { return Structure::Kind::kJsonbKeys; }
  std::string_view segment() const override { return "%jsonb"; }
  std::string_view name() const override { return "jsonb key"; }
  bool takes(Type column, std::string_view operator_class) const override { return operator_class.empty() && column.oid == oid::kJsonb; }

  std::vector<std::string> entries(Type, const Datum& value) const override {
    std::vector<std::string> found;
    collect(std::get<std::string>(value), true, found);
    return cut_in_order(std::move(found));
  }
  bool answers(EntryOperation operation, Type, Type value) const override {
    if (operation == EntryOperation::kContains) return value.oid == oid::kJsonb;
    if (operation == EntryOperation::kHasKey) return value.oid == oid::kText;
    return (operation == EntryOperation::kHasAnyKey || operation == EntryOperation::kHasAllKeys) && value.oid == oid::kTextArray;
  }
  EntryQuery query(EntryOperation operation, Type type, const Datum& value) const override {
    if (operation == EntryOperation::kContains) return every_of(entries(type, value));
    if (operation == EntryOperation::kHasKey) return every_of(cut_in_order({std::get<std::string>(value)}));
    std::vector<std::string> names;
    for (const auto& element : read_array(type.oid, std::get<std::string>(value)).elements) {
      if (element) names.emplace_back(*element);
    }
    names = cut_in_order(std::move(names));
    if (operation == EntryOperation::kHasAllKeys) return every_of(names);
    std::vector<EntryQuery> queries;
    for (const std::string& name : names) queries.push_back(one_entry(name));
    return inexact(any_of(std::move(queries)));
  }

 private:
  static void collect(std::string_view value, bool is_element, std::vector<std::string>& found) {
    const JsonKind kind = json_kind(value);
    if (!is_json_container(value)) {
      found.push_back(kind == JsonKind::kString && is_element ? json_string(value) : scalar_entry(value));
      return;
    }
    for (JsonReader reader(value); reader.next();) {
      if (kind == JsonKind::kObject) found.push_back(json_string(reader.key()));
      collect(reader.value(), kind == JsonKind::kArray, found);
    }
  }
};

/// jsonb_path_ops: each scalar behind the names that lead to it, "address.city=\"Bern\"".
class JsonbPathEntries final : public EntryKind {
 public:
  Structure::Kind structure() const override { return Structure::Kind::kJsonbPaths; }
  std::string_view segment() const override { return "%jsonbpaths"; }
  std::string_view name() const override { return "jsonb path"; }
  bool takes(Type column, std::string_view operator_class) const override {
    return operator_class == "jsonb_path_ops" && column.oid == oid::kJsonb;
  }

  std::vector<std::string> entries(Type, const Datum& value) const override {
    std::vector<std::string> found;
    collect(std::get<std::string>(value), "", found);
    return cut_in_order(std::move(found));
  }
  bool answers(EntryOperation operation, Type, Type value) const override {
    return operation == EntryOperation::kContains && value.oid == oid::kJsonb;
  }
  EntryQuery query(EntryOperation, Type type, const Datum& value) const override { return every_of(entries(type, value)); }

 private:
  static void collect(std::string_view value, const std::string& path, std::vector<std::string>& found) {
    if (!is_json_container(value)) return found.push_back(path + scalar_entry(value));
    const bool has_names = json_kind(value) == JsonKind::kObject;
    for (JsonReader reader(value); reader.next();) {
      if (!has_names) collect(reader.value(), path, found);
      else collect(reader.value(), (path.empty() ? path : path + ".") + json_string(reader.key()), found);
    }
  }
};

}  // namespace

const EntryKind& jsonb_key_entries() {
  static const JsonbKeyEntries kind;
  return kind;
}

const EntryKind& jsonb_path_entries() {
  static const JsonbPathEntries kind;
  return kind;
}

}  // namespace redquel::sql
