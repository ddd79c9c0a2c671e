#pragma once

#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

// OpenSSL's own names; its headers stay in executor/tls/.
struct ssl_ctx_st;
struct ssl_st;

namespace redquel::executor {

/// A fault in the files and words of a TLS configuration. `setting` is the wrong member of the settings ("certificate").
class TlsConfigurationError : public std::runtime_error {
 public:
  TlsConfigurationError(std::string_view setting, const std::string& reason) : std::runtime_error(reason), setting_(setting) {}
  const std::string& setting() const { return setting_; }

 private:
  std::string setting_;
};

/// TLS towards clients. The files are PEM.
struct TlsServerSettings {
  std::filesystem::path certificate, key;
  std::filesystem::path client_ca;     // empty: clients are not asked for a certificate
  std::filesystem::path crl;           // empty: no certificate of a client is revoked
  std::string min_version = "1.2";     // or "1.3"
  std::string ciphers = "HIGH:!aNULL";  // of TLS 1.2, in OpenSSL's syntax
  std::string groups = "X25519:P-256";
  std::string application_protocol;  // the only one that is accepted from clients that offer any (ALPN)
};

/// TLS towards a server.
struct TlsClientSettings {
  std::filesystem::path ca;                // empty: the system's
  std::filesystem::path certificate, key;  // empty: none
  std::string server_name;                 // a name or an address: sent (SNI, names only) and compared with the certificate
  bool verify = true;
};

/// Certificates, keys and rules of one side of TLS connections. Immutable; shared by sessions of all threads.
/// Both sides: TLS 1.2 or later, without compression, renegotiation, session tickets, session cache and early data.
class TlsContext {
 public:
  /// Reads the files. Throws TlsConfigurationError.
  static std::shared_ptr<const TlsContext> for_server(const TlsServerSettings& settings);
  static std::shared_ptr<const TlsContext> for_client(const TlsClientSettings& settings);

  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;
  ~TlsContext();

  bool is_server() const { return is_server_; }
  /// For a client: the name of the wanted server.
  const std::string& server_name() const { return server_name_; }
  /// For a server: channel binding data of the type tls-server-end-point (RFC 5929), the hash of its certificate. Empty: the certificate's
  /// signature names no digest.
  const std::string& server_end_point() const { return server_end_point_; }
  ssl_ctx_st* native() const { return context_; }

 private:
  explicit TlsContext(bool is_server);
  static int choose_protocol(ssl_st* session, const unsigned char** chosen, unsigned char* chosen_size,
                             const unsigned char* offered, unsigned offered_size, void* context);

  void load_key_pair(const std::filesystem::path& certificate, const std::filesystem::path& key);

  ssl_ctx_st* context_;
  bool is_server_;
  std::string server_name_, server_end_point_, application_protocol_;
};

using TlsContextPtr = std::shared_ptr<const TlsContext>;

}  // namespace redquel::executor
