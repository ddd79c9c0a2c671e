#pragma once

#include <boost/asio/ip/address.hpp>
#include <cstdint>
#include <optional>
#include <string>

namespace redquel::server {

/// The TLS of a client's connection once its handshake is done.
struct TlsFacts {
  std::string version;  // "TLSv1.3"
  std::string cipher;   // OpenSSL's name, "TLS_AES_256_GCM_SHA384"
  int bits = 0;         // of the cipher
  /// Channel binding data of the type tls-server-end-point (RFC 5929): the hash of the server's certificate. Empty: the certificate's
  /// signature names no digest (Ed25519), so SCRAM-SHA-256-PLUS is not offered.
  std::string server_end_point;

  /// The client's certificate, verified against tls.client_ca and tls.crl.
  struct ClientCertificate {
    std::string common_name;         // empty: it has none; never contains a zero byte
    std::string distinguished_name;  // of the subject, RFC 2253: "CN=alice,O=redquel"
    std::string subject, issuer;     // as pg_stat_ssl shows them: "/O=redquel/CN=alice"
    std::string serial;              // decimal
  };
  std::optional<ClientCertificate> client_certificate;
};

/// The origin of a connection.
enum class ClientOrigin : std::uint8_t {
  kNetwork,         // a socket that redquel listens at
  kStatusPage,      // the status page, which reads as role postgres: its token was checked
  kConsole,         // the page's console: its role's password is asked for, regardless of the rules
  kReadingConsole,  // the same, for a session that never writes
};

/// The facts about the client's end of a connection before it logs in. Authentication rules decide by it.
struct ConnectionSecurity {
  ClientOrigin origin = ClientOrigin::kNetwork;
  bool is_unix_socket = false;
  /// The user of the process at the other end of a unix socket (SO_PEERCRED). No value: a TCP connection, or unknown.
  std::optional<std::uint32_t> peer_user;
  /// Both ends of a TCP connection; addresses of IPv4 are never mapped into IPv6. Unspecified on a unix socket.
  boost::asio::ip::address client_address, server_address;
  std::uint16_t client_port = 0, server_port = 0;
  /// No value: the connection is not encrypted (yet).
  std::optional<TlsFacts> tls;
};

}  // namespace redquel::server
