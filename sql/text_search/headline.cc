#include "sql/text_search/headline.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "sql/ascii.h"
#include "sql/error.h"
#include "sql/interrupts.h"
#include "sql/sqlstate.h"
#include "sql/text_search/match.h"
#include "sql/text_search/token_parser.h"
#include "sql/text_search/vector.h"

namespace redquel::sql::text_search {

namespace {

SqlError wrong_option(std::string message) { return SqlError(sqlstate::kInvalidParameterValue, std::move(message)); }

/// One `name = value` from the front of a list.
class OptionReader {
 public:
  explicit OptionReader(std::string_view text) : whole_(text), rest_(text) {}

  bool next(std::string& name, std::string& value) {
    skip([](char c) { return is_blank(c) || c == ','; });
    if (rest_.empty()) return false;
    name = take([](char c) { return is_alphanumeric(c) || c == '_'; });
    skip(is_blank);
    if (name.empty() || rest_.empty() || rest_.front() != '=') throw wrong_format();
    rest_.remove_prefix(1);
    skip(is_blank);
    if (!rest_.empty() && (rest_.front() == '\'' || rest_.front() == '"')) value = take_quoted();
    else value = take([](char c) { return !is_blank(c) && c != ','; });
    return true;
  }

 private:
  SqlError wrong_format() const { return SqlError(sqlstate::kSyntaxError, fmt::format("invalid parameter list format: \"{}\"", whole_)); }

  template <class Belongs>
  std::string take(const Belongs& belongs) {
    std::size_t end = 0;
    while (end < rest_.size() && belongs(rest_[end])) ++end;
    std::string taken(rest_.substr(0, end));
    rest_.remove_prefix(end);
    return taken;
  }
  template <class Belongs>
  void skip(const Belongs& belongs) {
    static_cast<void>(take(belongs));
  }

  /// A quote within is doubled.
  std::string take_quoted() {
    const char quote = rest_.front();
    std::string value;
    for (rest_.remove_prefix(1);; rest_.remove_prefix(1)) {
      if (rest_.empty()) throw wrong_format();
      if (rest_.front() == quote) {
        rest_.remove_prefix(1);
        if (rest_.empty() || rest_.front() != quote) return value;
      }
      value.push_back(rest_.front());
    }
  }

  std::string_view whole_, rest_;
};

int read_number(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return number;
  throw SqlError(sqlstate::kInvalidTextRepresentation, fmt::format("invalid input syntax for type integer: \"{}\"", text));
}

/// A token of the text. Those that several operands mean stand once for each, behind the first.
struct Word {
  TokenKind kind;
  std::string_view text;
  const QueryNode* operand = nullptr;  // null: none
  std::uint32_t position = 0;
  bool is_repeated = false;

  bool is_match() const { return operand != nullptr && !is_repeated; }
  bool is_skipped() const {
    return kind == TokenKind::kUrl || kind == TokenKind::kNumHword || kind == TokenKind::kAsciiHword || kind == TokenKind::kHword;
  }
  /// Counts as a word of the headline.
  bool is_word() const { return kind != TokenKind::kBlank && kind != TokenKind::kTag && !is_skipped(); }
};

std::vector<Word> words_of_text(const ConfigurationRow& configuration, std::string_view text, const Query& query) {
  const std::vector<const QueryNode*> operands = operands_of(query);
  std::map<TokenKind, std::shared_ptr<const Dictionary>> dictionaries;
  std::vector<Word> words;
  std::uint32_t position = 0;
  TokenParser parser(text);
  WorkMeter meter;
  while (const std::optional<Token> token = parser.next()) {
    meter.add(token->text.size() + 64);
    if (token->text.size() >= kMostLexemeBytes) continue;
    words.push_back({token->kind, token->text});
    auto [found, is_new] = dictionaries.try_emplace(token->kind);
    if (is_new) found->second = dictionary_for(configuration, token->kind);
    const auto lexemes = found->second ? found->second->lexemes(token->text) : std::nullopt;
    if (!lexemes) continue;
    ++position;
    for (const std::string& lexeme : *lexemes) {
      for (const QueryNode* operand : operands) {
        const bool is_meant = operand->is_prefix ? lexeme.starts_with(operand->text) : lexeme == operand->text;
        if (!is_meant) continue;
        if (words.back().operand != nullptr) {
          words.push_back(words.back());
          words.back().is_repeated = true;
        }
        words.back().operand = operand;
        words.back().position = std::min<std::uint32_t>(position, kLastPosition);
      }
    }
  }
  return words;
}

/// From the first to the last word.
struct Part {
  std::size_t first, last;
};

class HeadlineChooser {
 public:
  HeadlineChooser(const std::vector<Word>& words, const Query& query, const HeadlineOptions& options)
      : words_(words), query_(over_texts(query)), options_(options) {}

  Part choose() {
    std::optional<Candidate> best;
    for (std::optional<Part> cover = next_cover(0); cover; cover = next_cover(cover->first + 1)) {
      const Candidate candidate = around(*cover);
      if (!best || is_better(candidate, *best)) best = candidate;
    }
    if (best) return best->part;
    int count = 0;
    std::size_t end = 0;
    while (end < words_.size() && count < options_.least_words) count += words_[end++].is_word() ? 1 : 0;
    return {0, end == 0 ? 0 : end - 1};
  }

 private:
  struct Candidate {
    Part part;
    int matches;
    bool has_cover;
  };

