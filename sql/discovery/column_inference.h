#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redquel::sql {

/// The type and form that were inferred for the values of one column.
struct InferredColumn {
  std::string type = "text";
  std::string format;  // of CREATE FOREIGN TABLE; empty: PostgreSQL's text form
  bool empties_are_null = false;
  bool nullable = true;
  std::string doubt;  // what a person should look at; empty: nothing
};

/// The type of values, of which a missing one is nullopt. `name` decides where values alone cannot: a number that may be Unix time, 0 and 1
/// that may be yes and no. `is_complete`: there are no other values.
InferredColumn infer_column(std::string_view name, const std::vector<std::optional<std::string>>& values, bool is_complete);

}  // namespace redquel::sql
