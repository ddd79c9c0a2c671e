#pragma once

#include <string_view>

#include "sql/types/type.h"

namespace redquel::executor {

/// 42704 for types whose values no index of this access method can hold: json, jsonpath.
void check_indexable(sql::Type type, std::string_view method);

}  // namespace redquel::executor
