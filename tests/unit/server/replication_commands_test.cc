#include "server/replication/replication_commands.h"

#include <gtest/gtest.h>

#include "sql/error.h"

namespace redquel::server {

namespace {

template <typename Command>
Command parsed(std::string_view text) {
  const std::optional<ReplicationCommand> command = parse_replication_command(text);
  return std::get<Command>(*command);
}

std::string refusal(std::string_view text) {
  try {
    parse_replication_command(text);
  } catch (const sql::SqlError& error) {
    return std::string(error.sqlstate());
  }
  return "none";
}

using Snapshot = CreateReplicationSlot::Snapshot;

}  // namespace

TEST(ReplicationCommandsTest, SlotsAreMadeInBothSyntaxes) {
  EXPECT_EQ(parsed<CreateReplicationSlot>("CREATE_REPLICATION_SLOT \"s\" LOGICAL pgoutput (SNAPSHOT 'use');").snapshot, Snapshot::kUse);
  EXPECT_EQ(parsed<CreateReplicationSlot>("create_replication_slot S logical pgoutput NOEXPORT_SNAPSHOT").snapshot, Snapshot::kNothing);
  EXPECT_EQ(parsed<CreateReplicationSlot>("create_replication_slot S logical pgoutput").slot, "s");
  EXPECT_EQ(parsed<CreateReplicationSlot>("CREATE_REPLICATION_SLOT \"S\"\"x\" LOGICAL \"pgoutput\" (TWO_PHASE false, SNAPSHOT 'nothing')").slot, "S\"x");
}

TEST(ReplicationCommandsTest, StartHasAPlaceAndOptions) {
  const auto start = parsed<StartReplication>("START_REPLICATION SLOT \"s\" LOGICAL 1A/FF (proto_version '3', publication_names '\"p\",\"q\"\"x\"')");
  EXPECT_EQ(start.from, 0x1A000000FFu);
  ASSERT_EQ(start.options.size(), 2u);
  EXPECT_EQ(start.options[0], std::pair(std::string("proto_version"), std::string("3")));
  EXPECT_EQ(start.options[1].second, "\"p\",\"q\"\"x\"");
  EXPECT_TRUE(parsed<DropReplicationSlot>("DROP_REPLICATION_SLOT s WAIT").waits);
}

TEST(ReplicationCommandsTest, OtherTextsAreStatements) {
  EXPECT_FALSE(parse_replication_command("SELECT 1"));
  EXPECT_FALSE(parse_replication_command("SHOW wal_level"));
  EXPECT_FALSE(parse_replication_command(""));
}

TEST(ReplicationCommandsTest, WrongCommandsAreRefused) {
  EXPECT_EQ(refusal("CREATE_REPLICATION_SLOT s LOGICAL"), "42601");
  EXPECT_EQ(refusal("CREATE_REPLICATION_SLOT s LOGICAL pgoutput (SNAPSHOT 'x')"), "42601");
  EXPECT_EQ(refusal("CREATE_REPLICATION_SLOT s PHYSICAL"), "0A000");
  EXPECT_EQ(refusal("CREATE_REPLICATION_SLOT s LOGICAL test_decoding"), "0A000");
  EXPECT_EQ(refusal("START_REPLICATION SLOT s LOGICAL 1"), "42601");
  EXPECT_EQ(refusal("START_REPLICATION SLOT s LOGICAL /"), "42601");
  EXPECT_EQ(refusal("START_REPLICATION SLOT s LOGICAL 0/0 ("), "42601");
  EXPECT_EQ(refusal("START_REPLICATION SLOT s LOGICAL 0/0 (a 'b"), "42601");
  EXPECT_EQ(refusal("START_REPLICATION 0/0"), "0A000");
  EXPECT_EQ(refusal("IDENTIFY_SYSTEM x"), "42601");
  EXPECT_EQ(refusal("BASE_BACKUP"), "0A000");
}

}  // namespace redquel::server
