#pragma once

#include <string>

#include "sql/column.h"
#include "sql/evaluation_context.h"

namespace redquel::sql {

// Values of any type as JSON (manual 9.16, to_json): numbers and booleans as they are, dates and times in ISO 8601, json
// itself, arrays as arrays, anything else as a string of its text form.

/// One value of a column, null where it is NULL. `line_feeds`: elements of arrays on lines of their own.
void append_json(const Column& column, std::size_t row, const EvaluationContext& context, std::string& out,
                 bool line_feeds = false);
/// The name of a member. 22023 for arrays, records and json; the value is not NULL.
void append_json_key(const Column& column, std::size_t row, const EvaluationContext& context, std::string& out);
/// Arrays and records, which json_agg() puts on lines of their own.
bool is_json_container_type(Type type);

}  // namespace redquel::sql
