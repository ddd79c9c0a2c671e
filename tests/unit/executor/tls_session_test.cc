#include "executor/tls/tls_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <random>

namespace redquel::executor {
namespace {

using testing::HasSubstr;

/// A self-signed certificate for "localhost" and its key, as files.
class TlsFiles {
 public:
  explicit TlsFiles(int kind = EVP_PKEY_EC) {
    static int count = 0;
    const std::string base = (std::filesystem::temp_directory_path() / ("redquel_tls_" + std::to_string(::getpid()) + "_" + std::to_string(count++))).string();
    certificate = base + ".crt";
    key = base + ".key";
    EVP_PKEY* pair = kind == EVP_PKEY_EC ? EVP_EC_gen("P-256") : EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519");
    X509* made = X509_new();
    X509_set_version(made, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(made), 7);
    X509_gmtime_adj(X509_getm_notBefore(made), -3600);
    X509_gmtime_adj(X509_getm_notAfter(made), 3600);
    X509_set_pubkey(made, pair);
    X509_NAME* name = X509_get_subject_name(made);
    X509_NAME_add_entry_by_txt(name, "O", MBSTRING_UTF8, reinterpret_cast<const unsigned char*>("redquel"), -1, -1, 0);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, reinterpret_cast<const unsigned char*>("alice"), -1, -1, 0);
    X509_set_issuer_name(made, name);
    X509_EXTENSION* names = X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1");
    X509_add_ext(made, names, -1);
    X509_EXTENSION_free(names);
    X509_sign(made, pair, kind == EVP_PKEY_EC ? EVP_sha384() : nullptr);
    FILE* file = std::fopen(certificate.c_str(), "w");
    PEM_write_X509(file, made);
    std::fclose(file);
    file = std::fopen(key.c_str(), "w");
    PEM_write_PrivateKey(file, pair, nullptr, nullptr, 0, nullptr, nullptr);
    std::fclose(file);
    ::chmod(key.c_str(), 0600);
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    X509_digest(made, EVP_sha384(), digest, &size);
    sha384.assign(reinterpret_cast<const char*>(digest), size);
    X509_free(made);
    EVP_PKEY_free(pair);
  }
  ~TlsFiles() {
    ::unlink(certificate.c_str());
    ::unlink(key.c_str());
  }
  std::string certificate, key, sha384;
};

class Tls : public testing::Test {
 protected:
  TlsServerSettings server_settings(const TlsFiles& files) const {
    TlsServerSettings settings;
    settings.certificate = files.certificate;
    settings.key = files.key;
    settings.application_protocol = "postgresql";
    return settings;
  }
  TlsContextPtr server_context() const { return TlsContext::for_server(server_settings(files)); }
  TlsContextPtr client_context(const std::string& name = "localhost") const {
    TlsClientSettings settings;
    settings.ca = files.certificate;
    settings.server_name = name;
    return TlsContext::for_client(settings);
  }
  TlsFiles files;
};

/// Brings the output of one side to the other in pieces of this size.
void deliver(TlsSession& from, TlsSession& to, std::size_t piece = std::string::npos) {
  const std::string bytes(from.output());
  from.clear_output();
  for (std::size_t at = 0; at < bytes.size(); at += std::min(piece, bytes.size())) {
    to.feed(std::string_view(bytes).substr(at, piece));
    if (!to.is_established()) to.shake_hands();
  }
}

void shake_hands(TlsSession& client, TlsSession& server, std::size_t piece = std::string::npos) {
  client.shake_hands();
  for (int turn = 0; turn < 10 && !(client.is_established() && server.is_established()); ++turn) {
    deliver(client, server, piece);
    deliver(server, client, piece);
  }
}

std::string decrypt_all(TlsSession& session) {
  std::string plain;
  char room[1000];
  while (session.has_input()) {
    const std::size_t count = session.decrypt(room);
    if (count == 0) break;
    plain.append(room, count);
  }
  return plain;
}

TEST_F(Tls, BytesGoBothWaysInPiecesOfAnySize) {
  for (const std::size_t piece : {std::size_t{1}, std::size_t{2}, std::size_t{5}, std::size_t{17}, std::size_t{1000}, std::string::npos}) {
    TlsSession client(client_context()), server(server_context());
    shake_hands(client, server, piece);
    ASSERT_TRUE(client.is_established() && server.is_established()) << piece;
    EXPECT_EQ(server.version(), "TLSv1.3");
    EXPECT_EQ(server.cipher_bits(), 256);
    client.encrypt("what is it?");
    const std::string question(client.output());
    client.clear_output();
    std::string heard;
    for (std::size_t at = 0; at < question.size(); at += std::min(piece, question.size())) {
      server.feed(std::string_view(question).substr(at, piece));
      heard += decrypt_all(server);
    }
    EXPECT_EQ(heard, "what is it?");
    server.encrypt(std::string(100'000, 'x'));
    deliver(server, client);
    EXPECT_EQ(decrypt_all(client), std::string(100'000, 'x'));
  }
}

TEST_F(Tls, EveryCutOfARecordWaitsForTheRest) {
  TlsSession client(client_context()), server(server_context());
  shake_hands(client, server);
  for (std::size_t cut = 0; cut < 40; ++cut) {
    client.encrypt("statement");
    const std::string record(client.output());
    client.clear_output();
    server.feed(std::string_view(record).substr(0, cut));
    EXPECT_EQ(decrypt_all(server), cut < record.size() ? "" : "statement");
    server.feed(std::string_view(record).substr(std::min(cut, record.size())));
    EXPECT_EQ(decrypt_all(server), cut < record.size() ? "statement" : "");
  }
}

TEST_F(Tls, GarbageEndsTheHandshake) {
  std::mt19937 random(7);
  for (int i = 0; i < 300; ++i) {
    TlsSession client(client_context()), server(server_context());
    client.shake_hands();
    std::string hello(client.output());
    const int changes = i % 5;
    for (int change = 0; change < changes; ++change) hello[random() % hello.size()] = static_cast<char>(random());
    if (changes == 0) hello = std::string(200, static_cast<char>(i));
    server.feed(hello);
    try {
      EXPECT_FALSE(server.shake_hands());  // it may wait for more
    } catch (const TlsError& error) {
      EXPECT_STRNE(error.what(), "");
    }
  }
}

TEST_F(Tls, AChangedRecordEndsTheSession) {
  TlsSession client(client_context()), server(server_context());
  shake_hands(client, server);
  client.encrypt("statement");
  std::string record(client.output());
  record[10] ^= 1;
  server.feed(record);
  EXPECT_THROW(decrypt_all(server), TlsError);
  EXPECT_FALSE(server.output().empty());  // an alert
}

TEST_F(Tls, ARecordBeyondTheLargestSizeEndsTheSession) {
  TlsSession client(client_context()), server(server_context());
  shake_hands(client, server);
  server.feed(std::string("\x17\x03\x03\xff\xff", 5) + std::string(100, 'x'));
  EXPECT_THROW(decrypt_all(server), TlsError);
}

TEST_F(Tls, TheEndIsAnnounced) {
  TlsSession client(client_context()), server(server_context());
  shake_hands(client, server);
  client.encrypt("last");
  client.end();
  deliver(client, server);
  EXPECT_EQ(decrypt_all(server), "last");
  EXPECT_TRUE(server.is_ended());
  server.encrypt("still sent");
  deliver(server, client);
  EXPECT_EQ(decrypt_all(client), "still sent");
}

TEST_F(Tls, NamesAndAddressesAreCompared) {
  for (const char* name : {"localhost", "127.0.0.1"}) {
    TlsSession client(client_context(name)), server(server_context());
    shake_hands(client, server);
    EXPECT_TRUE(client.is_established()) << name;
  }
  for (const char* name : {"elsewhere", "127.0.0.2"}) {
    TlsSession client(client_context(name)), server(server_context());
    try {
      shake_hands(client, server);
      ADD_FAILURE() << name;
    } catch (const TlsError& error) {
      EXPECT_TRUE(error.is_distrust());
      EXPECT_THAT(error.what(), HasSubstr("mismatch"));
    }
  }
}

TEST_F(Tls, AnUnknownAuthorityIsDistrusted) {
  const TlsFiles other;
  TlsSession client(client_context()), server(TlsContext::for_server(server_settings(other)));
  try {
    shake_hands(client, server);
    FAIL();
  } catch (const TlsError& error) {
    EXPECT_TRUE(error.is_distrust());
    EXPECT_THAT(error.what(), HasSubstr("certificate verify failed: self-signed certificate"));
  }
}

TEST_F(Tls, CertificatesOfClients) {
  TlsServerSettings settings = server_settings(files);
  settings.client_ca = files.certificate;
  TlsClientSettings with_certificate;
  with_certificate.ca = with_certificate.certificate = files.certificate;
  with_certificate.key = files.key;
  TlsSession client(TlsContext::for_client(with_certificate)), server(TlsContext::for_server(settings));
  shake_hands(client, server);
  const auto certificate = server.peer_certificate();
  ASSERT_TRUE(certificate);
  EXPECT_EQ(certificate->common_name, "alice");
  EXPECT_EQ(certificate->distinguished_name, "CN=alice,O=redquel");
  EXPECT_EQ(certificate->subject, "/O=redquel/CN=alice");
  EXPECT_EQ(certificate->issuer, "/O=redquel/CN=alice");
  EXPECT_EQ(certificate->serial, "7");
  TlsSession without(client_context()), again(TlsContext::for_server(settings));
  shake_hands(without, again);
  EXPECT_FALSE(again.peer_certificate());
}

TEST_F(Tls, ChannelBindingIsTheHashBySignaturesDigest) {
  EXPECT_EQ(server_context()->server_end_point(), files.sha384);
  const TlsFiles without_digest(EVP_PKEY_ED25519);
  EXPECT_EQ(TlsContext::for_server(server_settings(without_digest))->server_end_point(), "");
}

TEST_F(Tls, WrongSettingsAreNamed) {
  const auto setting_of = [&](auto change) -> std::string {
    TlsServerSettings settings = server_settings(files);
    change(settings);
    try {
      TlsContext::for_server(settings);
      return "none";
    } catch (const TlsConfigurationError& error) {
      return error.setting();
    }
  };
  EXPECT_EQ(setting_of([](TlsServerSettings&) {}), "none");
  EXPECT_EQ(setting_of([](TlsServerSettings& s) { s.certificate = "/nowhere"; }), "certificate");
  EXPECT_EQ(setting_of([&](TlsServerSettings& s) { s.certificate = files.key; }), "certificate");
  EXPECT_EQ(setting_of([](TlsServerSettings& s) { s.key = "/nowhere"; }), "key");
  EXPECT_EQ(setting_of([](TlsServerSettings& s) { s.ciphers = "NOTHING"; }), "ciphers");
  EXPECT_EQ(setting_of([](TlsServerSettings& s) { s.groups = "NOTHING"; }), "groups");
  EXPECT_EQ(setting_of([](TlsServerSettings& s) { s.min_version = "1.0"; }), "min_version");
  EXPECT_EQ(setting_of([](TlsServerSettings& s) { s.client_ca = "/nowhere"; }), "client_ca");
  EXPECT_EQ(setting_of([](TlsServerSettings& s) { s.crl = "/nowhere"; }), "crl");
  ::chmod(files.key.c_str(), 0644);
  EXPECT_EQ(setting_of([](TlsServerSettings&) {}), "key");
}

}  // namespace
}  // namespace redquel::executor
