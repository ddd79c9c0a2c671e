#include "executor/storage/stored_format.h"

#include <fmt/format.h>

#include <charconv>

#include "sql/catalog/stored_keys.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

using sql::SqlError;

void check_stored_format(std::optional<std::string_view> stored) {
  if (!stored) return;
  int number = 0;
  const auto [end, error] = std::from_chars(stored->data(), stored->data() + stored->size(), number);
  const bool is_number = error == std::errc() && end == stored->data() + stored->size() && number >= 0;
  if (error == std::errc::result_out_of_range || (is_number && number > sql::kStoredFormat)) {
    throw SqlError(sqlstate::kFeatureNotSupported, fmt::format("the data in Redis has format {}, and this redquel knows formats up to {}",
                                                               stored->substr(0, 20), sql::kStoredFormat))
        .hint("A newer redquel has written it. Start that one.");
  }
  if (!is_number) {
    throw SqlError(sqlstate::kDataCorrupted,
                   fmt::format("the Redis key \"{}\" holds no format number", sql::kFormatKey))
        .hint(fmt::format("redis-cli SET {} {} writes it anew, if the newest redquel over this Redis is this one.",
                          sql::kFormatKey, sql::kStoredFormat));
  }
}

}  // namespace redquel::executor
