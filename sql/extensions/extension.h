#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql/catalog/catalog.h"
#include "sql/functions/function.h"

namespace redquel::sql {

// Extensions: what CREATE EXTENSION can create. An extension is a table of functions. CREATE EXTENSION writes a definition (FunctionDef) for
// each of them, in the chosen schema; a call of such a definition runs the body of the row.

/// A row of an extension's table.
struct ExtensionFunction {
  /// Its name is that of SQL. A function in LANGUAGE sql has no kernel.
  ScalarFunction function;
  /// pg_proc.prosrc: in LANGUAGE c a name that, with the types of the parameters, belongs to this row alone; in LANGUAGE sql the body.
  std::string_view source;
  std::vector<std::string_view> parameters = {};  // names; none: all without a name
  bool returns_set = false;                       // in LANGUAGE sql only
};

/// An operator of two texts.
struct ExtensionOperator {
  std::string_view name, source;  // `source`: of its function
};

struct Extension {
  std::string_view name, version, comment;
  bool trusted = true;  // any role with CREATE on the database may create it
  /// An extension that every database has, and nobody can drop, has a fixed oid and schema.
  struct BuiltIn {
    Oid oid = 0;
    std::string_view schema;
  };
  std::optional<BuiltIn> built_in = {};
  std::vector<Oid> types = {};  // built-in types without a name of their own in pg_catalog
  std::vector<ExtensionFunction> functions = {};
  std::vector<ExtensionOperator> operators = {};
  std::vector<std::string_view> text_classes = {};  // operator classes of gin and gist for texts: "gin_trgm_ops"
};

/// By name.
std::span<const Extension> all_extensions();
/// Returns null if there is no such extension.
const Extension* find_extension(std::string_view name);
/// Returns the definitions of the extensions that every database has.
std::vector<ExtensionDef> built_in_extensions();

/// Returns the definition of a function of the extension, without oid and owner.
FunctionDef definition_of(const ExtensionFunction& function, const ExtensionDef& extension);
/// Returns the row whose body a function in LANGUAGE c has; null: no extension of this redquel has such a function.
const ScalarFunction* find_extension_function(const FunctionDef& function);

/// Returns the type of an extension that the schema has under a name; 0: there is none.
Oid find_extension_type(const CatalogSnapshot& catalog, std::string_view schema, std::string_view name);
/// Returns the extension that the type, or the type of an array's elements, belongs to; null: none.
const ExtensionDef* extension_of_type(const CatalogSnapshot& catalog, Oid type);

/// Returns pg_proc.probin of a function in LANGUAGE c: "$libdir/pgcrypto".
std::string extension_library(const FunctionDef& function);

/// The dictionary of the extension unaccent, in pg_ts_dict.
inline constexpr Oid kUnaccentDictionary = 6195;

/// The oid of the extension that comes with PostgreSQL, and of redquel's own.
inline constexpr Oid kPlpgsqlExtension = 13754, kRedquelExtension = 15898;

}  // namespace redquel::sql
