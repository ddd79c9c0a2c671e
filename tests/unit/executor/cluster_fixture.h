#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "executor/redis/cluster_nodes.h"
#include "executor/redis/resp_codec.h"
#include "executor/redis/slot.h"
#include "executor/redis/slot_map.h"
#include "tests/unit/executor/resp_text.h"

namespace redquel::executor {

inline const TcpPlace kA{"a", 1}, kB{"b", 2}, kC{"c", 3};

inline std::shared_ptr<Replies> decoded(const std::vector<std::string>& texts, const CommandNames& names = {}) {
  auto replies = std::make_shared<Replies>();
  replies->set_names(names);
  ReplyDecoder decoder(std::size_t{1} << 30);
  for (const std::string& text : texts) decoder.feed(text);
  while (replies->size() < texts.size() && decoder.next(*replies)) continue;
  EXPECT_EQ(replies->size(), texts.size());
  return replies;
}

/// Keys of three nodes: "{a}…" lies at A, "{b}…" at B, "{c}…" at C.
inline std::shared_ptr<SlotMap> three_nodes() {
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
    std::uint64_t connection = 1;
  };

  void expect(const TcpPlace& place, std::vector<std::string> commands, std::vector<std::string> replies) {
    expected_.push_back({place, std::move(commands), std::move(replies)});
  }
  void expect_lost(const TcpPlace& place, std::vector<std::string> commands, bool was_sent) {
    expected_.push_back({place, std::move(commands), {}, true, was_sent});
  }
  void set_version_of_last(std::optional<std::string> version) { expected_.back().version = std::move(version); }
  void set_connection_of_last(std::uint64_t connection) { expected_.back().connection = connection; }
  void set_replicas(const TcpPlace& place, std::size_t count) {
    auto map = std::make_shared<SlotMap>();
    for (const TcpPlace& one : {kA, kB, kC}) {
      const Slot slot = slot_of(one.host);
      map->assign(slot, slot, {.place = one, .id = {}, .replicas = std::vector<TcpPlace>(one == place ? count : 0, {"replica", 9})});
    }
    map_ = std::move(map);
  }
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
    outcome.connection = exchange.connection;
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
  std::string version_key() const override { return ""; }

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

inline CommandBatch batch_of(std::initializer_list<std::vector<std::string>> commands) {
  CommandBatch batch;
  for (const std::vector<std::string>& words : commands) {
    batch.begin(words.size());
    for (const std::string& word : words) batch.arg(word);
  }
  return batch;
}

}  // namespace redquel::executor
