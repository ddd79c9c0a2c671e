// Discovery of a keyspace: shapes, types, layouts, structures; and the statements that it proposes.

#include <gtest/gtest.h>

#include <map>

#include "sql/discovery/column_inference.h"
#include "sql/discovery/proposal.h"

namespace redquel::sql {
namespace {

using Parts = std::vector<std::pair<std::string, std::string>>;

/// A keyspace that lies in the test.
class Keyspace {
 public:
  Keyspace& hash(const std::string& key, Parts fields) { return add(key, "hash", std::move(fields)); }
  Keyspace& string(const std::string& key, const std::string& value) { return add(key, "string", {{"", value}}); }
  Keyspace& zset(const std::string& key, Parts members) { return add(key, "zset", std::move(members)); }
  Keyspace& set(const std::string& key, const std::vector<std::string>& members) { return add(key, "set", elements(members)); }
  Keyspace& list(const std::string& key, const std::vector<std::string>& values) { return add(key, "list", elements(values)); }
  Keyspace& stream(const std::string& key, Parts fields) { return add(key, "stream", std::move(fields)); }

  Proposal propose(std::size_t samples = 50) const {
    KeyShapes shapes(samples);
    for (const auto& [key, sample] : keys_) shapes.add(key);
    std::vector<SampledShape> sampled;
    for (KeyShape& shape : shapes.finish()) {
      SampledShape read{std::move(shape), {}};
      for (const std::string& key : read.shape.keys) read.keys.push_back(keys_.at(key));
      sampled.push_back(std::move(read));
    }
    return propose_tables(std::move(sampled));
  }

  /// The statements alone.
  std::string statements() const {
    std::string text;
    for (const ProposedTable& table : propose().tables) {
      for (const std::string& statement : definition_statements(table, "")) text += statement + "\n";
    }
    return text;
  }

