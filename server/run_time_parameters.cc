#include "server/run_time_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ranges>

#include "executor/roles/access.h"
#include "parser/deparse.h"
#include "server/ascii.h"
#include "server/parameter_values.h"
#include "server/setting_check.h"
#include "sql/catalog/role_set.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::server {

namespace {

constexpr std::string_view kReservedPrefix = "redquel.";

sql::SqlError unrecognized(std::string_view name) {
  return sql::SqlError(sqlstate::kUndefinedObject, fmt::format("unrecognized configuration parameter \"{}\"", name));
}

bool is_identifier_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

/// `a.b.c`: identifiers with dots between.
bool is_custom_name(std::string_view name) {
  bool at_start = true, dotted = false;
  for (const char c : name) {
    if (c == '.') {
      if (at_start) return false;
      at_start = dotted = true;
    } else if (is_identifier_start(c) || (!at_start && ((c >= '0' && c <= '9') || c == '$'))) {
      at_start = false;
    } else {
      return false;
    }
  }
  return dotted && !at_start;
}

/// 42602 for what cannot be a custom parameter. Names without a dot are simply unknown.
void check_custom_name(std::string_view name) {
  if (name.find('.') == std::string_view::npos) throw unrecognized(name);
  if (!is_custom_name(name)) {
    throw sql::SqlError(sqlstate::kInvalidName, fmt::format("invalid configuration parameter name \"{}\"", name))
        .detail("Custom parameter names must be two or more simple identifiers separated by dots.");
  }
  if (equal_ignoring_case(name.substr(0, kReservedPrefix.size()), kReservedPrefix)) {
    throw sql::SqlError(sqlstate::kInvalidName, fmt::format("invalid configuration parameter name \"{}\"", name))
        .detail("\"redquel\" is a reserved prefix.");
  }
}

/// The parameters of a transaction; their values between transactions are those of default_….
constexpr std::array<std::string_view, 3> kTransactionParameters = {"transaction_isolation", "transaction_read_only",
                                                                    "transaction_deferrable"};

bool is_of_transaction(const ParameterDefinition& definition) {
  return std::ranges::find(kTransactionParameters, definition.name) != kTransactionParameters.end();
}

}  // namespace

RunTimeParameters::RunTimeParameters(executor::SessionState& session, const std::vector<ParameterValue>& server_values)
    : session_(session) {
  for (const auto& [name, value] : server_values) {
    const ParameterDefinition* definition = find_parameter(name);
    if (definition && value != definition->initial) setting(*definition).value = setting(*definition).start_value = value;
  }
  for (const ParameterDefinition& definition : parameter_definitions()) apply(definition, std::string(value(definition)));
  take_transaction_defaults();
}

void RunTimeParameters::follow_reload(const std::vector<ParameterValue>& server_values) {
  for (const ParameterDefinition& definition : parameter_definitions()) {
    if (definition.context != ParameterContext::kReload) continue;
    std::string now(definition.initial);
    for (const auto& [name, value] : server_values) {
      if (name == definition.name) now = value;
    }
    if (now == value(definition)) continue;
    setting(definition).start_value = now;
    assign(definition, std::move(now));
  }
}

void RunTimeParameters::user_known(sql::Oid role) {
  login_role_ = role;
  const ParameterDefinition& authorization = *find_parameter("session_authorization");
  setting(authorization).start_value = session_.user;
  assign(authorization, session_.user);
}

std::string_view RunTimeParameters::value(const ParameterDefinition& definition) const {
  const auto found = settings_.find(&definition);
  return found == settings_.end() ? definition.initial : std::string_view(found->second.value);
}
std::string_view RunTimeParameters::start_value(const ParameterDefinition& definition) const {
  const auto found = settings_.find(&definition);
  return found == settings_.end() ? definition.initial : std::string_view(found->second.start_value);
}
RunTimeParameters::Setting& RunTimeParameters::setting(const ParameterDefinition& definition) {
  const auto [found, is_new] = settings_.try_emplace(&definition);
  if (is_new) {
    const std::string initial(definition.initial);
    found->second = {initial, initial, definition.traits.reported ? show_parameter_value(definition, initial) : ""};
  }
  return found->second;
}

