#pragma once

#include <vector>

#include "sql/functions/function.h"

namespace redquel::sql {

/// ROW(a, b, …), of type record or of a composite type whose fields have the arguments' types.
const ScalarFunction& row_constructor();
/// A row of a relation: the first argument is a text array of the fields' names.
const ScalarFunction& named_row_constructor();
/// The row constructor for the nullable side of an outer join: NULL if every field is NULL.
const ScalarFunction& null_extended_row_constructor();
/// (row).field: the row, the field's place from 0 (int4). Gives the field's type.
const ScalarFunction& row_field();
/// A field of a record that must have the declared fields: the record, the field's place, the oids of the declared
/// types (a text array). 42804 for another number of fields, or other types.
const ScalarFunction& declared_field();
/// The composite row with another field: row (may be NULL), the field's place, the value. `SET col.field = …`.
const ScalarFunction& row_with_field();
/// IS NULL: every field is. IS NOT NULL: none is.
const ScalarFunction& row_is_null();
const ScalarFunction& row_is_not_null();
/// A row as a value of another row type, field by field. 42846 where the number of fields differs.
const CastFunction& row_cast();

/// = <> < <= > >= of records and of enums, enum_first and the like, for registry.cc.
std::vector<ScalarFunction> row_functions();
std::vector<ScalarFunction> enum_functions();
/// json_to_record, json_populate_recordset and the like.
std::vector<TableFunction> json_record_functions();

}  // namespace redquel::sql
