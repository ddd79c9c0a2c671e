// Replies of the read-only scripts as values; bytes that no script sends are errors, and nothing is read beyond them.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "executor/redis/resp_codec.h"
#include "executor/tables/set_scripts.h"
#include "sql/error.h"
#include "tests/unit/executor/resp_text.h"

namespace redquel::executor {
namespace {

using resp::array;
using resp::integer;
using resp::nil;
using resp::text;
using resp::texts;

/// One reply, with what it views into.
class Received {
 public:
  explicit Received(const std::string& bytes) {
    ReplyDecoder decoder(1 << 20);
    decoder.feed(bytes);
    EXPECT_TRUE(decoder.next(replies_));
  }
  const Reply& reply() const { return replies_[0]; }

 private:
  Replies replies_;
};

std::string joined(const FlatRows& rows) {
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    text += std::string(rows.member(i)) + "(";
    for (const Reply& field : rows.fields(i)) text += (field.is_text() ? std::string(field.text) : "null") + " ";
    text += ")";
  }
  return text;
}

TEST(ScriptReplies, UniqueRowsAreMembersWithFields) {
  const Received rows(array({text("1"), text("ann"), nil(), text("2"), text("bob"), text("x")}));
  EXPECT_EQ(joined(decode_unique_rows(rows.reply(), 2).value()), "1(ann null )2(bob x )");
  EXPECT_FALSE(decode_unique_rows(Received(nil()).reply(), 2).has_value());
  EXPECT_EQ(decode_unique_rows(Received(array({})).reply(), 2)->size(), 0u);
  EXPECT_THROW(decode_unique_rows(Received(texts({"1", "ann"})).reply(), 2), sql::SqlError);
  EXPECT_THROW(decode_unique_rows(Received(text("1")).reply(), 2), sql::SqlError);
}

TEST(ScriptReplies, GroupCountsBeginWithNull) {
  const Received counts(array({nil(), integer(3), text("7"), integer(2)}));
  const GroupCounts groups = decode_group_counts(counts.reply()).value();
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_TRUE(groups.value(0).is_nil());
  EXPECT_EQ(groups.rows(0), 3);
  EXPECT_EQ(groups.value(1).text, "7");
  EXPECT_EQ(groups.rows(1), 2);
  EXPECT_FALSE(decode_group_counts(Received(nil()).reply()).has_value());
  EXPECT_THROW(decode_group_counts(Received(array({nil(), integer(3), text("7")})).reply()), sql::SqlError);
  EXPECT_THROW(decode_group_counts(Received(texts({"7", "2"})).reply()), sql::SqlError);
}

TEST(ScriptReplies, RangesAreRowsOrTheirPlace) {
  const Received place(array({integer(4), integer(900)}));
  const RangePlace found = decode_range_place(place.reply()).value();
  EXPECT_EQ(found.rank, 4u);
  EXPECT_EQ(found.size, 900u);
  const Received received(array({texts({"1", "10"}), texts({"ann", "7"})}));
  EXPECT_FALSE(decode_range_place(received.reply()).has_value());
  const RangeRows rows(received.reply(), 2);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows.score(0), "10");
  EXPECT_EQ(rows.fields(0)[1].text, "7");
  EXPECT_THROW(decode_range_place(Received(array({integer(-1), integer(1)})).reply()), sql::SqlError);
  EXPECT_THROW(RangeRows(Received(array({texts({"1", "10"}), texts({"ann"})})).reply(), 2), sql::SqlError);
  EXPECT_THROW(RangeRows(Received(array({texts({"1", "10"})})).reply(), 2), sql::SqlError);
}

TEST(ScriptReplies, RowsOfSetsMayBeReadApart) {
  const Received received(array({integer(3), texts({"1", "ann", "2", "bob"}), texts({"3"})}));
  const RowsOfSets found = decode_rows_of_sets(received.reply(), 1).value();
  EXPECT_EQ(joined(found.rows), "1(ann )2(bob )");
  ASSERT_EQ(found.members.size(), 1u);
  EXPECT_FALSE(found.changes.has_value());
  const Received apart(array({integer(1), array({}), texts({"3"}), text("42")}));
  EXPECT_EQ(decode_rows_of_sets(apart.reply(), 1)->changes, "42");
  EXPECT_FALSE(decode_rows_of_sets(Received(nil()).reply(), 1).has_value());
  for (const std::string& bytes : {array({}), array({text("3"), array({}), array({})}), array({integer(3)}), array({integer(-3), array({}), array({})}),
                                   array({integer(1), array({}), array({}), integer(1)}), array({integer(1), texts({"1"}), array({})}), integer(3)}) {
    EXPECT_THROW(decode_rows_of_sets(Received(bytes).reply(), 1), sql::SqlError) << bytes;
  }
}

TEST(ScriptReplies, MembersHaveAScoreForEachZset) {
  const Received received(array({integer(2), array({}), texts({"1", "2"}), array({text("10"), nil()})}));
  const MembersOfSets found = decode_members_of_sets(received.reply(), 1).value();
  ASSERT_EQ(found.members.size(), 2u);
  EXPECT_EQ(found.scores[0].children()[0].text, "10");
  EXPECT_THROW(decode_members_of_sets(received.reply(), 0), sql::SqlError);
  EXPECT_THROW(decode_members_of_sets(Received(array({integer(2), array({}), texts({"1", "2"}), texts({"10"})})).reply(), 1), sql::SqlError);
  EXPECT_EQ(decode_count_of_sets(Received(array({integer(5)})).reply()), 5u);
  EXPECT_EQ(decode_count_of_sets(Received(nil()).reply()), std::nullopt);
}

TEST(ScriptReplies, FirstRowsSayHowManyThereAre) {
  const Received received(array({integer(9), texts({"1", "ann"})}));
  const FirstRowsOfSets found = decode_first_rows_of_sets(received.reply(), 1).value();
  EXPECT_EQ(found.found, 9u);
  EXPECT_EQ(joined(found.rows), "1(ann )");
  EXPECT_FALSE(decode_first_rows_of_sets(Received(nil()).reply(), 1).has_value());
  EXPECT_THROW(decode_first_rows_of_sets(Received(array({integer(9), texts({"1"})})).reply(), 1), sql::SqlError);
}

}  // namespace
}  // namespace redquel::executor
