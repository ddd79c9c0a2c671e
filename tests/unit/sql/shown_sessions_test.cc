#include "sql/system_tables/shown_sessions.h"

#include <gtest/gtest.h>

#include <exception>

namespace redquel::sql {
namespace {

TEST(ShownSessions, EncodedSessionsAreReadBack) {
  SessionStatistics one;
  one.process_id = 2097159;
  one.role = 16385;
  one.role_name = "al\"ice";
  one.database = "shop";
  one.application_name = "psql";
  one.client_address = "10.0.0.1";
  one.client_port = 5000;
  one.started = 1;
  one.transaction_started = 2;
  one.statement_started = 3;
  one.state_changed = 4;
  one.state = "idle in transaction";
  one.waits_for_client = true;
  one.awaited_event = kReplicationWait;
  one.progress = {.work = LongWork::kReindex, .table = 20000, .index = 20001, .bytes = 5, .rows = 6, .excluded_rows = 7, .all_rows = 1ULL << 63};
  one.query_id = -5;
  one.query = "SELECT 'n\u00e4ive'\n";
  one.encryption = EncryptionFacts{"TLSv1.3", "AES", 256, "/CN=alice", "/CN=ca", "12"};
  const std::vector<SessionStatistics> read = decode_sessions(encode_sessions({one, SessionStatistics{}}));
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(encode_sessions(read), encode_sessions({one, SessionStatistics{}}));
  EXPECT_EQ(read[0].query, one.query);
  EXPECT_EQ(read[0].state, one.state);
  EXPECT_EQ(read[0].awaited_event, one.awaited_event);
  EXPECT_EQ(read[0].progress.all_rows, one.progress.all_rows);
  EXPECT_EQ(read[0].encryption->client_serial, "12");
  EXPECT_FALSE(read[1].encryption);
}

TEST(ShownSessions, OtherTextsAreRefused) {
  for (const char* text : {"", "{}", "[1]", "[[]]", "[[\"x\"]]", "[[1,2,3]]"}) EXPECT_THROW(decode_sessions(text), std::exception) << text;
}

}  // namespace
}  // namespace redquel::sql
