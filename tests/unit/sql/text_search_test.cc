#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "sql/text_search/dictionary.h"
#include "sql/text_search/token_parser.h"

namespace redquel::sql::text_search {
namespace {

/// Returns the tokens as "kind[text]".
std::string tokens(std::string_view text) {
  std::string shown;
  TokenParser parser(text);
  while (const auto token = parser.next()) {
    if (!shown.empty()) shown += ' ';
    shown.append(token_kind_row(token->kind).alias).append("[").append(token->text).append("]");
  }
  return shown;
}

std::size_t count(std::string_view text) {
  std::size_t number = 0;
  for (TokenParser parser(text); parser.next();) ++number;
  return number;
}

std::string repeated(std::string_view unit, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += unit;
  return text;
}

/// Returns the lexemes in braces, as ts_lexize() shows them.
std::string lexemes(std::string_view dictionary, std::string_view word) {
  const auto found = built_in_dictionary(dictionary)->lexemes(word);
  if (!found) return "unknown";
  std::string shown = "{";
  for (const std::string& lexeme : *found) shown += shown.size() > 1 ? "," + lexeme : lexeme;
  return shown + "}";
}

std::string_view name(const DictionaryRow* row) { return row == nullptr ? "none" : row->name; }

TEST(TokenParser, FindsWordsAndNumbers) {
  EXPECT_EQ(tokens(""), "");
  EXPECT_EQ(tokens("The quick Fox"), "asciiword[The] blank[ ] asciiword[quick] blank[ ] asciiword[Fox]");
  EXPECT_EQ(tokens("naïve Straße 日本語😀"), "word[naïve] blank[ ] word[Straße] blank[ ] word[日本語😀]");
  EXPECT_EQ(tokens("abc1 1abc é1"), "numword[abc1] blank[ ] numword[1abc] blank[ ] numword[é1]");
  EXPECT_EQ(tokens("12 -12 +3 1.5 -1.5 1e5 -1.5e-3 1.5E+3"),
            "uint[12] blank[ ] int[-12] blank[ ] int[+3] blank[ ] float[1.5] blank[ ] float[-1.5] blank[ ] sfloat[1e5] "
            "blank[ ] sfloat[-1.5e-3] blank[ ] sfloat[1.5E+3]");
  EXPECT_EQ(tokens("1.2.3 -1.2.3 1.2."),
            "version[1.2.3] blank[ ] blank[-] version[1.2.3] blank[ ] float[1.2] blank[.]");
  EXPECT_EQ(tokens("1e 1ea 1.e5 1e+"),
            "numword[1e] blank[ ] numword[1ea] blank[ ] uint[1] blank[.] numword[e5] blank[ ] numword[1e] blank[+]");
  EXPECT_EQ(tokens("a\tb\001c\nd"),
            "asciiword[a] blank[\t] asciiword[b] blank[\001] asciiword[c] blank[\n] asciiword[d]");
  EXPECT_EQ(tokens("it's O''Neil"),
            "asciiword[it] blank['] asciiword[s] blank[ ] asciiword[O] blank[''] asciiword[Neil]");
  EXPECT_EQ(tokens("a_b _a"), "asciiword[a] blank[_] asciiword[b] blank[ _] asciiword[a]");
  EXPECT_EQ(tokens("--1 - 1 a -1"),
            "blank[-] int[-1] blank[ ] blank[- ] uint[1] blank[ ] asciiword[a] blank[ ] int[-1]");
  EXPECT_EQ(tokens("100% $5 1,000"), "uint[100] blank[% $] uint[5] blank[ ] uint[1] blank[,] uint[000]");
}

TEST(TokenParser, FindsHyphenatedWords) {
  EXPECT_EQ(tokens("up-to-date"),
            "asciihword[up-to-date] hword_asciipart[up] blank[-] hword_asciipart[to] blank[-] hword_asciipart[date]");
  EXPECT_EQ(tokens("a-é é-a"),
            "hword[a-é] hword_asciipart[a] blank[-] hword_part[é] blank[ ] hword[é-a] hword_part[é] blank[-] "
            "hword_asciipart[a]");
  EXPECT_EQ(tokens("a-b1 a1-b 1a-b"),
            "numhword[a-b1] hword_asciipart[a] blank[-] hword_numpart[b1] blank[ ] numhword[a1-b] hword_numpart[a1] "
            "blank[-] hword_asciipart[b] blank[ ] numhword[1a-b] hword_numpart[1a] blank[-] hword_asciipart[b]");
  EXPECT_EQ(tokens("a-1 a-1b a-b-1"),
            "asciiword[a] int[-1] blank[ ] numhword[a-1b] hword_asciipart[a] blank[-] hword_numpart[1b] blank[ ] "
            "asciihword[a-b] hword_asciipart[a] blank[-] hword_asciipart[b] blank[-] uint[1]");
  EXPECT_EQ(tokens("a-b-1.5"), "asciihword[a-b] hword_asciipart[a] blank[-] hword_asciipart[b] blank[-] float[1.5]");
  EXPECT_EQ(
      tokens("a--b -a a-"),
      "asciiword[a] blank[-] blank[-] asciiword[b] blank[ ] blank[-] asciiword[a] blank[ ] asciiword[a] blank[-]");
  EXPECT_EQ(tokens("foo-bar-baz123-qux"),
            "numhword[foo-bar-baz123-qux] hword_asciipart[foo] blank[-] hword_asciipart[bar] blank[-] "
            "hword_numpart[baz123] blank[-] hword_asciipart[qux]");
  EXPECT_EQ(tokens("x-1-2"), "asciiword[x] int[-1] int[-2]");
  EXPECT_EQ(tokens("b-é+1"), "hword[b-é] hword_asciipart[b] blank[-] hword_part[é] int[+1]");
}

TEST(TokenParser, FindsHostsAndUrls) {
  EXPECT_EQ(tokens("www.example.com"), "host[www.example.com]");
  EXPECT_EQ(tokens("example.com/index.html?a=b&c=d#e"),
            "url[example.com/index.html?a=b&c=d#e] host[example.com] url_path[/index.html?a=b&c=d#e]");
  EXPECT_EQ(tokens("http://example.com:8080/x"),
            "protocol[http://] url[example.com:8080/x] host[example.com:8080] url_path[/x]");
  EXPECT_EQ(tokens("ftp://a.b"), "protocol[ftp://] file[a.b]");
  EXPECT_EQ(tokens("example.com:80"), "host[example.com:80]");
  EXPECT_EQ(tokens("example.com:x example.com/"),
            "host[example.com] blank[:] asciiword[x] blank[ ] host[example.com] blank[/]");
  EXPECT_EQ(tokens("a.bb.c-1"), "host[a.bb] blank[.] asciiword[c] int[-1]");
  EXPECT_EQ(tokens("aa.bb1 aa.bb-1"), "file[aa.bb1] blank[ ] host[aa.bb] int[-1]");
  EXPECT_EQ(tokens("1.2.3a.com"), "host[1.2.3a.com]");
  EXPECT_EQ(tokens("1e5.com"), "sfloat[1e5] blank[.] asciiword[com]");
  EXPECT_EQ(tokens("sub_domain.example.co.uk/~user/"),
            "url[sub_domain.example.co.uk/~user/] host[sub_domain.example.co.uk] url_path[/~user/]");
  EXPECT_EQ(tokens("a:b a:/ mailto:x"),
            "asciiword[a] blank[:] asciiword[b] blank[ ] asciiword[a] blank[:] blank[/ ] asciiword[mailto] blank[:] "
            "asciiword[x]");
}

TEST(TokenParser, FindsEmailAddresses) {
  EXPECT_EQ(tokens("joe@example.com"), "email[joe@example.com]");
  EXPECT_EQ(tokens("joe.smith_2-x@mail.example.com/x"), "email[joe.smith_2-x@mail.example.com] file[/x]");
  EXPECT_EQ(tokens("joe@example.com:25"), "email[joe@example.com:25]");
  EXPECT_EQ(
      tokens("joe@b.c é@example.com a1é@example.com"),
      "asciiword[joe] blank[@] file[b.c] blank[ ] word[é] blank[@] host[example.com] blank[ ] email[a1é@example.com]");
  EXPECT_EQ(tokens("a@1e5.com a@@b.cc"),
            "asciiword[a] blank[@] sfloat[1e5] blank[.] asciiword[com] blank[ ] asciiword[a] blank[@@] host[b.cc]");
  EXPECT_EQ(tokens("a@bb.cc@dd.ee"), "email[a@bb.cc] blank[@] host[dd.ee]");
}

TEST(TokenParser, FindsFiles) {
  EXPECT_EQ(tokens("/usr/local/bin ~/x ~x"), "file[/usr/local/bin] blank[ ~] file[/x] blank[ ~] asciiword[x]");
  EXPECT_EQ(tokens("a.txt1 a/b/c.tar.gz"), "file[a.txt1] blank[ ] file[a/b/c.tar.gz]");
  EXPECT_EQ(tokens("./x ../x ../../x .."), "file[./x] blank[ ..] file[/x] blank[ ..] file[/../x] blank[ ..]");
  EXPECT_EQ(tokens("/. /./ /.. /..x a/..b a/./././"),
            "blank[/. ] blank[/.] blank[/ ] file[/..] blank[ ] blank[/..] asciiword[x] blank[ ] asciiword[a] "
            "blank[/..] asciiword[b] blank[ ] asciiword[a] blank[/.] blank[/.] blank[/.] blank[/]");
  EXPECT_EQ(tokens("1/2 a1.b/c"), "file[1/2] blank[ ] file[a1.b/c]");
  EXPECT_EQ(tokens("a..b a.b. a-b/c"),
            "asciiword[a] blank[..] asciiword[b] blank[ ] file[a.b] blank[. ] asciihword[a-b] hword_asciipart[a] "
            "blank[-] hword_asciipart[b] file[/c]");
  EXPECT_EQ(tokens("/~x/y //x /a//b"), "file[/~x/y] blank[ ] blank[/] file[/x] blank[ ] file[/a] blank[/] file[/b]");
}

TEST(TokenParser, FindsTagsAndEntities) {
  EXPECT_EQ(tokens("<a href=\"x\">y</a>"), "tag[<a href=\"x\">] asciiword[y] tag[</a>]");
  EXPECT_EQ(tokens("<br/><br /><br / >"), "tag[<br/>] tag[<br />] tag[<br / >]");
  EXPECT_EQ(tokens("<!-- a -- > b --> c <!-- d"),
            "tag[<!-- a -- > b -->] blank[ ] asciiword[c] blank[ ] blank[<!] blank[-] blank[- ] asciiword[d]");
  EXPECT_EQ(tokens("<!DOCTYPE html><?xml version='1.0'?>"), "tag[<!DOCTYPE html>] tag[<?xml version='1.0'?>]");
  EXPECT_EQ(tokens("a < b > c <1> <é>"),
            "asciiword[a] blank[ ] blank[< ] asciiword[b] blank[ > ] asciiword[c] blank[ ] blank[<] uint[1] blank[> ] "
            "blank[<] word[é] blank[>]");
  EXPECT_EQ(tokens("<a \"\\\">\">x"), "tag[<a \"\\\">\">] asciiword[x]");
  EXPECT_EQ(tokens("<a 'b"), "blank[<] asciiword[a] blank[ '] asciiword[b]");
  EXPECT_EQ(tokens("<script>if (a<b) x</script>y"),
            "tag[<script>] blank[if (a] blank[<b) x] tag[</script>] asciiword[y]");
  EXPECT_EQ(tokens("<SCRIPT @ x</style>y"), "blank[<SCRIPT @ x] tag[</style>] asciiword[y]");
  EXPECT_EQ(tokens("&amp; &#123; &#x1F; &#xg; &é; &a"),
            "entity[&amp;] blank[ ] entity[&#123;] blank[ ] entity[&#x1F;] blank[ ] blank[&#] asciiword[xg] blank[; ] "
            "blank[&] word[é] blank[; ] blank[&] asciiword[a]");
  EXPECT_EQ(tokens("<a '\\x"), "");
  EXPECT_EQ(tokens("x <b '\\a\\'>y"), "asciiword[x] blank[ ] tag[<b '\\a\\'>] asciiword[y]");
  EXPECT_EQ(tokens("<a><b></b"), "tag[<a>] tag[<b>] blank[<] file[/b]");
}

TEST(TokenParser, TakesLinearTimeForTokensWithoutEnd) {
  // A quadratic scan takes minutes.
  constexpr std::size_t kTimes = 200'000;
  EXPECT_EQ(count(repeated("a_", kTimes)), 2 * kTimes);
  EXPECT_EQ(count(repeated("<a '", kTimes)), 3 * kTimes);
  EXPECT_EQ(count(repeated("<a '\"", kTimes)), 3 * kTimes);
  EXPECT_EQ(count(repeated("<!--", kTimes)), 3 * kTimes);
  EXPECT_EQ(count(repeated("./", kTimes)), kTimes + 1);
  EXPECT_EQ(count(repeated("a_", kTimes) + "@" + std::string(kTimes, '1')), 2 * kTimes + 1);
}

TEST(Dictionary, LowersWordsAndDropsStopWords) {
  EXPECT_EQ(lexemes("simple", "ABCÄ"), "{abcÄ}");
  EXPECT_EQ(lexemes("simple", ""), "{}");
  EXPECT_EQ(lexemes("simple", "The"), "{the}");
  EXPECT_EQ(lexemes("english_stem", "The"), "{}");
  EXPECT_EQ(lexemes("english_stem", "Stars"), "{star}");
  EXPECT_EQ(lexemes("english_stem", "y's"), "{y}");
  EXPECT_EQ(lexemes("german_stem", "Häuser"), "{haus}");
  EXPECT_EQ(lexemes("german_stem", "HÄUSER"), "{hÄus}");
  EXPECT_EQ(lexemes("russian_stem", "не"), "{}");
  EXPECT_EQ(lexemes("russian_stem", "НЕ"), "{НЕ}");
  EXPECT_EQ(lexemes("russian_stem", "книги"), "{книг}");
  EXPECT_EQ(lexemes("french_stem", "été"), "{}");
  EXPECT_EQ(lexemes("finnish_stem", "talossa"), "{talo}");
  EXPECT_EQ(lexemes("nepali_stem", "अक्सर"), "{}");
  EXPECT_EQ(lexemes("tamil_stem", "மரங்கள்"), "{மரங்}");
  EXPECT_EQ(lexemes("yiddish_stem", "ביכער"), "{ביכ}");
  EXPECT_EQ(lexemes("english_stem", std::string(997, 'A') + "ing"), "{" + std::string(997, 'a') + "}");
  EXPECT_EQ(lexemes("english_stem", std::string(998, 'A') + "ing"), "{" + std::string(998, 'a') + "ing}");
  EXPECT_EQ(built_in_dictionary("klingon_stem"), nullptr);
}

TEST(Dictionary, WorksInSeveralThreads) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int turn = 0; turn < 1000; ++turn) wrong += lexemes("english_stem", "running") != "{run}";
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Configuration, ChoosesADictionaryByTheKindOfToken) {
  std::set<std::string_view> names;
  for (const ConfigurationRow& row : built_in_configurations()) {
    names.insert(row.name);
    EXPECT_EQ(name(dictionary_row_for(row, TokenKind::kEmail)), "simple");
    EXPECT_EQ(name(dictionary_row_for(row, TokenKind::kHwordPart)), row.dictionary);
    EXPECT_EQ(dictionary_for(row, TokenKind::kTag), nullptr);
    EXPECT_NE(dictionary_for(row, TokenKind::kAsciiHword), nullptr) << row.name;
    EXPECT_NE(dictionary_for(row, TokenKind::kWord), nullptr) << row.name;
    if (row.name != "russian") continue;
    EXPECT_EQ(name(dictionary_row_for(row, TokenKind::kWord)), "russian_stem");
    EXPECT_EQ(name(dictionary_row_for(row, TokenKind::kAsciiWord)), "english_stem");
    EXPECT_EQ(name(dictionary_row_for(row, TokenKind::kNumHword)), "simple");
  }
  EXPECT_EQ(names.size(), 29u);
  EXPECT_EQ(built_in_dictionaries().size(), 29u);
}

}  // namespace
}  // namespace redquel::sql::text_search
