#include "sql/functions/padded_text.h"

#include <string>

#include "sql/types/text_io.h"

namespace redquel::sql {

ColumnPtr with_padding(const ColumnPtr& column) {
  const Type type = column->type();
  if (type.modifier < 0 || column->size() == 0) return column;
  std::string text;
  const auto pad = [&](std::size_t row) -> const std::string& {
    const std::string_view value = column->get<std::string_view>(row);
    text = value;
    append_padding(type, value, text);
    return text;
  };
  if (column->is_constant()) {
    if (column->is_null(0)) return column;
    return std::make_shared<const Column>(Column::constant(kText, Datum(pad(0)), column->size()));
  }
  Column padded(kText);
  padded.reserve(column->size());
  for (std::size_t row = 0; row < column->size(); ++row) {
    if (column->is_null(row)) {
      padded.append_null();
    } else {
      padded.append(pad(row));
    }
  }
  return std::make_shared<const Column>(std::move(padded));
}

}  // namespace redquel::sql
