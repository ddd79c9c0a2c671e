#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/parameter_definitions.h"

namespace redquel::server {

// The hooks of the table of parameters. A check gives a value its canonical form or throws; an apply lets the session
// follow it.

/// Accepts the value that redquel honours, the default; any other that PostgreSQL would take is 0A000.
std::string only_initial(const ParameterDefinition&, std::string value, const executor::SessionState&);
/// The running transaction's: 25001 where it is too late to change them.
std::string check_transaction_isolation(const ParameterDefinition&, std::string value, const executor::SessionState&);
std::string check_default_read_only(const ParameterDefinition&, std::string value, const executor::SessionState&);
std::string check_transaction_read_only(const ParameterDefinition&, std::string value, const executor::SessionState&);
std::string check_transaction_deferrable(const ParameterDefinition&, std::string value, const executor::SessionState&);
/// Bytes that are not printable ASCII become '?'.
std::string ascii_only(const ParameterDefinition&, std::string value, const executor::SessionState&);
std::string check_client_encoding(const ParameterDefinition&, std::string value, const executor::SessionState&);
std::string check_date_style(const ParameterDefinition&, std::string value, const executor::SessionState&);
std::string check_time_zone(const ParameterDefinition&, std::string value, const executor::SessionState&);
std::string check_locale(const ParameterDefinition&, std::string value, const executor::SessionState&);
std::string check_tablespace(const ParameterDefinition&, std::string value, const executor::SessionState&);
std::string check_text_search_configuration(const ParameterDefinition&, std::string value, const executor::SessionState&);
std::string check_access_method(const ParameterDefinition&, std::string value, const executor::SessionState&);
/// 0A000 in PostgreSQL's words for `on`.
std::string check_without_oids(const ParameterDefinition&, std::string value, const executor::SessionState&);
std::string check_role(const ParameterDefinition&, std::string value, const executor::SessionState&);
std::string check_session_authorization(const ParameterDefinition&, std::string value, const executor::SessionState&);

void apply_transaction_isolation(const std::string& value, executor::SessionState& session);
void apply_transaction_read_only(const std::string& value, executor::SessionState& session);
void apply_transaction_deferrable(const std::string& value, executor::SessionState& session);
void apply_auto_explain_analyze(const std::string& value, executor::SessionState& session);
void apply_auto_explain_format(const std::string& value, executor::SessionState& session);
void apply_auto_explain_min_duration(const std::string& value, executor::SessionState& session);
void apply_auto_explain_verbose(const std::string& value, executor::SessionState& session);
void apply_reads_memory(const std::string& value, executor::SessionState& session);
/// 22023 with the names of all rules.
std::string check_left_out_rules(const ParameterDefinition&, std::string value, const executor::SessionState&);
void apply_left_out_rules(const std::string& value, executor::SessionState& session);
void apply_use_views(const std::string& value, executor::SessionState& session);
void apply_row_security(const std::string& value, executor::SessionState& session);
void apply_lock_timeout(const std::string& value, executor::SessionState& session);
void apply_deadlock_timeout(const std::string& value, executor::SessionState& session);
void apply_date_style(const std::string& value, executor::SessionState& session);
void apply_time_zone(const std::string& value, executor::SessionState& session);
void apply_interval_style(const std::string& value, executor::SessionState& session);
void apply_bytea_output(const std::string& value, executor::SessionState& session);
void apply_extra_float_digits(const std::string& value, executor::SessionState& session);
void apply_search_path(const std::string& value, executor::SessionState& session);
/// 22023 beyond limits.work_mem_max of the configuration.
std::string check_work_mem(const ParameterDefinition& definition, std::string value, const executor::SessionState& session);
/// 42501 beyond limits.temp_file_limit of the configuration.
std::string check_temp_file_limit(const ParameterDefinition& definition, std::string value, const executor::SessionState& session);
void apply_temp_file_limit(const std::string& value, executor::SessionState& session);
void apply_work_mem(const std::string& value, executor::SessionState& session);

}  // namespace redquel::server
