#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "executor/redis/reply.h"
#include "sql/catalog/row_fields.h"

namespace redquel::executor {

/// Returns the stored text of a column that a row's hash holds (Source::Kind::kField), from the answers about the row's fields: of an absent field the
/// text that its column has without it. nullopt: NULL.
inline std::optional<std::string_view> field_text(const sql::RowFields::Source& source, std::span<const Reply> values) {
  if (values[source.index].is_text()) return values[source.index].text;
  if (source.missing != nullptr && !values[*source.null_marker].is_text()) return *source.missing;
  return std::nullopt;
}

}  // namespace redquel::executor
