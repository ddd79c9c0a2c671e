#include "server/parameter_checks.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "executor/roles/access.h"
#include "planner/bind/view_answer.h"
#include "server/ascii.h"
#include "server/parameter_values.h"
#include "sql/catalog/role_set.h"
#include "sql/identifier_list.h"
#include "sql/sqlstate.h"
#include "sql/text_search/dictionary.h"
#include "sql/types/datetime.h"
#include "sql/types/interval.h"
#include "sql/types/text_encoding.h"
#include "sql/types/time_zone.h"

namespace redquel::server {

using executor::SessionState;

namespace {

struct DateStyleValue {
  sql::DateStyle style = sql::DateStyle::kIso;
  sql::DateOrder order = sql::DateOrder::kMdy;
};

std::string date_style_text(const DateStyleValue& value) {
  static constexpr std::string_view kStyles[] = {"ISO", "SQL", "Postgres", "German"};
  static constexpr std::string_view kOrders[] = {"MDY", "DMY", "YMD"};
  return fmt::format("{}, {}", kStyles[static_cast<int>(value.style)], kOrders[static_cast<int>(value.order)]);
}

bool has_prefix(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }

/// The words of DateStyle, on top of what holds; throws 22023. Style and order may each be named once.
DateStyleValue parse_date_style(const std::string& text, DateStyleValue current) {
  const auto fail = [&](std::string detail) {
    return invalid_parameter_value("DateStyle", text).detail(std::move(detail));
  };
  const auto words = sql::split_identifier_list(text);
  if (!words) throw fail("List syntax is invalid.");
  bool style_named = false, order_named = false, consistent = true;
  const auto take_style = [&](sql::DateStyle style) {
    consistent = consistent && (!style_named || current.style == style);
    current.style = style;
    style_named = true;
  };
  const auto take_order = [&](sql::DateOrder order) {
    consistent = consistent && (!order_named || current.order == order);
    current.order = order;
    order_named = true;
  };
  for (const std::string& original : *words) {
    const std::string word = lower_case(original);
    if (word == "iso") {
      take_style(sql::DateStyle::kIso);
    } else if (word == "sql") {
      take_style(sql::DateStyle::kSql);
    } else if (has_prefix(word, "postgres")) {
      take_style(sql::DateStyle::kPostgres);
    } else if (word == "german") {
      take_style(sql::DateStyle::kGerman);
      if (!order_named) current.order = sql::DateOrder::kDmy;
    } else if (word == "ymd") {
      take_order(sql::DateOrder::kYmd);
    } else if (word == "dmy" || has_prefix(word, "euro")) {
      take_order(sql::DateOrder::kDmy);
    } else if (word == "mdy" || word == "us" || has_prefix(word, "noneuro")) {
      take_order(sql::DateOrder::kMdy);
    } else if (word == "default") {
      if (!style_named) current.style = sql::DateStyle::kIso;
      if (!order_named) current.order = sql::DateOrder::kMdy;
    } else {
      throw fail(fmt::format("Unrecognized key word: \"{}\".", original));
    }
  }
  if (!consistent) throw fail("Conflicting \"datestyle\" specifications.");
  return current;
}

}  // namespace

std::string only_initial(const ParameterDefinition& definition, std::string value, const SessionState&) {
  if (value == definition.initial) return value;
  throw sql::not_supported(fmt::format("{} = {}", definition.name, value));
}

std::string check_without_oids(const ParameterDefinition&, std::string value, const SessionState&) {
  if (value == "off") return value;
  throw sql::SqlError(sqlstate::kFeatureNotSupported, "tables declared WITH OIDS are not supported");
}

namespace {

executor::IsolationLevel isolation_level(std::string_view value) {
  if (value == "serializable") return executor::IsolationLevel::kSerializable;
  if (value == "repeatable read") return executor::IsolationLevel::kRepeatableRead;
  return executor::IsolationLevel::kReadCommitted;
}

}  // namespace

std::string check_transaction_isolation(const ParameterDefinition&, std::string value, const SessionState& session) {
  if (!session.transaction || isolation_level(value) == session.modes.isolation) return value;
  if (session.has_queried) throw sql::SqlError(sqlstate::kActiveTransaction, "SET TRANSACTION ISOLATION LEVEL must be called before any query");
  if (session.savepoints > 0) {
    throw sql::SqlError(sqlstate::kActiveTransaction, "SET TRANSACTION ISOLATION LEVEL must not be called in a subtransaction");
  }
  return value;
}

std::string check_default_read_only(const ParameterDefinition&, std::string value, const SessionState& session) {
  if (session.only_reads && value != "on") {
    throw sql::SqlError(sqlstate::kReadOnlyTransaction, "cannot set transaction read-write mode in a session that may only read");
  }
  if (!session.only_looks || value == "on") return value;
  throw sql::SqlError(sqlstate::kFeatureNotSupported, "cannot set transaction read-write mode during recovery")
      .detail("This redquel only looks at its Redis.");
}

std::string check_transaction_read_only(const ParameterDefinition& definition, std::string value, const SessionState& session) {
  value = check_default_read_only(definition, std::move(value), session);
  if (!session.transaction || value == "on" || !session.modes.read_only) return value;
  if (session.savepoints > 0) {
    throw sql::SqlError(sqlstate::kActiveTransaction, "cannot set transaction read-write mode inside a read-only transaction");
  }
  if (session.has_queried) throw sql::SqlError(sqlstate::kActiveTransaction, "transaction read-write mode must be set before any query");
  return value;
}

std::string check_transaction_deferrable(const ParameterDefinition&, std::string value, const SessionState& session) {
  if (!session.transaction) return value;
  if (session.savepoints > 0) {
    throw sql::SqlError(sqlstate::kActiveTransaction, "SET TRANSACTION [NOT] DEFERRABLE cannot be called within a subtransaction");
  }
  if (session.has_queried) {
    throw sql::SqlError(sqlstate::kActiveTransaction, "SET TRANSACTION [NOT] DEFERRABLE must be called before any query");
  }
  return value;
}

void apply_transaction_isolation(const std::string& value, SessionState& session) {
  session.modes.isolation = isolation_level(value);
}
void apply_transaction_read_only(const std::string& value, SessionState& session) { session.modes.read_only = value == "on"; }
void apply_transaction_deferrable(const std::string& value, SessionState& session) { session.modes.deferrable = value == "on"; }

void apply_auto_explain_analyze(const std::string& value, SessionState& session) { session.auto_explain.analyze = value == "on"; }
void apply_auto_explain_format(const std::string& value, SessionState& session) { session.auto_explain.json = value == "json"; }
void apply_auto_explain_min_duration(const std::string& value, SessionState& session) { session.auto_explain.min_duration = std::stoll(value); }
void apply_auto_explain_verbose(const std::string& value, SessionState& session) { session.auto_explain.verbose = value == "on"; }
void apply_reads_memory(const std::string& value, SessionState& session) { session.reads_memory = value == "on"; }
std::string check_left_out_rules(const ParameterDefinition& definition, std::string value, const SessionState&) {
  if (planner::parse_left_out_rules(value)) return value;
  std::string names;
  for (const planner::AccessRuleText& rule : planner::access_rules()) names += (names.empty() ? "" : ", ") + std::string(rule.name);
  throw invalid_parameter_value(definition.name, value).hint("Available rules: " + names + ".");
}
void apply_left_out_rules(const std::string& value, SessionState& session) {
  const std::uint64_t views = session.left_out_rules.rules & planner::kViewsLeftOut;
  session.left_out_rules = planner::parse_left_out_rules(value).value_or(planner::LeftOutRules());
  session.left_out_rules.rules = (session.left_out_rules.rules & ~planner::kViewsLeftOut) | views;
}
void apply_use_views(const std::string& value, SessionState& session) {
  if (value == "on") session.left_out_rules.rules &= ~planner::kViewsLeftOut;
  else session.left_out_rules.rules |= planner::kViewsLeftOut;
}
void apply_row_security(const std::string& value, SessionState& session) { session.row_security = value == "on"; }
void apply_lock_timeout(const std::string& value, SessionState& session) { session.lock_timeout = std::stoll(value); }
void apply_deadlock_timeout(const std::string& value, SessionState& session) { session.deadlock_timeout = std::stoll(value); }

std::string ascii_only(const ParameterDefinition&, std::string value, const SessionState&) {
  for (char& c : value) {
    if (c < 32 || c > 126) c = '?';
  }
  return value;
}

std::string check_client_encoding(const ParameterDefinition& definition, std::string value, const SessionState&) {
  const sql::EncodingInfo* encoding = sql::find_client_encoding(value);
  if (!encoding) throw invalid_parameter_value(definition.name, value);
  return std::string(encoding->name);
}

std::string check_date_style(const ParameterDefinition&, std::string value, const SessionState& session) {
  return date_style_text(parse_date_style(value, {session.settings.date_style, session.settings.date_order}));
}

void apply_date_style(const std::string& value, SessionState& session) {
  const DateStyleValue parsed = parse_date_style(value, {});
  session.settings.date_style = parsed.style;
  session.settings.date_order = parsed.order;
}

std::string check_time_zone(const ParameterDefinition& definition, std::string value, const SessionState& session) {
  // SET TIME ZONE INTERVAL '…' arrives as the text `INTERVAL '…'`.
  constexpr std::string_view kInterval = "interval";
  if (value.size() > kInterval.size() && equal_ignoring_case(value.substr(0, kInterval.size()), kInterval)) {
    const std::size_t open = value.find('\''), close = value.rfind('\'');
    if (open == std::string::npos || close <= open) throw invalid_parameter_value(definition.name, value);
    const sql::Interval interval =
        sql::parse_interval(std::string_view(value).substr(open + 1, close - open - 1), session.settings);
    if (interval.months != 0) {
      throw invalid_parameter_value(definition.name, value).detail("Cannot specify months in time zone interval.");
    }
    if (interval.days != 0) {
      throw invalid_parameter_value(definition.name, value).detail("Cannot specify days in time zone interval.");
    }
    value = fmt::format("{}", static_cast<double>(interval.microseconds) / 3.6e9);
  }
  std::optional<std::string> zone = sql::normalize_time_zone(value);
  if (!zone) throw invalid_parameter_value(definition.name, value);
  return *std::move(zone);
}

void apply_time_zone(const std::string& value, SessionState& session) { session.settings.time_zone = value; }

std::string check_locale(const ParameterDefinition& definition, std::string value, const SessionState&) {
  if (value == "C" || value == "POSIX") return value;
  throw invalid_parameter_value(definition.name, value);
}

std::string check_tablespace(const ParameterDefinition& definition, std::string value, const SessionState&) {
  if (value.empty() || value == "pg_default" || value == "\"\"") return value;
  throw invalid_parameter_value(definition.name, value).detail(fmt::format("Tablespace \"{}\" does not exist.", value));
}

std::string check_access_method(const ParameterDefinition& definition, std::string value, const SessionState&) {
  if (value == "heap") return value;
  throw invalid_parameter_value(definition.name, value)
      .detail(fmt::format("Table access method \"{}\" does not exist.", value));
}

std::string check_text_search_configuration(const ParameterDefinition& definition, std::string value, const SessionState&) {
  constexpr std::string_view kSchema = "pg_catalog.";
  const std::string name = lower_case(value.starts_with(kSchema) ? std::string_view(value).substr(kSchema.size()) : std::string_view(value));
  const auto rows = sql::text_search::built_in_configurations();
  if (std::ranges::find(rows, name, &sql::text_search::ConfigurationRow::name) == rows.end()) throw invalid_parameter_value(definition.name, value);
  return std::string(kSchema) + name;
}

std::string check_role(const ParameterDefinition&, std::string value, const SessionState& session) {
  if (value == "none") return value;
  const sql::RoleSet& roles = *sql::known_roles();
  const sql::RoleDef* role = roles.find(value);
  if (role == nullptr) throw sql::SqlError(sqlstate::kInvalidParameterValue, fmt::format("role \"{}\" does not exist", value));
  if (!roles.may_become(executor::session_role(roles, session), role->oid, session.database)) {
    throw sql::SqlError(sqlstate::kInsufficientPrivilege, fmt::format("permission denied to set role \"{}\"", value));
  }
  return value;
}

std::string check_session_authorization(const ParameterDefinition&, std::string value, const SessionState&) {
  if (sql::known_roles()->find(value) == nullptr) {
    throw sql::SqlError(sqlstate::kInvalidParameterValue, fmt::format("role \"{}\" does not exist", value));
  }
  return value;
}

void apply_interval_style(const std::string& value, SessionState& session) {
  session.settings.interval_style = value == "postgres_verbose" ? sql::IntervalStyle::kPostgresVerbose
                                    : value == "sql_standard"   ? sql::IntervalStyle::kSqlStandard
                                    : value == "iso_8601"       ? sql::IntervalStyle::kIso8601
                                                                : sql::IntervalStyle::kPostgres;
}

void apply_bytea_output(const std::string& value, SessionState& session) {
  session.settings.bytea_output = value == "escape" ? sql::ByteaOutput::kEscape : sql::ByteaOutput::kHex;
}

void apply_extra_float_digits(const std::string& value, SessionState& session) {
  session.settings.extra_float_digits = std::stoi(value);
}

void apply_search_path(const std::string& value, SessionState& session) {
  const auto names = sql::split_identifier_list(value);
  std::vector<std::string> path;
  const std::string& temporary = session.temporary_schema;
  if (names && !temporary.empty() && std::ranges::find(*names, "pg_temp") == names->end()) path.push_back(temporary);
  for (const std::string& name : names.value_or(std::vector<std::string>{})) {
    const bool is_own = name == "pg_temp" && !temporary.empty();
    if (!name.empty()) path.push_back(is_own ? temporary : name);
  }
  session.set_search_path(std::move(path));
}

namespace {

/// Returns a stored number of kilobytes as bytes; none for a negative one.
std::optional<std::uint64_t> bytes_of(std::string_view kilobytes) {
  std::int64_t number = 0;
  std::from_chars(kilobytes.data(), kilobytes.data() + kilobytes.size(), number);
  return number < 0 ? std::nullopt : std::optional(static_cast<std::uint64_t>(number) << 10);
}

}  // namespace

std::string check_work_mem(const ParameterDefinition& definition, std::string value, const SessionState& session) {
  if (!session.work_mem_limit || bytes_of(value) <= session.work_mem_limit) return value;
  ParameterDefinition bounded = definition;
  bounded.traits.maximum = static_cast<double>(*session.work_mem_limit >> 10);
  throw parameter_out_of_range(bounded, value);
}

std::string check_temp_file_limit(const ParameterDefinition& definition, std::string value, const SessionState& session) {
  const std::optional<std::uint64_t> wanted = bytes_of(value);
  if (!session.temporary_space_limit || (wanted && *wanted <= *session.temporary_space_limit)) return value;
  throw sql::SqlError(sqlstate::kInsufficientPrivilege, fmt::format("permission denied to set parameter \"{}\"", definition.name))
      .detail(fmt::format("limits.temp_file_limit of the configuration allows {} kB.", *session.temporary_space_limit >> 10));
}

void apply_work_mem(const std::string& value, SessionState& session) { session.work_mem = bytes_of(value).value_or(0); }
void apply_temp_file_limit(const std::string& value, SessionState& session) { session.temporary_space->limit = bytes_of(value); }

}  // namespace redquel::server
