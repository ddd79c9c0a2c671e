#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "sql/evaluation_context.h"
#include "sql/jsonpath/jsonpath.h"
#include "sql/jsonpath/value.h"

namespace redquel::sql {

/// One run of a path over a document (manual 9.16.2).
struct JsonPathQuery {
  const JsonPath& path;
  std::string_view document;   // jsonb
  std::string_view variables;  // a jsonb object
  bool silent = false;         // errors of the data are no answer instead of SqlErrors
  bool with_zone = false;      // of the _tz functions: the session's time zone may decide
  const EvaluationContext& context;
};

/// The values that the path finds, as jsonb texts; after an error that is kept silent those before it. 22023 for variables that
/// are no object; 22033, 22036, 22038, 22039, 2203A, 2203B, 2203C where data and path do not fit.
std::optional<std::vector<std::string>> run_jsonpath(const JsonPathQuery& query);
/// Returns true if the path finds an item; in lax mode it stops at the first.
std::optional<bool> jsonpath_exists(const JsonPathQuery& query);

}  // namespace redquel::sql
