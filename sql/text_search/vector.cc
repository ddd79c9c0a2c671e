#include "sql/text_search/vector.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql/ascii.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::sql::text_search {

namespace {

SqlError syntax_error(WordOf of, std::string_view whole) {
  return SqlError(sqlstate::kSyntaxError, fmt::format("syntax error in {}: \"{}\"", of == WordOf::kVector ? "tsvector" : "tsquery", whole));
}

/// A character of a word, which a backslash takes as it is. A character of several bytes is its first byte here; the others follow.
class WordReader {
 public:
  WordReader(std::string_view& rest, std::string_view whole, WordOf of) : rest_(rest), whole_(whole), of_(of) {}

  bool read(WrittenWord& word) {
    while (!rest_.empty() && is_blank(rest_.front())) rest_.remove_prefix(1);
    if (rest_.empty()) return false;
    if (rest_.front() == '\'') read_quoted(word.text);
    else read_plain(word.text);
    if (of_ == WordOf::kVector && !rest_.empty() && rest_.front() == ':') read_positions(word.positions);
    return true;
  }

 private:
  void take_escaped(std::string& text) {
    rest_.remove_prefix(1);
    if (rest_.empty()) throw SqlError(sqlstate::kSyntaxError, fmt::format("there is no escaped character: \"{}\"", whole_));
    take(text);
  }
  void take(std::string& text) {
    text.push_back(rest_.front());
    rest_.remove_prefix(1);
  }

  void read_plain(std::string& text) {
    if (of_ == WordOf::kQuery && is_query_operator(rest_.front())) throw syntax_error(of_, whole_);
    while (!rest_.empty() && !is_blank(rest_.front())) {
      const char c = rest_.front();
      if (c == '\\') {
        take_escaped(text);
        continue;
      }
      if (c == ':' && !text.empty()) return;
      if (of_ == WordOf::kQuery && is_query_operator(c)) return;
      take(text);
    }
  }

  void read_quoted(std::string& text) {
    rest_.remove_prefix(1);
    for (;;) {
      if (rest_.empty()) throw syntax_error(of_, whole_);
      if (rest_.front() == '\\') {
        take_escaped(text);
      } else if (rest_.front() != '\'') {
        take(text);
      } else {
        rest_.remove_prefix(1);
        if (rest_.empty() || rest_.front() != '\'') break;
        take(text);
      }
    }
    if (text.empty()) throw syntax_error(of_, whole_);
  }

  /// Each begins behind a colon or comma. What comes behind the last one without a blank is the next word of a quoted one's text.
  void read_positions(std::vector<Position>& positions) {
    do {
      rest_.remove_prefix(1);
      if (rest_.empty() || !is_digit(rest_.front())) throw syntax_error(of_, whole_);
      std::uint32_t at = 0;
      for (; !rest_.empty() && is_digit(rest_.front()); rest_.remove_prefix(1)) at = std::min<std::uint32_t>(at * 10 + static_cast<std::uint32_t>(rest_.front() - '0'), 1 << 20);
      if (at == 0) throw SqlError(sqlstate::kSyntaxError, fmt::format("wrong position info in tsvector: \"{}\"", whole_));
      positions.push_back({static_cast<std::uint16_t>(std::min<std::uint32_t>(at, kLastPosition)), read_weight()});
    } while (!rest_.empty() && rest_.front() == ',');
    if (!rest_.empty() && !is_blank(rest_.front())) throw syntax_error(of_, whole_);
  }

  Weight read_weight() {
    constexpr std::string_view kLetters = "dcba";
    if (rest_.empty()) return kWeightD;
    const std::size_t weight = rest_.front() == '*' ? kWeightA : kLetters.find(to_lower(rest_.front()));
    if (weight == std::string_view::npos) return kWeightD;
    rest_.remove_prefix(1);
    return static_cast<Weight>(weight);
  }

