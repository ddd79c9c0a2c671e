#pragma once

#include "sql/functions/array_kernels.h"

namespace redquel::sql {

/// The arrays of a column, row after row. Where a row has the very text of the one before (a constant, a row that a join repeats), it is
/// not taken apart again.
class RepeatedArray {
 public:
  explicit RepeatedArray(const Column& column) : column_(column) {}

  const ArrayValue& at(std::size_t row) {
    const std::string_view text = column_.get<std::string_view>(row);
    if (text.data() != text_.data() || text.size() != text_.size()) {
      array_ = read_array(column_.type().oid, text);
      text_ = text;
    }
    return array_;
  }

 private:
  const Column& column_;
  std::string_view text_;
  ArrayValue array_;
};

}  // namespace redquel::sql
