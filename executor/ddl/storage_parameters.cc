#include "executor/ddl/storage_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "parser/option_value.h"
#include "sql/ascii.h"
#include "sql/catalog/index_text.h"
#include "sql/error.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"
#include "sql/types/number_text.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;

namespace {

enum class ParameterKind : std::uint8_t { kBool, kInteger, kReal, kAutomatic };

struct StorageParameter {
  std::string_view owner, name;
  ParameterKind kind;
  double least = 0, most = 0;
};

constexpr double kMost = INT32_MAX;
constexpr auto kBool = ParameterKind::kBool;
constexpr auto kInteger = ParameterKind::kInteger;
constexpr auto kReal = ParameterKind::kReal;

/// Manual: CREATE TABLE and CREATE INDEX, Storage Parameters.
constexpr StorageParameter kStorageParameters[] = {
    {"heap", "buckets", kInteger, 1, 64},  // spread_options.h
    {"heap", "fillfactor", kInteger, 10, 100},
    {"heap", "toast_tuple_target", kInteger, 128, 8160},
    {"heap", "parallel_workers", kInteger, 0, 1024},
    {"heap", "user_catalog_table", kBool},
    {"heap", "autovacuum_analyze_threshold", kInteger, 0, kMost},
    {"heap", "autovacuum_analyze_scale_factor", kReal, 0, 100},
    {"toast", "vacuum_truncate", kBool},
    {"toast", "vacuum_index_cleanup", ParameterKind::kAutomatic},
    {"toast", "autovacuum_enabled", kBool},
    {"toast", "autovacuum_vacuum_threshold", kInteger, 0, kMost},
    {"toast", "autovacuum_vacuum_insert_threshold", kInteger, -1, kMost},
    {"toast", "autovacuum_vacuum_cost_limit", kInteger, 1, 10'000},
    {"toast", "autovacuum_freeze_min_age", kInteger, 0, 1'000'000'000},
    {"toast", "autovacuum_freeze_max_age", kInteger, 100'000, 2'000'000'000},
    {"toast", "autovacuum_freeze_table_age", kInteger, 0, 2'000'000'000},
    {"toast", "autovacuum_multixact_freeze_min_age", kInteger, 0, 1'000'000'000},
    {"toast", "autovacuum_multixact_freeze_max_age", kInteger, 10'000, 2'000'000'000},
    {"toast", "autovacuum_multixact_freeze_table_age", kInteger, 0, 2'000'000'000},
    {"toast", "log_autovacuum_min_duration", kInteger, -1, kMost},
    {"toast", "autovacuum_vacuum_cost_delay", kReal, 0, 100},
    {"toast", "autovacuum_vacuum_scale_factor", kReal, 0, 100},
    {"toast", "autovacuum_vacuum_insert_scale_factor", kReal, 0, 100},
    {"btree", "fillfactor", kInteger, 10, 100},
    {"btree", "deduplicate_items", kBool},
    {"hash", "fillfactor", kInteger, 10, 100},
    {"gin", "fastupdate", kBool},
    {"gin", "gin_pending_list_limit", kInteger, 64, kMost},
    {"gist", "fillfactor", kInteger, 10, 100},
    {"gist", "buffering", ParameterKind::kAutomatic},
    {"spgist", "fillfactor", kInteger, 10, 100},
    {"brin", "pages_per_range", kInteger, 1, 131'072},
    {"brin", "autosummarize", kBool},
};

/// A table accepts the parameters of its TOAST table, too.
const StorageParameter* find_parameter(std::string_view owner, std::string_view name) {
  const auto found = std::ranges::find_if(kStorageParameters, [&](const StorageParameter& parameter) {
    return parameter.name == name && (parameter.owner == owner || (owner == "heap" && parameter.owner == "toast"));
  });
  return found == std::end(kStorageParameters) ? nullptr : found;
}

void check_number(const StorageParameter& parameter, const std::string& text) {
  const bool is_integer = parameter.kind == ParameterKind::kInteger;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw SqlError(sqlstate::kInvalidParameterValue,
                   fmt::format("invalid value for {} option \"{}\": {}", is_integer ? "integer" : "floating point", parameter.name, text));
  }
  if (is_integer) number = std::nearbyint(number);
  if (number >= parameter.least && number <= parameter.most) return;
  const auto shown = [&](double limit) { return is_integer ? fmt::format("{:.0f}", limit) : fmt::format("{:.6f}", limit); };
  throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("value {} out of bounds for option \"{}\"", text, parameter.name))
      .detail(fmt::format("Valid values are between \"{}\" and \"{}\".", shown(parameter.least), shown(parameter.most)));
}

bool is_bool(const std::string& text) {
  try {
    sql::parse_bool(text);
  } catch (const SqlError&) {
    return false;
  }
  return true;
}

void check_value(const StorageParameter& parameter, const ast::Option& option) {
  const std::string text = parser::option_text(option).value_or("true");
  switch (parameter.kind) {
    case ParameterKind::kInteger:
    case ParameterKind::kReal:
      return check_number(parameter, text);
    case ParameterKind::kBool:
      if (is_bool(text)) return;
      throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("invalid value for boolean option \"{}\": {}", parameter.name, text));
    case ParameterKind::kAutomatic:
      if (sql::equals_ignoring_case(text, "auto") || is_bool(text)) return;
      throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("invalid value for enum option \"{}\": {}", parameter.name, text))
          .detail("Valid values are \"on\", \"off\", and \"auto\".");
  }
}

}  // namespace

std::string_view parameter_owner(sql::IndexMethod method) {
  switch (method) {
    case sql::IndexMethod::kHash: return "hash";
    case sql::IndexMethod::kGin: return "gin";
    case sql::IndexMethod::kGist: return "gist";
    case sql::IndexMethod::kSpgist: return "spgist";
    case sql::IndexMethod::kBrin: return "brin";
    default: return "btree";
  }
}

void check_option_name(std::string_view name) {
  if (name.find('=') == std::string_view::npos) return;
  throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("invalid option name \"{}\": must not contain \"=\"", name));
}

void check_storage_parameters(std::string_view owner, const std::vector<ast::Option>& options) {
  const bool is_view = owner == "materialized view", is_table = is_view || owner == "heap";
  if (is_view) owner = "heap";
  for (const ast::Option& option : options) {
    if (!option.name_space.empty() && !(is_table && option.name_space == "toast")) {
      throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("unrecognized parameter namespace \"{}\"", option.name_space));
    }
    check_option_name(option.name);
  }
  for (const ast::Option& option : options) {
    const auto is_same = [&](const ast::Option& other) {
      return &other < &option && other.name == option.name && other.name_space == option.name_space;
    };
    if (std::ranges::any_of(options, is_same)) {
      throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("parameter \"{}\" specified more than once", option.name));
    }
    if (is_table && (option.name == "ttl" || option.name == "ttl_column" || option.name == "cache")) continue;  // ttl_options.h
    if (is_view && option.name == "maintained" && option.name_space.empty()) continue;                       // maintained_parts.h
    if (is_table && option.name == "bucket_by") continue;                                                    // spread_options.h
    if (is_table && option.name == "oids") {
      if (parser::option_flag(option).value_or(true)) throw SqlError(sqlstate::kFeatureNotSupported, "tables declared WITH OIDS are not supported");
      continue;
    }
    const StorageParameter* known = find_parameter(option.name_space.empty() ? owner : "toast", option.name);
    if (known == nullptr) throw sql::unrecognized_parameter(option.name);
    check_value(*known, option);
  }
}

void check_reset_parameters(const std::vector<ast::Option>& options) {
  const auto has_value = [](const ast::Option& option) { return !std::holds_alternative<std::monostate>(option.value); };
  if (std::ranges::any_of(options, has_value)) throw SqlError(sqlstate::kSyntaxError, "RESET must not include values for parameters");
}

void set_index_options(sql::IndexDef& index, const std::vector<ast::Option>& options, bool reset) {
  sql::IndexOptions kept = sql::read_index_options(index.definition_suffix);
  for (const ast::Option& option : options) {
    std::erase_if(kept, [&](const auto& other) { return other.first == option.name; });
    if (!reset) kept.emplace_back(option.name, parser::option_text(option).value_or("true"));
  }
  index.definition_suffix = sql::index_options_text(kept);
}

}  // namespace redquel::executor
