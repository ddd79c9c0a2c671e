#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql/types/type.h"

namespace redquel::sql {

/// A value of a fact table, in text form; nullopt is NULL.
using FactValue = std::optional<std::string_view>;

/// The built-in objects of one of PostgreSQL 15's catalogs, as facts/generate_facts.py wrote them. The first line names the columns in the
/// catalog's order: `name=value` has this value in every row, `name~value` where a row leaves its field empty. Fields are separated by
/// tabs; \N is NULL, \E the empty text of a column with `~`.
class FactTable {
 public:
  /// `text`: a literal.
  explicit FactTable(std::string_view text);

  /// The rows as they are written.
  std::span<const std::string_view> lines() const { return lines_; }
  /// The values of one of them, in the order of columns().
  std::vector<FactValue> values(std::string_view line) const;
  /// Position of a column, which must be there.
  std::size_t column(std::string_view name) const;

 private:
  struct FactColumn {
    std::string_view name;
    bool constant = false;     // no row has a field for it
    FactValue value = "";      // of a constant one, or of an empty field
    bool has_common = false;
  };
  std::vector<FactColumn> columns_;
  std::vector<std::string_view> lines_;
};

/// 0 where the text is no number.
Oid fact_oid(const FactValue& value);
/// The elements of an oidvector or of an array of oids.
std::vector<Oid> fact_oids(const FactValue& value);
/// The elements of an array of short texts.
std::vector<std::string> fact_texts(const FactValue& value);

/// The attributes of a built-in type in pg_type, beyond TypeInfo.
struct TypeFacts {
  std::string_view line;  // in type_facts()
  bool by_value = false;
  char storage = 'p';
  Oid collation = 0;
  Oid input = 0, output = 0, receive = 0, send = 0, modifier_input = 0, modifier_output = 0;
};
/// pg_type, without the types of the catalogs' rows.
const FactTable& type_facts();
/// nullptr: no built-in type.
const TypeFacts* find_type_facts(Oid type);

/// pg_proc, behind a first column `supports`: another catalog refers to the function.
const FactTable& function_facts();
const FactTable& aggregate_facts();
const FactTable& operator_facts();
const FactTable& cast_facts();
const FactTable& range_facts();
const FactTable& conversion_facts();
const FactTable& operator_class_facts();
const FactTable& operator_family_facts();
const FactTable& family_operator_facts();   // pg_amop
const FactTable& family_function_facts();   // pg_amproc

/// An index of a catalog, with its constraint.
struct CatalogIndex {
  Oid oid = 0;
  std::string_view name;
  Oid catalog = 0;
  bool unique = false, primary = false, shared = false;
  Oid constraint = 0;  // 0: none
  std::vector<std::int16_t> columns;
  std::string_view collations, classes;  // oidvectors
};
/// In order of their names. (What shows them leaves out those of catalogs that redquel does not have.)
std::span<const CatalogIndex> catalog_indexes();
/// nullptr: none.
const CatalogIndex* find_catalog_index(Oid index);

}  // namespace redquel::sql
