#pragma once

#include "sql/types/type.h"

namespace redquel::sql {

// The storage attributes of a type in PostgreSQL's catalogs, its default collation and operator classes.

/// pg_type.typbyval.
bool passed_by_value(const TypeInfo& type);
/// pg_type.typstorage: p, x or m.
char storage_letter(const TypeInfo& type);
/// pg_type.typcollation: 0 for types without.
Oid collation_of(Oid type);
/// Returns the collation of a column with a COLLATE clause: C, POSIX, ucs_basic; empty: without the clause.
Oid collation_of(Type type, std::string_view written);
/// An array type made by another type (not int2vector and the like).
bool is_true_array(const TypeInfo& type);

/// pg_opclass.oid of the default class of an index method for a type. 0: none (zset, and types without order).
Oid operator_class_of(Oid method, Oid type);
/// 0: the method has no class of that name.
Oid named_operator_class(Oid method, std::string_view name);

namespace oid {
inline constexpr Oid kDefaultCollation = 100, kCCollation = 950, kPosixCollation = 951, kUcsBasicCollation = 12340;
}

}  // namespace redquel::sql
