#include "sql/types/text_encoding.h"

#include <iconv.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>

#include <fmt/format.h>

#include "sql/ascii.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::sql {

namespace {

using Width = EncodingInfo::Width;

constexpr EncodingInfo kEncodings[] = {
    {"UTF8", ""},
    {"SQL_ASCII", ""},
    {"LATIN1", "ISO-8859-1"},
    {"LATIN2", "ISO-8859-2"},
    {"LATIN3", "ISO-8859-3"},
    {"LATIN4", "ISO-8859-4"},
    {"LATIN5", "ISO-8859-9"},
    {"LATIN6", "ISO-8859-10"},
    {"LATIN7", "ISO-8859-13"},
    {"LATIN8", "ISO-8859-14"},
    {"LATIN9", "ISO-8859-15"},
    {"LATIN10", "ISO-8859-16"},
    {"ISO_8859_5", "ISO-8859-5"},
    {"ISO_8859_6", "ISO-8859-6"},
    {"ISO_8859_7", "ISO-8859-7"},
    {"ISO_8859_8", "ISO-8859-8"},
    {"KOI8R", "KOI8-R"},
    {"KOI8U", "KOI8-U"},
    {"WIN866", "CP866"},
    {"WIN874", "CP874"},
    {"WIN1250", "CP1250"},
    {"WIN1251", "CP1251"},
    {"WIN1252", "CP1252"},
    {"WIN1253", "CP1253"},
    {"WIN1254", "CP1254"},
    {"WIN1255", "CP1255"},
    {"WIN1256", "CP1256"},
    {"WIN1257", "CP1257"},
    {"WIN1258", "CP1258"},
    {"EUC_JP", "EUC-JP", Width::kEuc},
    {"EUC_CN", "EUC-CN", Width::kEuc},
    {"EUC_KR", "EUC-KR", Width::kEuc},
    {"EUC_TW", "EUC-TW", Width::kEuc, false},
    {"EUC_JIS_2004", "EUC-JISX0213", Width::kEuc, false},
    {"SJIS", "CP932", Width::kDouble},
    {"SHIFT_JIS_2004", "SHIFT_JISX0213", Width::kDouble, false},
    {"BIG5", "BIG5", Width::kDouble},
    {"GBK", "GBK", Width::kDouble},
    {"UHC", "UHC", Width::kDouble},
    {"JOHAB", "JOHAB", Width::kDouble},
    {"GB18030", "GB18030", Width::kGb18030},
};

/// Other spellings, without punctuation and in lower case.
struct Alias {
  std::string_view spelling, name;
};
constexpr Alias kAliases[] = {
    {"unicode", "UTF8"},        {"iso88591", "LATIN1"},     {"iso88592", "LATIN2"},     {"iso88593", "LATIN3"},
    {"iso88594", "LATIN4"},     {"iso88599", "LATIN5"},     {"iso885910", "LATIN6"},    {"iso885913", "LATIN7"},
    {"iso885914", "LATIN8"},    {"iso885915", "LATIN9"},    {"iso885916", "LATIN10"},   {"koi8", "KOI8R"},
    {"alt", "WIN866"},          {"win", "WIN1251"},         {"windows866", "WIN866"},   {"windows874", "WIN874"},
    {"windows1250", "WIN1250"}, {"windows1251", "WIN1251"}, {"windows1252", "WIN1252"}, {"windows1253", "WIN1253"},
    {"windows1254", "WIN1254"}, {"windows1255", "WIN1255"}, {"windows1256", "WIN1256"}, {"windows1257", "WIN1257"},
    {"windows1258", "WIN1258"}, {"abc", "WIN1258"},         {"tcvn", "WIN1258"},        {"tcvn5712", "WIN1258"},
    {"vscii", "WIN1258"},       {"mskanji", "SJIS"},        {"shiftjis", "SJIS"},       {"win932", "SJIS"},
    {"windows932", "SJIS"},     {"win949", "UHC"},          {"windows949", "UHC"},      {"win936", "GBK"},
    {"windows936", "GBK"},      {"win950", "BIG5"},         {"windows950", "BIG5"},
};

/// Letters and digits in lower case: how PostgreSQL compares encoding names.
std::string clean_name(std::string_view name) {
  std::string clean;
  for (const char c : name) {
    if (is_alphanumeric(c)) clean.push_back(to_lower(c));
  }
  return clean;
}

/// Bytes of the character that begins here, by its first byte, as PostgreSQL counts them for its messages.
std::size_t character_width(Width width, std::string_view bytes) {
  const auto first = static_cast<unsigned char>(bytes[0]);
  std::size_t length = 1;
  switch (width) {
    case Width::kSingle:
      break;
    case Width::kDouble:
      length = first >= 0x80 ? 2 : 1;
      break;
    case Width::kEuc:
      length = first == 0x8f ? 3 : first >= 0x80 ? 2 : 1;
      break;
    case Width::kGb18030:
      if (first >= 0x80) {
        const bool four = bytes.size() > 1 && bytes[1] >= '0' && bytes[1] <= '9';
        length = four ? 4 : 2;
      }
      break;
  }
  return std::min(length, bytes.size());
}

std::size_t utf8_width(std::string_view bytes) {
  const auto first = static_cast<unsigned char>(bytes[0]);
  const std::size_t length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  return std::min(length, bytes.size());
}

std::string hexadecimal(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    text += fmt::format("{}0x{:02x}", text.empty() ? "" : " ", static_cast<unsigned>(static_cast<unsigned char>(c)));
  }
  return text;
}

