#include "server/session_login.h"

#include <fmt/format.h>
#include <openssl/rand.h>
#include <pwd.h>
#include <spdlog/spdlog.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <vector>

#include "executor/roles/background_thread.h"
#include "server/authentication/login_policy.h"
#include "server/authentication/scram_exchange.h"
#include "server/authentication/socket_owner.h"
#include "server/body_reader.h"
#include "sql/passwords/md5_verifier.h"
#include "sql/passwords/password_verifier.h"
#include "sql/passwords/scram_verifier.h"
#include "sql/sqlstate.h"

namespace redquel::server {

namespace {

// Codes of Authentication messages (PostgreSQL's manual, 55.7).
constexpr std::uint32_t kCleartextPassword = 3, kMd5Password = 5, kSasl = 10, kSaslContinue = 11, kSaslFinal = 12;
/// Bodies of the client's answers (PG_MAX_SASL_MESSAGE_LENGTH, PG_MAX_AUTH_TOKEN_LENGTH).
constexpr std::size_t kMostSaslBytes = 1024, kMostPasswordBytes = 65535;
constexpr std::size_t kMd5SaltBytes = 4;
/// Seconds from 1970 to 2000.
constexpr std::int64_t kPostgresEpoch = 946'684'800;

std::int64_t microseconds_since_2000() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count() - kPostgresEpoch * 1'000'000;
}

std::string random_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  if (RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(count)) != 1) throw std::runtime_error("no random numbers");
  return bytes;
}

/// Returns the name of a user of the operating system; empty: it has none.
std::string user_name(std::uint32_t user) {
  std::vector<char> buffer(16 * 1024);
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr) return {};
  return found->pw_name;
}

/// Compares a password with a verifier. Takes about as long for each form: one derivation of a key.
bool is_password_of(const std::string& verifier, const std::string& role, const std::string& password, const std::string& mock) {
  if (sql::password_form(verifier) == sql::PasswordForm::kScram) return sql::verifier_matches(verifier, role, password);
  const bool is_mocked = sql::verifier_matches(mock, role, password);
  return !is_mocked && sql::verifier_matches(verifier, role, password);
}

std::string_view method_words(AuthenticationMethod method) {
  switch (method) {
    case AuthenticationMethod::kPeer:
      return "Peer";
    case AuthenticationMethod::kCert:
      return "certificate";
    default:
      return "password";
  }
}

bool asks_for_password(AuthenticationMethod method) {
  return method == AuthenticationMethod::kScram || method == AuthenticationMethod::kMd5 || method == AuthenticationMethod::kPassword;
}

}  // namespace

Session::Login::Login(Session& session, const StartupMessage& message) : session_(session), message_(message) {}

asio::awaitable<executor::LoginFacts> Session::Login::run() {
  executor::LoginFacts facts;
  try {
    facts = co_await authenticate();
  } catch (const sql::SqlError&) {
    session_.meter_.note_authentication(method_, false);
    throw;
  }
  session_.meter_.note_authentication(method_, true);
  co_return facts;
}

asio::awaitable<executor::LoginFacts> Session::Login::authenticate() {
  LoginPolicy& policy = session_.host_.logins();
  const ConnectionSecurity& connection = session_.connection_.security();
  facts_ = co_await session_.host_.engines().login_facts(message_.user, message_.database);
  policy.take_up(facts_.has_verifiers, facts_.has_superuser_verifier);
  if (connection.origin == ClientOrigin::kStatusPage) {
    method_ = to_text(AuthenticationMethod::kTrust);
  } else if (policy.is_protected()) {
    method_ = to_text(AuthenticationMethod::kTrust);
    if (!LoginPolicy::trusts(connection)) {
      throw no_entry().hint("No role has a password: until one has, only redquel's own operating-system user and root may connect, from "
                            "this machine.");
    }
  } else if (policy.trusts_superusers() && facts_.role && facts_.role->superuser && LoginPolicy::trusts(connection)) {
    method_ = to_text(AuthenticationMethod::kTrust);
  } else if (connection.origin != ClientOrigin::kNetwork) {
    HostRule rule;
    rule.method = AuthenticationMethod::kPassword;
    rule.text = "the console asks for a password";
    method_ = to_text(rule.method);
    co_await check_rule(rule);
  } else {
    rules_ = policy.rules();
    std::span<const std::string> memberships;
    if (facts_.role) memberships = facts_.role->memberships;
    const HostRule* rule = rules_->find({connection, message_.user, message_.database, memberships});
    if (rule == nullptr) throw no_entry();
    method_ = to_text(rule->method);
    co_await check_rule(*rule);
  }
  session_.encoder_.authentication_ok();
  check_role();
  co_return std::move(facts_);
}

