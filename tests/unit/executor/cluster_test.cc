#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>
#include <deque>
#include <map>
#include <memory>

#include "executor/redis/cluster_client.h"
#include "executor/redis/cluster_plan.h"
#include "executor/redis/cluster_scan.h"
#include "executor/redis/command_keys.h"
#include "executor/redis/resp_codec.h"
#include "executor/redis/slot.h"
#include "executor/redis/slot_map.h"
#include "executor/redis/topology.h"
#include "tests/unit/executor/resp_text.h"
#include "tests/unit/executor/run_coroutine.h"

namespace redquel::executor {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

const TcpPlace kA{"a", 1}, kB{"b", 2}, kC{"c", 3};

std::shared_ptr<Replies> decoded(const std::vector<std::string>& texts, const CommandNames& names = {}) {
  auto replies = std::make_shared<Replies>();
  replies->set_names(names);
  ReplyDecoder decoder(std::size_t{1} << 30);
  for (const std::string& text : texts) decoder.feed(text);
  while (replies->size() < texts.size() && decoder.next(*replies)) continue;
  EXPECT_EQ(replies->size(), texts.size());
  return replies;
}

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

/// Keys of three nodes: "{a}…" lies at A, "{b}…" at B, "{c}…" at C.
std::shared_ptr<SlotMap> three_nodes() {
  auto map = std::make_shared<SlotMap>();
  map->assign(slot_of("a"), kA);
  map->assign(slot_of("b"), kB);
  map->assign(slot_of("c"), kC);
  return map;
}

/// Nodes that know in advance what they will be asked.
class FakeNodes final : public ClusterNodes {
 public:
  struct Exchange {
    TcpPlace place;
    std::vector<std::string> commands, replies;
    bool is_lost = false, was_sent = true;
    std::optional<std::string> version = "v1";
  };

  void expect(const TcpPlace& place, std::vector<std::string> commands, std::vector<std::string> replies) {
    expected_.push_back({place, std::move(commands), std::move(replies)});
  }
  void expect_lost(const TcpPlace& place, std::vector<std::string> commands, bool was_sent) {
    expected_.push_back({place, std::move(commands), {}, true, was_sent});
  }
  void set_version_of_last(std::optional<std::string> version) { expected_.back().version = std::move(version); }
  bool is_done() const { return expected_.empty(); }

  std::shared_ptr<const SlotMap> map() const override { return map_; }
  asio::awaitable<std::shared_ptr<const SlotMap>> known() override { co_return map_; }
  std::unique_ptr<NodeRequest> send(const TcpPlace& place, CommandBatch batch) override {
    const std::vector<std::string> commands = batch.texts();
    // Nodes have no order among each other.
    const auto found = std::ranges::find_if(expected_, [&](const Exchange& one) { return one.place == place && one.commands == commands; });
    if (found == expected_.end()) {
      ADD_FAILURE() << "not expected at " << place.address() << ": " << ::testing::PrintToString(commands);
      throw sql::SqlError("XX000", "unexpected commands");
    }
    const Exchange exchange = std::move(*found);
    expected_.erase(found);
    NodeOutcome outcome;
    outcome.was_sent = exchange.was_sent;
    if (exchange.is_lost) {
      outcome.error = sql::SqlError("08006", "connection lost");
    } else {
      const auto replies = decoded(exchange.replies, batch.names());
      replies->set_catalog_version(exchange.version);
      outcome.replies = replies;
    }
    return std::make_unique<Request>(std::move(outcome));
  }
  void moved(const Redirect& redirect) override {
    map_ = std::make_shared<SlotMap>(*map_);
    map_->assign(redirect.slot, redirect.place);
  }
  void look() override { ++looks; }
  asio::awaitable<std::vector<NodeSlots>> placement() override {
    std::vector<NodeSlots> all;
    for (std::size_t index = 0; index < map_->masters().size(); ++index) {
      NodeSlots& node = all.emplace_back();
      node.place = map_->masters()[index].place;
      for (std::size_t slot = 0; slot < kSlotCount; ++slot) node.owned.set(slot, map_->owner(static_cast<Slot>(slot)) == index);
      for (const auto& [slot, target] : leaving) {
        if (node.owned.test(slot)) node.leaving.emplace_back(slot, target);
      }
    }
    co_return all;
  }
  std::uint64_t generation() const override { return 7; }
  std::optional<TcpPlace> node_with_version() const override { return std::nullopt; }

  int looks = 0;
  std::vector<std::pair<Slot, TcpPlace>> leaving;

