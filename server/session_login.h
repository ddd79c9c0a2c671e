#pragma once

#include <string>
#include <string_view>

#include "executor/roles/login_role.h"
#include "server/authentication/rule_set.h"
#include "server/session.h"

namespace redquel::server {

/// One client's way from the startup packet to AuthenticationOk.
class Session::Login {
 public:
  Login(Session& session, const StartupMessage& message);

  /// Returns what Redis says about the role that has logged in. Throws 28000, 28P01, 53300, 08P01 in PostgreSQL's words.
  asio::awaitable<executor::LoginFacts> run();

 private:
  asio::awaitable<executor::LoginFacts> authenticate();
  asio::awaitable<void> check_rule(const HostRule& rule);
  asio::awaitable<bool> check_method(const HostRule& rule);
  asio::awaitable<bool> check_challenge(bool md5_is_allowed);
  asio::awaitable<bool> check_scram();
  asio::awaitable<bool> check_md5();
  asio::awaitable<bool> check_password();
  asio::awaitable<bool> check_peer(const HostRule& rule);
  bool check_certificate(const HostRule& rule);
  /// Throws 28000 unless there is a role that may log in.
  void check_role() const;
  /// Sets `verifier_`; without one, the log's reason.
  void find_verifier();
  sql::SqlError no_entry() const;
  /// "no pg_hba.conf entry for", or another word, with host, user, database and encryption.
  std::string describe_attempt(std::string_view begin) const;

  /// Sends AuthenticationSASL or another request with these bytes behind its code.
  asio::awaitable<void> send_request(std::uint32_t code, std::string_view bytes = {});
  /// Waits for a message of type p. Throws 08P01 for another type, `Refusal` for a body longer than `limit`.
  asio::awaitable<std::string> read_answer(std::string_view expected, std::size_t limit);
  /// Reads a password: one text with its terminating zero.
  asio::awaitable<std::string> read_password();

  /// A failed login whose reason is known.
  struct Refusal {};

  Session& session_;
  const StartupMessage& message_;
  executor::LoginFacts facts_;
  std::shared_ptr<const RuleSet> rules_;  // those of this login, also after a reload
  std::string verifier_;  // empty: the login fails regardless of the client's answer
  std::string log_;       // the reason of a failure
  std::string_view method_ = "none";  // of the rule, for metrics
};

}  // namespace redquel::server
