#include <gmock/gmock.h>

#include "executor/redis/handshake.h"
#include "executor/redis/resp_codec.h"
#include "executor/redis/write_admission.h"
#include "tests/unit/executor/resp_text.h"

namespace redquel::executor {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kInfo =
    "# Server\r\nredis_version:7.0.15\r\nrun_id:abc\r\n# Persistence\r\nloading:0\r\naof_enabled:1\r\n"
    "# Memory\r\nmaxmemory_policy:noeviction\r\n# Replication\r\nrole:master\r\nmaster_replid:def\r\n";

RedisLogin login_of(const RedisUrl& url) { return {.user = url.user, .password = url.password, .tls = nullptr}; }

HandshakeResult read(const RedisUrl& url, const std::vector<std::string>& answers) {
  Replies replies;
  replies.set_names(handshake_commands(url, login_of(url), "redquel").names());
  ReplyDecoder decoder(1 << 20);
  for (const std::string& answer : answers) decoder.feed(answer);
  while (decoder.next(replies)) {
  }
  return read_handshake(url, replies);
}

std::vector<std::string> answers_with(const std::string& info) {
  return {resp::ok(), resp::text(info), resp::ok(), resp::array({}), resp::integer(1), resp::array({})};
}

TEST(Handshake, LogsInSelectsAndAsks) {
  const RedisUrl url = parse_redis_url("redis://ann:s3cret@localhost/5");
  EXPECT_THAT(handshake_commands(url, login_of(url), "redquel").texts(),
              ElementsAre("AUTH ann s3cret", "SELECT 5", "CLIENT SETNAME redquel", "INFO", "MULTI", "EXEC",
                          "EVAL_RO \"return 1\" 0", "SORT_RO redquel:trial BY nosort GET #"));
  EXPECT_THAT(handshake_commands(parse_redis_url("redis://:pw@h"), login_of(parse_redis_url("redis://:pw@h")), "r").texts()[0], "AUTH pw");
  EXPECT_THAT(handshake_commands(parse_redis_url("redis://h"), {}, "r").texts()[0], "CLIENT SETNAME r");
}

TEST(Handshake, ReadsTheServersIdentity) {
  const HandshakeResult result = read(parse_redis_url("redis://h"), answers_with(kInfo));
  ASSERT_FALSE(result.error);
  EXPECT_EQ(result.server.version, "7.0.15");
  EXPECT_EQ(result.server.run_id, "abc");
  EXPECT_EQ(result.server.replication_id, "def");
  EXPECT_EQ(result.server.maxmemory_policy, "noeviction");
  EXPECT_TRUE(result.server.aof_enabled);
  EXPECT_TRUE(result.server.may_multi && result.server.may_info && result.server.may_script_read &&
              result.server.may_sort_get);
}

TEST(Handshake, TellsWhetherTheAppendOnlyFileWasRewrittenSinceTheStart) {
  const auto server = [](const std::string& more) {
    return read(parse_redis_url("redis://h"), answers_with(kInfo + more)).server;
  };
  EXPECT_TRUE(server("aof_rewrite_in_progress:0\r\naof_last_rewrite_time_sec:-1\r\naof_last_bgrewrite_status:ok\r\n").may_append_to_torn_file());
  EXPECT_TRUE(server("aof_rewrite_in_progress:1\r\naof_last_rewrite_time_sec:-1\r\naof_last_bgrewrite_status:ok\r\n").aof_rewriting);
  EXPECT_TRUE(server("aof_rewrite_scheduled:1\r\n").aof_rewriting);
  EXPECT_TRUE(server("aof_last_rewrite_time_sec:0\r\naof_last_bgrewrite_status:err\r\n").may_append_to_torn_file());
  EXPECT_FALSE(server("aof_last_rewrite_time_sec:0\r\naof_last_bgrewrite_status:ok\r\n").may_append_to_torn_file());
  EXPECT_FALSE(server("aof_enabled:0\r\n").may_append_to_torn_file());
  EXPECT_FALSE(server("role:slave\r\n").may_append_to_torn_file());
}

TEST(Handshake, TellsWhetherRowsMayBeEvicted) {
  const auto evicts = [](const std::string& policy) {
    return read(parse_redis_url("redis://h"), answers_with(kInfo + "maxmemory_policy:" + policy + "\r\n")).server.may_evict_rows();
  };
  EXPECT_TRUE(evicts("allkeys-lru"));
  EXPECT_FALSE(evicts("volatile-ttl"));
  EXPECT_FALSE(evicts("noeviction"));
}

TEST(Handshake, KnowsWhatOnlyReads) {
  CommandBatch batch;
  batch.add("MULTI").add("HMGET", "emp:1", "ename").add("EVALSHA_RO", "sha", "0").add("EXEC").add("GET", "redquel:version");
  EXPECT_TRUE(only_reads(batch));
  EXPECT_FALSE(only_reads(CommandBatch(batch).add("EVALSHA", "sha", "0")));
  EXPECT_FALSE(only_reads(CommandBatch(batch).add("NEW.COMMAND", "key")));
}

TEST(Handshake, FindsOutWhatAReadOnlyUserMayDo) {
  const std::string refused = resp::error("NOPERM this user has no permissions");
  const HandshakeResult result =
      read(parse_redis_url("redis://h"), {resp::ok(), refused, refused, refused, refused, refused});
  ASSERT_FALSE(result.error);
  EXPECT_FALSE(result.server.may_multi || result.server.may_info || result.server.may_script_read ||
               result.server.may_sort_get);
  EXPECT_TRUE(result.server.is_another_server_than(result.server));  // nobody can tell
}

TEST(Handshake, RefusesOldServersWrongPasswordsAndDatabases) {
  HandshakeResult old = read(parse_redis_url("redis://h"), answers_with("redis_version:6.2.7\r\n"));
  EXPECT_THAT(old.error->message(), HasSubstr("is version 6.2.7, redquel needs 7.0 or later"));
  EXPECT_TRUE(old.is_lasting);

  HandshakeResult login =
      read(parse_redis_url("redis://:pw@h"), {resp::error("WRONGPASS invalid username-password pair")});
  EXPECT_EQ(login.error->sqlstate(), "28000");
  EXPECT_TRUE(login.is_lasting);

  EXPECT_EQ(read(parse_redis_url("redis://h"), {resp::error("NOAUTH Authentication required.")}).error->sqlstate(),
            "28000");

  HandshakeResult database = read(parse_redis_url("redis://h/99"), {resp::error("ERR DB index is out of range")});
  EXPECT_EQ(database.error->sqlstate(), "3D000");
  EXPECT_EQ(database.error->message(), "Redis at h:6379 has no database 99");

  HandshakeResult cluster = read(parse_redis_url("redis://h"), answers_with("redis_version:7.0.15\r\ncluster_enabled:1\r\n"));
  EXPECT_EQ(cluster.error->sqlstate(), "0A000");
  EXPECT_TRUE(cluster.is_lasting);
}

TEST(Handshake, WaitsWhileRedisLoads) {
  HandshakeResult loading = read(parse_redis_url("redis://h"), answers_with("redis_version:7.2.0\r\nloading:1\r\n"));
  EXPECT_EQ(loading.error->sqlstate(), "57P03");
  EXPECT_FALSE(loading.is_lasting);
}

TEST(Handshake, BelievesNothingThatIsMissing) { EXPECT_FALSE(read(parse_redis_url("redis://h"), {}).error); }

TEST(ServerInfo, KnowsSupportedVersions) {
  EXPECT_TRUE(is_supported_version("7.0.0"));
  EXPECT_TRUE(is_supported_version("8.1"));
  EXPECT_TRUE(is_supported_version("10.0.1"));
  EXPECT_FALSE(is_supported_version("6.2.14"));
  EXPECT_FALSE(is_supported_version(""));
  EXPECT_FALSE(is_supported_version("x7"));
}

TEST(RedisUrl, ParsesBothForms) {
  RedisUrl url = parse_redis_url("redis://example.org");
  EXPECT_EQ(url.address(), "example.org:6379");
  EXPECT_EQ(url.database, 0);

  url = parse_redis_url("redis://u%40x:p%3a@w@[::1]:7000/12");
  EXPECT_EQ(url.user, "u@x");
  EXPECT_EQ(url.password, "p:@w");
  EXPECT_EQ(url.address(), "[::1]:7000");

  url = parse_redis_url("redis://:p%2Fw@10.0.0.1:7000/12");
  EXPECT_EQ(url.user, "");
  EXPECT_EQ(url.password, "p/w");
  EXPECT_EQ(url.address(), "10.0.0.1:7000");
  EXPECT_EQ(url.database, 12);

  EXPECT_EQ(parse_redis_url("redis://[fe80::1]:99/").address(), "[fe80::1]:99");
  EXPECT_EQ(parse_redis_url("redis://h?db=3").database, 3);

  url = parse_redis_url("unix:///run/my%20redis.sock?db=2");
  EXPECT_EQ(url.address(), "/run/my redis.sock");
  EXPECT_EQ(url.database, 2);
  EXPECT_EQ(parse_redis_url("unix://u:p@/s").password, "p");
  EXPECT_FALSE(url.tls);

  url = parse_redis_url("rediss://u:p@h:7000/3");
  EXPECT_TRUE(url.tls);
  EXPECT_EQ(url.address(), "h:7000");
  EXPECT_EQ(url.database, 3);
}

TEST(RedisUrl, ParsesSentinels) {
  RedisUrl url = parse_redis_url("sentinel://u:p%3a@w@h1,[::1]:7,h3:26380/mymaster?db=4&sentinel_user=s&sentinel_password=t%20");
  ASSERT_TRUE(url.sentinels);
  EXPECT_EQ(url.sentinels->places, (std::vector<TcpPlace>{{"h1", 26379}, {"::1", 7}, {"h3", 26380}}));
  EXPECT_EQ(url.sentinels->master, "mymaster");
  EXPECT_EQ(url.user, "u");
  EXPECT_EQ(url.password, "p:@w");
  EXPECT_EQ(url.database, 4);
  EXPECT_EQ(url.sentinels->user, "s");
  EXPECT_EQ(url.sentinels->password, "t ");
  EXPECT_FALSE(url.tls);
  EXPECT_EQ(url.address(), "master mymaster (sentinels h1:26379, [::1]:7, h3:26380)");
  url = parse_redis_url("rediss+sentinel://h/m");
  EXPECT_TRUE(url.tls);
  EXPECT_EQ(url.sentinels->places.size(), 1U);
}

TEST(RedisUrl, ParsesNodesOfACluster) {
  RedisUrl url = parse_redis_url("cluster://u:p%3a@w@h1,[::1]:7,h3:7001");
  EXPECT_EQ(url.cluster, (std::vector<TcpPlace>{{"h1", 6379}, {"::1", 7}, {"h3", 7001}}));
  EXPECT_FALSE(url.sentinels);
  EXPECT_EQ(url.user, "u");
  EXPECT_EQ(url.password, "p:@w");
  EXPECT_FALSE(url.tls);
  EXPECT_EQ(url.address(), "cluster h1:6379, [::1]:7, h3:7001");
  url = parse_redis_url("rediss+cluster://h/0?db=0");
  EXPECT_TRUE(url.tls);
  EXPECT_EQ(url.cluster.size(), 1U);
}

TEST(RedisUrl, SaysWhatIsWrong) {
  const auto error_of = [](std::string_view text) -> std::string {
    try {
      parse_redis_url(text);
    } catch (const sql::SqlError& error) {
      EXPECT_EQ(error.sqlstate(), "22023");
      return error.message();
    }
    return "";
  };
  EXPECT_THAT(error_of(""), HasSubstr("begin with redis://, rediss://, unix://, sentinel://"));
  EXPECT_THAT(error_of("http://x"), HasSubstr("begin with"));
  EXPECT_THAT(error_of("sentinel://h"), HasSubstr("name of the master is missing"));
  EXPECT_THAT(error_of("sentinel://h,/m"), HasSubstr("host is missing"));
  EXPECT_THAT(error_of("sentinel:///m"), HasSubstr("host is missing"));
  EXPECT_THAT(error_of("sentinel://h:0/m"), HasSubstr("the port"));
  EXPECT_THAT(error_of("sentinel://h/a/b"), HasSubstr("a space or a slash"));
  EXPECT_THAT(error_of("sentinel://h/m?x=1"), HasSubstr("only parameters"));
  EXPECT_THAT(error_of("sentinel://h/m?sentinel_user=u"), HasSubstr("needs sentinel_password"));
  EXPECT_THAT(error_of("sentinel://a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q/m"), HasSubstr("more than 16"));
  EXPECT_THAT(error_of("cluster://h?db=1"), HasSubstr("a cluster has the database 0 alone"));
  EXPECT_THAT(error_of("cluster://h/1"), HasSubstr("a cluster has the database 0 alone"));
  EXPECT_THAT(error_of("cluster://h,"), HasSubstr("host is missing"));
  EXPECT_THAT(error_of("cluster://h?sentinel_user=u"), HasSubstr("only parameter is db"));
  EXPECT_THAT(error_of("cluster://a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q"), HasSubstr("more than 16 nodes"));
  EXPECT_THAT(error_of("rediss://x:0"), HasSubstr("port"));
  EXPECT_THAT(error_of("redis://"), HasSubstr("host is missing"));
  EXPECT_THAT(error_of("redis://h:0"), HasSubstr("the port must be a number from 1 to 65535"));
  EXPECT_THAT(error_of("redis://h:70000"), HasSubstr("the port"));
  EXPECT_THAT(error_of("redis://h:"), HasSubstr("the port"));
  EXPECT_THAT(error_of("redis://h/x"), HasSubstr("the database"));
  EXPECT_THAT(error_of("redis://h/-1"), HasSubstr("the database"));
  EXPECT_THAT(error_of("redis://h?x=1"), HasSubstr("only parameter is db"));
  EXPECT_THAT(error_of("redis://::1:5"), HasSubstr("brackets"));
  EXPECT_THAT(error_of("redis://[::1"), HasSubstr("]"));
  EXPECT_THAT(error_of("redis://a@h"), HasSubstr("a user needs a password"));
  EXPECT_THAT(error_of("redis://:a%2@h"), HasSubstr("hexadecimal"));
  EXPECT_THAT(error_of("redis://:a%00@h"), HasSubstr("zero byte"));
  EXPECT_THAT(error_of("unix://relative.sock"), HasSubstr("absolute"));
  EXPECT_THAT(error_of("redis://:topsecret@h:x"), ::testing::Not(HasSubstr("topsecret")));
}

}  // namespace
}  // namespace redquel::executor
