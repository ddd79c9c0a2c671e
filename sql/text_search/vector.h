#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace redquel::sql::text_search {

/// A = 3 is the heaviest, D = 0 the lightest, which texts leave out.
using Weight = std::uint8_t;
inline constexpr Weight kWeightD = 0, kWeightA = 3;
/// Returns D, C, B or A.
inline char weight_letter(Weight weight) { return "DCBA"[weight]; }

// Limits of PostgreSQL's storage.
inline constexpr std::size_t kMostPositions = 256;                 // of a lexeme
inline constexpr std::uint16_t kLastPosition = (1 << 14) - 1;      // greater ones become this one
inline constexpr std::size_t kMostLexemeBytes = (1 << 11) - 1, kMostVectorBytes = (1 << 20) - 1;

struct Position {
  std::uint16_t at;  // from 1
  Weight weight = kWeightD;
  bool operator==(const Position&) const = default;
};

struct Lexeme {
  std::string text;
  std::vector<Position> positions = {};  // in order; none: not known
  bool operator==(const Lexeme&) const = default;
};

/// A value of type tsvector: its lexemes, each once, in the order of their bytes.
using Vector = std::vector<Lexeme>;

/// Puts lexemes in order; positions of the same one come together, the first so many. 54000 if they are too large.
Vector settled(std::vector<Lexeme> lexemes, std::size_t most_positions = kMostPositions);

/// Reads `'fat':2A,4 cat`. 42601, 54000
Vector parse_vector(std::string_view text);
std::string vector_text(const Vector& vector);
/// The order of PostgreSQL's btree: by size before anything else.
int compare(const Vector& a, const Vector& b);
/// The number of positions, where a lexeme without any counts as one.
std::size_t length_with_positions(const Vector& vector);

/// Returns -1, 0 or 1.
template <class T>
int order(const T& a, const T& b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

/// The lexeme of that text; nullptr: none.
const Lexeme* find_lexeme(const Vector& vector, std::string_view text);

/// Ends a word in the text of a query.
constexpr bool is_query_operator(char c) { return c == '!' || c == '&' || c == '|' || c == '(' || c == ')' || c == '<'; }

/// One word of the text of a tsvector or tsquery, quoted or not, from the front of `rest`.
struct WrittenWord {
  std::string text;
  std::vector<Position> positions = {};
};
enum class WordOf : std::uint8_t { kVector, kQuery };
/// Takes the next word, in a tsvector with its positions. Returns false where there is none. `whole`: for errors (42601).
bool take_word(std::string_view& rest, std::string_view whole, WordOf of, WrittenWord& word);
/// The word in quotes.
void append_quoted(std::string_view word, std::string& out);

}  // namespace redquel::sql::text_search
