#include "server/authentication/rule_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

#include "sql/types/byte_text.h"

namespace redquel::server {

namespace {

constexpr std::size_t kMostFileBytes = std::size_t{1} << 20;
/// PostgreSQL's MAX_TOKEN without the terminating zero.
constexpr std::size_t kMostWordBytes = 10239;
/// `@file` within `@file`. PostgreSQL 16's limit; 15 has none.
constexpr int kMostDepth = 10;
/// Words of one text with those of its files.
constexpr std::size_t kMostWords = 100'000;

bool is_rule_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// One text, cut from front to back.
class Splitter {
 public:
  Splitter(const std::filesystem::path& file, const RuleFileReader& read, int depth, std::size_t& words)
      : file_(file), read_(read), depth_(depth), words_(words) {}

  std::vector<RuleLine> split(std::string_view text) {
    std::vector<RuleLine> lines;
    std::size_t number = 1;
    while (!text.empty()) {
      RuleLine line{.number = number};
      number += take_line(text, line.text);
      rest_ = line.text;
      if (!sql::is_valid_utf8(line.text)) {
        line.error = "the line is not valid UTF-8";
        line.text.clear();
        rest_ = {};
      }
      while (!rest_.empty() && line.error.empty()) {
        RuleField field = take_field(line.error);
        if (!field.empty()) line.fields.push_back(std::move(field));
      }
      if (!line.fields.empty() || !line.error.empty()) lines.push_back(std::move(line));
    }
    return lines;
  }

 private:
  /// Takes a line and those that a backslash at its end adds. Returns their number.
  static std::size_t take_line(std::string_view& text, std::string& line) {
    std::size_t count = 0, continued_at = 0;
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      line.append(text.substr(0, end));
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
      ++count;
      line.resize(std::min(line.find('\0'), line.size()));
      while (!line.empty() && line.back() == '\r') line.pop_back();
      if (line.size() <= continued_at || line.back() != '\\') break;
      line.pop_back();
      continued_at = line.size();
    }
    return count;
  }

  RuleField take_field(std::string& error) {
    RuleField field;
    bool has_more = true;
    while (has_more && error.empty()) {
      RuleWord word;
      if (!take_word(word, has_more, error)) break;
      if (++words_ > kMostWords) {
        error = fmt::format("more than {} words", kMostWords);
      } else if (!word.is_quoted && word.text.size() > 1 && word.text[0] == '@') {
        add_file(word.text.substr(1), field, error);
      } else {
        field.push_back(std::move(word));
      }
    }
    return field;
  }

  /// Takes the next word. `has_more`: a comma ends it. Returns false at the end of the line.
  bool take_word(RuleWord& word, bool& has_more, std::string& error) {
    has_more = false;
    while (!rest_.empty() && (is_rule_blank(rest_[0]) || rest_[0] == ',')) rest_.remove_prefix(1);
    bool in_quotes = false, was_quote = false, has_quotes = false;
    for (; !rest_.empty() && (!is_rule_blank(rest_[0]) || in_quotes); rest_.remove_prefix(1)) {
      const char c = rest_[0];
      if (c == '#' && !in_quotes) {
        rest_ = {};
        break;
      }
      if (word.text.size() >= kMostWordBytes) {
        error = "authentication file token too long";
        rest_ = {};
        return false;
      }
      if (c == ',' && !in_quotes) {
        has_more = true;
        break;
      }
      if (c != '"' || was_quote) word.text.push_back(c);
      was_quote = in_quotes && c == '"' && !was_quote;
      if (c != '"') continue;
      in_quotes = !in_quotes;
      has_quotes = true;
      if (word.text.empty()) word.is_quoted = true;
    }
    return has_quotes || !word.text.empty();
  }

  void add_file(const std::string& name, RuleField& field, std::string& error) {
    std::filesystem::path path = (file_.parent_path() / name).lexically_normal();
    if (!path.has_filename()) path = path.parent_path();
    if (depth_ >= kMostDepth) {
      error = fmt::format("could not open file \"{}\": maximum nesting depth exceeded", path.string());
      return;
    }
    std::string text;
    try {
      text = read_(path);
    } catch (const std::system_error& failure) {
      if (failure.code().value() == EISDIR) return;  // a folder has no lines, as in PostgreSQL
      error = fmt::format("could not open secondary authentication file \"@{}\" as \"{}\": {}", name, path.string(),
                          std::strerror(failure.code().value()));
      return;
    }
    for (RuleLine& line : Splitter(path, read_, depth_ + 1, words_).split(text)) {
      if (!line.error.empty()) {
        error = std::move(line.error);
        return;
      }
      for (RuleField& words : line.fields) std::ranges::move(words, std::back_inserter(field));
    }
  }

  const std::filesystem::path& file_;
  const RuleFileReader& read_;
  const int depth_;
  std::size_t& words_;
  std::string_view rest_;
};

}  // namespace

std::string read_rule_file(const std::filesystem::path& file) {
  const auto fail = [](int code) { return std::system_error(code, std::generic_category()); };
  if (std::filesystem::is_directory(file)) throw fail(EISDIR);
  errno = 0;
  std::ifstream input(file, std::ios::binary);
  if (!input) throw fail(errno == 0 ? ENOENT : errno);
  std::string text(kMostFileBytes + 1, '\0');
  input.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(input.gcount()));
  if (text.size() > kMostFileBytes) throw fail(EFBIG);
  return text;
}

std::vector<RuleLine> split_rule_lines(std::string_view text, const std::filesystem::path& file, const RuleFileReader& read) {
  std::size_t words = 0;
  return Splitter(file, read, 0, words).split(text);
}

}  // namespace redquel::server