  /// The shortest part that satisfies the query and begins at a match, the first such from `from` on.
  std::optional<Part> next_cover(std::size_t from) {
    const std::size_t longest = static_cast<std::size_t>(std::max(options_.most_words * 10, 100));
    for (std::size_t first = next_operand(from); first < words_.size(); first = next_operand(first + 1)) {
      std::map<std::string_view, std::vector<Position>> found;
      for (std::size_t last = first; last < words_.size() && last - first < longest; last = next_operand(last + 1)) {
        meter_.add(256);
        found[words_[last].operand->text].push_back({static_cast<std::uint16_t>(words_[last].position)});
        std::vector<Lexeme> lexemes;
        for (const auto& [text, positions] : found) lexemes.push_back({std::string(text), positions});
        if (matches(settled(std::move(lexemes)), query_)) return Part{first, last};
      }
    }
    return std::nullopt;
  }

  std::size_t next_operand(std::size_t from) const {
    while (from < words_.size() && words_[from].operand == nullptr) ++from;
    return from;
  }

  /// A headline does not end well with a short word, a number or what is no word, unless it is one of the query.
  bool is_bad_end(std::size_t at) const {
    const Word& word = words_[at];
    using enum TokenKind;
    const bool is_number = word.kind == kSfloat || word.kind == kVersion || word.kind == kFloat || word.kind == kInt || word.kind == kUint;
    const bool is_other = !word.is_word() || word.kind == kProtocol || word.kind == kEntity;
    return (is_number || is_other || word.text.size() <= static_cast<std::size_t>(options_.short_word)) && !word.is_match();
  }

  bool is_better(const Candidate& candidate, const Candidate& best) const {
    if (candidate.has_cover != best.has_cover) return candidate.has_cover;
    if (candidate.matches != best.matches) return candidate.matches > best.matches;
    return !is_bad_end(candidate.part.last) && is_bad_end(best.part.last);
  }

  /// A short cover grows to the right up to a good end; at the end of the text it grows to the left. A long cover is cut at a good end.
  Candidate around(const Part& cover) const {
    int count = 0, matched = 0;
    Part part{cover.first, cover.first};
    const auto take = [&](std::size_t at, int sign) {
      count += words_[at].is_word() ? sign : 0;
      matched += words_[at].is_match() ? sign : 0;
    };
    std::size_t at = cover.first;
    for (; at <= cover.last && count < options_.most_words; ++at) {
      take(at, 1);
      part.last = at;
    }
    if (count < options_.most_words) {
      for (--at; at < words_.size() && count < options_.most_words; ++at) {
        if (at > cover.last) take(at, 1);
        part.last = at;
        if (!is_bad_end(at) && count >= options_.least_words) break;
      }
      if (count < options_.least_words) {
        part.first = 0;
        for (std::size_t before = cover.first; before-- > 0;) {
          take(before, 1);
          if (count < options_.most_words && (is_bad_end(before) || count < options_.least_words)) continue;
          part.first = before;
          break;
        }
      }
    } else {
      for (at = std::min(at, cover.last); count > options_.least_words && is_bad_end(at); --at) {
        take(at, -1);
        part.last = at - 1;
      }
    }
    return {part, matched, part.first <= cover.first && part.last >= cover.last};
  }

  const std::vector<Word>& words_;
  Query query_;
  const HeadlineOptions& options_;
  WorkMeter meter_;
};

}  // namespace

HeadlineOptions read_headline_options(std::string_view text) {
  HeadlineOptions options;
  OptionReader reader(text);
  for (std::string name, value; reader.next(name, value);) {
    const std::string lower = lower_case(name);
    if (lower == "maxwords") options.most_words = read_number(value);
    else if (lower == "minwords") options.least_words = read_number(value);
    else if (lower == "shortword") options.short_word = read_number(value);
    else if (lower == "startsel") options.begin = value;
    else if (lower == "stopsel") options.end = value;
    else if (lower == "fragmentdelimiter") continue;
    else if (lower == "highlightall") {
      const std::string flag = lower_case(value);
      options.is_whole = flag == "1" || flag == "on" || flag == "true" || flag == "t" || flag == "y" || flag == "yes";
    } else if (lower == "maxfragments") {
      const int fragments = read_number(value);
      if (fragments < 0) throw wrong_option("MaxFragments should be >= 0");
      if (fragments > 0) throw not_supported("ts_headline() with MaxFragments");
    } else {
      throw wrong_option(fmt::format("unrecognized headline parameter: \"{}\"", name));
    }
  }
  if (options.is_whole) return options;
  if (options.least_words >= options.most_words) throw wrong_option("MinWords should be less than MaxWords");
  if (options.least_words <= 0) throw wrong_option("MinWords should be positive");
  if (options.short_word < 0) throw wrong_option("ShortWord should be >= 0");
  return options;
}

std::string headline(const ConfigurationRow& configuration, std::string_view text, const Query& query, const HeadlineOptions& options) {
  const std::vector<Word> words = words_of_text(configuration, text, query);
  if (words.empty()) return {};
  const Part part = options.is_whole ? Part{0, words.size() - 1} : HeadlineChooser(words, query, options).choose();
  std::string out;
  for (std::size_t i = part.first; i <= part.last; ++i) {
    const Word& word = words[i];
    if (word.is_repeated || word.is_skipped()) continue;
    if (word.kind == TokenKind::kTag && !options.is_whole) {
      out.push_back(' ');
      continue;
    }
    if (word.operand != nullptr) out += options.begin;
    out += word.text;
    if (word.operand != nullptr) out += options.end;
  }
  return out;
}

}  // namespace redquel::sql::text_search
