#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "executor/tls/tls_context.h"

struct ssl_st;

namespace redquel::executor {

/// The peer broke the protocol, or one side does not trust the other. The session is over; an alert may wait in `output`.
class TlsError : public std::runtime_error {
 public:
  explicit TlsError(const std::string& reason, bool is_distrust = false) : std::runtime_error(reason), is_distrust_(is_distrust) {}
  /// Returns true if this side does not trust the peer's certificate.
  bool is_distrust() const { return is_distrust_; }

 private:
  bool is_distrust_;
};

/// One side of one TLS connection, without a socket: bytes of the peer go in (`feed`), bytes for the peer come out (`output`). Belongs to
/// one thread.
class TlsSession {
 public:
  /// `peer`: the name or address that the certificate must have if the context has none.
  explicit TlsSession(TlsContextPtr context, const std::string& peer = {});
  ~TlsSession();
  TlsSession(TlsSession&& other) noexcept;
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;

  /// Takes bytes that came from the peer.
  void feed(std::string_view bytes) { input_.append(bytes); }
  /// Goes on with the handshake as far as the bytes allow. Returns true once it is done. Throws TlsError.
  bool shake_hands();
  bool is_established() const { return established_; }

  /// Returns true if bytes of the peer wait to be decrypted.
  bool has_input() const;
  /// Moves decrypted bytes to `room`. Returns their number; 0: more bytes of the peer are needed, or the peer has ended the session.
  /// Throws TlsError.
  std::size_t decrypt(std::span<char> room);
  /// Returns true if the peer has said that nothing more comes.
  bool is_ended() const { return ended_; }
  /// Adds the encrypted bytes to `output`. Throws TlsError.
  void encrypt(std::string_view plain);
  /// Returns the encrypted bytes, behind what waits in `output`, which is empty then. Throws TlsError.
  std::string encrypted(std::string_view plain);
  /// Adds the notice that nothing more comes to `output`.
  void end();

  /// Bytes for the peer, until `clear_output`.
  std::string_view output() const { return output_; }
  void clear_output();

  // Once the handshake is done:
  std::string version() const;  // "TLSv1.3"
  std::string cipher() const;
  int cipher_bits() const;
  bool has_application_protocol() const;
  const std::string& server_end_point() const { return context_->server_end_point(); }

  struct Certificate {
    std::string common_name;         // empty: it has none
    std::string distinguished_name;  // of the subject, RFC 2253
    std::string subject, issuer;     // "/O=redquel/CN=alice"
    std::string serial;              // decimal
  };
  /// Returns the verified certificate of the peer. Throws TlsError where a name contains a zero byte.
  std::optional<Certificate> peer_certificate() const;

 private:
  friend struct TlsBytes;  // OpenSSL's way to input_ and output_
  /// Throws TlsError with what OpenSSL says of a failed call.
  [[noreturn]] void fail();

  TlsContextPtr context_;
  ssl_st* session_;
  std::string input_, output_;
  std::size_t input_offset_ = 0;
  bool established_ = false, ended_ = false;
};

}  // namespace redquel::executor
