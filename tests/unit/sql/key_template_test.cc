#include "sql/catalog/key_template.h"

#include <gtest/gtest.h>

#include <map>

#include "sql/error.h"

namespace redquel::sql {
namespace {

const std::map<std::string, std::int16_t, std::less<>> kColumns{{"id", 1}, {"name", 2}, {"version", 3}};

KeyTemplate parse(std::string_view text) {
  return KeyTemplate::parse(text, [](std::string_view name) -> std::int16_t {
    const auto found = kColumns.find(name);
    return found == kColumns.end() ? std::int16_t{0} : found->second;
  });
}

std::optional<std::string> render(const KeyTemplate& key, std::map<std::int16_t, std::string> texts) {
  return key.render([&](std::int16_t column) -> std::optional<std::string> {
    const auto found = texts.find(column);
    return found == texts.end() ? std::nullopt : std::optional(found->second);
  });
}

std::vector<std::string_view> match(const KeyTemplate& key, std::string_view text) {
  return key.match(text).value_or(std::vector<std::string_view>{"no match"});
}

TEST(KeyTemplate, FillsItsSlots) {
  EXPECT_EQ(render(parse("theme:{id}:product"), {{1, "12"}}), "theme:12:product");
  EXPECT_EQ(render(parse("login:{name}:id"), {{2, "ken thompson"}}), "login:ken thompson:id");
  EXPECT_EQ(render(parse("theme:{id:3}"), {{1, "7"}}), "theme:007");
  EXPECT_EQ(render(parse("theme:{id:3}"), {{1, "1234"}}), "theme:1234");
  EXPECT_EQ(render(parse("{{{id}}}:x"), {{1, "7"}}), "{7}:x");
  EXPECT_EQ(render(parse("theme:{id}"), {}), std::nullopt);
  EXPECT_EQ(render(parse("login:{id}:{*}"), {{1, "7"}, {KeyTemplate::kFieldSlot, "name"}}), "login:7:name");
}

TEST(KeyTemplate, TakesKeysApart) {
  using Texts = std::vector<std::string_view>;
  EXPECT_EQ(match(parse("theme:{id}:product"), "theme:12:product"), Texts{"12"});
  EXPECT_EQ(match(parse("user:{id}:{name}:{version}"), "user:1:ann:3"), (Texts{"1", "ann", "3"}));
  EXPECT_EQ(match(parse("{{{id}}}:x"), "{7}:x"), Texts{"7"});
  EXPECT_EQ(match(parse("tag-{name}"), "tag-a:b"), Texts{"a:b"});
  for (const std::string_view other : {"theme:12", "theme::product", "theme:12:products", "theme:1:2:product", "xtheme:12:product", ""}) {
    EXPECT_EQ(parse("theme:{id}:product").match(other), std::nullopt) << other;
  }
}

TEST(KeyTemplate, RoundTripsTheValuesOfSlots) {
  const KeyTemplate key = parse("user:{id}-{name}");
  for (const std::string_view text : {"a", "ken thompson", "{", "*", "é"}) {
    ASSERT_TRUE(key.may_hold(3, text)) << text;
    const auto made = render(key, {{1, "1"}, {2, std::string(text)}});
    EXPECT_EQ(match(key, *made), (std::vector<std::string_view>{"1", text}));
  }
  EXPECT_FALSE(key.may_hold(3, "a:b"));
  EXPECT_FALSE(key.may_hold(3, ""));
  EXPECT_FALSE(key.may_hold(1, "1-2"));
}

TEST(KeyTemplate, IsKeptByNumbers) {
  const KeyTemplate key = parse("{{x}}:{id:3}:{name}:{*}");
  EXPECT_EQ(key.stored_text(), "{{x}}:{#1:3}:{#2}:{*}");
  EXPECT_EQ(KeyTemplate::parse_stored(key.stored_text()), key);
  EXPECT_EQ(key.text([](std::int16_t) { return "renamed"; }), "{{x}}:{renamed:3}:{renamed}:{*}");
}

TEST(KeyTemplate, MakesGlobs) {
  const auto pattern = [](const KeyTemplate& key, std::map<std::int16_t, std::string> texts) {
    return key.pattern([&](std::int16_t column) { return texts.contains(column) ? std::optional(texts[column]) : std::nullopt; });
  };
  EXPECT_EQ(pattern(parse("theme:{id}:{name}"), {}), "theme:*:*");
  EXPECT_EQ(pattern(parse("theme:{id}:{name}"), {{2, "a*[b]?"}}), "theme:*:a\\*\\[b\\]\\?");
  EXPECT_EQ(pattern(parse("a*:{id:2}"), {{1, "5"}}), "a\\*:05");
}

TEST(KeyTemplate, HoldsBytesThatNoTextCanShow) {
  const KeyTemplate key = parse("bin{\\xff00}:{id}:{\\x0a}{{x}}");
  EXPECT_EQ(render(key, {{1, "7"}}), std::string("bin\xff\0:7:\n{x}", 12));
  EXPECT_EQ(match(key, std::string_view("bin\xff\0:7:\n{x}", 12)), (std::vector<std::string_view>{"7"}));
  EXPECT_EQ(KeyTemplate::parse_stored(key.stored_text()), key);
  EXPECT_EQ(key.stored_text(), "bin{\\xff00}:{#1}:{\\x0a}{{x}}");
  EXPECT_EQ(template_literal("a\xe2\x80\xae\xc3\xa4"), "a{\\xe280ae}\xc3\xa4") << "a change of direction is no text";
  for (const char* wrong : {"{\\x}", "{\\xf}", "{\\xfg}", "a{\\java}"}) EXPECT_THROW(parse(wrong), SqlError) << wrong;
}

TEST(KeyTemplate, HoldsStringsOfJavasSerialization) {
  using namespace std::string_literals;
  const KeyTemplate key = parse("{\\java}user:{id}");
  const std::string seven = "\xac\xed\0\5t\0\6user:7"s, long_one = "\xac\xed\0\5t\0\10user:123"s;
  EXPECT_EQ(render(key, {{1, "7"}}), seven);
  EXPECT_EQ(render(key, {{1, "123"}}), long_one);
  EXPECT_EQ(match(key, seven), (std::vector<std::string_view>{"7"}));
  EXPECT_EQ(match(key, long_one), (std::vector<std::string_view>{"123"}));
  EXPECT_FALSE(key.match("\xac\xed\0\5t\0\7user:7"s)) << "another length";
  EXPECT_FALSE(key.match("\xac\xed\0\5t\0"s));
  EXPECT_EQ(KeyTemplate::parse_stored(key.stored_text()), key);
  EXPECT_EQ(key.stored_text(), "{\\java}user:{#1}");
  EXPECT_EQ(key.pattern([](std::int16_t) { return std::nullopt; }), "\xac\xed\0\5t??user:*"s);
  EXPECT_FALSE(render(key, {{1, std::string(70'000, 'x')}})) << "Java's length has two bytes";
}

TEST(KeyTemplate, RefusesAmbiguousTemplates) {
  for (const std::string_view text : {"", "a:{id", "a:id}", "a:{}", "a:{other}", "a:{id}{name}", "a:{id}:{id}", "a:{id:0}", "a:{id:99}", "{*}{*}"}) {
    try {
      parse(text);
      ADD_FAILURE() << text;
    } catch (const SqlError& error) {
      EXPECT_EQ(error.sqlstate(), "22023") << text;
    }
  }
}

TEST(KeyTemplate, KnowsWhenTwoMayMeet) {
  const auto meet = [](std::string_view a, std::string_view b) {
    const auto is_number = [](std::int16_t column) { return column == 1; };
    return KeyTemplate::may_overlap(parse(a), is_number, parse(b), is_number);
  };
  EXPECT_TRUE(meet("theme:{id}", "theme:{id}"));
  EXPECT_TRUE(meet("theme:{name}", "theme:{id}"));
  EXPECT_TRUE(meet("theme:{name}", "theme:zset"));
  EXPECT_TRUE(meet("a-{name}", "a-{name}-b"));
  EXPECT_FALSE(meet("theme:{id}", "theme:zset"));
  EXPECT_FALSE(meet("theme:{id}", "theme:{id}:product"));
  EXPECT_FALSE(meet("theme:{id}:tag", "theme:{id}:product"));
  EXPECT_FALSE(meet("theme:{id}", "product:{id}"));
  EXPECT_FALSE(meet("login:{id}:name", "login:{name}:id"));
}

}  // namespace
}  // namespace redquel::sql
