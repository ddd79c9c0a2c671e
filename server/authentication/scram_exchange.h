#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql/passwords/scram_verifier.h"

namespace redquel::server {

/// The server's side of SCRAM-SHA-256 and SCRAM-SHA-256-PLUS (RFC 5802, RFC 7677), with PostgreSQL 15's errors. Sans-I/O.
class ScramExchange {
 public:
  struct Options {
    sql::ScramVerifier verifier;
    bool is_mock = false;          // the login fails regardless of the proof
    std::string server_end_point;  // channel binding data; empty: SCRAM-SHA-256-PLUS is not offered
    std::string nonce;             // the server's part
  };
  explicit ScramExchange(Options options);
  /// Returns 18 random bytes in base64.
  static std::string make_nonce();

  /// Names of the mechanisms to offer, the best first.
  std::vector<std::string_view> mechanisms() const;
  /// Takes the client's choice. Throws 08P01.
  void select(std::string_view mechanism);
  /// Takes client-first-message, returns server-first-message. Throws 08P01, 0A000, 28000.
  std::string answer_first(std::string_view message);
  /// Takes client-final-message, returns server-final-message. nullopt: the proof is wrong. Throws 08P01, 28000.
  std::optional<std::string> answer_final(std::string_view message);

 private:
  std::string read_first(std::string_view message);
  sql::ScramKey read_final(std::string_view message);

  Options options_;
  bool binds_channel_ = false;
  char binding_flag_ = 'n';
  std::string client_nonce_, client_first_bare_, server_first_, client_final_without_proof_;
};

}  // namespace redquel::server
