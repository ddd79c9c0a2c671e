#pragma once

#include <string_view>
#include <vector>

#include "sql/types/type.h"

namespace redquel::sql {

/// The header of a value of type record (row_value.h).
struct RecordHeader {
  std::vector<Type> types;  // of the fields
  std::size_t length = 0;   // behind it are the fields as a row of a composite type has them
};

/// XX001 where the text is no record.
RecordHeader read_record_header(std::string_view record);

}  // namespace redquel::sql
