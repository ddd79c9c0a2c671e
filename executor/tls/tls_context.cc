#include "executor/tls/tls_context.h"

#include <fmt/format.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <system_error>
#include <vector>

#include "executor/tls/openssl_error.h"

namespace redquel::executor {

namespace {

[[noreturn]] void refuse_file(std::string_view setting, const std::filesystem::path& file, std::string_view reason) {
  throw TlsConfigurationError(setting, fmt::format("{}: {}", file.string(), reason));
}

/// Throws unless the file can be read.
void check_readable(std::string_view setting, const std::filesystem::path& file) {
  if (::access(file.c_str(), R_OK) != 0) refuse_file(setting, file, std::strerror(errno));
  if (std::filesystem::is_directory(file)) refuse_file(setting, file, "is a directory");
}

/// Throws if other users than the owner may read the key, or if its owner is neither this process's user nor root. Root's may be readable
/// for a group (as PostgreSQL's ssl_key_file).
void check_private(const std::filesystem::path& key) {
  struct stat status{};
  if (::stat(key.c_str(), &status) != 0) refuse_file("key", key, std::strerror(errno));
  if (!S_ISREG(status.st_mode)) refuse_file("key", key, "is not a regular file");
  if (status.st_uid != ::geteuid() && status.st_uid != 0) refuse_file("key", key, "must be owned by the user of redquel or by root");
  const bool is_own = status.st_uid == ::geteuid() && status.st_uid != 0;
  const mode_t forbidden = is_own ? S_IRWXG | S_IRWXO : S_IWGRP | S_IXGRP | S_IRWXO;
  if ((status.st_mode & forbidden) != 0) {
    refuse_file("key", key, "others may read this private key; its permissions must be 0600, or 0640 if root owns it");
  }
}

int version_number(const std::string& version) {
  if (version == "1.2") return TLS1_2_VERSION;
  if (version == "1.3") return TLS1_3_VERSION;
  throw TlsConfigurationError("min_version", fmt::format("'{}': expected 1.2 or 1.3", version));
}

/// Refuses to ask a terminal for the password of an encrypted key.
int no_password(char*, int, int, void*) { return -1; }

/// Returns the hash of the certificate by the digest of its signature, by SHA-256 where that is MD5 or SHA-1 (RFC 5929).
std::string end_point_hash(const X509* certificate) {
  int digest = NID_undef;
  if (X509_get_signature_info(const_cast<X509*>(certificate), &digest, nullptr, nullptr, nullptr) == 0) return {};
  if (digest == NID_md5 || digest == NID_sha1) digest = NID_sha256;
  const EVP_MD* algorithm = EVP_get_digestbynid(digest);
  if (algorithm == nullptr) return {};
  unsigned char hash[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  if (X509_digest(certificate, algorithm, hash, &size) == 0) return {};
  return {reinterpret_cast<const char*>(hash), size};
}

void load_revoked(SSL_CTX* context, const std::filesystem::path& file) {
  check_readable("crl", file);
  X509_STORE* store = SSL_CTX_get_cert_store(context);
  X509_LOOKUP* lookup = X509_STORE_add_lookup(store, X509_LOOKUP_file());
  if (lookup == nullptr || X509_load_crl_file(lookup, file.c_str(), X509_FILETYPE_PEM) <= 0) refuse_file("crl", file, take_openssl_error());
  X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL);
}

}  // namespace

TlsContext::TlsContext(bool is_server) : context_(SSL_CTX_new(is_server ? TLS_server_method() : TLS_client_method())), is_server_(is_server) {
  if (context_ == nullptr) throw TlsConfigurationError("", "OpenSSL: " + take_openssl_error());
  SSL_CTX_set_options(context_, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET | SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_num_tickets(context_, 0);
  SSL_CTX_set_session_cache_mode(context_, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_max_early_data(context_, 0);
  SSL_CTX_set_min_proto_version(context_, TLS1_2_VERSION);
  SSL_CTX_set_default_passwd_cb(context_, no_password);
  // Idle connections are many and keep no buffers; records are read in one piece.
  SSL_CTX_set_mode(context_, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_AUTO_RETRY);
}

TlsContext::~TlsContext() { SSL_CTX_free(context_); }

void TlsContext::load_key_pair(const std::filesystem::path& certificate, const std::filesystem::path& key) {
  check_readable("certificate", certificate);
  if (SSL_CTX_use_certificate_chain_file(context_, certificate.c_str()) != 1) refuse_file("certificate", certificate, take_openssl_error());
  check_readable("key", key);
  check_private(key);
  if (SSL_CTX_use_PrivateKey_file(context_, key.c_str(), SSL_FILETYPE_PEM) != 1) refuse_file("key", key, take_openssl_error());
  if (SSL_CTX_check_private_key(context_) != 1) refuse_file("key", key, take_openssl_error());
}

/// Selects the only protocol that is spoken here; a client that offers none of it gets a fatal alert.
int TlsContext::choose_protocol(SSL*, const unsigned char** chosen, unsigned char* chosen_size, const unsigned char* offered,
                                unsigned offered_size, void* context) {
  const std::string& wanted = static_cast<const TlsContext*>(context)->application_protocol_;
  for (unsigned at = 0; at < offered_size; at += offered[at] + 1u) {
    if (at + 1u + offered[at] > offered_size) break;
    const std::string_view name(reinterpret_cast<const char*>(offered) + at + 1, offered[at]);
    if (name != wanted) continue;
    *chosen = offered + at + 1;
    *chosen_size = offered[at];
    return SSL_TLSEXT_ERR_OK;
  }
  return SSL_TLSEXT_ERR_ALERT_FATAL;
}

TlsContextPtr TlsContext::for_server(const TlsServerSettings& settings) {
  ERR_clear_error();
  std::shared_ptr<TlsContext> made(new TlsContext(true));
  SSL_CTX* context = made->context_;
  SSL_CTX_set_min_proto_version(context, version_number(settings.min_version));
  if (SSL_CTX_set_cipher_list(context, settings.ciphers.c_str()) != 1) throw TlsConfigurationError("ciphers", take_openssl_error());
  if (SSL_CTX_set1_groups_list(context, settings.groups.c_str()) != 1) {
    ERR_clear_error();
    throw TlsConfigurationError("groups", fmt::format("'{}': no list of groups, as in X25519:P-256", settings.groups));
  }
  made->load_key_pair(settings.certificate, settings.key);
  made->server_end_point_ = end_point_hash(SSL_CTX_get0_certificate(context));
  if (!settings.client_ca.empty()) {
    check_readable("client_ca", settings.client_ca);
    STACK_OF(X509_NAME)* names = SSL_load_client_CA_file(settings.client_ca.c_str());
    if (names == nullptr || SSL_CTX_load_verify_locations(context, settings.client_ca.c_str(), nullptr) != 1) {
      sk_X509_NAME_pop_free(names, X509_NAME_free);
      refuse_file("client_ca", settings.client_ca, take_openssl_error());
    }
    SSL_CTX_set_client_CA_list(context, names);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_CLIENT_ONCE, nullptr);
  }
  if (!settings.crl.empty()) load_revoked(context, settings.crl);
  if (!settings.application_protocol.empty()) {
    made->application_protocol_ = settings.application_protocol;
    SSL_CTX_set_alpn_select_cb(context, &TlsContext::choose_protocol, made.get());
  }
  return made;
}

TlsContextPtr TlsContext::for_client(const TlsClientSettings& settings) {
  ERR_clear_error();
  std::shared_ptr<TlsContext> made(new TlsContext(false));
  made->server_name_ = settings.server_name;
  SSL_CTX* context = made->context_;
  if (settings.verify) {
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
    if (settings.ca.empty()) {
      SSL_CTX_set_default_verify_paths(context);
    } else {
      check_readable("ca", settings.ca);
      if (SSL_CTX_load_verify_locations(context, settings.ca.c_str(), nullptr) != 1) refuse_file("ca", settings.ca, take_openssl_error());
    }
  }
  if (settings.certificate.empty() != settings.key.empty()) {
    throw TlsConfigurationError(settings.key.empty() ? "certificate" : "key", "certificate and key need each other");
  }
  if (!settings.certificate.empty()) made->load_key_pair(settings.certificate, settings.key);
  return made;
}

}  // namespace redquel::executor
