#include "sql/functions/row_version.h"

#include "sql/functions/lift.h"
#include "sql/types/server_numbers.h"
#include "sql/types/text_io.h"

namespace redquel::sql {
namespace {

/// FNV-1a: the same in every process and for ever, which std::hash does not promise.
class Digest {
 public:
  void add(std::string_view bytes) {
    for (const char c : bytes) hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  std::uint32_t finish() const {
    constexpr std::uint32_t kFirstNormal = 3;  // below are the numbers of no transaction, of initdb, and of frozen rows
    const auto folded = static_cast<std::uint32_t>(hash_ >> 32 ^ hash_);
    return folded < kFirstNormal ? folded + kFirstNormal : folded;
  }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325;
};

/// Texts in the storage form, so that no setting of a session counts; each with its length, so that no two rows are written alike.
ColumnPtr version(std::span<const ColumnPtr> arguments, std::size_t rows, Type result, const EvaluationContext&) {
  Column column(result);
  column.reserve(rows);
  std::string text;
  for (std::size_t row = 0; row < rows; ++row) {
    if (arguments[0]->is_null(row)) {
      column.append_null();
      continue;
    }
    Digest digest;
    for (const ColumnPtr& value : arguments.subspan(1)) {
      text.clear();
      const bool is_null = value->is_null(row);
      if (!is_null) format_value(value->type(), value->datum(row), {}, text);
      digest.add(is_null ? "-" : std::to_string(text.size()));
      digest.add(":");
      digest.add(text);
    }
    column.append_datum(static_cast<std::int32_t>(digest.finish()));
  }
  return std::make_shared<const Column>(std::move(column));
}

}  // namespace

const ScalarFunction& row_version() {
  static const ScalarFunction function = column_function("xmin", {kAny}, kXid, version, Volatility::kImmutable, false, true);
  return function;
}

}  // namespace redquel::sql