asio::awaitable<void> Session::Login::check_rule(const HostRule& rule) {
  const std::optional<TlsFacts>& tls = session_.connection_.security().tls;
  if (rule.client_certificate != ClientCertificateRule::kOff && !(tls && tls->client_certificate)) {
    throw sql::SqlError(sqlstate::kInvalidAuthorizationSpecification, "connection requires a valid client certificate");
  }
  if (rule.method == AuthenticationMethod::kReject) {
    throw sql::SqlError(sqlstate::kInvalidAuthorizationSpecification, describe_attempt("pg_hba.conf rejects connection for"));
  }
  bool is_good = false;
  try {
    is_good = co_await check_method(rule);
  } catch (const Refusal&) {
  }
  if (is_good && rule.client_certificate == ClientCertificateRule::kFull) is_good = check_certificate(rule);
  if (is_good) co_return;

  const std::string_view sqlstate = asks_for_password(rule.method) ? sqlstate::kInvalidPassword : sqlstate::kInvalidAuthorizationSpecification;
  sql::SqlError error(sqlstate, fmt::format("{} authentication failed for user \"{}\"", method_words(rule.method), message_.user));
  session_.host_.note_bad_startup(session_.connection_.peer_address(),
                                  fmt::format("{}: {} (line {} of the rules: \"{}\")", error.message(), log_, rule.line, rule.text));
  // During the pause another connection may take the slot, so that refused clients hold up no one.
  session_.host_.set_startup_waiting(session_.number_, true);
  asio::steady_timer pause(session_.connection_.executor(), session_.host_.limits().login_delay);
  co_await pause.async_wait(asio::as_tuple(asio::use_awaitable));
  throw error;
}

asio::awaitable<bool> Session::Login::check_method(const HostRule& rule) {
  switch (rule.method) {
    case AuthenticationMethod::kTrust:
    case AuthenticationMethod::kCert:
      co_return true;  // check_rule asks for the certificate's name
    case AuthenticationMethod::kReject:
      co_return false;
    case AuthenticationMethod::kScram:
      co_return co_await check_challenge(false);
    case AuthenticationMethod::kMd5:
      co_return co_await check_challenge(true);
    case AuthenticationMethod::kPassword:
      co_return co_await check_password();
    case AuthenticationMethod::kPeer:
      co_return co_await check_peer(rule);
  }
  co_return false;
}

void Session::Login::find_verifier() {
  if (!facts_.role) {
    log_ = fmt::format("Role \"{}\" does not exist.", message_.user);
  } else if (facts_.role->verifier.empty()) {
    log_ = fmt::format("User \"{}\" has no password assigned.", message_.user);
  } else if (facts_.role->valid_until && *facts_.role->valid_until < microseconds_since_2000()) {
    log_ = fmt::format("User \"{}\" has an expired password.", message_.user);
  } else {
    verifier_ = facts_.role->verifier;
    log_ = fmt::format("Password does not match for user \"{}\".", message_.user);
  }
}

asio::awaitable<bool> Session::Login::check_challenge(bool md5_is_allowed) {
  find_verifier();
  if (md5_is_allowed && sql::is_md5_verifier(verifier_)) co_return co_await check_md5();
  co_return co_await check_scram();
}

asio::awaitable<bool> Session::Login::check_scram() {
  const std::optional<TlsFacts>& tls = session_.connection_.security().tls;
  std::optional<sql::ScramVerifier> verifier = sql::parse_scram_verifier(verifier_);
  if (!verifier && !verifier_.empty()) log_ = fmt::format("User \"{}\" does not have a valid SCRAM secret.", message_.user);
  const bool is_mock = !verifier;
  if (is_mock) verifier = sql::mock_scram_verifier(message_.user, facts_.mock_nonce);
  ScramExchange exchange({.verifier = *std::move(verifier),
                          .is_mock = is_mock,
                          .server_end_point = tls ? tls->server_end_point : std::string(),
                          .nonce = ScramExchange::make_nonce()});
  std::string names;
  for (const std::string_view name : exchange.mechanisms()) names.append(name).push_back('\0');
  co_await send_request(kSasl, names + '\0');

  const std::string initial = co_await read_answer("SASL response", kMostSaslBytes);
  BodyReader reader(initial);
  exchange.select(reader.text());
  constexpr std::uint32_t kNoResponse = 0xffffffff;
  const std::uint32_t length = reader.uint32();
  std::string first;
  if (length != kNoResponse) {
    first = reader.bytes(length);
    reader.end();
  } else {
    reader.end();
    co_await send_request(kSaslContinue);
    first = co_await read_answer("SASL response", kMostSaslBytes);
  }
  const std::string challenge = exchange.answer_first(first);
  co_await send_request(kSaslContinue, challenge);
  const std::string last = co_await read_answer("SASL response", kMostSaslBytes);
  const std::optional<std::string> answer = exchange.answer_final(last);
  if (!answer) co_return false;
  MessageEncoder& encoder = session_.encoder_;  // leaves together with AuthenticationOk
  encoder.begin_message('R');
  encoder.put_uint32(kSaslFinal);
  encoder.buffer().append(*answer);
  encoder.end_message();
  co_return true;
}

