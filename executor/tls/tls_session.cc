#include "executor/tls/tls_session.h"

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "executor/tls/openssl_error.h"

namespace redquel::executor {

/// The session's strings, as a BIO that OpenSSL reads and writes.
struct TlsBytes {
  static int read(BIO* bio, char* room, int size) {
    auto& session = *static_cast<TlsSession*>(BIO_get_data(bio));
    BIO_clear_retry_flags(bio);
    const std::size_t count = std::min(static_cast<std::size_t>(size), session.input_.size() - session.input_offset_);
    if (count == 0) {
      BIO_set_retry_read(bio);
      return -1;
    }
    std::memcpy(room, session.input_.data() + session.input_offset_, count);
    session.input_offset_ += count;
    return static_cast<int>(count);
  }

  static int write(BIO* bio, const char* bytes, int size) {
    auto& session = *static_cast<TlsSession*>(BIO_get_data(bio));
    BIO_clear_retry_flags(bio);
    try {
      session.output_.append(bytes, static_cast<std::size_t>(size));
    } catch (const std::bad_alloc&) {  // no exception may cross OpenSSL
      return -1;
    }
    return size;
  }

  static long control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

  static BIO_METHOD* make_method() {
    BIO_METHOD* method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "redquel bytes");
    BIO_meth_set_read(method, &read);
    BIO_meth_set_write(method, &write);
    BIO_meth_set_ctrl(method, &control);
    return method;
  }

  static void attach(SSL* session, TlsSession* owner) {
    static const BIO_METHOD* const method = make_method();
    BIO* bio = BIO_new(method);
    if (bio == nullptr) throw std::bad_alloc();
    BIO_set_data(bio, owner);
    BIO_set_init(bio, 1);
    SSL_set_bio(session, bio, bio);
  }
};

namespace {

/// Buffers beyond this are given back once they are empty: most connections are idle.
constexpr std::size_t kKeptBytes = 4096;

void clear(std::string& buffer) {
  if (buffer.capacity() > kKeptBytes) buffer = {};
  else buffer.clear();
}

bool is_address(const std::string& name) {
  const std::unique_ptr<ASN1_OCTET_STRING, decltype(&ASN1_OCTET_STRING_free)> address(a2i_IPADDRESS(name.c_str()), ASN1_OCTET_STRING_free);
  ERR_clear_error();
  return address != nullptr;
}

/// Names the server that the client wants: SNI, and what its certificate must be for.
void name_server(SSL* session, const std::string& name) {
  if (name.empty()) return;
  X509_VERIFY_PARAM* wanted = SSL_get0_param(session);
  if (is_address(name)) {
    X509_VERIFY_PARAM_set1_ip_asc(wanted, name.c_str());
    return;
  }
  SSL_set_tlsext_host_name(session, name.c_str());
  X509_VERIFY_PARAM_set1_host(wanted, name.data(), name.size());
}

struct FreeBio {
  void operator()(BIO* bio) const { BIO_free(bio); }
};

std::string name_text(const X509_NAME* name, unsigned long form) {
  const std::unique_ptr<BIO, FreeBio> out(BIO_new(BIO_s_mem()));
  X509_NAME_print_ex(out.get(), name, 0, form);
  char* text = nullptr;
  const long size = BIO_get_mem_data(out.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

/// "/O=redquel/CN=alice", as PostgreSQL writes it (X509_NAME_to_cstring).
std::string slashed_name(const X509_NAME* name) {
  const std::unique_ptr<BIO, FreeBio> out(BIO_new(BIO_s_mem()));
  for (int i = 0; i < X509_NAME_entry_count(name); ++i) {
    const X509_NAME_ENTRY* entry = X509_NAME_get_entry(name, i);
    const int kind = OBJ_obj2nid(X509_NAME_ENTRY_get_object(entry));
    const char* label = OBJ_nid2sn(kind);
    BIO_printf(out.get(), "/%s=", label != nullptr ? label : "?");
    ASN1_STRING_print_ex(out.get(), X509_NAME_ENTRY_get_data(entry), (ASN1_STRFLGS_RFC2253 & ~ASN1_STRFLGS_ESC_MSB) | ASN1_STRFLGS_UTF8_CONVERT);
  }
  char* text = nullptr;
  const long size = BIO_get_mem_data(out.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

std::string decimal(const ASN1_INTEGER* number) {
  const std::unique_ptr<BIGNUM, decltype(&BN_free)> value(ASN1_INTEGER_to_BN(number, nullptr), BN_free);
  if (!value) return {};
  char* digits = BN_bn2dec(value.get());
  std::string text = digits != nullptr ? digits : "";
  OPENSSL_free(digits);
  return text;
}

/// Throws where any part of the name contains a zero byte: who reads it as C text sees another name than the one that was signed.
void check_zero_bytes(const X509_NAME* name) {
  for (int i = 0; i < X509_NAME_entry_count(name); ++i) {
    unsigned char* text = nullptr;
    const int size = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, i)));
    const bool has_zero = size < 0 || std::memchr(text, 0, static_cast<std::size_t>(size)) != nullptr;
    OPENSSL_free(text);
    if (has_zero) throw TlsError("the certificate's name contains a zero byte");
  }
}

std::string common_name(const X509_NAME* name) {
  const int index = X509_NAME_get_index_by_NID(const_cast<X509_NAME*>(name), NID_commonName, -1);
  if (index < 0) return {};
  unsigned char* text = nullptr;
  const int size = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, index)));
  if (size < 0) return {};
  std::string found(reinterpret_cast<const char*>(text), static_cast<std::size_t>(size));
  OPENSSL_free(text);
  return found;
}

}  // namespace

