#include "server/authentication/scram_exchange.h"

#include <gtest/gtest.h>
#include <openssl/hmac.h>

#include <functional>
#include <random>

#include "sql/error.h"
#include "sql/passwords/base64.h"

namespace redquel::server {
namespace {

// The example of RFC 7677, section 3.
constexpr const char* kClientFirst = "n,,n=user,r=rOprNGfwEbeRWgbNEkqO";
constexpr const char* kServerNonce = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
constexpr const char* kServerFirst = "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";
constexpr const char* kClientFinal =
    "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";
constexpr const char* kServerFinal = "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=";

ScramExchange::Options rfc_options() {
  return {.verifier = sql::make_scram_verifier("pencil", *sql::decode_base64("W22ZaJ0SNY7soEsUEjb6gQ=="), 4096), .nonce = kServerNonce};
}

ScramExchange selected(ScramExchange::Options options, std::string_view mechanism = "SCRAM-SHA-256") {
  ScramExchange exchange(std::move(options));
  exchange.select(mechanism);
  return exchange;
}

/// SQLSTATE, message and detail of an error; empty: there was none.
std::string error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const sql::SqlError& error) {
    return error.sqlstate() + " " + error.message() + (error.detail().empty() ? "" : ": " + error.detail());
  }
  return {};
}

TEST(ScramExchange, AnswersAsInTheExampleOfRfc7677) {
  ScramExchange exchange = selected(rfc_options());
  EXPECT_EQ(exchange.answer_first(kClientFirst), kServerFirst);
  EXPECT_EQ(exchange.answer_final(kClientFinal), kServerFinal);
}

TEST(ScramExchange, RefusesAnotherPasswordAndAMock) {
  ScramExchange::Options other = rfc_options();
  other.verifier = sql::make_scram_verifier("pencils", other.verifier.salt, 4096);
  ScramExchange exchange = selected(other);
  exchange.answer_first(kClientFirst);
  EXPECT_EQ(exchange.answer_final(kClientFinal), std::nullopt);

  ScramExchange::Options mock = rfc_options();
  mock.is_mock = true;
  ScramExchange mocked = selected(mock);
  EXPECT_EQ(mocked.answer_first(kClientFirst), kServerFirst);
  EXPECT_EQ(mocked.answer_final(kClientFinal), std::nullopt);
}

TEST(ScramExchange, OffersChannelBindingWithACertificateHashAlone) {
  EXPECT_EQ(ScramExchange(rfc_options()).mechanisms(), (std::vector<std::string_view>{"SCRAM-SHA-256"}));
  ScramExchange::Options bound = rfc_options();
  bound.server_end_point = "hash";
  EXPECT_EQ(ScramExchange(bound).mechanisms(), (std::vector<std::string_view>{"SCRAM-SHA-256-PLUS", "SCRAM-SHA-256"}));
  EXPECT_EQ(error_of([] { selected(rfc_options(), "SCRAM-SHA-256-PLUS"); }),
            "08P01 client selected an invalid SASL authentication mechanism");
  EXPECT_EQ(error_of([&] { selected(bound, "SCRAM-SHA-1"); }), "08P01 client selected an invalid SASL authentication mechanism");
}

/// Returns client-final-message with a right proof.
std::string client_final(const ScramExchange::Options& options, const std::string& first, const std::string& without_proof) {
  const std::string bare = first.substr(first.find("n="));
  const std::string challenge = "r=" + first.substr(first.find("r=") + 2) + options.nonce + ",s=" + sql::encode_base64(options.verifier.salt) +
                                ",i=" + std::to_string(options.verifier.iterations);
  const std::string text = bare + "," + challenge + "," + without_proof;
  unsigned char salted[32], key[32], stored[32], signature[32];
  PKCS5_PBKDF2_HMAC("pencil", 6, reinterpret_cast<const unsigned char*>(options.verifier.salt.data()),
                    static_cast<int>(options.verifier.salt.size()), 4096, EVP_sha256(), 32, salted);
  HMAC(EVP_sha256(), salted, 32, reinterpret_cast<const unsigned char*>("Client Key"), 10, key, nullptr);
  EVP_Digest(key, 32, stored, nullptr, EVP_sha256(), nullptr);
  HMAC(EVP_sha256(), stored, 32, reinterpret_cast<const unsigned char*>(text.data()), text.size(), signature, nullptr);
  std::string proof;
  for (int i = 0; i < 32; ++i) proof.push_back(static_cast<char>(key[i] ^ signature[i]));
  return without_proof + ",p=" + sql::encode_base64(proof);
}

