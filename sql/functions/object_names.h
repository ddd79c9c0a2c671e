#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql/column.h"
#include "sql/evaluation_context.h"
#include "sql/types/type.h"

namespace redquel::sql {

// Input and output of regclass, regtype, regproc and the like: names, which are looked up in the catalog.

/// regclass, regtype, regproc, regprocedure, regnamespace, regrole.
bool is_object_name_type(Oid type);
/// These, and arrays over them.
bool shows_object_names(Oid type);
/// Their input functions: a name, oid digits or "-" (0). 42P01, 42704, 42883, 42725, 3F000 where nothing or too much has that name,
/// 42602 "invalid name syntax".
Oid parse_object_name(Type type, std::string_view text, const EvaluationContext& context);
/// Their output functions: quoted where needed, with the schema where the search path does not find it; the digits of an unknown
/// oid; "-" for 0.
std::string object_name(Type type, Oid object, const EvaluationContext& context);
/// A literal of an array over such a type, with names or oids for elements, as an array of oids.
std::string read_object_names(Type array, std::string_view text, const EvaluationContext& context);
/// A type's input function: parse_value(), and the catalog where the text is a name, or an array of names.
Datum read_value(Type type, std::string_view text, const EvaluationContext& context);
/// An array of oids as text with the names of the objects: {integer,"character varying"}.
std::string object_names(Type array, std::string_view oids, const EvaluationContext& context);
/// A column of such a type, or of arrays over one, as clients see it in text format: an encoded column of the names. Other columns unchanged.
ColumnPtr with_object_names(const ColumnPtr& column, const EvaluationContext& context);

/// nullopt: none.
std::optional<Oid> find_relation(std::string_view text, const EvaluationContext& context);
/// 42P01 `relation "x" does not exist`.
Oid relation_named(std::string_view text, const EvaluationContext& context);
std::string relation_name(Oid relation, const EvaluationContext& context);

/// regprocedure's and regoperator's input: `lower(text)`, `-(NONE,integer)`. 0 stands for NONE.
struct NameWithTypes {
  std::string_view name;
  std::vector<Oid> types;
};
/// 22P02, 42601, and what reading a regtype throws.
NameWithTypes parse_name_with_types(std::string_view text, bool allows_none, const EvaluationContext& context);

/// `a."B c"` → a, B c. 42602 "invalid name syntax".
std::vector<std::string> split_name(std::string_view text);

/// The context's catalog; an empty one where it has none.
const CatalogSnapshot& catalog_of(const EvaluationContext& context);

}  // namespace redquel::sql
