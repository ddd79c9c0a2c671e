#include "sql/types/binary_io.h"

#include <fmt/format.h>

#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/types/binary_reader.h"
#include "sql/types/text_io.h"
#include "sql/types/type_operations.h"

namespace redquel::sql {
namespace {

[[noreturn]] void throw_no_function(std::string_view direction, Type type) {
  throw SqlError(sqlstate::kUndefinedFunction, fmt::format("no binary {} function available for type {}", direction, format_type(type)));
}

}  // namespace

Datum decode_binary(Type type, std::string_view bytes, EncodingConverter* client) {
  const auto decode = operations_of(type.oid).decode;
  if (decode == nullptr) throw_no_function("input", type);
  BinaryReader reader(bytes, client);
  Datum value = decode(type, reader);
  reader.expect_end();
  return value;
}

void encode_binary(Type type, const Datum& value, std::string& out, EncodingConverter* client) {
  if (is_null(value)) return;
  const auto encode = operations_of(type.oid).encode;
  if (encode == nullptr) throw_no_function("output", type);
  encode(type, value, out, client);
}

void encode_binary(const Column& column, std::size_t row, std::string& out, EncodingConverter* client) {
  const Type type = column.type();
  const TypeOperations& operations = operations_of(type.oid);
  if (operations.encode == nullptr) throw_no_function("output", type);
  if (column.is_encoded()) {
    operations.encode(type, stored_value(type, column.get<std::string_view>(row)), out, client);
  } else {
    operations.encode_row(column, row, out, client);
  }
}

}  // namespace redquel::sql
