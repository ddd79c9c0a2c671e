#include "executor/tls/sealed_message.h"

#include <gtest/gtest.h>

namespace redquel::executor {
namespace {

TEST(SealedMessage, OnlyTheKeyOpensIt) {
  const std::string key = random_bytes(kSealKeyBytes);
  for (const std::string& message : {std::string(), std::string("SELECT 1"), std::string(100'000, 'x')}) {
    const std::string sealed = seal(key, message);
    EXPECT_EQ(unseal(key, sealed), message);
    EXPECT_NE(seal(key, message), sealed);
    EXPECT_EQ(unseal(random_bytes(kSealKeyBytes), sealed), std::nullopt);
    EXPECT_EQ(sealed.find("SELECT"), std::string::npos);
  }
}

TEST(SealedMessage, ChangedMessagesAreRefused) {
  const std::string key = random_bytes(kSealKeyBytes), sealed = seal(key, "terminate 7");
  for (std::size_t i = 0; i < sealed.size(); ++i) {
    std::string changed = sealed;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_EQ(unseal(key, changed), std::nullopt) << i;
    EXPECT_EQ(unseal(key, sealed.substr(0, i)), std::nullopt) << i;
  }
  EXPECT_EQ(unseal("", sealed), std::nullopt);
}

}  // namespace
}  // namespace redquel::executor
