#pragma once

#include "sql/functions/function.h"

namespace redquel::sql {

/// The subscripts of a geometric type of fixed size, from 0: points and lines have numbers, boxes and segments points.
struct GeometricParts {
  Oid type;
  Type part;
  ScalarFunction read;   // (value, i): NULL outside
  ScalarFunction write;  // (value, i, part): 2202E outside
};
/// nullptr: the type has no subscripts.
const GeometricParts* find_geometric_parts(Oid type);

}  // namespace redquel::sql