const ParameterDefinition& RunTimeParameters::changeable(std::string_view name) const {
  const ParameterDefinition* definition = find_parameter(name);
  if (!definition) throw unrecognized(name);
  const bool is_identity = definition->name == "role" || definition->name == "session_authorization";
  if (is_identity && session_.definer_depth > 0) {
    throw sql::SqlError(sqlstate::kInsufficientPrivilege,
                        fmt::format("cannot set parameter \"{}\" within security-definer function", definition->name));
  }
  switch (definition->context) {
    case ParameterContext::kInternal:
      throw sql::SqlError(sqlstate::kCantChangeRuntimeParam, fmt::format("parameter \"{}\" cannot be changed", definition->name));
    case ParameterContext::kStart:
      throw sql::SqlError(
          sqlstate::kCantChangeRuntimeParam, fmt::format("parameter \"{}\" cannot be changed without restarting the server", definition->name));
    case ParameterContext::kReload:
      throw sql::SqlError(sqlstate::kCantChangeRuntimeParam, fmt::format("parameter \"{}\" cannot be changed now", definition->name));
    case ParameterContext::kSuperuser:
      if (is_stored_setting_ || value(*find_parameter("is_superuser")) == "on") break;
      throw sql::SqlError(sqlstate::kInsufficientPrivilege, fmt::format("permission denied to set parameter \"{}\"", definition->name));
    case ParameterContext::kUser:
      break;
  }
  return *definition;
}

void RunTimeParameters::apply(const ParameterDefinition& definition, const std::string& value) {
  if (definition.traits.apply) definition.traits.apply(value, session_);
  if (definition.name == "statement_timeout") statement_timeout_ = std::stoll(value);
  if (definition.name == "idle_session_timeout") idle_session_timeout_ = std::stoll(value);
  if (definition.name == "idle_in_transaction_session_timeout") idle_in_transaction_timeout_ = std::stoll(value);
  if (definition.name == "client_min_messages") client_min_messages_ = value;
  if (definition.name == "client_encoding") client_encoding_ = value;
  log_.take(definition.name, value);
  if (definition.name == "role") follow_user(value == "none" ? std::string(this->value(*find_parameter("session_authorization"))) : value);
  if (definition.name == "session_authorization") {
    const auto role = settings_.find(find_parameter("role"));
    if (role != settings_.end()) role->second.value = "none";
    follow_user(value);
    session_.session_role = session_.role;
  }
  maybe_changed_ = maybe_changed_ || definition.traits.reported;
}

void RunTimeParameters::assign(const ParameterDefinition& definition, std::string value) {
  apply(definition, value);
  if (settings_.contains(&definition) || value != definition.initial) setting(definition).value = std::move(value);
  if (!in_transaction_ && definition.name.starts_with("default_transaction_")) take_transaction_defaults();
}

void RunTimeParameters::change(const ParameterDefinition& definition, std::string value, bool local) {
  if (in_transaction_) {
    // SET SESSION AUTHORIZATION resets the role. The change of the role is noted first, so that it is restored last.
    if (definition.name == "session_authorization") change(*find_parameter("role"), "none", local);
    changes_.push_back({&definition, {}, std::string(this->value(definition)), value, local || is_of_transaction(definition)});
  }
  assign(definition, std::move(value));
}

void RunTimeParameters::change_custom(const std::string& key, std::optional<std::string> value, bool local) {
  CustomSetting& custom = custom_.at(key);
  if (in_transaction_) changes_.push_back({nullptr, key, custom.value, value, local});
  custom.value = *std::move(value);
}

void RunTimeParameters::restore(const Change& change, const std::optional<std::string>& value) {
  if (change.definition) {
    assign(*change.definition, *value);
  } else {
    custom_.at(change.custom).value = *value;
  }
}

void RunTimeParameters::take_transaction_defaults() {
  // At the end of every transaction: not looked up by name each time.
  static const auto kDefinitions = [] {
    std::vector<std::pair<const ParameterDefinition*, const ParameterDefinition*>> pairs;
    for (const std::string_view name : kTransactionParameters) pairs.emplace_back(find_parameter(name), find_parameter(fmt::format("default_{}", name)));
    return pairs;
  }();
  for (const auto& [definition, initial] : kDefinitions) assign(*definition, std::string(value(*initial)));
}

void RunTimeParameters::begin_transaction() {
  in_transaction_ = true;
  changes_.clear();
}

void RunTimeParameters::end_transaction(bool committed) {
  if (!committed) roll_back_to(0);
  in_transaction_ = false;
  // The last value that was not local stays; without one, the first.
  std::map<std::pair<const ParameterDefinition*, std::string>, std::optional<std::string>> kept;
  for (const Change& change : changes_) {
    auto& value = kept.try_emplace({change.definition, change.custom}, change.before).first->second;
    if (!change.local) value = change.after;
  }
  for (const Change& change : std::views::reverse(changes_)) {
    if (change.local) restore(change, kept.at({change.definition, change.custom}));
  }
  changes_.clear();
  take_transaction_defaults();
}

void RunTimeParameters::roll_back_to(std::size_t mark) {
  while (changes_.size() > mark) {
    restore(changes_.back(), changes_.back().before);
    changes_.pop_back();
  }
}