SqlError invalid_bytes(std::string_view encoding, std::string_view character) {
  return SqlError(sqlstate::kCharacterNotInRepertoire,
                  fmt::format("invalid byte sequence for encoding \"{}\": {}", encoding, hexadecimal(character)));
}

SqlError no_equivalent(std::string_view character, std::string_view from, std::string_view to) {
  return SqlError(
      sqlstate::kUntranslatableCharacter,
      fmt::format("character with byte sequence {} in encoding \"{}\" has no equivalent in encoding \"{}\"", hexadecimal(character), from, to));
}

/// Runs iconv to the end of `bytes` or to its first refusal; gives what is left then.
std::string_view convert(void* converter, std::string_view bytes, std::string& out) {
  auto* const handle = static_cast<iconv_t>(converter);
  iconv(handle, nullptr, nullptr, nullptr, nullptr);
  char* in = const_cast<char*>(bytes.data());  // iconv's prototype; it does not write there
  std::size_t in_left = bytes.size();
  while (in_left > 0) {
    char block[4096];
    char* to = block;
    std::size_t room = sizeof block;
    const std::size_t result = iconv(handle, &in, &in_left, &to, &room);
    const int reason = errno;
    out.append(block, sizeof block - room);
    if (result == static_cast<std::size_t>(-1) && reason != E2BIG) break;
  }
  // Encodings with marks that follow their letter (WIN1258) hold the last letter back.
  char last[16];
  char* to = last;
  std::size_t room = sizeof last;
  iconv(handle, nullptr, nullptr, &to, &room);
  out.append(last, sizeof last - room);
  return bytes.substr(bytes.size() - in_left);
}

}  // namespace

const EncodingInfo* find_encoding(std::string_view name) {
  const std::string clean = clean_name(name);
  std::string_view wanted = clean;
  std::string canonical;
  for (const Alias& alias : kAliases) {
    if (alias.spelling == clean) {
      canonical = clean_name(alias.name);
      wanted = canonical;
    }
  }
  const auto* found =
      std::ranges::find_if(kEncodings, [&](const EncodingInfo& info) { return clean_name(info.name) == wanted; });
  return found == std::end(kEncodings) ? nullptr : found;
}

const EncodingInfo* find_client_encoding(std::string_view name) {
  const EncodingInfo* found = find_encoding(name);
  return found != nullptr && found->for_clients ? found : nullptr;
}

std::unique_ptr<EncodingConverter> EncodingConverter::make(const EncodingInfo& encoding) {
  if (encoding.iconv_name.empty()) return nullptr;
  const std::string name(encoding.iconv_name);
  auto* const to_utf8 = iconv_open("UTF-8", name.c_str());
  auto* const from_utf8 = iconv_open(name.c_str(), "UTF-8");
  const auto missing = reinterpret_cast<iconv_t>(-1);
  if (to_utf8 == missing || from_utf8 == missing) {
    if (to_utf8 != missing) iconv_close(to_utf8);
    if (from_utf8 != missing) iconv_close(from_utf8);
    throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("invalid value for parameter \"client_encoding\": \"{}\"", encoding.name))
        .detail("This system's iconv does not know the encoding.");
  }
  return std::unique_ptr<EncodingConverter>(new EncodingConverter(encoding, to_utf8, from_utf8));
}

EncodingConverter::EncodingConverter(const EncodingInfo& encoding, void* to_utf8, void* from_utf8)
    : encoding_(encoding), to_utf8_(to_utf8), from_utf8_(from_utf8) {}

EncodingConverter::~EncodingConverter() {
  iconv_close(static_cast<iconv_t>(to_utf8_));
  iconv_close(static_cast<iconv_t>(from_utf8_));
}

std::string EncodingConverter::from_client(std::string_view bytes) {
  if (const std::size_t zero = bytes.find('\0'); zero != std::string_view::npos) {
    throw invalid_bytes(encoding_.name, bytes.substr(zero, 1));
  }
  std::string utf8;
  utf8.reserve(bytes.size() + bytes.size() / 2);
  const std::string_view rest = convert(to_utf8_, bytes, utf8);
  if (rest.empty()) return utf8;
  const std::string_view character = rest.substr(0, character_width(encoding_.width, rest));
  if (encoding_.width == Width::kSingle) throw no_equivalent(character, encoding_.name, "UTF8");
  throw invalid_bytes(encoding_.name, character);
}

void EncodingConverter::append_for_client(std::string_view utf8, std::string& out, bool lossy) {
  std::string_view rest = convert(from_utf8_, utf8, out);
  while (!rest.empty()) {
    const std::string_view character = rest.substr(0, utf8_width(rest));
    if (!lossy) throw no_equivalent(character, "UTF8", encoding_.name);
    out.push_back('?');
    rest = convert(from_utf8_, rest.substr(character.size()), out);
  }
}

}  // namespace redquel::sql
