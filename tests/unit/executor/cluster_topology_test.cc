#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "executor/redis/command_keys.h"
#include "executor/redis/topology.h"
#include "tests/unit/executor/cluster_fixture.h"

namespace redquel::executor {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

TEST(Slot, IsThatOfRedis) {
  // CLUSTER KEYSLOT
  EXPECT_EQ(slot_of("123456789"), 12739);
  EXPECT_EQ(slot_of(""), 0);
  EXPECT_EQ(slot_of("foo"), 12182);
  EXPECT_EQ(slot_of("{foo}bar"), slot_of("foo"));
  EXPECT_EQ(slot_of("a{foo}{bar}"), slot_of("foo"));
  EXPECT_EQ(slot_of("foo{}{bar}"), 8363);
  EXPECT_EQ(slot_of("foo{{bar}}zap"), slot_of("{bar"));
  EXPECT_EQ(slot_of("foo{bar"), slot_of("foo{bar"));
}

std::vector<std::string_view> keys_in(std::vector<std::string_view> words) {
  const CommandKeys keys = keys_of(words);
  std::vector<std::string_view> found;
  for (std::size_t index = 0; index < keys.count; ++index) found.push_back(words[keys.first + index * keys.step]);
  return found;
}

TEST(CommandKeys, AreWhereRedisFindsThem) {
  EXPECT_THAT(keys_in({"GET", "a"}), ElementsAre("a"));
  EXPECT_THAT(keys_in({"hmget", "a", "f", "g"}), ElementsAre("a"));
  EXPECT_THAT(keys_in({"MGET", "a", "b"}), ElementsAre("a", "b"));
  EXPECT_THAT(keys_in({"MSET", "a", "1", "b", "2"}), ElementsAre("a", "b"));
  EXPECT_THAT(keys_in({"EVALSHA", "sha", "2", "a", "b", "x"}), ElementsAre("a", "b"));
  EXPECT_THAT(keys_in({"EVAL", "return 1", "0"}), ElementsAre());
  EXPECT_THAT(keys_in({"EVAL", "return 1", "9", "a"}), ElementsAre("a"));
  EXPECT_THAT(keys_in({"SINTERCARD", "2", "a", "b", "LIMIT", "5"}), ElementsAre("a", "b"));
  EXPECT_THAT(keys_in({"OBJECT", "ENCODING", "a"}), ElementsAre("a"));
  EXPECT_THAT(keys_in({"MEMORY", "USAGE", "a"}), ElementsAre("a"));
  EXPECT_THAT(keys_in({"MEMORY", "STATS"}), ElementsAre());
  EXPECT_THAT(keys_in({"XREAD", "COUNT", "1", "STREAMS", "a", "b", "0", "0"}), ElementsAre("a", "b"));
  EXPECT_THAT(keys_in({"RENAME", "a", "b"}), ElementsAre("a", "b"));
  for (const char* name : {"SCAN", "DBSIZE", "PING", "INFO", "TIME", "PUBLISH"}) EXPECT_THAT(keys_in({name, "x"}), ElementsAre()) << name;
}

/// [first, last, [host, port, id], [host, port, id]…]
std::string range(int first, int last, const std::vector<TcpPlace>& nodes) {
  std::vector<std::string> parts{resp::integer(first), resp::integer(last)};
  for (const TcpPlace& node : nodes) parts.push_back(resp::array({resp::text(node.host), resp::integer(node.port), resp::text("id-" + node.host)}));
  return resp::array(parts);
}

TopologyAnswer answer_of(const std::string& slots, const std::string& config = resp::texts({"cluster-node-timeout", "15000"})) {
  return read_topology(*decoded({config, slots}, topology_questions("", "").names()), kA);
}

TEST(SlotMap, IsReadFromClusterSlots) {
  const TopologyAnswer answer = answer_of(resp::array({range(0, 5460, {kA, kC}), range(5461, 16383, {kB})}));
  ASSERT_TRUE(answer.map);
  EXPECT_EQ(answer.node_timeout, milliseconds(15000));
  EXPECT_EQ(*answer.map->place_of(0), kA);
  EXPECT_EQ(*answer.map->place_of(5460), kA);
  EXPECT_EQ(*answer.map->place_of(5461), kB);
  EXPECT_EQ(answer.map->assigned(), kSlotCount);
  EXPECT_THAT(answer.map->masters()[0].replicas, ElementsAre(kC));
  EXPECT_EQ(answer.map->masters()[1].id, "id-b");
}

TEST(SlotMap, TakesTheHostOfTheAskedNodeForAnUnknownOne) {
  const std::string unnamed = resp::array({resp::integer(0), resp::integer(9), resp::array({resp::nil(), resp::integer(7), resp::text("id")})});
  const std::string unknown = resp::array({resp::integer(10), resp::integer(19), resp::array({resp::text("?"), resp::integer(7), resp::text("id")})});
  const TopologyAnswer answer = answer_of(resp::array({unnamed, unknown}));
  ASSERT_TRUE(answer.map);
  EXPECT_EQ(*answer.map->place_of(0), (TcpPlace{"a", 7}));
  EXPECT_EQ(answer.map->place_of(10), nullptr);
}

TEST(SlotMap, RefusesHostileAnswers) {
  const auto error_of = [](const std::string& slots) {
    const TopologyAnswer answer = answer_of(slots);
    EXPECT_FALSE(answer.map);
    return answer.error ? answer.error->message() : "";
  };
  EXPECT_THAT(error_of(resp::integer(1)), HasSubstr("gives no slots"));
  EXPECT_THAT(error_of(resp::array({})), HasSubstr("no slot has a node"));
  EXPECT_THAT(error_of(resp::array({range(-1, 5, {kA})})), HasSubstr("slots that are none"));
  EXPECT_THAT(error_of(resp::array({range(0, 16384, {kA})})), HasSubstr("slots that are none"));
  EXPECT_THAT(error_of(resp::array({range(9, 5, {kA})})), HasSubstr("slots that are none"));
  EXPECT_THAT(error_of(resp::array({range(0, 5, {{"a b", 1}})})), HasSubstr("no slot has a node"));
  EXPECT_THAT(error_of(resp::array({range(0, 5, {{std::string(256, 'x'), 1}})})), HasSubstr("no slot has a node"));
  std::vector<std::string> many;
  for (int port = 1; port < 1200; ++port) many.push_back(range(port, port, {{"h", static_cast<std::uint16_t>(port)}}));
  EXPECT_THAT(error_of(resp::array(many)), HasSubstr("more than 1000"));
  EXPECT_EQ(answer_of(resp::error("NOPERM no")).error->sqlstate(), "42501");
  EXPECT_TRUE(answer_of(resp::error("NOPERM no")).is_lasting);
  EXPECT_EQ(answer_of(resp::error("ERR This instance has cluster support disabled")).error->sqlstate(), "0A000");
  EXPECT_EQ(answer_of(resp::error("LOADING x")).error->sqlstate(), "57P03");
  EXPECT_FALSE(answer_of(resp::error("LOADING x")).is_lasting);
  // The timeout is an extra.
  EXPECT_TRUE(answer_of(resp::array({range(0, 1, {kA})}), resp::error("NOPERM no")).map);
}

TEST(SlotMap, ReadsTheSlotsThatLeaveANode) {
  const NodeSlots slots = read_node_slots(
      "aa 10.0.0.1:1@101,host myself,master - 0 0 1 connected 0-2 5 [2->-bb] [7-<-bb]\n"
      "bb 10.0.0.2:2@102 master - 0 0 2 connected 3-4 [3->-aa]\n", kA);
  EXPECT_EQ(slots.owned.count(), 4U);
  EXPECT_TRUE(slots.owned.test(5));
  EXPECT_THAT(slots.leaving, ElementsAre(std::pair<Slot, TcpPlace>(2, {"10.0.0.2", 2})));
  EXPECT_EQ(read_node_slots("x\n[[->-\nmyself", kA).owned.count(), 0U);
}

TEST(Redirect, IsReadFromErrors) {
  EXPECT_EQ(read_redirect("MOVED 3999 127.0.0.1:6381", kA)->place, (TcpPlace{"127.0.0.1", 6381}));
  EXPECT_EQ(read_redirect("ASK 3999 ::1:6381", kA)->place, (TcpPlace{"::1", 6381}));
  EXPECT_EQ(read_redirect("MOVED 3999 :6381", kA)->place, (TcpPlace{"a", 6381}));
  for (const char* text : {"MOVED", "MOVED 1", "MOVED 16384 h:1", "MOVED -1 h:1", "MOVED 1 h:0", "MOVED 1 h:99999", "MOVED 1 ?:1", "OK", "MOVED 1 a\nb:1"}) {
    EXPECT_FALSE(read_redirect(text, kA)) << text;
  }
}

TEST(TopologyState, AsksSeedsAlwaysAndSeldom) {
  TopologyState state({kC});
  std::minstd_rand random;
  EXPECT_THAT(state.places(random), ElementsAre(kC));
  const auto now = TopologyState::Clock::now();
  EXPECT_LE(state.next_refresh(), now);
  state.begin_refresh(now, random);
  EXPECT_GE(state.next_refresh(), now + std::chrono::seconds(22));
  EXPECT_LE(state.next_refresh(), now + std::chrono::seconds(38));
  state.want();
  EXPECT_EQ(state.next_refresh(), now + milliseconds(100));  // ten a second
  state.take(answer_of(resp::array({range(0, 100, {kA, kB})})));
  EXPECT_THAT(state.places(random), ElementsAre(kA, kB, kC));
  state.take(Redirect{5, {"d", 4}});
  EXPECT_EQ(state.places(random).front(), (TcpPlace{"d", 4}));
  EXPECT_EQ(*state.map()->place_of(5), (TcpPlace{"d", 4}));
  EXPECT_EQ(*state.map()->place_of(6), kA);
  EXPECT_TRUE(state.is_wanted());
}

TEST(TopologyState, CountsMastersThatAreNoneAnyLonger) {
  TopologyState state({kA});
  state.take(answer_of(resp::array({range(0, 9, {kA}), range(10, 19, {kB})})));
  state.take(answer_of(resp::array({range(0, 4, {kA}), range(5, 19, {kB})})));
  EXPECT_EQ(state.failovers(), 0U);  // slots moved
  state.take(answer_of(resp::array({range(0, 4, {kC}), range(5, 19, {kB})})));
  EXPECT_EQ(state.failovers(), 1U);
  // Before a node has answered.
  state.take(Redirect{0, kB});
  EXPECT_EQ(state.failovers(), 1U);
  state.take(Redirect{0, {"d", 4}});
  EXPECT_EQ(state.failovers(), 2U);
}

TEST(TopologyState, NamesWitnesses) {
  TopologyState state({kA});
  std::minstd_rand random;
  EXPECT_TRUE(state.witnesses(kA, random).places.empty());
  state.take(answer_of(resp::array({range(0, 9, {kA, kC})})));
  EXPECT_THAT(state.witnesses(kA, random).places, ElementsAre(kC));
  EXPECT_EQ(state.witnesses(kA, random).needed, 0U);
  state.take(answer_of(resp::array({range(0, 9, {kA}), range(10, 19, {kB}), range(20, 29, {kC})})));
  EXPECT_THAT(state.witnesses(kA, random).places, UnorderedElementsAre(kB, kC));
  EXPECT_EQ(state.witnesses(kA, random).needed, 1U);  // with A itself: two of three
}

}  // namespace
}  // namespace redquel::executor