TEST(ScramExchange, ChecksTheChannelBinding) {
  ScramExchange::Options bound = rfc_options();
  bound.server_end_point = "hash";
  const std::string header = "p=tls-server-end-point,,", first = header + "n=,r=abc";
  for (const std::string hash : {"hash", "other"}) {
    ScramExchange exchange = selected(bound, "SCRAM-SHA-256-PLUS");
    exchange.answer_first(first);
    const std::string last = client_final(bound, first, "c=" + sql::encode_base64(header + hash) + ",r=abc" + kServerNonce);
    if (hash == "hash") {
      EXPECT_TRUE(exchange.answer_final(last).has_value());
    } else {
      EXPECT_EQ(error_of([&] { exchange.answer_final(last); }), "28000 SCRAM channel binding check failed");
    }
  }
  // A client that thinks that the server offers none has been lied to.
  EXPECT_EQ(error_of([&] { selected(bound).answer_first("y,,n=,r=abc"); }).substr(0, 45), "28000 SCRAM channel binding negotiation error");
  ScramExchange::Options plain = rfc_options();
  ScramExchange exchange = selected(plain);
  exchange.answer_first("y,,n=,r=abc");
  EXPECT_TRUE(exchange.answer_final(client_final(plain, "y,,n=,r=abc", std::string("c=eSws,r=abc") + kServerNonce)).has_value());
}

TEST(ScramExchange, NamesTheMistakesOfFirstMessages) {
  const auto first = [](std::string_view message) { return error_of([&] { selected(rfc_options()).answer_first(message); }); };
  EXPECT_EQ(first(""), "08P01 malformed SCRAM message: The message is empty.");
  EXPECT_EQ(first(std::string_view("n,,\0r=x", 7)), "08P01 malformed SCRAM message: Message length does not match input length.");
  EXPECT_EQ(first("x,,n=,r=a"), "08P01 malformed SCRAM message: Unexpected channel-binding flag \"'x'\".");
  EXPECT_EQ(first("n"), "08P01 malformed SCRAM message: Comma expected, but found character \"0x00\".");
  EXPECT_EQ(first("n,a=x,n=,r=a"), "0A000 client uses authorization identity, but it is not supported");
  EXPECT_EQ(first("n,,m=x,n=,r=a"), "0A000 client requires an unsupported SCRAM extension");
  EXPECT_EQ(first("n,x,n=,r=a"), "08P01 malformed SCRAM message: Unexpected attribute \"'x'\" in client-first-message.");
  EXPECT_EQ(first("n,,r=a"), "08P01 malformed SCRAM message: Expected attribute \"n\" but found \"'r'\".");
  EXPECT_EQ(first("n,,n=,r=a b"), "08P01 non-printable characters in SCRAM nonce");
  EXPECT_EQ(first("n,,n=,r=a,1"), "08P01 malformed SCRAM message: Attribute expected, but found invalid character \"'1'\".");
  EXPECT_EQ(first("n,,n=,r=a,x=1"), "");
  EXPECT_EQ(first("p=tls-unique,,n=,r=a").substr(0, 29), "08P01 malformed SCRAM message");
}

TEST(ScramExchange, NamesTheMistakesOfFinalMessages) {
  const auto last = [](std::string_view message) {
    ScramExchange exchange = selected(rfc_options());
    exchange.answer_first(kClientFirst);
    return error_of([&] { exchange.answer_final(message); });
  };
  EXPECT_EQ(last("c=eSws,r=a,p=x"), "08P01 unexpected SCRAM channel-binding attribute in client-final-message");
  EXPECT_EQ(last("c=biws,r=a"), "08P01 malformed SCRAM message: Attribute expected, but found end of string.");
  EXPECT_EQ(last("c=biws,r=a,p=x"), "08P01 malformed SCRAM message: Malformed proof in client-final-message.");
  EXPECT_EQ(last("c=biws,r=a,p=" + sql::encode_base64(std::string(32, 'x')) + ",z=1"),
            "08P01 malformed SCRAM message: Garbage found at the end of client-final-message.");
  EXPECT_EQ(last("c=biws,r=a,p=" + sql::encode_base64(std::string(32, 'x'))), "08P01 invalid SCRAM response: Nonce does not match.");
}

/// Messages that are cut, changed or made of random pieces end in an error or a refusal, never in a login.
TEST(ScramExchange, LetsNoMutatedMessageIn) {
  std::mt19937 random(7677);
  const auto below = [&](std::size_t limit) { return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random); };
  const auto mutated = [&](std::string text) {
    for (std::size_t i = 0, changes = 1 + below(3); i < changes && !text.empty(); ++i) {
      const std::size_t at = below(text.size());
      switch (below(4)) {
        case 0:
          text.erase(at, 1 + below(5));
          break;
        case 1:
          text.insert(at, 1, static_cast<char>(below(256)));
          break;
        case 2:
          text[at] = ",=nprcy\0+"[below(9)];
          break;
        default:
          text.resize(at);
      }
    }
    return text;
  };
  std::size_t refused = 0;
  for (int i = 0; i < 5000; ++i) {
    const std::string first = below(2) == 0 ? mutated(kClientFirst) : kClientFirst, last = mutated(kClientFinal);
    ScramExchange exchange = selected(rfc_options());
    const std::string error = error_of([&] {
      exchange.answer_first(first);
      const auto answer = exchange.answer_final(last);
      EXPECT_TRUE(!answer || (first == kClientFirst && last == kClientFinal)) << first << "\n" << last;
      refused += !answer;
    });
    if (!error.empty()) ++refused;
  }
  EXPECT_GT(refused, 4000);
}

}  // namespace
}  // namespace redquel::server
