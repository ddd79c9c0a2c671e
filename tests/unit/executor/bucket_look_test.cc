#include "executor/storage/bucket_look.h"

#include <gtest/gtest.h>

#include "executor/redis/resp_codec.h"
#include "sql/error.h"
#include "tests/unit/executor/resp_text.h"

namespace redquel::executor {
namespace {

const std::vector<sql::Oid> kTable{16400};

std::string sqlstate_of_look(const std::string& bytes) {
  Replies replies;
  ReplyDecoder decoder(1 << 20);
  decoder.feed(bytes);
  decoder.next(replies);
  try {
    decode_bucket_look(replies[0]);
  } catch (const sql::SqlError& error) {
    return std::string(error.sqlstate());
  }
  return "00000";
}

TEST(BucketLook, DecodesALookAndRefusesOtherReplies) {
  const std::string name = resp::texts({make_commit_name({0, 1}, kTable).text}), none = resp::array({});
  EXPECT_EQ(sqlstate_of_look(resp::array({resp::integer(1), resp::integer(0), name, none})), "00000");
  EXPECT_EQ(sqlstate_of_look(resp::array({resp::integer(1), resp::integer(0), resp::texts({"x"}), none})), "XX001");
  EXPECT_EQ(sqlstate_of_look(resp::array({resp::integer(1), resp::text("0"), name, none})), "XX001");
  EXPECT_EQ(sqlstate_of_look(resp::array({resp::integer(1)})), "XX001");
  EXPECT_EQ(sqlstate_of_look(resp::text("x")), "XX001");
}

}  // namespace
}  // namespace redquel::executor
