#include "sql/catalog/definition_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <utility>
#include <vector>

namespace redquel::sql {

/// A definition with one name.
struct Named {
  int number = 0;
  int name() const { return number % 10; }
  bool operator==(const Named&) const = default;
};

std::vector<std::string> labels_of(const Named& named) { return {name_label("s", std::to_string(named.name()))}; }

namespace {

using Map = DefinitionMap<Named>;
using Model = std::map<Oid, int>;

void expect_same(const Map& map, const Model& model) {
  ASSERT_EQ(map.size(), model.size());
  auto found = map.begin();
  for (const auto& [oid, number] : model) {
    ASSERT_EQ(found->first, oid);
    ASSERT_EQ(found->second.number, number);
    ASSERT_EQ(map.at(oid).number, number);
    ++found;
  }
  ASSERT_EQ(found, map.end());
  for (int name = 0; name < 10; ++name) {
    std::vector<Oid> oids;
    for (const auto& [oid, number] : model) {
      if (number % 10 == name) oids.push_back(oid);
    }
    ASSERT_EQ(map.labelled(name_label("s", std::to_string(name))), oids);
  }
}

TEST(DefinitionMap, HoldsWhatAnOrdinaryMapHolds) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    Map map, copy;
    Model model, model_of_copy;
    for (int step = 0; step < 400; ++step) {
      const Oid oid = random() % 100 + 1;
      if (random() % 3 != 0) {
        const int number = static_cast<int>(random() % 1000);
        map.insert_or_assign(oid, {number});
        model[oid] = number;
      } else {
        EXPECT_EQ(map.erase(oid), model.erase(oid) == 1);
      }
      if (step == 200) copy = map, model_of_copy = model;
    }
    expect_same(map, model);
    expect_same(copy, model_of_copy);
  }
}

TEST(DefinitionMap, GivesTheDifferencesOfTwoStates) {
  std::mt19937 random(8);
  for (int round = 0; round < 200; ++round) {
    Map before;
    for (int step = 0; step < 100; ++step) before.insert_or_assign(random() % 200, {static_cast<int>(random() % 1000)});
    Map after = before;
    for (int step = 0; step < 20; ++step) {
      const Oid oid = random() % 200;
      if (random() % 2 == 0) after.insert_or_assign(oid, {static_cast<int>(random() % 1000)});
      else after.erase(oid);
    }
    Map applied = before;
    std::vector<Oid> oids;
    Map::for_each_difference(before, after, [&](const auto* was, const auto* is) {
      oids.push_back(was != nullptr ? was->first : is->first);
      if (is != nullptr) applied.insert_or_assign(is->first, is->second);
      else applied.erase(was->first);
    });
    EXPECT_TRUE(std::ranges::is_sorted(oids));
    EXPECT_LE(oids.size(), 20u);
    EXPECT_TRUE(std::ranges::equal(applied, after));
  }
}

TEST(DefinitionMap, ALoopMayChangeTheMapThatItWalks) {
  Map map;
  for (Oid oid = 1; oid <= 100; ++oid) map[oid] = Named{static_cast<int>(oid)};
  std::size_t count = 0;
  for (const auto& [oid, named] : map) {
    map.erase(oid);
    count += named.number > 0;
  }
  EXPECT_EQ(count, 100u);
  EXPECT_TRUE(map.empty());
}

}  // namespace
}  // namespace redquel::sql
