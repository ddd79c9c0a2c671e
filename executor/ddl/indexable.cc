#include "executor/ddl/indexable.h"

#include <fmt/format.h>

#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/types/text_order.h"
#include "sql/types/type_operations.h"

namespace redquel::executor {

using sql::SqlError;

void check_indexable(sql::Type type, std::string_view method) {
  const sql::TypeOperations& operations = sql::operations_of(type.oid);
  if (operations.has_order_class && (method != "hash" || operations.has_hash_class)) {
    if (method != "zset" || sql::has_ordered_form(type)) return;
    throw sql::not_supported(fmt::format("a zset over type {}", sql::format_type(type)));
  }
  throw SqlError(sqlstate::kUndefinedObject,
                 fmt::format("data type {} has no default operator class for access method \"{}\"", sql::format_type(sql::Type{type.oid}), method))
      .hint("You must specify an operator class for the index or define a default operator class for the data type.");
}

}  // namespace redquel::executor
