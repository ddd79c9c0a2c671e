#include "sql/system_tables/facts.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <unordered_map>

namespace redquel::sql {
namespace {

constexpr char kTypes[] =
#include "sql/system_tables/facts/pg_type.txt"
    ;
constexpr char kFunctions[] =
#include "sql/system_tables/facts/pg_proc.txt"
    ;
constexpr char kAggregates[] =
#include "sql/system_tables/facts/pg_aggregate.txt"
    ;
constexpr char kOperators[] =
#include "sql/system_tables/facts/pg_operator.txt"
    ;
constexpr char kCasts[] =
#include "sql/system_tables/facts/pg_cast.txt"
    ;
constexpr char kRanges[] =
#include "sql/system_tables/facts/pg_range.txt"
    ;
constexpr char kConversions[] =
#include "sql/system_tables/facts/pg_conversion.txt"
    ;
constexpr char kOperatorClasses[] =
#include "sql/system_tables/facts/pg_opclass.txt"
    ;
constexpr char kOperatorFamilies[] =
#include "sql/system_tables/facts/pg_opfamily.txt"
    ;
constexpr char kFamilyOperators[] =
#include "sql/system_tables/facts/pg_amop.txt"
    ;
constexpr char kFamilyFunctions[] =
#include "sql/system_tables/facts/pg_amproc.txt"
    ;
constexpr char kCatalogIndexes[] =
#include "sql/system_tables/facts/catalog_indexes.txt"
    ;

template <std::size_t size>
std::string_view literal(const char (&text)[size]) {
  return {text, size - 1};
}

/// Returns the text before the separator and removes it from `rest`.
std::string_view take_until(std::string_view& rest, char separator) {
  const std::size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view piece = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return piece;
}

std::string_view without_braces(const FactValue& value) {
  std::string_view text = value.value_or("");
  if (text.starts_with('{')) text = text.substr(1, text.size() - 2);
  return text;
}

}  // namespace

FactTable::FactTable(std::string_view text) {
  take_until(text, '\n');  // behind the literal's beginning
  std::string_view head = take_until(text, '\n');
  while (!head.empty()) {
    const std::string_view written = take_until(head, '\t');
    const std::size_t end = written.find_first_of("=~");
    FactColumn column{.name = written.substr(0, end)};
    if (end != std::string_view::npos) {
      column.constant = written[end] == '=';
      column.has_common = !column.constant;
      column.value = written.substr(end + 1);
      if (column.value == "\\N") column.value = std::nullopt;
    }
    columns_.push_back(column);
  }
  while (!text.empty()) lines_.push_back(take_until(text, '\n'));
}

std::vector<FactValue> FactTable::values(std::string_view line) const {
  std::vector<FactValue> values;
  values.reserve(columns_.size());
  for (const FactColumn& column : columns_) {
    if (column.constant) {
      values.push_back(column.value);
      continue;
    }
    const std::string_view field = take_until(line, '\t');
    if (field == "\\N") {
      values.emplace_back();
    } else if (field.empty()) {
      values.push_back(column.value);
    } else {
      values.emplace_back(field == "\\E" && column.has_common ? std::string_view() : field);
    }
  }
  return values;
}

std::size_t FactTable::column(std::string_view name) const {
  const auto found = std::ranges::find(columns_, name, &FactColumn::name);
  assert(found != columns_.end());
  return static_cast<std::size_t>(found - columns_.begin());
}

Oid fact_oid(const FactValue& value) {
  Oid number = 0;
  if (value) std::from_chars(value->data(), value->data() + value->size(), number);
  return number;
}

std::vector<Oid> fact_oids(const FactValue& value) {
  std::vector<Oid> oids;
  std::string_view rest = without_braces(value);
  const char separator = value && value->starts_with('{') ? ',' : ' ';
  while (!rest.empty()) oids.push_back(fact_oid(take_until(rest, separator)));
  return oids;
}

std::vector<std::string> fact_texts(const FactValue& value) {
  std::vector<std::string> texts;
  std::string_view rest = without_braces(value);
  while (!rest.empty()) {
    std::string_view text = take_until(rest, ',');
    if (text.size() >= 2 && text.front() == '"') text = text.substr(1, text.size() - 2);
    texts.emplace_back(text);
  }
  return texts;
}

const FactTable& type_facts() {
  static const FactTable table(literal(kTypes));
  return table;
}

const TypeFacts* find_type_facts(Oid type) {
  static const std::unordered_map<Oid, TypeFacts> types = [] {
    std::unordered_map<Oid, TypeFacts> made;
    const FactTable& facts = type_facts();
    const std::size_t oid = facts.column("oid"), by_value = facts.column("typbyval"), storage = facts.column("typstorage"),
                      collation = facts.column("typcollation"), input = facts.column("typinput");  // and the other five behind it
    for (const std::string_view line : facts.lines()) {
      const std::vector<FactValue> row = facts.values(line);
      made[fact_oid(row[oid])] = {line, row[by_value] == "t", row[storage]->front(), fact_oid(row[collation]), fact_oid(row[input]),
                                  fact_oid(row[input + 1]), fact_oid(row[input + 2]), fact_oid(row[input + 3]), fact_oid(row[input + 4]),
                                  fact_oid(row[input + 5])};
    }
    return made;
  }();
  const auto found = types.find(type);
  return found == types.end() ? nullptr : &found->second;
}

const FactTable& function_facts() {
  static const FactTable table(literal(kFunctions));
  return table;
}

const FactTable& aggregate_facts() {
  static const FactTable table(literal(kAggregates));
  return table;
}

const FactTable& operator_facts() {
  static const FactTable table(literal(kOperators));
  return table;
}

const FactTable& cast_facts() {
  static const FactTable table(literal(kCasts));
  return table;
}

const FactTable& range_facts() {
  static const FactTable table(literal(kRanges));
  return table;
}

const FactTable& conversion_facts() {
  static const FactTable table(literal(kConversions));
  return table;
}

const FactTable& operator_class_facts() {
  static const FactTable table(literal(kOperatorClasses));
  return table;
}

const FactTable& operator_family_facts() {
  static const FactTable table(literal(kOperatorFamilies));
  return table;
}

const FactTable& family_operator_facts() {
  static const FactTable table(literal(kFamilyOperators));
  return table;
}

const FactTable& family_function_facts() {
  static const FactTable table(literal(kFamilyFunctions));
  return table;
}

std::span<const CatalogIndex> catalog_indexes() {
  static const std::vector<CatalogIndex> indexes = [] {
    const FactTable table(literal(kCatalogIndexes));
    const std::size_t oid = table.column("oid"), name = table.column("name"), catalog = table.column("catalog"),
                      unique = table.column("is_unique"), primary = table.column("is_primary"), constraint = table.column("constraint_oid"),
                      columns = table.column("columns"), collations = table.column("collations"), classes = table.column("classes"),
                      shared = table.column("is_shared");
    std::vector<CatalogIndex> made;
    for (const std::string_view line : table.lines()) {
      const std::vector<FactValue> row = table.values(line);
      CatalogIndex index;
      index.oid = fact_oid(row[oid]);
      index.name = *row[name];
      index.catalog = fact_oid(row[catalog]);
      index.unique = row[unique] == "t";
      index.primary = row[primary] == "t";
      index.shared = row[shared] == "t";
      index.constraint = fact_oid(row[constraint]);
      for (const Oid number : fact_oids(row[columns])) index.columns.push_back(static_cast<std::int16_t>(number));
      index.collations = *row[collations];
      index.classes = *row[classes];
      made.push_back(std::move(index));
    }
    return made;
  }();
  return indexes;
}

const CatalogIndex* find_catalog_index(Oid index) {
  const std::span<const CatalogIndex> all = catalog_indexes();
  const auto found = std::ranges::find(all, index, &CatalogIndex::oid);
  return found == all.end() ? nullptr : &*found;
}

}  // namespace redquel::sql
