#pragma once

#include "sql/functions/function.h"

namespace redquel::sql {

/// Values as they are after a type has changed that lies in them, however deep: (value, the type's oid as int4, from, to). Of an enum the
/// label `from` becomes `to`. Of a composite type `to` is an int4[] that says for every new field which old one it is, counted from 0;
/// NULL: none. The value's own type stays.
const ScalarFunction& changed_value();

}  // namespace redquel::sql
