#include "server/startup_packet.h"

#include <gtest/gtest.h>

#include "sql/error.h"
#include "tests/unit/server/wire_client.h"

namespace redquel::server {
namespace {

StartupPacket packet_of(const std::string& packet) { return decode_startup_packet(std::string_view(packet).substr(4)); }

std::string packet_error(const std::string& body) {
  try {
    decode_startup_packet(body);
  } catch (const sql::SqlError& error) {
    return error.sqlstate() + " " + error.message();
  }
  return "none";
}

const std::string kVersion3 = int32(3 << 16);

TEST(StartupPacket, Requests) {
  EXPECT_TRUE(std::holds_alternative<SslRequest>(packet_of(int32(8) + int32(80877103))));
  EXPECT_TRUE(std::holds_alternative<GssEncryptionRequest>(packet_of(int32(8) + int32(80877104))));
  const auto cancel = std::get<CancelRequest>(packet_of(int32(16) + int32(80877102) + int32(5) + int32(-7)));
  EXPECT_EQ(cancel.key.process_id, 5);
  EXPECT_EQ(cancel.key.secret, -7);
}

TEST(StartupPacket, Parameters) {
  const auto message = std::get<StartupMessage>(packet_of(
      startup({{"user", "ann"}, {"_pq_.x", "1"}, {"TimeZone", "CET"}, {"options", "-c work_mem=1MB --date-style=iso"}},
              196609)));
  EXPECT_EQ(message.user, "ann");
  EXPECT_EQ(message.database, "ann");
  EXPECT_EQ(message.minor_version, 1);
  EXPECT_EQ(message.protocol_options, std::vector<std::string>{"_pq_.x"});
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"work_mem", "1MB"}, {"date_style", "iso"}, {"TimeZone", "CET"}};
  EXPECT_EQ(message.settings, expected);
}

TEST(StartupPacket, BadLayouts) {
  const std::string bad = "08P01 invalid startup packet layout: expected terminator as last byte";
  EXPECT_EQ(packet_error(kVersion3), bad);
  EXPECT_EQ(packet_error(kVersion3 + text("user")), bad);
  EXPECT_EQ(packet_error(kVersion3 + text("user") + "abc"), bad);
  EXPECT_EQ(packet_error(kVersion3 + text("user") + text("abc")), bad);
  EXPECT_EQ(packet_error(kVersion3 + text("user") + text("abc") + text("") + "x"), bad);
  EXPECT_EQ(packet_error(kVersion3 + text("")), "28000 no PostgreSQL user name specified in startup packet");
  EXPECT_EQ(packet_error(int32(4 << 16) + text("")), "0A000 unsupported frontend protocol 4.0: server supports 3.0 to 3.0");
  EXPECT_EQ(packet_error(int32(80877102)), "08P01 insufficient data left in message");
}

TEST(StartupPacket, Options) {
  const auto options = parse_startup_options(R"(  -c a=b -cc=d --e-f=g\ h )");
  const std::vector<std::pair<std::string, std::string>> expected = {{"a", "b"}, {"c", "d"}, {"e_f", "g h"}};
  EXPECT_EQ(options, expected);
  EXPECT_THROW(parse_startup_options("-c work_mem"), sql::SqlError);
  EXPECT_THROW(parse_startup_options("-c"), sql::SqlError);
  EXPECT_THROW(parse_startup_options("foo"), sql::SqlError);
}

}  // namespace
}  // namespace redquel::server