asio::awaitable<bool> Session::Login::check_md5() {
  const std::string salt = random_bytes(kMd5SaltBytes);
  co_await send_request(kMd5Password, salt);
  const std::string answer = co_await read_password();
  co_return sql::equals_in_constant_time(answer, sql::md5_response(verifier_, salt));
}

asio::awaitable<bool> Session::Login::check_password() {
  find_verifier();
  co_await send_request(kCleartextPassword);
  std::string password = co_await read_password();
  std::string mock = sql::to_text(sql::mock_scram_verifier(message_.user, facts_.mock_nonce));
  auto work = [verifier = verifier_, role = message_.user, password = std::move(password), mock = std::move(mock)] {
    return is_password_of(verifier, role, password, mock);
  };
  co_return co_await executor::BackgroundThread::instance().run(std::move(work));
}

asio::awaitable<bool> Session::Login::check_peer(const HostRule& rule) {
  const std::optional<std::uint32_t> user = session_.connection_.security().peer_user;
  if (!user) {
    log_ = "The client's operating-system user is unknown.";
    co_return false;
  }
  if (rules_->lets_in_all_roles(*user)) co_return true;
  const std::string name = co_await executor::BackgroundThread::instance().run([user = *user] { return user_name(user); });
  if (name.empty()) {
    log_ = fmt::format("could not look up local user ID {}: user does not exist", *user);
    co_return false;
  }
  co_return rules_->is_mapped(rule, name, message_.user, log_);
}

bool Session::Login::check_certificate(const HostRule& rule) {
  const TlsFacts::ClientCertificate& certificate = *session_.connection_.security().tls->client_certificate;
  const std::string& name = rule.uses_distinguished_name ? certificate.distinguished_name : certificate.common_name;
  if (name.empty()) {
    log_ = "client certificate contains no user name";
    return false;
  }
  return rules_->is_mapped(rule, name, message_.user, log_);
}

void Session::Login::check_role() const {
  if (!facts_.has_roles || !facts_.role) {
    throw sql::SqlError(sqlstate::kInvalidAuthorizationSpecification, fmt::format("role \"{}\" does not exist", message_.user));
  }
  if (!facts_.role->can_login) {
    throw sql::SqlError(sqlstate::kInvalidAuthorizationSpecification, fmt::format("role \"{}\" is not permitted to log in", message_.user));
  }
}

sql::SqlError Session::Login::no_entry() const {
  return sql::SqlError(sqlstate::kInvalidAuthorizationSpecification, describe_attempt("no pg_hba.conf entry for"));
}

std::string Session::Login::describe_attempt(std::string_view begin) const {
  return fmt::format("{} host \"{}\", user \"{}\", database \"{}\", {}", begin, session_.connection_.peer_address(), message_.user,
                     message_.database, session_.connection_.security().tls ? "SSL encryption" : "no encryption");
}

asio::awaitable<void> Session::Login::send_request(std::uint32_t code, std::string_view bytes) {
  MessageEncoder& encoder = session_.encoder_;
  encoder.begin_message('R');
  encoder.put_uint32(code);
  encoder.buffer().append(bytes);
  encoder.end_message();
  co_await session_.flush();
}

asio::awaitable<std::string> Session::Login::read_answer(std::string_view expected, std::size_t limit) {
  constexpr std::size_t kHeaderBytes = 5, kLengthBytes = 4;
  while (!session_.decoder_.peek(1)) co_await session_.read_startup_bytes();
  const char type = session_.decoder_.peek(1)->front();
  if (type != 'p') {
    throw ProtocolViolation(fmt::format("expected {}, got message type {}", expected, static_cast<unsigned>(static_cast<unsigned char>(type))));
  }
  while (!session_.decoder_.peek(kHeaderBytes)) co_await session_.read_startup_bytes();
  const std::size_t length = BodyReader(session_.decoder_.peek(kHeaderBytes)->substr(1)).uint32();
  if (length < kLengthBytes || length - kLengthBytes > limit) {
    log_ = "invalid message length";
    throw Refusal();
  }
  const std::size_t bytes = 1 + length;
  while (!session_.decoder_.peek(bytes)) co_await session_.read_startup_bytes();
  co_return std::string(session_.decoder_.take(bytes)->substr(kHeaderBytes));
}

asio::awaitable<std::string> Session::Login::read_password() {
  std::string body = co_await read_answer("password response", kMostPasswordBytes);
  if (body.empty() || body.find('\0') != body.size() - 1) throw sql::SqlError(sqlstate::kProtocolViolation, "invalid password packet size");
  body.pop_back();
  if (body.empty()) throw sql::SqlError(sqlstate::kInvalidPassword, "empty password returned by client");
  co_return body;
}

}  // namespace redquel::server