 private:
  static Parts elements(const std::vector<std::string>& texts) {
    Parts parts;
    for (const std::string& text : texts) parts.emplace_back(text, "");
    return parts;
  }
  Keyspace& add(const std::string& key, const std::string& type, Parts parts) {
    keys_[key] = {.key = key, .type = type, .parts = std::move(parts)};
    return *this;
  }
  std::map<std::string, KeySample> keys_;
};

std::string shape(std::string_view key) {
  std::vector<std::string> values;
  return shape_text(split_key(key, values));
}

TEST(KeyShapes, CutsKeysWhereTheySayIt) {
  EXPECT_EQ(shape("login:1:name"), "login:{integer}:name");
  EXPECT_EQ(shape("session:0b0e7a52-6a0b-4f1e-9c49-8f6b1e0e6a11"), "session:{uuid}");
  EXPECT_EQ(shape("hits:2011-01-31"), "hits:{date}");
  EXPECT_EQ(shape("cache:d41d8cd98f00b204e9800998ecf8427e"), "cache:{hex}");
  EXPECT_EQ(shape("user/7/mail"), "user/{integer}/mail");
  EXPECT_EQ(shape("user-7"), "user-{integer}");
  EXPECT_EQ(shape("user7"), "user{integer}");
  EXPECT_EQ(shape("profile:ann@example.com"), "profile:{mail}");
  EXPECT_EQ(shape("limit:10.0.0.1:login"), "limit:{token}:login");
  EXPECT_EQ(shape("report:2026-11-29T10"), "report:{token}");
  EXPECT_EQ(shape("trail:01ARZ3NDEKTSV4RRFFQ69G5FAV"), "trail:{token}");
  EXPECT_EQ(shape("commit:1a2b3c4d"), "commit:{hex}");
  EXPECT_EQ(shape("task:job-12345"), "task:job-{integer}");
  EXPECT_EQ(shape("file:report-2026-11-29"), "file:report-{date}");
  EXPECT_EQ(shape("board:top10"), "board:top10");
  EXPECT_EQ(shape("celery-task-meta-0b0e7a52-6a0b-4f1e-9c49-8f6b1e0e6a11"), "celery-task-meta-{uuid}");
  EXPECT_EQ(shape("cache:v2"), "cache:v2");
  EXPECT_EQ(shape("last_login"), "last_login");
  EXPECT_EQ(shape("loginlog:"), "loginlog:");
  EXPECT_EQ(shape(""), "");
}

TEST(KeyShapes, ManyWordsInOnePlaceAreValues) {
  KeyShapes shapes(5);
  for (int i = 0; i < 50'000; ++i) shapes.add("login:w" + std::string(1, static_cast<char>('a' + i % 26)) + "x" + std::to_string(i) + "y:id");
  for (int i = 0; i < 3; ++i) shapes.add("login:" + std::to_string(i) + ":name");
  const std::vector<KeyShape> found = shapes.finish();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(shape_text(found[0].pieces), "login:{integer}:name");
  EXPECT_EQ(shape_text(found[1].pieces), "login:{word}:id");
  EXPECT_EQ(found[1].count, 50'000U);
  EXPECT_EQ(found[1].keys.size(), 5U);
}

TEST(KeyShapes, SamplesOfTheSameRowsComeTogether) {
  KeyShapes shapes(10);
  for (int i = 0; i < 1000; ++i) {
    shapes.add("login:" + std::to_string(i) + ":name");
    shapes.add("login:" + std::to_string(i) + ":mail");
  }
  const std::vector<KeyShape> found = shapes.finish();
  ASSERT_EQ(found.size(), 2U);
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(slot_values(found[0].pieces, found[0].keys[i]), slot_values(found[1].pieces, found[1].keys[i]));
  }
}

std::string type_of(std::string_view name, const std::vector<std::optional<std::string>>& values) {
  const InferredColumn column = infer_column(name, values, true);
  return column.type + (column.format.empty() ? "" : " " + column.format) + (column.nullable ? "" : " not null");
}

TEST(ColumnInference, FindsTypes) {
  EXPECT_EQ(type_of("n", {"1", "-2"}), "bigint not null");
  EXPECT_EQ(type_of("n", {"1", std::nullopt}), "bigint");
  EXPECT_EQ(type_of("n", {"1", ""}), "bigint");
  EXPECT_EQ(type_of("n", {"1", "2.50"}), "numeric not null");
  EXPECT_EQ(type_of("n", {"1e9", "2.5"}), "double precision not null");
  EXPECT_EQ(type_of("code", {"001", "002"}), "text not null");
  EXPECT_EQ(type_of("n", {"9223372036854775808"}), "numeric not null");
  EXPECT_EQ(type_of("active", {"0", "1"}), "boolean bool01 not null");
  EXPECT_EQ(type_of("n", {"0", "1"}), "bigint not null");
  EXPECT_EQ(type_of("b", {"true", "false"}), "boolean not null");
  EXPECT_EQ(type_of("created_at", {"1700000000", "1600000000"}), "timestamptz unix not null");
  EXPECT_EQ(type_of("seen", {"1700000000000"}), "timestamptz unix_ms not null");
  EXPECT_EQ(type_of("salary", {"1700000000"}), "bigint not null");
  EXPECT_EQ(type_of("login_times", {"5", "1"}), "bigint not null");
  EXPECT_EQ(type_of("born", {"2011-1-1", "1970-12-31"}), "date not null");
  EXPECT_EQ(type_of("born", {"2011-1-1", "2011-1-1 10:00"}), "timestamp not null");
  EXPECT_EQ(type_of("seen", {"2011-1-1", "2011-1-1T10:00:00Z"}), "timestamptz not null");
  EXPECT_EQ(infer_column("last_login_time", {"2011-1-1"}, false).type, "timestamp");
  EXPECT_EQ(infer_column("last_login_time", {"2011-1-1"}, true).type, "date");
  EXPECT_EQ(infer_column("born", {"2011-1-1"}, false).type, "date");
  EXPECT_EQ(type_of("n", {"1", "-0"}), "numeric not null");
  EXPECT_EQ(type_of("at", {"2011-01-01T10:00:00Z"}), "timestamptz not null");
  EXPECT_EQ(type_of("at", {"2011-01-01 10:00:00.5+02"}), "timestamptz not null");
  EXPECT_EQ(type_of("at", {"2011-01-01 10:00:00"}), "timestamp not null");
  EXPECT_EQ(type_of("doc", {"{\"a\": 1}", "[1]"}), "jsonb json not null");
  EXPECT_EQ(type_of("doc", {"{a}"}), "text not null");
  EXPECT_EQ(type_of("u", {"0b0e7a52-6a0b-4f1e-9c49-8f6b1e0e6a11"}), "uuid not null");
  EXPECT_EQ(type_of("t", {"x", ""}), "text not null");
  EXPECT_EQ(type_of("t", {}), "text not null");
  EXPECT_NE(infer_column("t", {}, true).doubt, "");
}

TEST(Discovery, HashesWithIndexes) {
  Keyspace keys;
  keys.string("emp:id", "3").zset("emp:zset", {{"1", "1"}, {"2", "2"}, {"3", "3"}});
  keys.hash("emp:1", {{"ename", "king"}, {"salary", "5000.50"}});
  keys.hash("emp:2", {{"ename", "blake"}, {"mgr_id", "1"}, {"salary", "2850"}});
  keys.hash("emp:3", {{"ename", "clark"}, {"mgr_id", "1"}, {"salary", "2450"}});
  keys.set("emp:indices:mgr_id", {"1"}).set("emp:indices:mgr_id:1", {"2", "3"});
  keys.hash("emp:uniques:ename", {{"king", "1"}, {"blake", "2"}, {"clark", "3"}});
  keys.zset("emp:zset:salary", {{"3", "2450"}, {"2", "2850"}, {"1", "5000.5"}});
  EXPECT_EQ(keys.statements(),
            "CREATE FOREIGN TABLE emp (\n"
            "  id bigint NOT NULL,\n"
            "  ename text NOT NULL,\n"
            "  salary numeric NOT NULL,\n"
            "  mgr_id bigint\n"
            ") SERVER redis OPTIONS (layout 'hash', key 'emp:{id}', counter 'emp:id');\n"
            "CREATE INDEX ON emp USING set (mgr_id) WITH (key = 'emp:indices:mgr_id:{mgr_id}');\n"
            "CREATE INDEX ON emp USING lookup (ename) WITH (key = 'emp:uniques:ename');\n"
            "CREATE INDEX ON emp USING zset (salary) WITH (key = 'emp:zset:salary');\n");
}

TEST(Discovery, StringsWithLookupsListsAndOrders) {
  Keyspace keys;
  keys.string("login:1:name", "ken thompson").string("login:1:login_times", "5").string("login:1:last_login_time", "1700000000");
  keys.string("login:2:name", "dennis ritchie").string("login:2:login_times", "1").string("login:2:last_login_time", "1600000000");
  keys.string("login:ken thompson:id", "1").string("login:dennis ritchie:id", "2");
  keys.zset("login:login_times", {{"2", "1"}, {"1", "5"}}).list("login:last_login_times", {"1", "2", "1"});
  keys.set("tag:ruby", {"1", "2"}).set("tag:web", {"2"});
  keys.string("book:1:name", "Programming Ruby").string("book:2:name", "Ruby on Rails");
  EXPECT_EQ(keys.statements(),
            "CREATE FOREIGN TABLE book (\n"
            "  id bigint NOT NULL,\n"
            "  name text NOT NULL\n"
            ") SERVER redis OPTIONS (layout 'strings', key 'book:{id}:{*}');\n"
            "CREATE FOREIGN TABLE login (\n"
            "  id bigint NOT NULL,\n"
            "  last_login_time timestamptz OPTIONS (format 'unix') NOT NULL,\n"
            "  login_times bigint NOT NULL,\n"
            "  name text NOT NULL\n"
            ") SERVER redis OPTIONS (layout 'strings', key 'login:{id}:{*}');\n"
            "CREATE INDEX ON login USING list (last_login_time) WITH (key = 'login:last_login_times');\n"
            "CREATE INDEX ON login USING zset (login_times) WITH (key = 'login:login_times');\n"
            "CREATE INDEX ON login USING lookup (name) WITH (key = 'login:{name}:id');\n"
            "CREATE FOREIGN TABLE tag (\n"
            "  tag text NOT NULL,\n"
            "  member bigint OPTIONS (role 'member') NOT NULL\n"
            ") SERVER redis OPTIONS (layout 'set', key 'tag:{tag}');\n");
}

TEST(Discovery, RelationsInSetsAndOrders) {
  Keyspace keys;
  keys.string("theme:key", "2").string("product:key", "3");
  keys.hash("theme:1", {{"title", "a"}}).hash("theme:2", {{"title", "b"}});
  keys.hash("product:1", {{"name", "x"}, {"price", "1.50"}}).hash("product:2", {{"name", "y"}}).hash("product:3", {{"name", "z"}});
  keys.set("theme:1:product", {"1", "2"}).set("theme:2:product", {"3"});
  keys.set("product:1:tag", {"red", "new"}).set("product:2:tag", {"red"});
  keys.zset("theme:zset", {{"1", "17"}, {"2", "4"}}).list("product:list", {"3", "2", "1"});
  EXPECT_EQ(keys.statements(),
            "CREATE FOREIGN TABLE product (\n"
            "  id bigint NOT NULL,\n"
            "  name text NOT NULL,\n"
            "  price numeric\n"
            ") SERVER redis OPTIONS (layout 'hash', key 'product:{id}', counter 'product:key');\n"
            "CREATE FOREIGN TABLE product_list (\n"
            "  \"position\" bigint OPTIONS (role 'position') NOT NULL,\n"
            "  product_id bigint OPTIONS (role 'value') NOT NULL\n"
            ") SERVER redis OPTIONS (layout 'list', key 'product:list');\n"
            "CREATE FOREIGN TABLE product_tag (\n"
            "  product_id bigint OPTIONS (parent 'product') NOT NULL,\n"
            "  tag text OPTIONS (role 'member') NOT NULL\n"
            ") SERVER redis OPTIONS (layout 'set', key 'product:{product_id}:tag');\n"
            "CREATE FOREIGN TABLE theme (\n"
            "  id bigint NOT NULL,\n"
            "  title text NOT NULL\n"
            ") SERVER redis OPTIONS (layout 'hash', key 'theme:{id}', counter 'theme:key');\n"
            "CREATE FOREIGN TABLE theme_product (\n"
            "  theme_id bigint OPTIONS (parent 'theme') NOT NULL,\n"
            "  product_id bigint OPTIONS (role 'member') NOT NULL\n"
            ") SERVER redis OPTIONS (layout 'set', key 'theme:{theme_id}:product');\n"
            "CREATE FOREIGN TABLE theme_zset (\n"
            "  theme_id bigint OPTIONS (role 'member', parent 'theme') NOT NULL,\n"
            "  score double precision OPTIONS (role 'score') NOT NULL\n"
            ") SERVER redis OPTIONS (layout 'zset', key 'theme:zset');\n");
}

TEST(Discovery, BothSidesOfARelationHaveOneType) {
  Keyspace padded;
  padded.hash("theme:001", {{"title", "a"}, {"owner", "x"}}).hash("theme:002", {{"title", "b"}, {"owner", "y"}});
  padded.zset("theme:zset", {{"001", "17"}, {"002", "4"}}).set("theme:owner:x", {"001"}).set("theme:owner:y", {"002"});
  EXPECT_EQ(padded.statements(),
            "CREATE FOREIGN TABLE theme (\n"
            "  id bigint NOT NULL,\n"
            "  owner text NOT NULL,\n"
            "  title text NOT NULL\n"
            ") SERVER redis OPTIONS (layout 'hash', key 'theme:{id:3}');\n"
            "CREATE INDEX ON theme USING set (owner) WITH (key = 'theme:owner:{owner}', member = '{id:3}');\n"
            "CREATE FOREIGN TABLE theme_zset (\n"
            "  theme_id bigint OPTIONS (role 'member', width '3', parent 'theme') NOT NULL,\n"
            "  score double precision OPTIONS (role 'score') NOT NULL\n"
            ") SERVER redis OPTIONS (layout 'zset', key 'theme:zset');\n");
  Keyspace mixed;
  mixed.string("theme:key", "2").hash("theme:1", {{"title", "a"}}).hash("theme:2", {{"title", "b"}});
  mixed.zset("theme:zset", {{"1", "17"}, {"2", "4"}, {"x", "5"}});
  EXPECT_EQ(mixed.statements(),
            "CREATE FOREIGN TABLE theme (\n"
            "  id text NOT NULL,\n"
            "  title text NOT NULL\n"
            ") SERVER redis OPTIONS (layout 'hash', key 'theme:{id}');\n"
            "CREATE FOREIGN TABLE theme_zset (\n"
            "  theme_id text OPTIONS (role 'member', parent 'theme') NOT NULL,\n"
            "  score double precision OPTIONS (role 'score') NOT NULL\n"
            ") SERVER redis OPTIONS (layout 'zset', key 'theme:zset');\n");
}

TEST(Discovery, KeysAndMembersReadBack) {
  Keyspace keys;
  keys.set("seen:1", {"2011-1-1", "2011-02-03"}).set("seen:2", {"2011-01-01"});
  keys.set("day:1", {"2011-01-01"}).set("flag:1", {"true", "false"}).set("flag:2", {"true"});
  const std::string statements = keys.statements();
  EXPECT_NE(statements.find("member text OPTIONS (role 'member') NOT NULL\n) SERVER redis OPTIONS (layout 'set', key 'seen:{seen_id}');"), std::string::npos) << statements;
  EXPECT_NE(statements.find("member date OPTIONS (role 'member') NOT NULL\n) SERVER redis OPTIONS (layout 'set', key 'day:{day_id}');"), std::string::npos) << statements;
  EXPECT_NE(statements.find("member text OPTIONS (role 'member') NOT NULL\n) SERVER redis OPTIONS (layout 'set', key 'flag:{flag_id}');"), std::string::npos) << statements;
}

TEST(Discovery, NamedParts) {
  Keyspace keys;
  keys.string("sys:user:userid:888:base:username:1:217453", "edwin").string("sys:user:userid:888:base:mail:1:217453", "e@x.org");
  keys.string("sys:user:userid:888:base:username:2:217500", "edwin2");
  keys.string("user:userid:888:username", "edwin").string("user:userid:889:username", "ken");
  keys.string("user:username:edwin:userid", "888").string("user:username:ken:userid", "889");
  keys.string("user:888:username", "edwin");
  keys.set("online:userid", {"888"}).list("loginlog:", {"888 in", "889 in"});
  EXPECT_EQ(keys.statements(),
            "CREATE FOREIGN TABLE loginlog (\n"
            "  \"position\" bigint OPTIONS (role 'position') NOT NULL,\n"
            "  value text OPTIONS (role 'value') NOT NULL\n"
            ") SERVER redis OPTIONS (layout 'list', key 'loginlog:');\n"
            "CREATE FOREIGN TABLE online (\n"
            "  userid bigint OPTIONS (role 'member') NOT NULL\n"
            ") SERVER redis OPTIONS (layout 'set', key 'online:userid');\n"
            "CREATE FOREIGN TABLE \"user\" (\n"
            "  id bigint NOT NULL,\n"
            "  username text NOT NULL\n"
            ") SERVER redis OPTIONS (layout 'strings', key 'user:{id}:{*}');\n"
            "CREATE VIEW users AS SELECT * FROM \"user\";\n"
            "CREATE FOREIGN TABLE user_base (\n"
            "  userid bigint NOT NULL,\n"
            "  version bigint NOT NULL,\n"
            "  \"timestamp\" bigint NOT NULL,\n"
            "  mail text,\n"
            "  username text NOT NULL\n"
            ") SERVER redis OPTIONS (layout 'strings', key 'sys:user:userid:{userid}:base:{*}:{version}:{timestamp}');\n"
            "CREATE FOREIGN TABLE user_userid (\n"
            "  userid bigint NOT NULL,\n"
            "  username text NOT NULL\n"
            ") SERVER redis OPTIONS (layout 'strings', key 'user:userid:{userid}:{*}');\n"
            "CREATE INDEX ON user_userid USING lookup (username) WITH (key = 'user:username:{username}:userid');\n");
}

TEST(Discovery, OtherLayouts) {
  Keyspace keys;
  keys.string("page:1", R"({"a": 1})").string("page:2", R"({"a": 2})");
  keys.hash("settings", {{"lang", "en"}, {"theme", "dark"}});
  keys.hash("cart:7", {{"1001", "2"}, {"1002", "1"}}).hash("cart:8", {{"1003", "4"}});
  keys.stream("events:7", {{"kind", "in"}, {"at", "1700000000"}});
  keys.string("motd", "hello");
  const Proposal proposal = keys.propose();
  EXPECT_EQ(keys.statements(),
            "CREATE FOREIGN TABLE cart (\n"
            "  cart_id bigint NOT NULL,\n"
            "  field bigint OPTIONS (role 'field') NOT NULL,\n"
            "  value bigint OPTIONS (role 'value') NOT NULL\n"
            ") SERVER redis OPTIONS (layout 'hash_fields', key 'cart:{cart_id}');\n"
            "CREATE FOREIGN TABLE events (\n"
            "  events_id bigint NOT NULL,\n"
            "  entry_id text OPTIONS (role 'id') NOT NULL,\n"
            "  entry_time timestamptz OPTIONS (role 'time') NOT NULL,\n"
            "  kind text,\n"
            "  at timestamptz OPTIONS (format 'unix')\n"
            ") SERVER redis OPTIONS (layout 'stream', key 'events:{events_id}');\n"
            "CREATE FOREIGN TABLE motd (\n"
            "  value text OPTIONS (role 'value') NOT NULL\n"
            ") SERVER redis OPTIONS (layout 'string', key 'motd');\n"
            "CREATE FOREIGN TABLE page (\n"
            "  id bigint NOT NULL,\n"
            "  value jsonb OPTIONS (role 'value', format 'json') NOT NULL\n"
            ") SERVER redis OPTIONS (layout 'string', key 'page:{id}');\n"
            "CREATE FOREIGN TABLE settings (\n"
            "  field text OPTIONS (role 'field') NOT NULL,\n"
            "  value text OPTIONS (role 'value') NOT NULL\n"
            ") SERVER redis OPTIONS (layout 'hash_fields', key 'settings');\n");
  EXPECT_TRUE(proposal.left_out.empty());
}

TEST(Discovery, VeryManyFormsLeaveTheLargestAndThePlainest) {
  Keyspace keys;
  for (int id = 0; id < 3000; ++id) {
    std::string word;
    for (int rest = id + 1; rest > 0; rest /= 26) word += static_cast<char>('a' + rest % 26);
    keys.string(word + "'x", "x");
  }
  keys.stream("orders", {{"total", "7"}}).hash("config", {{"theme", "dark"}, {"lang", "de"}}).list("celery", {"x"});
  keys.zset("leaderboard:daily:2026-11-29", {{"ann", "1"}});
  const Proposal proposal = keys.propose();
  std::map<std::string, std::string> layouts;
  for (const ProposedTable& table : proposal.tables) layouts[table.key] = table.layout;
  EXPECT_EQ(layouts.at("orders"), "stream");
  EXPECT_EQ(layouts.at("config"), "hash_fields");
  EXPECT_EQ(layouts.at("celery"), "list");
  EXPECT_EQ(layouts.at("leaderboard:daily:{day}"), "zset");
  std::size_t left_out = 0;
  for (const LeftOut& one : proposal.left_out) {
    left_out += one.keys;
    EXPECT_FALSE(one.pattern.empty() || one.example.empty() || one.reason.empty());
  }
  EXPECT_EQ(left_out + proposal.tables.size(), 3004U);
}

TEST(Discovery, ValuesWithFewKeysEachAreValues) {
  Keyspace keys;
  for (int id = 0; id < 2000; ++id) {
    const auto word = [](int number) {
      std::string text = "w";  // no word that names a structure, as id
      for (int rest = number + 1; rest > 0; rest /= 26) text += static_cast<char>('a' + rest % 26);
      return text;
    };
    keys.string("cache:" + word(id % 500) + ":" + word(id * 31), "x");
  }
  const Proposal proposal = keys.propose();
  ASSERT_EQ(proposal.tables.size(), 1U);
  EXPECT_EQ(proposal.tables[0].name, "cache");
  EXPECT_EQ(proposal.tables[0].keys, 2000U);
}

TEST(Discovery, NamesThatAreWordsOfSqlHaveViews) {
  Keyspace keys;
  keys.hash("user:1", {{"name", "ann"}}).hash("order:1", {{"total", "7"}}).set("orders", {"x"}).hash("emp:1", {{"name", "bob"}});
  std::map<std::string, std::string> views;
  for (const ProposedTable& table : keys.propose().tables) views[table.name] = table.plain_name;
  EXPECT_EQ(views, (std::map<std::string, std::string>{{"user", "users"}, {"order", "order_table"}, {"orders", ""}, {"emp", ""}}));
  EXPECT_NE(keys.statements().find("CREATE VIEW users AS SELECT * FROM \"user\";"), std::string::npos);
}

TEST(Discovery, KeysThatAreNoText) {
  using namespace std::string_literals;
  Keyspace keys;
  for (int id = 1; id <= 40; ++id) {
    const std::string text = "user:" + std::to_string(id);
    keys.string("\xac\xed\0\5t\0"s + static_cast<char>(text.size()) + text, "\xac\xed\0\5sr"s);
    keys.string("bin\xff\xfe:" + std::to_string(id), "x");
  }
  keys.hash("\xff:1", {{"a", "1"}, {"\xff", "2"}, {"b", "x"}}).hash("\xff:2", {{"a", "2"}, {"b", "y"}});
  keys.set("seen:1", {"ann", "\xff"}).set("seen:2", {"bob"});
  EXPECT_EQ(keys.statements(),
            "CREATE FOREIGN TABLE bin (\n"
            "  id bigint NOT NULL,\n"
            "  value text OPTIONS (role 'value') NOT NULL\n"
            ") SERVER redis OPTIONS (layout 'string', key E'bin{\\\\xfffe}:{id}');\n"
            "CREATE FOREIGN TABLE key_1 (\n"
            "  id bigint NOT NULL,\n"
            "  a bigint NOT NULL,\n"
            "  b text NOT NULL\n"
            ") SERVER redis OPTIONS (layout 'hash', key E'{\\\\xff}:{id}');\n"
            "CREATE FOREIGN TABLE seen (\n"
            "  seen_id bigint NOT NULL,\n"
            "  member bytea OPTIONS (role 'member', format 'raw') NOT NULL\n"
            ") SERVER redis OPTIONS (layout 'set', key 'seen:{seen_id}');\n"
            "CREATE FOREIGN TABLE \"user\" (\n"
            "  id bigint NOT NULL,\n"
            "  value bytea OPTIONS (role 'value', format 'raw') NOT NULL\n"
            ") SERVER redis OPTIONS (layout 'string', key E'{\\\\java}user:{id}');\n"
            "CREATE VIEW users AS SELECT * FROM \"user\";\n");
}

TEST(Discovery, ZerosInFrontAndBraces) {
  Keyspace keys;
  keys.hash("theme:001", {{"title", "a"}}).hash("theme:012", {{"title", "b"}});
  keys.string("{shop}:7:name", "x").string("{shop}:8:name", "y");
  EXPECT_EQ(keys.statements(),
            "CREATE FOREIGN TABLE _shop_ (\n"
            "  id bigint NOT NULL,\n"
            "  name text NOT NULL\n"
            ") SERVER redis OPTIONS (layout 'strings', key '{{shop}}:{id}:{*}');\n"
            "CREATE FOREIGN TABLE theme (\n"
            "  id bigint NOT NULL,\n"
            "  title text NOT NULL\n"
            ") SERVER redis OPTIONS (layout 'hash', key 'theme:{id:3}');\n");
}

TEST(Discovery, ReportsItsDoubts) {
  Keyspace keys;
  keys.hash("a:1", {{"n", "1700000000"}}).hash("a:2", {{"n", "1600000000"}});
  const std::string text = proposal_text(keys.propose(), "app");
  EXPECT_EQ(text,
            "-- a: 2 keys, for example a:2, a:1\n"
            "-- unsure: n: may be Unix time (format 'unix')\n"
            "CREATE FOREIGN TABLE app.a (\n"
            "  id bigint NOT NULL,\n"
            "  n bigint NOT NULL\n"
            ") SERVER redis OPTIONS (layout 'hash', key 'a:{id}');\n\n");
}

TEST(Discovery, HostileKeys) {
  Keyspace keys;
  keys.string("", "x").string("it's:1:a\nb", "y").string(std::string("z:\0:1", 5), "1").hash("br{1}:7", {{"a", "b"}});
  keys.hash("q'\\:1", {{"drop \"table\"", "x"}, {"", "y"}});
  for (const ProposedTable& table : keys.propose().tables) {
    for (const std::string& statement : definition_statements(table, "")) EXPECT_TRUE(statement.ends_with(";"));
  }
  const std::string text = proposal_text(keys.propose(), "");
  EXPECT_NE(text.find("key E'q''\\\\:{id}'"), std::string::npos) << text;
}

}  // namespace
}  // namespace redquel::sql
