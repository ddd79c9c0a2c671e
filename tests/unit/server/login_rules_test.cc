#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <system_error>

#include "server/authentication/rule_set.h"
#include "server/authentication/socket_owner.h"
#include "server/connection_security.h"
#include "server/session_places.h"
#include "sql/error.h"

namespace redquel::server {
namespace {

using ::testing::ElementsAre;

std::string no_file(const std::filesystem::path&) { throw std::system_error(ENOENT, std::generic_category()); }

/// The words of each line, "[quoted]", separated as the fields are.
std::vector<std::string> words_of(std::string_view text, const RuleFileReader& read = no_file) {
  std::vector<std::string> lines;
  for (const RuleLine& line : split_rule_lines(text, "/etc/hba", read)) {
    std::string shown = std::to_string(line.number) + ":";
    for (const RuleField& field : line.fields) {
      shown += " ";
      for (const RuleWord& word : field) shown += (&word == &field[0] ? "" : ",") + (word.is_quoted ? "[" + word.text + "]" : word.text);
    }
    lines.push_back(shown + (line.error.empty() ? "" : " !" + line.error));
  }
  return lines;
}

TEST(RuleLines, CutsAsPostgresqlDoes) {
  EXPECT_THAT(words_of("a b,c # d\n\n\te, f  g\r\n"), ElementsAre("1: a b,c", "3: e,f g"));
  EXPECT_THAT(words_of("\"a b\",\"c\"\"d\" x\"y\"\n"), ElementsAre("1: [a b],[c\"d] xy"));
  EXPECT_THAT(words_of("a \\\nb\nc\n"), ElementsAre("1: a b", "3: c"));
  EXPECT_THAT(words_of("\"a # b\n\"\"\n"), ElementsAre("1: [a # b]", "2: []"));
  EXPECT_THAT(words_of(std::string_view("a b\0c\nd", 7)), ElementsAre("1: a b", "2: d"));
  EXPECT_THAT(words_of(std::string(10239, 'x')).front(), ::testing::StartsWith("1: xxx"));
  EXPECT_THAT(words_of(std::string(10240, 'x') + "\nb"), ElementsAre("1: !authentication file token too long", "2: b"));
  EXPECT_THAT(words_of("a\xff\nb"), ElementsAre("1: !the line is not valid UTF-8", "2: b"));
}

TEST(RuleLines, IncludesFilesOfWords) {
  const RuleFileReader read = [](const std::filesystem::path& file) -> std::string {
    if (file == "/etc/names") return "one two,three\n\"four\" # five\n";
    if (file == "/etc/loop") return "@loop";
    if (file == "/etc/folder") throw std::system_error(EISDIR, std::generic_category());
    return no_file(file);
  };
  EXPECT_THAT(words_of("a,@names b", read), ElementsAre("1: a,one,two,three,[four] b"));
  EXPECT_THAT(words_of("\"@names\" @ x", read), ElementsAre("1: [@names] @ x"));
  EXPECT_THAT(words_of("@/no/file", read),
              ElementsAre("1: !could not open secondary authentication file \"@/no/file\" as \"/no/file\": No such file or directory"));
  EXPECT_THAT(words_of("a @folder b,@folder", read), ElementsAre("1: a b"));
  EXPECT_THAT(words_of("@loop", read), ElementsAre("1: !could not open file \"/etc/loop\": maximum nesting depth exceeded"));
}

TEST(RuleLines, BoundsTheNumberOfWords) {
  const RuleFileReader read = [](const std::filesystem::path&) {
    std::string words;
    for (int i = 0; i < 60'000; ++i) words += "w ";
    return words;
  };
  EXPECT_THAT(words_of("@a", read), ElementsAre(::testing::EndsWith(",w")));
  EXPECT_THAT(words_of("@a @b", read), ElementsAre(::testing::EndsWith(" !more than 100000 words")));
}

std::string error_of(std::string_view text, bool tls = false) {
  return parse_host_rules(split_rule_lines(text, "/etc/hba", no_file), tls).at(0).error;
}

TEST(HostRules, RefusesUnsafeRulesThatPostgresqlTakes) {
  EXPECT_EQ(error_of("host all all 127.0.0.0/8 trust"), "");
  EXPECT_EQ(error_of("host all all ::1/128 trust"), "");
  EXPECT_EQ(error_of("local all all trust"), "");
  EXPECT_EQ(error_of("local all all password"), "");
  EXPECT_EQ(error_of("hostssl all all all password", true), "");
  for (const char* range : {"127.0.0.0/7", "0.0.0.0/0", "::1/127", "::/0", "all", "samehost", "samenet", "10.0.0.1/32", "127.0.0.1 0.255.255.255"}) {
    EXPECT_EQ(error_of(std::string("host all all ") + range + " trust"), "trust authentication is only supported for loopback addresses") << range;
  }
  EXPECT_EQ(error_of("host all all 127.0.0.1/32 password"), "password authentication is only supported on hostssl and local connections");
  EXPECT_EQ(error_of("host all all db.example md5"), "host name \"db.example\" is not supported by redquel, specify an IP address");
  EXPECT_EQ(error_of("host all all all ldap ldapserver=x"), "invalid authentication method \"ldap\": not supported by this build");
}

/// A file with these rules, read as at start.
class RuleFile {
 public:
  explicit RuleFile(std::string_view text) {
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~RuleFile() { std::filesystem::remove(path_); }
  RuleSources sources() const { return {.hba_file = path_, .ident_file = {}, .rules = {}, .tls_is_on = true}; }

 private:
  std::filesystem::path path_ = std::filesystem::path(testing::TempDir()) / ("hba" + std::to_string(::getpid()));
};

struct Attempt {
  std::string user = "alice", database = "postgres", address = "10.1.2.3";
  bool tls = false, local = false;
  std::vector<std::string> memberships = {"alice", "staff"};
};

/// The line that decides about an attempt; 0: none.
std::size_t line_for(const RuleSet& rules, const Attempt& attempt) {
  ConnectionSecurity connection;
  connection.is_unix_socket = attempt.local;
  if (!attempt.local) connection.client_address = asio::ip::make_address(attempt.address);
  if (attempt.tls) connection.tls.emplace();
  const HostRule* rule = rules.find({connection, attempt.user, attempt.database, attempt.memberships});
  return rule == nullptr ? 0 : rule->line;
}

TEST(HostRules, TheFirstLineThatFitsDecides) {
  const RuleFile file(
      "local all postgres peer\n"
      "hostssl sameuser all 10.0.0.0/8 scram-sha-256\n"
      "hostnossl all mallory all reject\n"
      "host samerole all 10.0.0.0/8 md5\n"
      "host db +staff 192.168.0.0 255.255.0.0 md5\n"
      "host \"all\" \"all\" all md5\n"
      "hostgssenc all all all md5\n"
      "host replication all all md5\n"
      "host all all ::1/128 md5\n");
  const RuleSetPtr loaded = RuleSet::load(file.sources());
  const RuleSet& rules = *loaded;
  EXPECT_EQ(line_for(rules, {.user = "postgres", .local = true}), 1);
  EXPECT_EQ(line_for(rules, {.local = true}), 0);
  EXPECT_EQ(line_for(rules, {.database = "alice", .tls = true}), 2);
  EXPECT_EQ(line_for(rules, {.database = "alice"}), 4);  // each role is a member of itself
  EXPECT_EQ(line_for(rules, {.user = "mallory", .memberships = {}}), 3);
  EXPECT_EQ(line_for(rules, {.user = "mallory", .tls = true, .memberships = {}}), 0);
  EXPECT_EQ(line_for(rules, {.database = "staff"}), 4);
  EXPECT_EQ(line_for(rules, {.database = "db", .address = "192.168.7.7"}), 5);
  EXPECT_EQ(line_for(rules, {.database = "db", .address = "192.168.7.7", .memberships = {}}), 0);
  EXPECT_EQ(line_for(rules, {.user = "all", .database = "all", .address = "1.2.3.4"}), 6);
  EXPECT_EQ(line_for(rules, {.database = "replication", .address = "1.2.3.4"}), 0);
  EXPECT_EQ(line_for(rules, {.address = "::1"}), 9);
}

TEST(HostRules, AFileWithAnErrorIsNotTaken) {
  const auto failure = [](std::string_view text) -> std::string {
    const RuleFile file(text);
    try {
      RuleSet::load(file.sources());
    } catch (const std::runtime_error& error) {
      return std::string(error.what()).substr(file.sources().hba_file.string().size());
    }
    return {};
  };
  EXPECT_EQ(failure("local all all peer\n\nhost all all\n"), ":3: end-of-line before IP address specification");
  EXPECT_EQ(failure("# nothing\n"), ": the file contains no rules");
  EXPECT_THROW(RuleSet::load({.hba_file = "/no/such/file", .ident_file = {}, .rules = {}}), std::runtime_error);
}

TEST(IdentMap, MapsNamesAndExpressions) {
  std::vector<IdentRule> rules;
  for (ParsedIdentRule& parsed : parse_ident_rules(split_rule_lines("users ann alice\nusers /^(.*)@example$ \\1\nusers /^x$ \\1\nother /. bob\n", "/etc/ident", no_file))) {
    EXPECT_EQ(parsed.error, "");
    rules.push_back(*std::move(parsed.rule));
  }
  std::string log;
  EXPECT_TRUE(is_mapped(rules, "", "ann", "ann", log));
  EXPECT_FALSE(is_mapped(rules, "", "ann", "alice", log));
  EXPECT_EQ(log, "provided user name (alice) and authenticated user name (ann) do not match");
  EXPECT_TRUE(is_mapped(rules, "users", "ann", "alice", log));
  EXPECT_FALSE(is_mapped(rules, "users", "ann", "ann", log));
  EXPECT_EQ(log, "no match in usermap \"users\" for user \"ann\" authenticated as \"ann\"");
  EXPECT_TRUE(is_mapped(rules, "users", "carol@example", "carol", log));
  EXPECT_FALSE(is_mapped(rules, "users", "carol@example", "dave", log));
  EXPECT_FALSE(is_mapped(rules, "users", "x", "x", log));
  EXPECT_TRUE(is_mapped(rules, "other", "x", "bob", log));
}

/// Lines of random pieces are cut and read without an end of the process, and no line has neither a rule nor an error.
TEST(HostRules, RandomLinesHaveARuleOrAnError) {
  constexpr const char* kPieces[] = {"host", "local", "hostssl", "all", " ", "\t", ",", "\"", "\\", "\n", "#", "@x", "+", "=", "/", "127.0.0.1/8",
                                     "::1", "255.0.0.0", "md5", "trust", "cert", "peer", "map=x", "clientcert=verify-ca", "\xc3\xa9", "\xff", "\r"};
  std::mt19937 random(18);
  std::size_t rules = 0, errors = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (int n = 0; n < 14; ++n) text += std::string(kPieces[random() % std::size(kPieces)]) + (random() % 2 == 0 ? " " : "");
    const std::vector<RuleLine> lines = split_rule_lines(text, "/etc/hba", no_file);
    for (const ParsedHostRule& parsed : parse_host_rules(lines, random() % 2 == 0)) {
      EXPECT_TRUE(parsed.rule || !parsed.error.empty()) << text;
      parsed.rule ? ++rules : ++errors;
    }
    for (const ParsedIdentRule& parsed : parse_ident_rules(lines)) EXPECT_NE(parsed.rule.has_value(), !parsed.error.empty()) << text;
  }
  EXPECT_GT(rules, 0);
  EXPECT_GT(errors, rules);
}

TEST(SocketOwner, ReadsLinesOfTheKernelsTable) {
  const std::string_view line =
      "   3: 0100007F:9C40 0100007F:1539 01 00000000:00000000 00:00000000 00000000  1000        0 48211 1 0000000000000000 20 4 30 10 -1";
  EXPECT_EQ(owner_in_line(line, "0100007F:9C40", "0100007F:1539"), 1000);
  EXPECT_EQ(owner_in_line(line, "0100007F:1539", "0100007F:9C40"), std::nullopt);
  std::string other(line);
  other.replace(other.find(" 01 "), 4, " 06 ");
  EXPECT_EQ(owner_in_line(other, "0100007F:9C40", "0100007F:1539"), std::nullopt);
  other = line;
  other.replace(other.find("48211"), 5, "0");  // its process has closed it
  EXPECT_EQ(owner_in_line(other, "0100007F:9C40", "0100007F:1539"), std::nullopt);
  for (std::size_t length = 0; length < line.size() - 40; ++length) owner_in_line(line.substr(0, length), "0100007F:9C40", "0100007F:1539");
}

std::string refusal(SessionPlaces& places, const SessionPlaces::Place& place, const SessionPlaces::Limits& limits) {
  try {
    places.take(place, limits);
  } catch (const sql::SqlError& error) {
    return error.sqlstate() + " " + error.message();
  }
  return {};
}

TEST(SessionPlaces, CountsByRoleAndDatabase) {
  SessionPlaces places;
  const SessionPlaces::Limits limits{.sessions = 6, .reserved = 1};
  const SessionPlaces::Place ann{.role = 1, .role_name = "ann", .database = "a", .role_limit = 2};
  const SessionPlaces::Place bob{.role = 2, .role_name = "bob", .database = "b", .database_limit = 1};
  const SessionPlaces::Place root{.role = 10, .role_name = "root", .database = "b", .is_superuser = true, .role_limit = 0, .database_limit = 0};
  EXPECT_EQ(refusal(places, ann, limits), "");
  EXPECT_EQ(refusal(places, ann, limits), "");
  EXPECT_EQ(refusal(places, ann, limits), "53300 too many connections for role \"ann\"");
  EXPECT_EQ(refusal(places, bob, limits), "");
  EXPECT_EQ(refusal(places, bob, limits), "53300 too many connections for database \"b\"");
  places.give_back(bob);
  EXPECT_EQ(refusal(places, bob, limits), "");
  EXPECT_EQ(refusal(places, root, limits), "");
  EXPECT_EQ(refusal(places, root, limits), "");
  const SessionPlaces::Place carl{.role = 3, .role_name = "carl", .database = "c"};
  EXPECT_EQ(refusal(places, carl, limits), "53300 remaining connection slots are reserved for non-replication superuser connections");
  EXPECT_EQ(refusal(places, root, limits), "");
  EXPECT_EQ(refusal(places, root, limits), "53300 sorry, too many clients already");
  EXPECT_EQ(places.count(), 6);
  places.give_back(ann);
  places.give_back(ann);
  EXPECT_EQ(refusal(places, ann, limits), "");
}

}  // namespace
}  // namespace redquel::server
