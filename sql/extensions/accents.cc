#include "sql/extensions/accents.h"

#include <utf8proc.h>

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "sql/functions/characters.h"

namespace redquel::sql {
namespace {

/// Characters that Unicode does not decompose, or not into the letters that stand for them.
struct Replacement {
  std::string_view letters, characters;
};
constexpr Replacement kReplacements[] = {
    {"A", "Ⱥᴀ"}, {"a", "ᶏẚⱥ"}, {"B", "ƁƂɃʙᴃ"}, {"b", "ƀƃɓᵬᶀ"}, {"C", "ƇȻᴄꞒ"}, {"c", "ƈȼɕꞓ"}, {"D", "ÐĐƉƊƋᴅᴆꝹ"},
    {"d", "ðđƌȡɖɗᵭᶁᶑꝱꝺ"}, {"E", "ƐɆᴇ"}, {"e", "ɇɛᶒᶓⱸ"}, {"F", "ƑꜰꝻ"}, {"f", "ƒᵮᶂꝼ"}, {"G", "ƓǤɢʛꞠ"}, {"g", "ǥɠɡᶃꞡ"},
    {"H", "ĦʜⱧꞪ"}, {"h", "ħɦɧⱨ"}, {"I", "ƖƗɪᵻ"}, {"i", "ıɨᶖ"}, {"J", "Ɉᴊ"}, {"j", "ȷɉɟʝ"}, {"K", "ƘᴋⱩꝀꝂꝄꞢ"},
    {"k", "ƙᶄⱪꝁꝃꝅꞣ"}, {"L", "ĿŁȽʟᴌⱠⱢꝆꝈ"}, {"l", "ŀłƚȴɫɬɭᶅⱡꝇꝉꝲ"}, {"M", "ᴍⱮ"}, {"m", "ɱᵯᶆꝳ"}, {"N", "ŊƝɴꞐꞤ"},
    {"n", "ŋƞȵɲɳᵰᶇꝴꞑꞥ"}, {"O", "ØᴏꝊꝌ"}, {"o", "øⱺꝋꝍ"}, {"P", "Ƥᴘ℘ⱣꝐꝒꝔ"}, {"p", "ƥᵱᵽᶈꝑꝓꝕ"}, {"Q", "ꝖꝘ"}, {"q", "ĸʠꝗꝙ"},
    {"R", "ɌʀⱤꝶꞦ"}, {"r", "ɍɼɽɾᵲᵳᶉꝵꞧ"}, {"S", "ⱾꜱꞨ"}, {"s", "ȿʂᵴᶊẜẝꞩ"}, {"T", "ŦƬƮȾᴛꞆ"}, {"t", "ŧƫƭȶʈᵵⱦꝷꞇ"},
    {"U", "Ʉᴜᵾ"}, {"u", "ʉᶙ"}, {"V", "ƲᴠỼꝞ"}, {"v", "ʋᶌỽⱱⱴꝟ"}, {"W", "ᴡⱲ"}, {"w", "ⱳ"}, {"x", "ᶍℌ"}, {"Y", "ƳɎʏỾ"},
    {"y", "ƴɏỿ"}, {"Z", "ƵȤᴢⱫⱿ"}, {"z", "ƶȥɀʐʑᵶᶎⱬ"}, {"Е", "Ё"}, {"е", "ё"}, {"AA", "Ꜳ"}, {"aa", "ꜳ"}, {"AE", "Æᴁ"},
    {"ae", "æ"}, {"AO", "Ꜵ"}, {"ao", "ꜵ"}, {"AU", "Ꜷ"}, {"au", "ꜷ"}, {"AV", "ꜸꜺ"}, {"av", "ꜹꜻ"}, {"AY", "Ꜽ"},
    {"ay", "ꜽ"}, {"CE", "₠"}, {"Cr", "₢"}, {"db", "ȸ"}, {"DZ", "Ǆ"}, {"Dz", "ǅ"}, {"dz", "ǆʣʥ"}, {"hv", "ƕ"},
    {"LL", "Ỻ"}, {"ll", "ỻ"}, {"ls", "ʪ"}, {"lz", "ʫ"}, {"OE", "Œɶ"}, {"oe", "œ"}, {"OI", "Ƣ"}, {"oi", "ƣ"},
    {"OO", "Ꝏ"}, {"oo", "ꝏ"}, {"pH", "㏗"}, {"qp", "ȹ"}, {"Rx", "℞"}, {"SS", "ẞ"}, {"ss", "ß"}, {"TH", "ÞꝤꝦ"},
    {"th", "þᵺꝥꝧ"}, {"TL", "₺"}, {"ts", "ʦ"}, {"ue", "ᵫ"}, {"VY", "Ꝡ"}, {"vy", "ꝡ"}, {"Pts", "₧"}, {"!", "¡"},
    {"\"", "ʺ“”‟″〝〞"}, {"'", "ʹʻʼʽˈ‘’‛′"}, {"*", "×⁎"}, {"+", "˖"}, {",", "‚、︑﹑､"}, {"-", "\u00AD˗‐\u2011‒–—―−︱︲﹘"},
    {".", "。︒｡"}, {"/", "÷⁄∕"}, {"0", "〇"}, {":", "ː"}, {"<", "˂‹〈︿"}, {">", "˃›〉﹀"}, {"?", "¿"}, {"[", "⁅〔〘〚︹﹝"},
    {"\\", "∖"}, {"]", "⁆〕〙〛︺﹞"}, {"^", "˄ˆ"}, {"`", "ˋ"}, {"|", "∣"}, {"~", "˜"}, {"'n", "ŉ"}, {"((", "⦅｟"},
    {"))", "⦆｠"}, {",,", "„"}, {"->", "￫"}, {"<-", "￩"}, {"<<", "«≪《︽"}, {">>", "»≫》︾"}, {"L.", "₤"}, {"||", "‖∥"},
    {"°C", "℃"}, {"°F", "℉"}, {"(C)", "©"}, {"(P)", "℗"}, {"(R)", "®"}, {"+/-", "±"}, {"A/m", "㏟"}, {"Fr.", "₣"},
    {"m/s", "㎧"}, {"V/m", "㏞"}, {"C/kg", "㏆"}, {"rad/s", "㎮"}, {"Rs", "₹"},
};

bool is_mark(std::int32_t code) {
  return (code >= 0x300 && code <= 0x362) || (code >= 0x20DD && code <= 0x20E0) || (code >= 0x20E2 && code <= 0x20E4);
}

bool is_plain_letter(std::int32_t code) {
  const bool is_greek = (code >= 0x3B1 && code <= 0x3C9) || (code >= 0x391 && code <= 0x3A9);
  return (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z') || is_greek;
}

/// Returns true if Unicode has another character for the same one, as the sign of the unit for the letter: U+212B for U+00C5.
bool is_second_form(std::int32_t code, std::vector<std::int32_t> codes) {
  const utf8proc_ssize_t count = utf8proc_normalize_utf32(codes.data(), static_cast<utf8proc_ssize_t>(codes.size()),
                                                          static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  return count != 1 || codes[0] != code;
}

/// The characters that Unicode makes of one. `form`: canonical or also compatible.
std::vector<std::int32_t> decomposed(std::int32_t code, int form) {
  constexpr std::size_t kLongest = 32;
  std::vector<std::int32_t> codes(kLongest);
  const utf8proc_ssize_t count = utf8proc_decompose_char(code, codes.data(), static_cast<utf8proc_ssize_t>(codes.size()),
                                                         static_cast<utf8proc_option_t>(form), nullptr);
  codes.resize(count < 0 || count > static_cast<utf8proc_ssize_t>(kLongest) ? 0 : static_cast<std::size_t>(count));
  return codes;
}

/// Returns the letter under the marks of an accented one.
std::optional<std::string> letter_without_marks(std::int32_t code) {
  const std::vector<std::int32_t> codes = decomposed(code, UTF8PROC_DECOMPOSE);
  const bool is_letter = codes.size() > 1 && is_plain_letter(codes[0]) && std::all_of(codes.begin() + 1, codes.end(), is_mark);
  if (!is_letter || is_second_form(code, codes)) return std::nullopt;
  std::string text;
  append_code_point(static_cast<std::uint32_t>(codes[0]), text);
  return text;
}

/// Returns the ASCII of ligatures, wide letters, squared units, fractions, letter-like symbols.
std::optional<std::string> compatible_text(std::int32_t code) {
  constexpr std::int32_t kLetterLikeBegin = 0x2100, kLetterLikeEnd = 0x214F, kFractionSlash = 0x2044, kRupeeSign = 0x20A8;
  const auto kind = utf8proc_get_property(code)->decomp_type;
  const bool is_fraction = kind == UTF8PROC_DECOMP_TYPE_FRACTION;
  const bool is_letter_like = kind == UTF8PROC_DECOMP_TYPE_FONT && code >= kLetterLikeBegin && code <= kLetterLikeEnd;
  const bool is_taken = is_fraction || is_letter_like || kind == UTF8PROC_DECOMP_TYPE_COMPAT || kind == UTF8PROC_DECOMP_TYPE_SMALL ||
                        kind == UTF8PROC_DECOMP_TYPE_WIDE || kind == UTF8PROC_DECOMP_TYPE_SQUARE || kind == UTF8PROC_DECOMP_TYPE_VERTICAL;
  if (!is_taken || code == kRupeeSign) return std::nullopt;  // which PostgreSQL leaves alone
  std::string text;
  for (const std::int32_t part : decomposed(code, UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT)) {
    if (part == kFractionSlash && is_fraction) text += '/';
    else if (part > ' ' && part < 0x7F) text += static_cast<char>(part);
    else if (part == ' ' && !text.empty()) text += ' ';
    else return std::nullopt;
  }
  return text.empty() ? std::nullopt : std::optional(std::move(text));
}

using Replacements = std::unordered_map<std::uint32_t, std::string_view>;

Replacements make_replacements() {
  Replacements replacements;
  for (const Replacement& row : kReplacements) {
    for (std::string_view rest = row.characters; !rest.empty(); rest.remove_prefix(character_size(rest[0]))) {
      replacements[code_point(first_character(rest))] = row.letters;
    }
  }
  return replacements;
}

/// nullopt: the character stays.
std::optional<std::string> replacement_of(std::string_view character) {
  static const Replacements replacements = make_replacements();
  const std::uint32_t number = code_point(character);
  const auto code = static_cast<std::int32_t>(number);
  if (const auto found = replacements.find(number); found != replacements.end()) return std::string(found->second);
  if (is_mark(code)) return std::string();
  if (std::optional<std::string> letter = letter_without_marks(code)) return letter;
  return compatible_text(code);
}

}  // namespace

bool append_without_accents(std::string_view text, std::string& out) {
  bool has_changed = false;
  while (!text.empty()) {
    const std::string_view character = first_character(text);
    text.remove_prefix(character.size());
    const std::optional<std::string> replacement = character.size() > 1 ? replacement_of(character) : std::nullopt;
    has_changed = has_changed || replacement.has_value();
    if (replacement) out += *replacement;
    else out += character;
  }
  return has_changed;
}

}  // namespace redquel::sql
