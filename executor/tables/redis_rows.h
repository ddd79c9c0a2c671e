#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "executor/redis/reply.h"
#include "planner/tree/physical_plan.h"
#include "sql/column.h"
#include "sql/system_tables.h"

namespace redquel::executor {

/// Returns a text of UTF-8 without zero bytes: other bytes of Redis are shown as \xHH.
std::string readable(std::string_view bytes);

/// Collects rows of a table of the schema redis: only the columns that the plan wants, in its order.
class RedisRows {
 public:
  explicit RedisRows(const planner::PhysicalSystemScan& plan);

  /// One row: `value` is asked for the text form of each wanted column by its name; nullopt is NULL.
  void add(const std::function<std::optional<std::string>(std::string_view column)>& value);
  bool wants(std::string_view column) const;
  std::size_t size() const { return rows_; }
  sql::Batch take();

 private:
  std::vector<const sql::SystemTable::SystemColumn*> wanted_;
  std::vector<std::shared_ptr<sql::Column>> columns_;
  std::size_t rows_ = 0;
};

/// The text form of a timestamptz, from seconds since 1970.
std::string timestamp_text(std::int64_t seconds);
/// The text form of a text[].
std::string array_text(const std::vector<std::string>& elements);

/// Returns the command of a table that one command reads.
CommandBatch report_command(std::string_view table, const std::optional<std::string>& name);
/// Its reply as rows. `hides_arguments`: those of commands in the slow log are NULL. Throws the SqlError of an error reply.
void add_report(std::string_view table, const Replies& replies, bool hides_arguments, RedisRows& rows);

}  // namespace redquel::executor