 private:
  class Request final : public NodeRequest {
   public:
    explicit Request(NodeOutcome outcome) : outcome_(std::move(outcome)) {}
    asio::awaitable<NodeOutcome> outcome() override { co_return std::move(outcome_); }

   private:
    NodeOutcome outcome_;
  };

  std::shared_ptr<SlotMap> map_ = three_nodes();
  std::deque<Exchange> expected_;
};

class ClusterClientTest : public ::testing::Test {
 protected:
  RepliesPtr run(CommandBatch batch) { return run_coroutine(loop_, client_.execute(std::move(batch), &counters_)); }
  RepliesPtr run_atomic(CommandBatch batch) { return run_coroutine(loop_, client_.execute_atomic(std::move(batch), &counters_)); }
  std::string error_of(CommandBatch batch) {
    try {
      run(std::move(batch));
    } catch (const sql::SqlError& error) {
      return std::string(error.sqlstate()) + " " + error.message();
    }
    return "";
  }
  void TearDown() override { EXPECT_TRUE(nodes_->is_done()); }

  asio::io_context loop_;
  std::shared_ptr<FakeNodes> nodes_ = std::make_shared<FakeNodes>();
  ClusterClient client_{loop_.get_executor(), nodes_, {.move_timeout = milliseconds(200)}};
  ExecutionCounters counters_;
};

CommandBatch batch_of(std::initializer_list<std::vector<std::string>> commands) {
  CommandBatch batch;
  for (const std::vector<std::string>& words : commands) {
    batch.begin(words.size());
    for (const std::string& word : words) batch.arg(word);
  }
  return batch;
}

TEST_F(ClusterClientTest, SplitsABatchByNodeAndMergesTheReplies) {
  nodes_->expect(kA, {"GET {a}1", "GET {a}2"}, {resp::text("a1"), resp::text("a2")});
  nodes_->expect(kB, {"GET {b}1"}, {resp::text("b1")});
  const RepliesPtr replies = run(batch_of({{"GET", "{a}1"}, {"GET", "{b}1"}, {"GET", "{a}2"}}));
  ASSERT_EQ(replies->size(), 3U);
  EXPECT_EQ(replies->text(0), "a1");
  EXPECT_EQ(replies->text(1), "b1");
  EXPECT_EQ(replies->text(2), "a2");
  EXPECT_EQ(replies->command(1), "GET");
  EXPECT_EQ(replies->catalog_version(), "v1");
  EXPECT_EQ(replies->generation(), 7U);
  EXPECT_EQ(counters_.round_trips, 1U);
  EXPECT_EQ(counters_.commands, 3U);
}

TEST_F(ClusterClientTest, CommandsOverSeveralSlotsAreTakenApart) {
  nodes_->expect(kA, {"MGET {a}1 {a}2", "EXISTS {a}1"}, {resp::texts({"1", "2"}), resp::integer(1)});
  nodes_->expect(kB, {"MGET {b}1", "EXISTS {b}1"}, {resp::array({resp::nil()}), resp::integer(0)});
  const RepliesPtr replies = run(batch_of({{"MGET", "{a}1", "{b}1", "{a}2"}, {"EXISTS", "{a}1", "{b}1"}}));
  ASSERT_EQ(replies->array(0).size(), 3U);
  EXPECT_EQ(replies->array(0)[0].text, "1");
  EXPECT_TRUE(replies->array(0)[1].is_nil());
  EXPECT_EQ(replies->array(0)[2].text, "2");
  EXPECT_EQ(replies->integer(1), 1);
}

TEST_F(ClusterClientTest, SetAlgebraOverSeveralSlots) {
  nodes_->expect(kA, {"SCARD {a}s"}, {resp::integer(3)});
  nodes_->expect(kB, {"SCARD {b}s"}, {resp::integer(2)});
  nodes_->expect(kB, {"SMEMBERS {b}s"}, {resp::texts({"x", "y"})});
  nodes_->expect(kA, {"SMISMEMBER {a}s x y"}, {resp::array({resp::integer(0), resp::integer(1)})});
  const RepliesPtr both = run(batch_of({{"SINTER", "{a}s", "{b}s"}}));
  ASSERT_EQ(both->array(0).size(), 1U);
  EXPECT_EQ(both->array(0)[0].text, "y");

  nodes_->expect(kA, {"SMEMBERS {a}s"}, {resp::texts({"x", "y"})});
  nodes_->expect(kB, {"SMEMBERS {b}s"}, {resp::texts({"y", "z"})});
  EXPECT_EQ(run(batch_of({{"SUNION", "{a}s", "{b}s"}}))->array(0).size(), 3U);

  nodes_->expect(kA, {"SMEMBERS {a}s"}, {resp::texts({"x", "y"})});
  nodes_->expect(kB, {"SMISMEMBER {b}s x y"}, {resp::array({resp::integer(0), resp::integer(1)})});
  const RepliesPtr rest = run(batch_of({{"SDIFF", "{a}s", "{b}s"}}));
  ASSERT_EQ(rest->array(0).size(), 1U);
  EXPECT_EQ(rest->array(0)[0].text, "x");

  nodes_->expect(kA, {"SCARD {a}s"}, {resp::error("WRONGTYPE x")});
  nodes_->expect(kB, {"SCARD {b}s"}, {resp::integer(2)});
  EXPECT_EQ((*run(batch_of({{"SINTERCARD", "2", "{a}s", "{b}s"}})))[0].text, "WRONGTYPE x");

  nodes_->expect(kA, {"SINTER {a}s {a}t"}, {resp::texts({"x"})});  // one slot: Redis does it
  EXPECT_EQ(run(batch_of({{"SINTER", "{a}s", "{a}t"}}))->array(0).size(), 1U);
}

TEST_F(ClusterClientTest, ScriptsWithKeysOfSeveralSlotsAreRefused) {
  EXPECT_THAT(error_of(batch_of({{"EVALSHA", "sha", "2", "{a}1", "{b}1"}})), HasSubstr("0A000 keys \"{a}1\" and \"{b}1\" lie in different slots"));
}

TEST_F(ClusterClientTest, FollowsMoved) {
  nodes_->expect(kA, {"SET {a}1 x", "EVALSHA sha 1 {a}2"},
                 {resp::error("MOVED " + std::to_string(slot_of("a")) + " b:2"), resp::error("MOVED " + std::to_string(slot_of("a")) + " b:2")});
  nodes_->expect(kB, {"SET {a}1 x", "EVALSHA sha 1 {a}2"}, {resp::ok(), resp::integer(5)});
  const RepliesPtr replies = run(batch_of({{"SET", "{a}1", "x"}, {"EVALSHA", "sha", "1", "{a}2"}}));
  EXPECT_EQ(replies->text(0), "OK");
  EXPECT_EQ(replies->integer(1), 5);
}

TEST_F(ClusterClientTest, FollowsAskForSingleCommandsAlone) {
  const std::string ask = resp::error("ASK " + std::to_string(slot_of("a")) + " b:2");
  nodes_->expect(kA, {"GET {a}1", "EVALSHA sha 1 {a}2"}, {ask, ask});
  nodes_->expect(kB, {"ASKING", "GET {a}1"}, {resp::ok(), resp::text("x")});
  nodes_->expect(kA, {"EVALSHA sha 1 {a}2"}, {resp::integer(5)});  // a script waits until its slot is in one place
  const RepliesPtr replies = run(batch_of({{"GET", "{a}1"}, {"EVALSHA", "sha", "1", "{a}2"}}));
  EXPECT_EQ(replies->text(0), "x");
  EXPECT_EQ(replies->integer(1), 5);
}

TEST_F(ClusterClientTest, SendsAgainWhatHasNotRun) {
  for (const char* error : {"TRYAGAIN moving", "CLUSTERDOWN The cluster is down", "LOADING x", "READONLY x"}) {
    nodes_->expect(kA, {"SET {a}1 x"}, {resp::error(error)});
    nodes_->expect(kA, {"SET {a}1 x"}, {resp::ok()});
    EXPECT_EQ(run(batch_of({{"SET", "{a}1", "x"}}))->text(0), "OK") << error;
  }
  nodes_->expect(kA, {"SET {a}1 x"}, {resp::error("OOM x")});
  EXPECT_TRUE((*run(batch_of({{"SET", "{a}1", "x"}})))[0].is_error());
}

TEST_F(ClusterClientTest, SendsReadsAgainWhoseConnectionWasLost) {
  nodes_->expect_lost(kA, {"GET {a}1"}, true);
  nodes_->expect(kA, {"GET {a}1"}, {resp::text("x")});
  EXPECT_EQ(run(batch_of({{"GET", "{a}1"}}))->text(0), "x");
  EXPECT_GE(nodes_->looks, 1);
  nodes_->expect_lost(kA, {"SET {a}1 x"}, true);
  EXPECT_THAT(error_of(batch_of({{"SET", "{a}1", "x"}})), HasSubstr("08006"));
  nodes_->expect_lost(kA, {"SET {a}1 x"}, false);  // not a byte was written
  nodes_->expect(kA, {"SET {a}1 x"}, {resp::ok()});
  EXPECT_EQ(run(batch_of({{"SET", "{a}1", "x"}}))->text(0), "OK");
}

TEST_F(ClusterClientTest, GivesUpAfterTheMoveTimeout) {
  for (int i = 0; i < 100; ++i) nodes_->expect(kA, {"GET {a}1"}, {resp::error("CLUSTERDOWN Hash slot not served")});
  EXPECT_THAT(error_of(batch_of({{"GET", "{a}1"}})), HasSubstr("57P03 slot 15495 of the cluster is not served for 200 ms: CLUSTERDOWN Hash slot not served"));
  nodes_ = std::make_shared<FakeNodes>();
}

TEST_F(ClusterClientTest, ASlotWithoutANodeIsWaitedFor) {
  EXPECT_THAT(error_of(batch_of({{"GET", "nobody"}})), HasSubstr("57P03"));
}

TEST_F(ClusterClientTest, LoadsScriptsAtEachNodeThatRunsThem) {
  nodes_->expect(kA, {"SCRIPT LOAD text", "EVALSHA sha 1 {a}1"}, {resp::text("sha"), resp::integer(1)});
  nodes_->expect(kB, {"SCRIPT LOAD text", "EVALSHA sha 1 {b}1"}, {resp::text("sha"), resp::integer(2)});
  const RepliesPtr replies = run(batch_of({{"SCRIPT", "LOAD", "text"}, {"EVALSHA", "sha", "1", "{a}1"}, {"EVALSHA", "sha", "1", "{b}1"}}));
  EXPECT_EQ(replies->text(0), "sha");
  EXPECT_EQ(replies->integer(1), 1);
  EXPECT_EQ(replies->integer(2), 2);
}

TEST_F(ClusterClientTest, LoadsScriptsAlsoWhereASlotHasMoved) {
  nodes_->expect(kA, {"SCRIPT LOAD text", "EVALSHA sha 1 {a}1"}, {resp::text("sha"), resp::error("MOVED " + std::to_string(slot_of("a")) + " b:2")});
  nodes_->expect(kB, {"SCRIPT LOAD text", "EVALSHA sha 1 {a}1"}, {resp::text("sha"), resp::integer(1)});
  EXPECT_EQ(run(batch_of({{"SCRIPT", "LOAD", "text"}, {"EVALSHA", "sha", "1", "{a}1"}}))->integer(1), 1);
}

TEST_F(ClusterClientTest, SnapshotsAreOfOneSlot) {
  nodes_->expect(kA, {"MULTI", "GET {a}1", "GET {a}2", "EXEC"},
                 {resp::ok(), resp::status("QUEUED"), resp::status("QUEUED"), resp::array({resp::text("1"), resp::text("2")})});
  nodes_->expect(kB, {"GET {b}1"}, {resp::text("3")});
  const RepliesPtr replies = run_atomic(batch_of({{"GET", "{a}1"}, {"GET", "{b}1"}, {"GET", "{a}2"}}));
  EXPECT_EQ(replies->text(0), "1");
  EXPECT_EQ(replies->text(1), "3");
  EXPECT_EQ(replies->text(2), "2");
}

TEST_F(ClusterClientTest, ASnapshotWhoseSlotMovesIsTakenAgain) {
  const std::string moved = resp::error("MOVED " + std::to_string(slot_of("a")) + " c:3");
  nodes_->expect(kA, {"MULTI", "GET {a}1", "GET {a}2", "EXEC"}, {resp::ok(), moved, moved, resp::error("EXECABORT x")});
  nodes_->expect(kC, {"MULTI", "GET {a}1", "GET {a}2", "EXEC"},
                 {resp::ok(), resp::status("QUEUED"), resp::status("QUEUED"), resp::array({resp::text("1"), resp::text("2")})});
  EXPECT_EQ(run_atomic(batch_of({{"GET", "{a}1"}, {"GET", "{a}2"}}))->text(1), "2");
  nodes_->expect(kC, {"MULTI", "GETT {a}1", "GET {a}2", "EXEC"}, {resp::ok(), resp::error("ERR unknown command"), resp::status("QUEUED"), resp::error("EXECABORT x")});
  EXPECT_THROW(run_atomic(batch_of({{"GETT", "{a}1"}, {"GET", "{a}2"}})), sql::SqlError);
}

TEST_F(ClusterClientTest, VersionsThatDifferEqualNone) {
  nodes_->expect(kA, {"GET {a}1"}, {resp::text("1")});
  nodes_->expect(kB, {"GET {b}1"}, {resp::text("1")});
  nodes_->set_version_of_last("v2");
  const std::optional<std::string> version = run(batch_of({{"GET", "{a}1"}, {"GET", "{b}1"}}))->catalog_version();
  EXPECT_TRUE(version && *version != "v1" && *version != "v2");
}

TEST_F(ClusterClientTest, ScanVisitsAllMasters) {
  nodes_->expect(kA, {"SCAN 0 COUNT 2"}, {resp::array({resp::text("5"), resp::texts({"{a}1"})})});
  nodes_->expect(kA, {"SCAN 5 COUNT 2"}, {resp::array({resp::text("0"), resp::texts({"{a}2"})})});
  nodes_->expect(kB, {"SCAN 0 COUNT 2"}, {resp::array({resp::text("0"), resp::texts({})})});
  nodes_->expect(kC, {"SCAN 0 COUNT 2"}, {resp::array({resp::text("0"), resp::texts({"{c}1"})})});
  std::vector<std::string> keys;
  std::string cursor = "0";
  int pages = 0;
  do {
    const RepliesPtr replies = run(batch_of({{"SCAN", cursor, "COUNT", "2"}}));
    cursor = replies->array(0)[0].text;
    for (const Reply& key : replies->array(0)[1].children()) keys.emplace_back(key.text);
    ++pages;
  } while (cursor != "0" && pages < 10);
  EXPECT_THAT(keys, ElementsAre("{a}1", "{a}2", "{c}1"));
  EXPECT_EQ(pages, 4);
}

TEST_F(ClusterClientTest, SizeIsThatOfAllMasters) {
  for (const TcpPlace& place : {kA, kB, kC}) nodes_->expect(place, {"DBSIZE"}, {resp::integer(place.port)});
  EXPECT_EQ(run(batch_of({{"DBSIZE"}}))->integer(0), 6);
}

std::vector<NodeSlots> placement_of(std::vector<std::pair<TcpPlace, std::vector<Slot>>> nodes) {
  std::vector<NodeSlots> placement;
  for (const auto& [place, slots] : nodes) {
    NodeSlots& node = placement.emplace_back();
    node.place = place;
    for (const Slot slot : slots) node.owned.set(slot);
  }
  return placement;
}

/// Runs the visits of one page each; returns their places.
std::vector<std::string> visit_all(ClusterScan& scan) {
  std::vector<std::string> hosts;
  while (const auto page = scan.next()) {
    hosts.push_back(page->place.host);
    scan.advance("0");
  }
  return hosts;
}

TEST(ClusterScan, VisitsSlotsAgainThatHaveMoved) {
  const Slot slot = slot_of("x");
  const Slot other = static_cast<Slot>(slot + 1);
  ClusterScan scan(placement_of({{kA, {slot, other}}, {kB, {1}}}));
  EXPECT_THAT(visit_all(scan), ElementsAre("a", "b"));
  const auto moved = placement_of({{kA, {other}}, {kB, {1, slot}}});
  EXPECT_FALSE(scan.finish(moved));
  EXPECT_TRUE(scan.wants("x"));
  EXPECT_FALSE(scan.wants("y"));
  EXPECT_THAT(visit_all(scan), ElementsAre("b"));
  EXPECT_TRUE(scan.finish(moved));
}

TEST(ClusterScan, VisitsTheSourceBeforeTheTargetOfAMove) {
  const Slot slot = slot_of("x");
  auto moving = placement_of({{kA, {1}}, {kB, {slot}}});
  moving[1].leaving.emplace_back(slot, kA);
  ClusterScan scan(moving);
  EXPECT_THAT(visit_all(scan), ElementsAre("a", "b"));
  EXPECT_FALSE(scan.finish(moving));
  EXPECT_THAT(visit_all(scan), ElementsAre("b", "a"));
  EXPECT_TRUE(scan.finish(moving));
}

TEST(ClusterScan, BeginsAnewWhereAMasterWasReplaced) {
  ClusterScan scan(placement_of({{kA, {1}}, {kB, {2}}}));
  scan.advance("17");
  SlotMap now;
  now.assign(1, kC);
  now.assign(2, kB);
  scan.replace(now);
  EXPECT_EQ(scan.next()->place, kC);
  EXPECT_EQ(scan.next()->cursor, "0");
  EXPECT_THAT(visit_all(scan), ElementsAre("c", "b"));
}

TEST(ClusterScan, GivesUpWhereSlotsNeverCeaseToMove) {
  const auto here = placement_of({{kA, {1}}, {kB, {2}}}), there = placement_of({{kA, {2}}, {kB, {1}}});
  ClusterScan scan(here);
  EXPECT_THROW(
      {
        for (int round = 0; round < 100; ++round) {
          visit_all(scan);
          scan.finish(round % 2 == 0 ? there : here);
        }
      },
      sql::SqlError);
}

}  // namespace
}  // namespace redquel::executor
