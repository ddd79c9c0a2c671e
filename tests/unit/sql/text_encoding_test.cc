#include "sql/types/text_encoding.h"

#include <gtest/gtest.h>

#include "sql/error.h"

namespace redquel::sql {
namespace {

std::string there_and_back(std::string_view encoding, std::string_view utf8) {
  const auto converter = EncodingConverter::make(*find_encoding(encoding));
  std::string bytes;
  converter->append_for_client(utf8, bytes);
  EXPECT_NE(bytes, utf8);
  return converter->from_client(bytes);
}

std::string error_of(std::string_view encoding, std::string_view bytes, bool to_client) {
  const auto converter = EncodingConverter::make(*find_encoding(encoding));
  try {
    std::string out;
    to_client ? converter->append_for_client(bytes, out) : void(converter->from_client(bytes));
  } catch (const SqlError& error) {
    return error.sqlstate() + " " + error.message();
  }
  return "none";
}

TEST(TextEncoding, NamesInAnySpelling) {
  EXPECT_EQ(find_encoding("utf-8")->name, "UTF8");
  EXPECT_EQ(find_encoding("Unicode")->name, "UTF8");
  EXPECT_EQ(find_encoding("ISO-8859-1")->name, "LATIN1");
  EXPECT_EQ(find_encoding("windows1252")->name, "WIN1252");
  EXPECT_EQ(find_encoding("Shift_JIS")->name, "SJIS");
  EXPECT_EQ(find_encoding("mule_internal"), nullptr);
  EXPECT_EQ(find_encoding("nix"), nullptr);
  EXPECT_EQ(find_encoding("euc_tw")->name, "EUC_TW");
  EXPECT_EQ(find_client_encoding("euc_tw"), nullptr);
  EXPECT_EQ(find_client_encoding("euc_jp")->name, "EUC_JP");
  EXPECT_EQ(EncodingConverter::make(*find_encoding("sql_ascii")), nullptr);
}

TEST(TextEncoding, RoundTrips) {
  EXPECT_EQ(there_and_back("GBK", "中文 text"), "中文 text");
  EXPECT_EQ(there_and_back("GB18030", "中文😀"), "中文😀");
  EXPECT_EQ(there_and_back("SJIS", "日本語カナ"), "日本語カナ");
  EXPECT_EQ(there_and_back("EUC_JP", "日本語"), "日本語");
  EXPECT_EQ(there_and_back("WIN1251", "Привет"), "Привет");
  const std::string longer(10000, 'a');
  EXPECT_EQ(there_and_back("GBK", longer + "中" + longer), longer + "中" + longer);
}

TEST(TextEncoding, RefusesCharactersThatCannotBeConverted) {
  EXPECT_EQ(error_of("LATIN1", "中", true),
            "22P05 character with byte sequence 0xe4 0xb8 0xad in encoding \"UTF8\" has no equivalent in encoding "
            "\"LATIN1\"");
  EXPECT_EQ(error_of("WIN1252", "a\x81", false),
            "22P05 character with byte sequence 0x81 in encoding \"WIN1252\" has no equivalent in encoding \"UTF8\"");
  EXPECT_EQ(error_of("GBK", "a\xff", false), "22021 invalid byte sequence for encoding \"GBK\": 0xff");
  EXPECT_EQ(error_of("GBK", std::string_view("a\0b", 3), false),
            "22021 invalid byte sequence for encoding \"GBK\": 0x00");
}

}  // namespace
}  // namespace redquel::sql
