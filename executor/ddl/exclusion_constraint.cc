#include "executor/ddl/exclusion_constraint.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "executor/ddl/generated_names.h"
#include "executor/ddl/index_expressions.h"
#include "executor/ddl/index_part.h"
#include "executor/ddl/indexable.h"
#include "executor/ddl/generalized_index.h"
#include "executor/ddl/table_parts.h"
#include "parser/deparse.h"
#include "sql/catalog/index_text.h"
#include "sql/error.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"
#include "sql/system_tables/facts.h"
#include "sql/system_tables/relations.h"
#include "sql/system_tables/type_layout.h"
#include "sql/types/range_value.h"
#include "sql/types/type_oids.h"
#include "sql/value_errors.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::IndexMethod;
using sql::SqlError;

namespace {

IndexMethod method_of(const std::string& name) {
  if (name.empty() || name == "btree") return IndexMethod::kBtree;
  if (name == "hash") return IndexMethod::kHash;
  if (name == "gist") return IndexMethod::kGist;
  if (name == "spgist") return IndexMethod::kSpgist;
  constexpr std::array<std::string_view, 6> kOthers{"gin", "brin", "zset", "set", "list", "lookup"};
  if (std::ranges::find(kOthers, name) == kOthers.end()) throw sql::undefined_access_method(name);
  throw SqlError(sqlstate::kFeatureNotSupported, fmt::format("access method \"{}\" does not support exclusion constraints", name));
}

/// Returns true if an index of that method can compare two values by =.
bool has_equality(IndexMethod method, sql::Type type) {
  if (method == IndexMethod::kBtree || method == IndexMethod::kHash) return true;
  if (sql::is_range_type(type.oid)) return true;
  if (type.oid == sql::oid::kInet || type.oid == sql::oid::kCidr) return true;
  const bool is_text = type.oid == sql::oid::kText || type.oid == sql::oid::kVarchar;
  return method == IndexMethod::kGist ? sql::is_multirange_type(type.oid) : is_text;
}

/// The field `wanted` of the row that has this oid; empty: none has.
std::string field_of(const sql::FactTable& facts, sql::Oid oid, std::string_view wanted) {
  const std::size_t key = facts.column("oid"), field = facts.column(wanted);
  for (const std::string_view line : facts.lines()) {
    const std::vector<sql::FactValue> row = facts.values(line);
    if (sql::fact_oid(row[key]) == oid) return std::string(row[field].value_or(""));
  }
  return {};
}

std::string family_of(IndexMethod method, sql::Type type) {
  const sql::Oid wanted = method == IndexMethod::kHash ? sql::oid::kHashMethod : sql::oid::kBtreeMethod;
  const std::string family = field_of(sql::operator_class_facts(), sql::operator_class_of(wanted, type.oid), "opcfamily");
  return field_of(sql::operator_family_facts(), sql::fact_oid(family), "opfname");
}

/// Operators of btree that no exclusion constraint takes.
void check_operator(const ast::QualifiedName& written, IndexMethod method, sql::Type type) {
  const std::string& name = written.back();
  if (name == "=" && has_equality(method, type)) return;
  const std::string shown = sql::format_type(sql::Type{type.oid});
  constexpr std::array<std::string_view, 4> kOrder{"<", "<=", ">", ">="};
  if (std::ranges::find(kOrder, name) != kOrder.end()) {
    throw SqlError(sqlstate::kWrongObjectType, fmt::format("operator {}({},{}) is not commutative", name, shown, shown))
        .detail("Only commutative operators can be used in exclusion constraints.");
  }
  if (name == "<>" && method <= IndexMethod::kHash) {
    throw SqlError(sqlstate::kWrongObjectType,
                   fmt::format("operator <>({},{}) is not a member of operator family \"{}\"", shown, shown, family_of(method, type)))
        .detail("The exclusion operator must be related to the index operator class for the constraint.");
  }
  throw sql::not_supported(fmt::format("EXCLUDE with operator {} over type {}", name, shown));
}

void check_method(const ast::ExclusionConstraint& written, IndexMethod method) {
  const auto refuse = [&](std::string_view what) {
    throw SqlError(sqlstate::kFeatureNotSupported, fmt::format("access method \"{}\" does not support {}", written.access_method, what));
  };
  const bool is_single = method == IndexMethod::kHash || method == IndexMethod::kSpgist;
  if (is_single && written.elements.size() > 1) refuse("multicolumn indexes");
  if (method == IndexMethod::kHash && !written.including.empty()) refuse("included columns");
}

}  // namespace

sql::Oid add_exclusion(CatalogDraft& draft, sql::TableDef& table, const KeyDraft& key, sql::IndexState state) {
  const ast::ExclusionConstraint& written = *key.exclusion;
  sql::IndexDef index;
  index.method = method_of(written.access_method);
  check_method(written, index.method);
  if (written.elements.size() > 32) throw sql::too_many_index_columns();
  const std::string method = written.access_method.empty() ? "btree" : written.access_method;
  if (written.where) index.predicate_sql = read_index_expression(draft, table, *written.where, true).text;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < written.elements.size(); ++i) {
    const ast::IndexElement& element = written.elements[i];
    if (!element.expression && table.find_column(element.column) == nullptr) {
      throw sql::undefined_key_column(element.column);
    }
    IndexPart part = read_index_part(draft, element, table, method);
    check_operator(written.operators[i], index.method, part.type);
    check_indexable(part.type, "btree");
    index.parts.push_back(std::move(part.part));
    names.push_back(std::move(part.name));
  }
  index.included = included_columns(table, written.including, std::nullopt);
  names.insert(names.end(), written.including.begin(), written.including.end());
  names = sql::distinct_column_names(names);
  index.name = index_name(draft, table, key.name, names, "excl");
  index.oid = draft.new_oid();
  index.unique = true;
  index.constraint = constraint_of(key);
  index.state = state;
  check_nulls_of_unique(table, index);
  add_computed_columns(table, index, names);
  table.indexes.push_back(std::move(index));
  return table.indexes.back().oid;
}

}  // namespace redquel::executor