RunTimeParameters::TransactionValues RunTimeParameters::transaction_values() const {
  TransactionValues values;
  for (const std::string_view name : kTransactionParameters) values.emplace_back(value(*find_parameter(name)));
  return values;
}

void RunTimeParameters::set_transaction_values(const TransactionValues& values) {
  std::size_t index = 0;
  for (const std::string_view name : kTransactionParameters) change(*find_parameter(name), values[index++], true);
}

std::string checked_setting(const executor::SessionState& session, const std::string& name, const std::vector<std::string>& values, bool is_text) {
  const std::string text = is_text ? values.at(0) : RunTimeParameters::join_values(name, values);
  const ParameterDefinition* definition = find_parameter(name);
  if (definition == nullptr) {
    check_custom_name(name);
    return name + "=" + text;
  }
  if (definition->context == ParameterContext::kSuperuser) {
    executor::require_superuser(session, fmt::format("permission denied to set parameter \"{}\"", definition->name));
  } else if (definition->context != ParameterContext::kUser) {
    throw sql::SqlError(sqlstate::kCantChangeRuntimeParam, fmt::format("parameter \"{}\" cannot be changed now", definition->name));
  }
  std::string parsed = parse_parameter_value(*definition, text);
  if (definition->traits.check) definition->traits.check(*definition, std::move(parsed), session);
  return fmt::format("{}={}", definition->name, text);
}

/// The role that logged in may take any role's place if it is a superuser, else only its own.
void RunTimeParameters::check_authorization(const std::string& role) const {
  const std::string_view login = start_value(*find_parameter("session_authorization"));
  const sql::RoleDef* known = sql::known_roles()->find(login);
  if (role == login || (known != nullptr && known->superuser)) return;
  throw sql::SqlError(sqlstate::kInsufficientPrivilege, "permission denied to set session authorization");
}

void RunTimeParameters::follow_user(std::string user) {
  session_.user = std::move(user);
  const sql::RoleDef* role = session_.user == start_value(*find_parameter("session_authorization")) ? sql::known_roles()->find(login_role_)
                                                                                                    : sql::known_roles()->find(session_.user);
  session_.role = role == nullptr ? 0 : role->oid;
  assign(*find_parameter("is_superuser"), role != nullptr && role->superuser ? "on" : "off");
  const ParameterDefinition& search_path = *find_parameter("search_path");
  apply(search_path, std::string(value(search_path)));
}

void RunTimeParameters::set(std::string_view name, std::string_view value, bool local) {
  if (!find_parameter(name)) {
    const std::string key = lower_case(name);
    if (!custom_.contains(key)) {
      check_custom_name(name);
      custom_.emplace(key, CustomSetting{std::string(name), "", ""});
    }
    change_custom(key, std::string(value), local);
    return;
  }
  const ParameterDefinition& definition = changeable(name);
  std::string parsed = parse_parameter_value(definition, value);
  if (definition.traits.check) parsed = definition.traits.check(definition, std::move(parsed), session_);
  if (definition.name == "session_authorization") check_authorization(parsed);
  change(definition, std::move(parsed), local);
}

void RunTimeParameters::set_at_start(std::string_view name, std::string_view value) {
  set(name, value);
  if (const ParameterDefinition* definition = find_parameter(name)) {
    setting(*definition).start_value = setting(*definition).value;
  } else {
    CustomSetting& custom = custom_.at(lower_case(name));
    custom.start_value = custom.value;
  }
}

void RunTimeParameters::set_stored(std::string_view name, std::string_view value) {
  is_stored_setting_ = true;
  try {
    set_at_start(name, value);
  } catch (...) {
    is_stored_setting_ = false;
    throw;
  }
  is_stored_setting_ = false;
}

std::string RunTimeParameters::join_values(std::string_view name, const std::vector<std::string>& values) {
  const ParameterDefinition* definition = find_parameter(name);
  const bool list = definition && definition->traits.list;
  if (values.size() > 1 && !list) {
    throw sql::SqlError(sqlstate::kInvalidParameterValue, fmt::format("SET {} takes only one argument", name));
  }
  std::string text;
  for (const std::string& value : values) {
    if (!text.empty()) text += ", ";
    text += list && definition->traits.quoted_list ? parser::quote_identifier(value) : value;
  }
  return text;
}

void RunTimeParameters::reset(std::string_view name, bool local) {
  if (!find_parameter(name)) {
    const auto known = custom_.find(lower_case(name));
    if (known != custom_.end()) {
      change_custom(known->first, known->second.start_value, local);
    } else {
      check_custom_name(name);
    }
    return;
  }
  const ParameterDefinition& definition = changeable(name);
  change(definition, std::string(start_value(definition)), local);
}

