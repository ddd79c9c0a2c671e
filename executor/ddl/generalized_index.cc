#include "executor/ddl/generalized_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sql/error.h"
#include "sql/extensions/extension.h"
#include "sql/sqlstate.h"
#include "sql/types/array_value.h"
#include "sql/types/geometry.h"
#include "sql/types/range_value.h"
#include "sql/types/type_oids.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;

namespace {

/// The values of a class: of one type, or of a family of types.
enum class Taken { kOne, kArrays, kRanges, kMultiranges, kTexts, kNetworks };

struct OperatorClass {
  std::string_view method, name;
  bool own;  // used where none is written
  Taken taken;
  sql::Oid type = 0;  // kOne
};

constexpr OperatorClass kClasses[] = {
    {"gin", "array_ops", true, Taken::kArrays},
    {"gin", "jsonb_ops", true, Taken::kOne, sql::oid::kJsonb},
    {"gin", "jsonb_path_ops", false, Taken::kOne, sql::oid::kJsonb},
    {"gin", "tsvector_ops", true, Taken::kOne, sql::oid::kTsvector},
    {"gist", "tsvector_ops", true, Taken::kOne, sql::oid::kTsvector},
    {"gist", "tsquery_ops", true, Taken::kOne, sql::oid::kTsquery},
    {"gist", "point_ops", true, Taken::kOne, sql::oid::kPoint},
    {"gist", "box_ops", true, Taken::kOne, sql::oid::kBox},
    {"gist", "poly_ops", true, Taken::kOne, sql::oid::kPolygon},
    {"gist", "circle_ops", true, Taken::kOne, sql::oid::kCircle},
    {"gist", "range_ops", true, Taken::kRanges},
    {"gist", "multirange_ops", true, Taken::kMultiranges},
    {"gist", "inet_ops", false, Taken::kNetworks},
    {"spgist", "quad_point_ops", true, Taken::kOne, sql::oid::kPoint},
    {"spgist", "kd_point_ops", false, Taken::kOne, sql::oid::kPoint},
    {"spgist", "box_ops", true, Taken::kOne, sql::oid::kBox},
    {"spgist", "poly_ops", true, Taken::kOne, sql::oid::kPolygon},
    {"spgist", "range_ops", true, Taken::kRanges},
    {"spgist", "text_ops", true, Taken::kTexts},
    {"spgist", "inet_ops", true, Taken::kNetworks},
    {"brin", "range_inclusion_ops", true, Taken::kRanges},
    {"brin", "box_inclusion_ops", true, Taken::kOne, sql::oid::kBox},
    {"brin", "inet_inclusion_ops", true, Taken::kNetworks},
    {"brin", "inet_minmax_ops", false, Taken::kNetworks},
    {"brin", "text_minmax_ops", true, Taken::kTexts},
    {"brin", "text_bloom_ops", false, Taken::kTexts},
};

bool takes(const OperatorClass& one, sql::Type type) {
  switch (one.taken) {
    case Taken::kOne: return type.oid == one.type;
    case Taken::kArrays: return sql::is_array_type(type.oid) && !sql::is_vector_type(type.oid);
    case Taken::kRanges: return sql::is_range_type(type.oid);
    case Taken::kMultiranges: return sql::is_multirange_type(type.oid);
    case Taken::kTexts: return type.oid == sql::oid::kText || type.oid == sql::oid::kVarchar;
    case Taken::kNetworks: return type.oid == sql::oid::kInet || type.oid == sql::oid::kCidr;
  }
  return false;
}

/// Ordered types of fixed classes: int4_minmax_ops and its like.
bool has_minmax(sql::Type type) {
  constexpr std::array<std::string_view, 24> kTypes{
      "bytea", "char", "name", "int8",   "int2",      "int4",        "oid",      "tid",    "float4", "float8", "macaddr", "macaddr8",
      "bpchar", "date", "time", "timestamp", "timestamptz", "interval", "timetz", "bit",    "varbit", "numeric", "uuid",
      "pg_lsn"};
  return std::ranges::find(kTypes, sql::type_info(type.oid).name) != kTypes.end();
}

/// Returns true for a class of an extension that has been created.
bool is_extension_class(const sql::CatalogSnapshot& catalog, std::string_view name, std::string_view method) {
  return name.starts_with(method) && std::ranges::any_of(catalog.extensions, [&](const auto& entry) {
           const sql::Extension* extension = sql::find_extension(entry.second.name);
           return extension != nullptr && std::ranges::find(extension->text_classes, name) != extension->text_classes.end();
         });
}

}  // namespace

std::optional<sql::IndexMethod> generalized_method(std::string_view name) {
  if (name == "gin") return sql::IndexMethod::kGin;
  if (name == "gist") return sql::IndexMethod::kGist;
  if (name == "spgist") return sql::IndexMethod::kSpgist;
  if (name == "brin") return sql::IndexMethod::kBrin;
  return std::nullopt;
}

void check_generalized(const ast::CreateIndex& statement) {
  const std::string& method = statement.access_method;
  const auto refuse = [&](std::string_view what) {
    throw SqlError(sqlstate::kFeatureNotSupported, fmt::format("access method \"{}\" does not support {}", method, what));
  };
  if (!statement.including.empty() && method != "gist" && method != "spgist") refuse("included columns");
  if (statement.elements.size() > 1 && method == "spgist") refuse("multicolumn indexes");
  for (const ast::IndexElement& element : statement.elements) {
    if (element.direction != ast::SortDirection::kDefault) refuse("ASC/DESC options");
    if (element.nulls != ast::SortNulls::kDefault) refuse("NULLS FIRST/LAST options");
  }
}

std::string generalized_operator_class(const sql::CatalogSnapshot& catalog, const ast::IndexElement& element, sql::Type type, std::string_view method) {
  const std::string shown = sql::format_type(sql::Type{type.oid});
  const std::string own = std::string(sql::type_info(type.oid).name);
  if (element.operator_class.empty()) {
    const bool known = (method == "brin" && has_minmax(type)) ||
                       std::ranges::any_of(kClasses, [&](const OperatorClass& one) { return one.method == method && one.own && takes(one, type); });
    if (known) return {};
    throw SqlError(sqlstate::kUndefinedObject, fmt::format("data type {} has no default operator class for access method \"{}\"", shown, method))
        .hint("You must specify an operator class for the index or define a default operator class for the data type.");
  }
  const std::string& name = element.operator_class.back();
  const bool is_of_extension = is_extension_class(catalog, name, method);
  const bool is_text = type.oid == sql::oid::kText || type.oid == sql::oid::kVarchar;
  if (is_of_extension && is_text) return name;
  if (method == "brin" && has_minmax(type)) {
    if (name == own + "_minmax_ops") return {};
    if (name == own + "_bloom_ops" || name == own + "_minmax_multi_ops") return name;
  }
  bool exists = is_of_extension;
  for (const OperatorClass& one : kClasses) {
    if (one.method != method || one.name != name) continue;
    exists = true;
    if (takes(one, type)) return one.own ? std::string() : name;
  }
  if (exists) throw SqlError(sqlstate::kDatatypeMismatch, fmt::format("operator class \"{}\" does not accept data type {}", name, shown));
  throw SqlError(sqlstate::kUndefinedObject, fmt::format("operator class \"{}\" does not exist for access method \"{}\"", name, method));
}

}  // namespace redquel::executor
