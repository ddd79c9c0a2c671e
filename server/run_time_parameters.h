#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "executor/engine/engine.h"
#include "server/log_settings.h"
#include "server/parameter_definitions.h"

namespace redquel::server {

/// Name and value of a parameter, for startup and ParameterStatus.
using ParameterValue = std::pair<std::string, std::string>;

/// The run-time parameters of one session: SET, SHOW, RESET, set_config(), current_setting() and what the client set
/// when it connected. Keeps the SessionState in step with them. Names are in any letter case.
class RunTimeParameters {
 public:
  /// `server_values`: what this server says instead of the table's initial values (port, max_connections…), unchecked.
  RunTimeParameters(executor::SessionState& session, const std::vector<ParameterValue>& server_values);
  RunTimeParameters(const RunTimeParameters&) = delete;
  RunTimeParameters& operator=(const RunTimeParameters&) = delete;

  /// Takes over the values of parameters that only a reload of the configuration changes.
  void follow_reload(const std::vector<ParameterValue>& server_values);
  /// SET. 42704 unknown, 42602 bad custom name, 55P02 not changeable, 22023 bad value, 0A000 not honoured.
  /// `local`: until the transaction ends.
  void set(std::string_view name, std::string_view value, bool local = false);
  /// SET name = a, b, …: one text, quoted where the parameter is a list of names. 22023 where it takes only one value.
  static std::string join_values(std::string_view name, const std::vector<std::string>& values);
  /// SET x TO DEFAULT and RESET: back to what the session started with.
  void reset(std::string_view name, bool local = false);
  void reset_all();

  // Values set in a transaction are lost when it is rolled back; values set locally, at its end.
  void begin_transaction();
  void end_transaction(bool committed);
  /// For savepoints: back to how everything was at the mark.
  std::size_t mark() const { return changes_.size(); }
  void roll_back_to(std::size_t mark);
  /// The transaction's own parameters (isolation, read only, deferrable), for AND CHAIN.
  using TransactionValues = std::vector<std::string>;
  TransactionValues transaction_values() const;
  void set_transaction_values(const TransactionValues& values);
  /// The session's user has come to be known: parameters that speak of it follow.
  void user_known(sql::Oid role);
  /// A value of the startup packet or of its options: RESET goes back to it.
  void set_at_start(std::string_view name, std::string_view value);
  /// Sets a value of ALTER ROLE … SET or ALTER DATABASE … SET, which have checked that the parameter may be set.
  void set_stored(std::string_view name, std::string_view value);

  /// Returns the text that SHOW prints; 42704.
  std::string show(std::string_view name) const;
  /// Like show(); nullopt if it is unknown.
  std::optional<std::string> find(std::string_view name) const;
  /// The column's name of SHOW: the parameter's own spelling; 42704.
  std::string display_name(std::string_view name) const;

  struct Description {
    std::string name, setting, description;
  };
  /// SHOW ALL.
  std::vector<Description> all() const;
  /// pg_settings.
  std::vector<sql::RunTimeParameter> settings() const;

  /// ParameterStatus: every reported parameter, and those that changed since the last call of either.
  std::vector<ParameterValue> reported();
  std::vector<ParameterValue> take_changes();

  // Read at every statement, so kept at hand.
  std::int64_t statement_timeout_ms() const { return statement_timeout_; }
  std::int64_t idle_session_timeout_ms() const { return idle_session_timeout_; }
  std::int64_t idle_in_transaction_timeout_ms() const { return idle_in_transaction_timeout_; }
  /// "notice", "warning"…
  const std::string& client_min_messages() const { return client_min_messages_; }
  const std::string& client_encoding() const { return client_encoding_; }
  const LogSettings& log() const { return log_; }

 private:
  /// A parameter that is or was something else than its definition's initial value. Thousands of idle sessions have few of them.
  struct Setting {
    std::string value;        // stored form
    std::string start_value;  // what RESET restores
    std::string told;         // what the client knows, as SHOW prints it
  };

  /// One change within the transaction.
  struct Change {
    const ParameterDefinition* definition;  // null: custom
    std::string custom;                     // its lower-case name
    std::optional<std::string> before, after;
    bool local;
  };

  const ParameterDefinition& changeable(std::string_view name) const;
  std::string_view value(const ParameterDefinition& definition) const;
  std::string_view start_value(const ParameterDefinition& definition) const;
  /// Makes one with the initial value where there is none.
  Setting& setting(const ParameterDefinition& definition);
  /// Applies the consequences of a value, in the session and here.
  void apply(const ParameterDefinition& definition, const std::string& value);
  void assign(const ParameterDefinition& definition, std::string value);
  void change(const ParameterDefinition& definition, std::string value, bool local);
  void change_custom(const std::string& key, std::optional<std::string> value, bool local);
  void restore(const Change& change, const std::optional<std::string>& value);
  void take_transaction_defaults();
  void check_authorization(const std::string& role) const;
  /// The current role is another one: is_superuser and "$user" in search_path follow.
  void follow_user(std::string user);
  std::vector<ParameterValue> status(bool only_changes);

  executor::SessionState& session_;
  sql::Oid login_role_ = sql::kPostgresRole;
  std::map<const ParameterDefinition*, Setting> settings_;
  struct CustomSetting {
    std::string name, value, start_value;
  };
  std::map<std::string, CustomSetting> custom_;  // a.b, by lower-case name
  std::vector<Change> changes_;
  bool in_transaction_ = false;
  bool is_stored_setting_ = false;  // set_stored() is at work
  bool maybe_changed_ = false;
  std::int64_t statement_timeout_ = 0;
  std::int64_t idle_session_timeout_ = 0;
  std::int64_t idle_in_transaction_timeout_ = 0;
  std::string client_min_messages_ = "notice";
  std::string client_encoding_ = "UTF8";
  LogSettings log_;
};

}  // namespace redquel::server
