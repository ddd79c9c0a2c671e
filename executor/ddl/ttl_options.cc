#include "executor/ddl/ttl_options.h"

#include <fmt/format.h>

#include <optional>

#include "executor/ddl/maintained_parts.h"
#include "parser/option_value.h"
#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/types/datetime.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;

namespace {

/// Longer than any row lives; PEXPIRE takes it.
constexpr std::int64_t kLongest = std::int64_t{1} << 50;

std::string text_of(const ast::Option& option) {
  const std::optional<std::string> text = parser::option_text(option);
  if (!text) throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("invalid value for parameter \"{}\"", option.name));
  return std::holds_alternative<std::int64_t>(option.value) ? *text + " seconds" : *text;
}

std::int64_t milliseconds_of(const std::string& text) {
  sql::Interval interval;
  try {
    interval = sql::parse_interval(text, sql::SessionSettings{});
  } catch (const SqlError&) {
    throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("invalid value for parameter \"ttl\": \"{}\"", text))
        .hint("It is an interval, such as '1 hour'.");
  }
  // Months have 30 days here, as in comparisons of intervals.
  const long double days = 30.0L * interval.months + interval.days;
  const long double milliseconds = days * 86'400'000.0L + static_cast<long double>(interval.microseconds) / 1000;
  if (milliseconds < 1 || milliseconds > static_cast<long double>(kLongest)) {
    throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("invalid value for parameter \"ttl\": \"{}\"", text))
        .detail("A time to live is at least a millisecond.");
  }
  return static_cast<std::int64_t>(milliseconds);
}

std::int16_t column_of(const sql::TableDef& table, const std::string& name) {
  const sql::ColumnDef* column = table.find_column(name);
  if (column == nullptr) {
    throw SqlError(sqlstate::kUndefinedColumn, fmt::format("column \"{}\" named in parameter \"ttl_column\" does not exist", name));
  }
  if (column->type.oid != sql::oid::kTimestamptz) {
    throw SqlError(sqlstate::kDatatypeMismatch,
                   fmt::format("column \"{}\" named in parameter \"ttl_column\" must be of type timestamp with time zone", name));
  }
  return column->number;
}

}  // namespace

bool set_time_to_live(sql::TableDef& table, const std::vector<ast::Option>& options, bool reset) {
  bool is_changed = false;
  sql::RowExpiry& expiry = table.managed().expiry;
  for (const ast::Option& option : options) {
    if (!option.name_space.empty()) continue;
    if (option.name == "ttl") {
      is_changed = true;
      expiry.written = reset ? "" : text_of(option);
      expiry.milliseconds = reset ? 0 : milliseconds_of(expiry.written);
    } else if (option.name == "ttl_column") {
      is_changed = true;
      expiry.column = reset ? std::int16_t{0} : column_of(table, text_of(option));
    }
  }
  if (expiry.milliseconds != 0 && expiry.column != 0) {
    throw SqlError(sqlstate::kInvalidParameterValue, "parameters \"ttl\" and \"ttl_column\" cannot be used together");
  }
  if (is_changed && !table.referencing.empty()) check_rows_stay(table);
  if (is_changed && expiry.any()) check_not_maintained(table, "parameter ttl");
  return is_changed;
}

void set_cache_option(sql::TableDef& table, const std::vector<ast::Option>& options, bool reset) {
  for (const ast::Option& option : options) {
    if (!option.name_space.empty() || option.name != "cache") continue;
    const std::optional<bool> flag = reset ? std::nullopt : parser::option_flag(option);
    if (!reset && !flag) {
      throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("invalid value for boolean option \"cache\": {}", parser::option_text(option).value_or("")));
    }
    table.cache = reset ? "" : *flag ? "on" : "off";
  }
}

void check_rows_stay(const sql::TableDef& referenced) {
  if (!referenced.rows_expire()) return;
  throw SqlError(sqlstate::kFeatureNotSupported,
                 fmt::format("foreign keys to table \"{}\", whose rows expire, are not supported", referenced.name));
}

}  // namespace redquel::executor
