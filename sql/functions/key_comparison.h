#pragma once

#include <optional>

#include "sql/functions/resolve.h"
#include "sql/types/type.h"

namespace redquel::sql {

/// The comparison of a foreign key's column with the column that it refers to. PostgreSQL takes it from the operator
/// class of the referenced key's index (manual 38.16.2).
struct KeyComparison {
  enum class Form {
    kSameText,      // equal values of both types have one canonical text
    kAsReferenced,  // the referring value is converted to the type of the operator class
    kAsReferring,   // the operator converts the referenced value to the referring type
  };
  Form form = Form::kSameText;
  Oid type = 0;                     // in which both values are compared
  bool depends_on_session = false;  // the conversion reads the time zone
  /// The operators = of pg_constraint: conpfeqop, conppeqop, conffeqop.
  Oid across = 0, referenced = 0, referring = 0;

  /// Returns true if several referring values may be equal to one referenced value, so that the sets of references need
  /// the converted value.
  bool needs_converted_sets() const { return form == Form::kAsReferenced && !depends_on_session; }
};

/// Returns nullopt if no operator = of the class takes both types, and no implicit cast leads to one.
std::optional<KeyComparison> key_comparison(Oid referenced, Oid referring);

}  // namespace redquel::sql