void RunTimeParameters::reset_all() {
  for (const ParameterDefinition& definition : parameter_definitions()) {
    if (definition.context < ParameterContext::kSuperuser) continue;
    const std::string_view start = start_value(definition);
    const bool is_identity = definition.name == "role" || definition.name == "session_authorization";
    if (value(definition) != start && !is_of_transaction(definition) && !is_identity) change(definition, std::string(start), false);
  }
  for (auto& [key, custom] : custom_) change_custom(key, custom.start_value, false);
}

std::optional<std::string> RunTimeParameters::find(std::string_view name) const {
  if (const ParameterDefinition* definition = find_parameter(name)) {
    return show_parameter_value(*definition, std::string(value(*definition)));
  }
  const auto known = custom_.find(lower_case(name));
  if (known == custom_.end()) return std::nullopt;
  return known->second.value;
}

std::string RunTimeParameters::show(std::string_view name) const {
  std::optional<std::string> value = find(name);
  if (!value) throw unrecognized(name);
  return *std::move(value);
}

std::string RunTimeParameters::display_name(std::string_view name) const {
  if (const ParameterDefinition* definition = find_parameter(name)) return std::string(definition->name);
  const auto known = custom_.find(lower_case(name));
  if (known == custom_.end()) throw unrecognized(name);
  return known->second.name;
}

std::vector<RunTimeParameters::Description> RunTimeParameters::all() const {
  std::vector<Description> rows;
  for (const ParameterDefinition& definition : parameter_definitions()) {
    if (definition.traits.hidden) continue;
    rows.push_back({std::string(definition.name), show_parameter_value(definition, std::string(value(definition))),
                    std::string(definition.description)});
  }
  return rows;
}

namespace {

std::string_view kind_name(ParameterKind kind) {
  switch (kind) {
    case ParameterKind::kBoolean: return "bool";
    case ParameterKind::kInteger: return "integer";
    case ParameterKind::kReal: return "real";
    case ParameterKind::kString: return "string";
    case ParameterKind::kEnumeration: return "enum";
  }
  return "";
}

std::string_view unit_name(ParameterUnit unit) {
  switch (unit) {
    case ParameterUnit::kNone: return "";
    case ParameterUnit::kBytes: return "B";
    case ParameterUnit::kKilobytes: return "kB";
    case ParameterUnit::kPages: return "8kB";
    case ParameterUnit::kMilliseconds: return "ms";
    case ParameterUnit::kSeconds: return "s";
  }
  return "";
}

std::string_view context_name(ParameterContext context) {
  switch (context) {
    case ParameterContext::kInternal: return "internal";
    case ParameterContext::kStart: return "postmaster";
    case ParameterContext::kReload: return "sighup";
    case ParameterContext::kSuperuser: return "superuser";
    case ParameterContext::kUser: return "user";
  }
  return "";
}

}  // namespace

std::vector<sql::RunTimeParameter> RunTimeParameters::settings() const {
  std::vector<sql::RunTimeParameter> rows;
  for (const ParameterDefinition& definition : parameter_definitions()) {
    if (definition.traits.hidden) continue;
    sql::RunTimeParameter row;
    row.name = definition.name;
    row.setting = value(definition);
    row.unit = unit_name(definition.traits.unit);
    row.category = "Ungrouped";
    row.description = definition.description;
    row.context = context_name(definition.context);
    row.type = kind_name(definition.kind);
    row.source = value(definition) == definition.initial ? "default" : "session";
    if (definition.kind == ParameterKind::kInteger || definition.kind == ParameterKind::kReal) {
      row.minimum = fmt::format("{:.16g}", definition.traits.minimum);
      row.maximum = fmt::format("{:.6g}", definition.traits.maximum);
      if (definition.kind == ParameterKind::kInteger) row.maximum = fmt::format("{:.0f}", definition.traits.maximum);
    }
    if (!definition.traits.choices.empty()) row.choices = fmt::format("{{{}}}", definition.traits.choices);
    row.boot_value = definition.initial;
    row.reset_value = start_value(definition);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<ParameterValue> RunTimeParameters::status(bool only_changes) {
  std::vector<ParameterValue> values;
  for (const ParameterDefinition& definition : parameter_definitions()) {
    if (!definition.traits.reported) continue;
    const auto own = settings_.find(&definition);
    if (only_changes && own == settings_.end()) continue;
    std::string shown = show_parameter_value(definition, std::string(value(definition)));
    if (only_changes && shown == own->second.told) continue;
    if (own != settings_.end()) own->second.told = shown;
    values.emplace_back(std::string(definition.name), std::move(shown));
  }
  maybe_changed_ = false;
  return values;
}

std::vector<ParameterValue> RunTimeParameters::reported() { return status(false); }

std::vector<ParameterValue> RunTimeParameters::take_changes() {
  if (!maybe_changed_) return {};
  return status(true);
}

}  // namespace redquel::server
