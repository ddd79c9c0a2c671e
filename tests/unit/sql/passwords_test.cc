#include <gtest/gtest.h>

#include "sql/passwords/base64.h"
#include "sql/passwords/md5_verifier.h"
#include "sql/passwords/password_verifier.h"
#include "sql/passwords/saslprep.h"
#include "sql/passwords/scram_verifier.h"

namespace redquel::sql {
namespace {

TEST(Saslprep, AnswersTheExamplesOfRfc4013) {
  EXPECT_EQ(saslprep("I\u00ADX"), "IX");
  EXPECT_EQ(saslprep("user"), "user");
  EXPECT_EQ(saslprep("USER"), "USER");
  EXPECT_EQ(saslprep("\u00AA"), "a");
  EXPECT_EQ(saslprep("\u2168"), "IX");
  EXPECT_EQ(saslprep("\u0627\u0031"), std::nullopt);
}

TEST(Saslprep, LeavesAsciiAsItIsControlCharactersToo) {
  EXPECT_EQ(saslprep("\x07"), "\x07");
  EXPECT_EQ(saslprep(""), "");
}

TEST(Saslprep, RefusesInvalidText) {
  EXPECT_EQ(saslprep("\xff\xfe"), std::nullopt);
  EXPECT_EQ(saslprep("\u00AD"), std::nullopt);  // nothing is left
  EXPECT_EQ(saslprep("\u00e9\x01"), std::nullopt);
  EXPECT_EQ(saslprep("a\u0221b"), std::nullopt);  // unassigned in Unicode 3.2
  EXPECT_EQ(prepared_password("a\u0221b"), "a\u0221b");
}

TEST(Saslprep, MapsOtherSpacesBeforeItTakesOutCharacters) {
  EXPECT_EQ(saslprep("a\u3000b"), "a b");
  EXPECT_EQ(saslprep("\u200B\u00e9"), " \u00e9");
}

struct StoredPassword {
  const char* password;
  const char* verifier;
};

// Made by PostgreSQL 15.
constexpr StoredPassword kStored[] = {
    {"pencil", "SCRAM-SHA-256$4096:aEK/slfbBTh+ZjJLrom4wg==$T2Ylk+0pIJPXT+PrbJ4ZQn12+mitZ244mVmAumJKnHI=:a6w2NYOR5oQwOMMqEx/w6q/Me2kqVYygnUMOjyp00ls="},
    {"\u00AA\u2168 x\u00ADy\u3000z",
     "SCRAM-SHA-256$4096:JcklfgPXLkquzUm7iKFafw==$w4VfOqp2StiwZxmLb5hdcEVuyukouE0nA9T+QSD8sZQ=:GxAjSfssuJA338mv0pbbofr9EPDKQiia2ZeZ1bIR4Ts="},
    {"\u0627\u0628 a", "SCRAM-SHA-256$4096:IVDYzCyG0UdRj6owFVxpAg==$LtANnCPpGNJounurQi9t84yfqekwcZGsn5uQqZhb0HI=:LSmeoN5EXiHU4ITdai2S+A6453YfymMDav8NH6djeo8="},
    {"\u0627\u0628", "SCRAM-SHA-256$4096:nZpc0wg7Pbvp0jdvC/M3qA==$A5bdFhPiZuXAEOv+9RAK6PuqRStSlWg1qQKfvnMmINk=:aJB5iPoIe5AVR+fqNDQnNrTLIkGAKqRH8x/JnLiO5cs="},
    {"a\u0221b\uFF21", "SCRAM-SHA-256$4096:d27i227kMCcWaqTjBm0Ifg==$LNFHHnHPp/3En8nB85Q1hSkWJgDYDt4i8qri+WDrSwM=:HEQt47GD8/3EU00iL3RgnkFbkZwBnLuntnctcSRgkXA="},
    {"\u200B\u00e9", "SCRAM-SHA-256$4096:YnX1yBZaGZg9zmBEg4iIxg==$Vv9VZQSh62xYCYPsBoG3LtHsEwsITk/affhrNFoQ9So=:fMSx96lxcW3DMebFYuqDQFwy7MJzBNMRxsHYtUrvWQQ="},
    {"e\u0301\u200B", "SCRAM-SHA-256$4096:T+qfhMCXFYiKVaTxAXV8vQ==$mI9woknMYLUkU2/6GR7p4UIyDxiO8fMnFYst+Kw3A6I=:G9TWctgvAZxQ37dgzZDGQw5gIlY3LtNsNW5ZsymGw0c="},
};

TEST(ScramVerifier, IsMadeAsPostgresqlMakesIt) {
  for (const StoredPassword& stored : kStored) {
    const auto verifier = parse_scram_verifier(stored.verifier);
    ASSERT_TRUE(verifier) << stored.verifier;
    EXPECT_EQ(to_text(*verifier), stored.verifier);
    EXPECT_EQ(to_text(make_scram_verifier(stored.password, verifier->salt)), stored.verifier);
    EXPECT_TRUE(matches_password(*verifier, stored.password));
    EXPECT_FALSE(matches_password(*verifier, "another"));
  }
}

TEST(ScramVerifier, HasTheKeysOfRfc7677) {
  // Password "pencil", salt and rounds of RFC 7677, section 3; its ServerSignature is the HMAC of AuthMessage by ServerKey.
  const std::string salt = *decode_base64("W22ZaJ0SNY7soEsUEjb6gQ==");
  const ScramVerifier verifier = make_scram_verifier("pencil", salt, 4096);
  EXPECT_EQ(to_text(verifier),
            "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=");
}

TEST(ScramVerifier, RefusesTextsThatAreNone) {
  const std::string good = kStored[0].verifier;
  for (const std::string& bad : {std::string(), std::string("SCRAM-SHA-256$"), good.substr(0, good.size() - 1), good + "=", good + "\n", "X" + good,
                                 std::string("SCRAM-SHA-256$0:aEK/slfbBTh+ZjJLrom4wg==$") + good.substr(good.rfind('$') + 1),
                                 std::string("SCRAM-SHA-256$99999999999:aEK/slfbBTh+ZjJLrom4wg==$") + good.substr(good.rfind('$') + 1),
                                 std::string("SCRAM-SHA-256$4096:a EK/slfbBTh+ZjJLrom4wg=$") + good.substr(good.rfind('$') + 1)}) {
    EXPECT_FALSE(parse_scram_verifier(bad)) << bad;
  }
}

TEST(ScramVerifier, WithTooManyRoundsNeverMatches) {
  ScramVerifier verifier = make_scram_verifier("x", "salt", 1);
  EXPECT_TRUE(matches_password(verifier, "x"));
  verifier.iterations = kMaxScramIterations + 1;
  EXPECT_FALSE(matches_password(verifier, "x"));
}

TEST(ScramVerifier, IsStableForAnUnknownName) {
  const ScramVerifier mock = mock_scram_verifier("alice", "nonce");
  EXPECT_EQ(mock, mock_scram_verifier("alice", "nonce"));
  EXPECT_NE(mock.salt, mock_scram_verifier("bob", "nonce").salt);
  EXPECT_NE(mock.salt, mock_scram_verifier("alice", "other").salt);
  EXPECT_EQ(mock.salt.size(), kScramSaltBytes);
  EXPECT_EQ(mock.iterations, kScramIterations);
}

TEST(Md5Verifier, IsMadeAsPostgresqlMakesIt) {
  EXPECT_EQ(make_md5_verifier("pencil", "r7"), "md55cf97e4af0ec0e5d8e03bf6213f28be2");
  EXPECT_TRUE(is_md5_verifier("md55cf97e4af0ec0e5d8e03bf6213f28be2"));
  EXPECT_FALSE(is_md5_verifier("md55CF97e4af0ec0e5d8e03bf6213f28be2"));
  EXPECT_FALSE(is_md5_verifier("md55cf97e4af0ec0e5d8e03bf6213f28be"));
  EXPECT_NE(md5_response("md55cf97e4af0ec0e5d8e03bf6213f28be2", "salt"), md5_response("md55cf97e4af0ec0e5d8e03bf6213f28be2", "tals"));
  EXPECT_TRUE(is_md5_verifier(mock_md5_verifier("alice", "nonce")));
}

TEST(PasswordVerifier, KeepsTextsThatAreVerifiers) {
  EXPECT_EQ(make_verifier(kStored[0].verifier, "r1", PasswordForm::kMd5), kStored[0].verifier);
  EXPECT_EQ(make_verifier("pencil", "r7", PasswordForm::kMd5), "md55cf97e4af0ec0e5d8e03bf6213f28be2");
  const std::string made = make_verifier("pencil", "r1", PasswordForm::kScram);
  EXPECT_EQ(password_form(made), PasswordForm::kScram);
  EXPECT_NE(made, make_verifier("pencil", "r1", PasswordForm::kScram));  // another salt
  EXPECT_TRUE(verifier_matches(made, "r1", "pencil"));
  EXPECT_TRUE(verifier_matches("md55cf97e4af0ec0e5d8e03bf6213f28be2", "r7", "pencil"));
  EXPECT_FALSE(verifier_matches("pencil", "r7", "pencil"));
}

}  // namespace
}  // namespace redquel::sql
