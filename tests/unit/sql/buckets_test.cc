#include "sql/catalog/buckets.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "sql/catalog/catalog_json.h"
#include "sql/catalog/prefixes.h"
#include "sql/catalog/slot_tags.h"
#include "sql/catalog/table_keys.h"
#include "sql/error.h"
#include "tests/unit/sql/table_builder.h"

namespace redquel::sql {
namespace {

TEST(Buckets, SlotsAreThoseOfTheClusterSpecification) {
  EXPECT_EQ(slot_of("123456789"), 0x31C3);  // the check value of CRC16
  EXPECT_EQ(slot_of("foo"), 12182);
  EXPECT_EQ(slot_of("{user1000}.following"), slot_of("{user1000}.followers"));
  EXPECT_EQ(slot_of("a{user1000}"), slot_of("user1000"));
  EXPECT_EQ(slot_of("foo{{bar}}zap"), slot_of("{bar"));
  EXPECT_EQ(slot_of("foo{}{bar}"), 8363);  // an empty tag is none
  EXPECT_EQ(slot_of("foo{bar"), slot_of("foo{bar"));
}

TEST(Buckets, TagsLieInTheirPartOfTheSlots) {
  std::set<std::string_view> tags;
  for (int bucket = 0; bucket < kBucketLimit; ++bucket) {
    const std::string_view tag = bucket_tag(bucket);
    tags.insert(tag);
    EXPECT_EQ(slot_of(std::string(tag) + "emp:5") / 16, bucket) << tag;
    EXPECT_EQ(bucket_of(std::string(tag) + "emp:5"), bucket) << tag;
  }
  EXPECT_EQ(tags.size(), std::size_t{kBucketLimit});
}

TEST(Buckets, EachSlotHasATag) {
  for (int slot = 0; slot < kSlotCount; ++slot) EXPECT_EQ(slot_of(slot_tag(slot) + "redquel:none"), slot);
  EXPECT_EQ(slot_tag(slot_of("0")), "{0}");
}

TEST(Buckets, KeysOfOneRedisHaveNoTag) {
  EXPECT_FALSE(uses_cluster());
  EXPECT_EQ(home_key("redquel:version"), "redquel:version");
  EXPECT_EQ(tag_of("emp:5"), "");
  EXPECT_EQ(without_tag("emp:5"), "emp:5");
  EXPECT_EQ(tag_of("{29}emp:5"), "{29}");
  EXPECT_EQ(without_tag("{29}emp:5"), "emp:5");
}

TEST(Buckets, ThePrefixBringsTheTagIntoAllKeysOfATable) {
  const std::string tag(bucket_tag(4));
  const TableDef table = make_table("emp", {{"id", kInt4}, {"dept", kInt4}}, {"id"}, tag + "emp");
  const TableKeys keys(table);
  const std::vector<Datum> key{Datum(7)}, value{Datum(3)};
  const std::vector<std::int16_t> dept{2};
  EXPECT_EQ(table.tag(), tag);
  EXPECT_EQ(keys.row(key), tag + "emp:7");
  EXPECT_EQ(keys.value_set(dept, value), tag + "emp:indices:dept:3");
  EXPECT_EQ(keys.changes(), tag + "redquel:changes:" + std::to_string(table.oid));
}

TEST(Buckets, StoredDefinitionsHaveTheNumberAndAPrefixWithoutTag) {
  const std::string tag(bucket_tag(4));
  const TableDef table = make_table("emp", {{"id", kInt4}}, {"id"}, tag + "emp");
  const std::string text = encode_table(table);
  EXPECT_NE(text.find(R"("bucket":4,"prefix":"emp")"), std::string::npos) << text;
  EXPECT_EQ(decode_table(text).prefix, tag + "emp");
  EXPECT_EQ(encode_table(make_table("emp", {{"id", kInt4}}, {"id"}, "emp")).find("bucket"), std::string::npos);
  std::string broken = text;
  broken.replace(broken.find(":4,"), 3, ":1024,");
  EXPECT_THROW(decode_table(broken), SqlError);

  SequenceDef sequence;
  sequence.key = tag + "emp:id";
  EXPECT_EQ(decode_sequence(encode_sequence(sequence)).key, sequence.key);
  sequence.foreign = true;  // an application's key keeps its own tag
  sequence.key = "{user}:count";
  EXPECT_EQ(decode_sequence(encode_sequence(sequence)).key, sequence.key);
}

TEST(Buckets, PrefixesOfTwoBucketsCollide) {
  EXPECT_TRUE(prefixes_collide("{1}emp", "{2}emp"));
  EXPECT_TRUE(prefixes_collide("{1}emp", "emp:x"));
  EXPECT_FALSE(prefixes_collide("{1}emp", "{1}empty"));
}

}  // namespace
}  // namespace redquel::sql