  std::string_view& rest_;
  std::string_view whole_;
  WordOf of_;
};

/// Positions in order, each once with its heaviest weight.
void settle(std::vector<Position>& positions, std::size_t most) {
  std::ranges::stable_sort(positions, {}, &Position::at);
  std::vector<Position> kept;
  for (const Position& position : positions) {
    if (!kept.empty() && kept.back().at == position.at) {
      kept.back().weight = std::max(kept.back().weight, position.weight);
    } else if (kept.size() < most && (kept.empty() || kept.back().at != kLastPosition)) {
      kept.push_back(position);
    }
  }
  positions = std::move(kept);
}

/// The bytes that PostgreSQL's form of the lexemes takes behind its header.
std::size_t stored_bytes(const Vector& vector) {
  std::size_t bytes = 0;
  for (const Lexeme& lexeme : vector) {
    bytes += lexeme.text.size();
    if (!lexeme.positions.empty()) bytes = (bytes + 1) / 2 * 2 + sizeof(std::uint16_t) * (1 + lexeme.positions.size());
  }
  return bytes;
}

}  // namespace

bool take_word(std::string_view& rest, std::string_view whole, WordOf of, WrittenWord& word) {
  word = {};
  return WordReader(rest, whole, of).read(word);
}

void append_quoted(std::string_view word, std::string& out) {
  out.push_back('\'');
  for (const char c : word) {
    if (c == '\'' || c == '\\') out.push_back(c);
    out.push_back(c);
  }
  out.push_back('\'');
}

Vector settled(std::vector<Lexeme> lexemes, std::size_t most_positions) {
  std::ranges::stable_sort(lexemes, {}, &Lexeme::text);
  Vector vector;
  for (Lexeme& lexeme : lexemes) {
    if (!vector.empty() && vector.back().text == lexeme.text) {
      vector.back().positions.insert(vector.back().positions.end(), lexeme.positions.begin(), lexeme.positions.end());
    } else {
      vector.push_back(std::move(lexeme));
    }
  }
  for (Lexeme& lexeme : vector) settle(lexeme.positions, most_positions);
  if (const std::size_t bytes = stored_bytes(vector); bytes > kMostVectorBytes) {
    throw SqlError(sqlstate::kProgramLimitExceeded, fmt::format("string is too long for tsvector ({} bytes, max {} bytes)", bytes, kMostVectorBytes));
  }
  return vector;
}

Vector parse_vector(std::string_view text) {
  std::vector<Lexeme> lexemes;
  std::string_view rest = text;
  WrittenWord word;
  while (take_word(rest, text, WordOf::kVector, word)) {
    if (word.text.size() >= kMostLexemeBytes) {
      throw SqlError(sqlstate::kProgramLimitExceeded, fmt::format("word is too long ({} bytes, max {} bytes)", word.text.size(), kMostLexemeBytes - 1));
    }
    lexemes.push_back({std::move(word.text), std::move(word.positions)});
  }
  return settled(std::move(lexemes));
}

std::string vector_text(const Vector& vector) {
  std::string out;
  for (const Lexeme& lexeme : vector) {
    if (!out.empty()) out.push_back(' ');
    append_quoted(lexeme.text, out);
    char before = ':';
    for (const Position& position : lexeme.positions) {
      out.push_back(before);
      out += std::to_string(position.at);
      if (position.weight != kWeightD) out.push_back(weight_letter(position.weight));
      before = ',';
    }
  }
  return out;
}

int compare(const Vector& a, const Vector& b) {
  constexpr std::size_t kEntry = 4;
  if (const int by_size = order(kEntry * a.size() + stored_bytes(a), kEntry * b.size() + stored_bytes(b)); by_size != 0) return by_size;
  if (a.size() != b.size()) return order(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto &some = a[i].positions, &others = b[i].positions;
    if (some.empty() != others.empty()) return some.empty() ? 1 : -1;
    if (const int by_text = order(a[i].text, b[i].text); by_text != 0) return by_text;
    if (some.size() != others.size()) return -order(some.size(), others.size());
    for (std::size_t k = 0; k < some.size(); ++k) {
      if (some[k].at != others[k].at) return -order(some[k].at, others[k].at);
      if (some[k].weight != others[k].weight) return -order(some[k].weight, others[k].weight);
    }
  }
  return 0;
}

std::size_t length_with_positions(const Vector& vector) {
  std::size_t length = 0;
  for (const Lexeme& lexeme : vector) length += std::max<std::size_t>(lexeme.positions.size(), 1);
  return length;
}

const Lexeme* find_lexeme(const Vector& vector, std::string_view text) {
  const auto found = std::ranges::lower_bound(vector, text, {}, [](const Lexeme& lexeme) { return std::string_view(lexeme.text); });
  return found != vector.end() && found->text == text ? &*found : nullptr;
}

}  // namespace redquel::sql::text_search