TlsSession::TlsSession(TlsContextPtr context, const std::string& peer) : context_(std::move(context)), session_(SSL_new(context_->native())) {
  if (session_ == nullptr) throw std::bad_alloc();
  TlsBytes::attach(session_, this);
  if (context_->is_server()) {
    SSL_set_accept_state(session_);
  } else {
    SSL_set_connect_state(session_);
    name_server(session_, context_->server_name().empty() ? peer : context_->server_name());
  }
}

TlsSession::TlsSession(TlsSession&& other) noexcept
    : context_(std::move(other.context_)),
      session_(std::exchange(other.session_, nullptr)),
      input_(std::move(other.input_)),
      output_(std::move(other.output_)),
      input_offset_(other.input_offset_),
      established_(other.established_),
      ended_(other.ended_) {
  if (session_ != nullptr) BIO_set_data(SSL_get_rbio(session_), this);
}

TlsSession::~TlsSession() { SSL_free(session_); }

void TlsSession::fail() {
  const long verdict = SSL_get_verify_result(session_);
  std::string reason = take_openssl_error();
  const bool is_distrust = verdict != X509_V_OK && SSL_get_verify_mode(session_) != SSL_VERIFY_NONE;
  if (is_distrust) reason += std::string(": ") + X509_verify_cert_error_string(verdict);
  throw TlsError(reason, is_distrust);
}

bool TlsSession::shake_hands() {
  ERR_clear_error();
  const int result = SSL_do_handshake(session_);
  if (result == 1) {
    established_ = true;
    return true;
  }
  if (SSL_get_error(session_, result) != SSL_ERROR_WANT_READ) fail();
  return false;
}

bool TlsSession::has_input() const { return input_offset_ < input_.size() || SSL_has_pending(session_) == 1; }

std::size_t TlsSession::decrypt(std::span<char> room) {
  ERR_clear_error();
  const int size = static_cast<int>(std::min<std::size_t>(room.size(), INT_MAX));
  const int count = SSL_read(session_, room.data(), size);
  if (input_offset_ == input_.size()) {
    clear(input_);
    input_offset_ = 0;
  }
  if (count > 0) return static_cast<std::size_t>(count);
  switch (SSL_get_error(session_, count)) {
    case SSL_ERROR_WANT_READ:
      return 0;
    case SSL_ERROR_ZERO_RETURN:
      ended_ = true;
      return 0;
    default:
      fail();
  }
}

void TlsSession::encrypt(std::string_view plain) {
  ERR_clear_error();
  while (!plain.empty()) {
    const int size = static_cast<int>(std::min<std::size_t>(plain.size(), INT_MAX));
    const int written = SSL_write(session_, plain.data(), size);
    if (written <= 0) fail();
    plain.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string TlsSession::encrypted(std::string_view plain) {
  encrypt(plain);
  return std::exchange(output_, {});
}

void TlsSession::end() {
  if (!established_) return;
  ERR_clear_error();
  SSL_shutdown(session_);
  ERR_clear_error();
}

void TlsSession::clear_output() { clear(output_); }

std::string TlsSession::version() const { return SSL_get_version(session_); }
std::string TlsSession::cipher() const { return SSL_get_cipher_name(session_); }
int TlsSession::cipher_bits() const { return SSL_get_cipher_bits(session_, nullptr); }

bool TlsSession::has_application_protocol() const {
  const unsigned char* name = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(session_, &name, &size);
  return size > 0;
}

std::optional<TlsSession::Certificate> TlsSession::peer_certificate() const {
  const X509* certificate = SSL_get0_peer_certificate(session_);
  if (certificate == nullptr || SSL_get_verify_result(session_) != X509_V_OK) return std::nullopt;
  const X509_NAME* subject = X509_get_subject_name(certificate);
  const X509_NAME* issuer = X509_get_issuer_name(certificate);
  check_zero_bytes(subject);
  check_zero_bytes(issuer);
  return Certificate{.common_name = common_name(subject),
                     .distinguished_name = name_text(subject, XN_FLAG_RFC2253),
                     .subject = slashed_name(subject),
                     .issuer = slashed_name(issuer),
                     .serial = decimal(X509_get0_serialNumber(certificate))};
}

}  // namespace redquel::executor
