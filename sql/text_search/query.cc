#include "sql/text_search/query.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "sql/ascii.h"
#include "sql/error.h"
#include "sql/interrupts.h"
#include "sql/sqlstate.h"

namespace redquel::sql::text_search {

namespace {

using Kind = QueryNode::Kind;

/// Queries nest as deep as that; the walks over them are recursive.
constexpr std::size_t kMostDepth = 4000;

int priority_of(Operator operation) {
  switch (operation) {
    case Operator::kNot: return 4;
    case Operator::kPhrase: return 3;
    case Operator::kAnd: return 2;
    case Operator::kOr: return 1;
  }
  return 0;
}

SqlError syntax_error(std::string_view whole) { return SqlError(sqlstate::kSyntaxError, fmt::format("syntax error in tsquery: \"{}\"", whole)); }

/// Operators by their priorities, NOT from right to left. Parentheses nest.
class QueryReader {
 public:
  QueryReader(std::string_view text, const MakeOperand& make) : whole_(text), rest_(text), make_(make) {}

  Query read() {
    skip_blanks();
    if (rest_.empty()) return nullptr;
    Query query = read_operators(0);
    if (!rest_.empty()) throw syntax_error(whole_);
    return query;
  }

 private:
  struct Infix {
    Operator operation;
    std::uint32_t distance = 0;
  };

  void skip_blanks() {
    while (!rest_.empty() && is_blank(rest_.front())) rest_.remove_prefix(1);
  }

  Query read_operators(int least) {
    Query left = read_operand();
    for (;;) {
      skip_blanks();
      const std::string_view before = rest_;
      const std::optional<Infix> infix = take_infix();
      if (!infix) return left;
      const int priority = priority_of(infix->operation);
      if (priority <= least) {
        rest_ = before;
        return left;
      }
      Query right = read_operators(priority);
      left = make_operator(infix->operation, std::move(left), std::move(right), infix->distance);
    }
  }

  Query read_operand() {
    if (++depth_ > kMostDepth) throw SqlError(sqlstate::kStatementTooComplex, "stack depth limit exceeded");
    note_analysis();
    Query operand = read_part();
    --depth_;
    return operand;
  }

  Query read_part() {
    skip_blanks();
    if (rest_.empty()) throw SqlError(sqlstate::kSyntaxError, fmt::format("no operand in tsquery: \"{}\"", whole_));
    if (rest_.front() == '!') {
      rest_.remove_prefix(1);
      return make_not(read_operand());
    }
    if (rest_.front() == '(') {
      rest_.remove_prefix(1);
      Query inner = read_operators(0);
      skip_blanks();
      if (rest_.empty() || rest_.front() != ')') throw syntax_error(whole_);
      rest_.remove_prefix(1);
      return inner;
    }
    if (rest_.front() == ':') throw syntax_error(whole_);
    WrittenWord word;
    take_word(rest_, whole_, WordOf::kQuery, word);
    std::uint8_t weights = 0;
    bool is_prefix = false;
    read_flags(weights, is_prefix);
    return make_(std::move(word.text), weights, is_prefix);
  }

  void read_flags(std::uint8_t& weights, bool& is_prefix) {
    if (rest_.empty() || rest_.front() != ':') return;
    rest_.remove_prefix(1);
    for (; !rest_.empty(); rest_.remove_prefix(1)) {
      const std::size_t weight = std::string_view("dcba").find(to_lower(rest_.front()));
      if (rest_.front() == '*') is_prefix = true;
      else if (weight != std::string_view::npos) weights = static_cast<std::uint8_t>(weights | 1 << weight);
      else return;
    }
  }

  std::optional<Infix> take_infix() {
    if (rest_.empty() || rest_.front() == ')') return std::nullopt;
    const char c = rest_.front();
    if (c == '<') return take_phrase();
    if (c != '&' && c != '|') throw syntax_error(whole_);
    rest_.remove_prefix(1);
    return Infix{c == '&' ? Operator::kAnd : Operator::kOr};
  }

  /// <-> or <N>
  Infix take_phrase() {
    rest_.remove_prefix(1);
    std::uint32_t distance = 0;
    if (rest_.starts_with("->")) {
      rest_.remove_prefix(2);
      return {Operator::kPhrase, 1};
    }
    const std::size_t digits = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
    if (digits == 0 || digits == rest_.size() || rest_[digits] != '>') throw syntax_error(whole_);
    for (const char digit : rest_.substr(0, digits)) distance = std::min<std::uint32_t>(distance * 10 + static_cast<std::uint32_t>(digit - '0'), 1 << 20);
    if (distance > kMostDistance) {
      throw SqlError(sqlstate::kInvalidParameterValue,
                     fmt::format("distance in phrase operator must be an integer value between zero and {} inclusive", kMostDistance));
    }
    rest_.remove_prefix(digits + 1);
    return {Operator::kPhrase, distance};
  }

  std::string_view whole_, rest_;
  const MakeOperand& make_;
  std::size_t depth_ = 0;
};

/// Words are joined by AND, alternatives by OR; what is no word is passed over.
class WebQueryReader {
 public:
  WebQueryReader(std::string_view text, const MakeOperand& make) : rest_(text), make_(make) {}

  Query read() {
    bool wants_operand = true;
    for (;;) {
      while (!rest_.empty() && is_blank(rest_.front())) rest_.remove_prefix(1);
      if (rest_.empty()) break;
      if (!wants_operand) {
        if (takes_or()) any_ = make_operator(Operator::kOr, std::move(any_), std::exchange(all_, nullptr));
        wants_operand = true;
      } else if (rest_.front() == '-') {
        rest_.remove_prefix(1);
        ++negations_;
      } else if (rest_.front() == '"' || !is_query_operator(rest_.front())) {
        add(rest_.front() == '"' ? take_phrase() : take_word());
        wants_operand = false;
      } else {
        rest_.remove_prefix(1);
      }
    }
    return make_operator(Operator::kOr, std::move(any_), std::move(all_));
  }

 private:
  void add(std::string_view word) {
    Query operand = make_(std::string(word), 0, false);
    for (; negations_ > 0; --negations_) operand = make_not(std::move(operand));
    all_ = make_operator(Operator::kAnd, std::move(all_), std::move(operand));
  }

  std::string_view take_phrase() {
    const std::size_t end = std::min(rest_.find('"', 1), rest_.size());
    const std::string_view phrase = rest_.substr(1, end - 1);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return phrase;
  }

  std::string_view take_word() {
    std::size_t end = 1;
    while (end < rest_.size() && !is_blank(rest_[end]) && !is_query_operator(rest_[end]) && rest_[end] != '"' && rest_[end] != ':') ++end;
    const std::string_view word = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return word;
  }

  /// "or" that is no part of a word, with something behind it.
  bool takes_or() {
    if (rest_.size() < 4 || lower_case(rest_.substr(0, 2)) != "or") return false;
    const char next = rest_[2];
    if (next == '-' || next == '_' || is_alphanumeric(next) || static_cast<unsigned char>(next) >= 0x80) return false;
    if (std::ranges::all_of(rest_.substr(3), is_blank)) return false;
    rest_.remove_prefix(2);
    return true;
  }

  std::string_view rest_;
  const MakeOperand& make_;
  Query any_, all_;  // the alternatives before; what is joined by AND since
  int negations_ = 0;
};

/// Distances that have gone with stop words on the two sides of a part.
struct Lack {
  std::uint32_t left = 0, right = 0;
};

Query without_stop_words(const Query& query, Lack& lack) {
  if (!query || query->kind == Kind::kStopWord) return nullptr;
  if (query->kind == Kind::kLexeme) return query;
  if (query->operation == Operator::kNot) {
    Query operand = without_stop_words(query->right, lack);
    return operand ? make_not(std::move(operand)) : nullptr;
  }
  const bool is_phrase = query->operation == Operator::kPhrase;
  const std::uint32_t distance = is_phrase ? query->distance : 0;
  Lack of_left, of_right;
  Query left = without_stop_words(query->left, of_left), right = without_stop_words(query->right, of_right);
  if (!left && !right) {
    lack.left = lack.right = is_phrase ? of_left.left + distance + of_right.left : std::max(of_left.left, of_right.left);
    return nullptr;
  }
  if (!left) {
    lack = {is_phrase ? of_left.left + distance + of_right.left : of_right.left, of_right.right};
    return right;
  }
  if (!right) {
    lack = {of_left.left, is_phrase ? of_left.right + distance + of_right.right : of_left.right};
    return left;
  }
  if (!is_phrase) return make_operator(query->operation, std::move(left), std::move(right));
  lack = {of_left.left, of_right.right};
  return make_operator(Operator::kPhrase, std::move(left), std::move(right), std::min(distance + of_left.right + of_right.left, kMostDistance));
}

/// `follows_phrase`: the part is the right side of a phrase, which groups from the left.
void append_text(const QueryNode& node, int parent, bool follows_phrase, std::string& out) {
  if (node.kind != Kind::kOperator) {
    append_quoted(node.text, out);
    if (node.weights == 0 && !node.is_prefix) return;
    out.push_back(':');
    if (node.is_prefix) out.push_back('*');
    for (const Weight weight : std::initializer_list<Weight>{3, 2, 1, 0}) {
      if (node.weights >> weight & 1) out.push_back(weight_letter(weight));
    }
    return;
  }
  const int priority = priority_of(node.operation);
  const bool is_phrase = node.operation == Operator::kPhrase;
  const bool has_parentheses = priority < parent || (is_phrase && follows_phrase);
  if (has_parentheses) out += "( ";
  if (node.operation == Operator::kNot) {
    out.push_back('!');
    append_text(*node.right, priority, false, out);
  } else {
    append_text(*node.left, priority, false, out);
    if (is_phrase) out += node.distance == 1 ? " <-> " : fmt::format(" <{}> ", node.distance);
    else out += node.operation == Operator::kAnd ? " & " : " | ";
    append_text(*node.right, priority, is_phrase, out);
  }
  if (has_parentheses) out += " )";
}

void collect(const Query& query, std::vector<const QueryNode*>& operands) {
  if (!query) return;
  if (query->kind == Kind::kLexeme) operands.push_back(query.get());
  collect(query->left, operands);
  collect(query->right, operands);
}

/// The bytes of PostgreSQL's form: two words for each node, and the texts with their ends.
std::size_t stored_bytes(const Query& query) {
  if (!query) return 0;
  return 12 + (query->kind == Kind::kLexeme ? query->text.size() + 1 : 0) + stored_bytes(query->left) + stored_bytes(query->right);
}

/// PostgreSQL compares the checksums of two different lexemes: the remainders of CRC-32, taken from the other end.
std::uint32_t checksum(std::string_view text) {
  const auto remainder_of = [](std::uint32_t byte) {
    for (int bit = 0; bit < 8; ++bit) byte = byte >> 1 ^ (byte & 1 ? 0xEDB88320 : 0);
    return byte;
  };
  std::uint32_t sum = 0xFFFFFFFF;
  for (const char c : text) sum = remainder_of((sum >> 24 ^ static_cast<std::uint8_t>(c)) & 0xFF) ^ sum << 8;
  return ~sum;
}

int compare_nodes(const Query& a, const Query& b) {
  const bool a_is_operator = a->kind == Kind::kOperator, b_is_operator = b->kind == Kind::kOperator;
  if (a_is_operator != b_is_operator) return a_is_operator ? -1 : 1;
  if (!a_is_operator) {
    const auto sum_a = static_cast<std::int32_t>(checksum(a->text)), sum_b = static_cast<std::int32_t>(checksum(b->text));
    if (sum_a != sum_b) return -order(sum_a, sum_b);
    return order(a->text, b->text);
  }
  if (a->operation != b->operation) return -order(a->operation, b->operation);
  if (a->left && b->left) {
    if (const int by_left = compare_nodes(a->left, b->left); by_left != 0) return by_left;
  }
  if (const int by_right = compare_nodes(a->right, b->right); by_right != 0) return by_right;
  return a->operation == Operator::kPhrase ? -order(a->distance, b->distance) : 0;
}

}  // namespace

Query make_lexeme(std::string text, std::uint8_t weights, bool is_prefix) {
  if (text.size() >= kMostLexemeBytes) throw SqlError(sqlstate::kProgramLimitExceeded, fmt::format("word is too long in tsquery: \"{}\"", text));
  return std::make_shared<const QueryNode>(QueryNode{.text = std::move(text), .weights = weights, .is_prefix = is_prefix});
}

Query make_operator(Operator operation, Query left, Query right, std::uint32_t distance) {
  if (!left) return right;
  if (!right) return left;
  QueryNode node{.kind = Kind::kOperator, .operation = operation};
  node.distance = operation == Operator::kPhrase ? static_cast<std::uint16_t>(distance) : std::uint16_t{0};
  node.left = std::move(left);
  node.right = std::move(right);
  return std::make_shared<const QueryNode>(std::move(node));
}

Query make_not(Query operand) {
  if (!operand) return nullptr;
  QueryNode node{.kind = Kind::kOperator, .operation = Operator::kNot};
  node.right = std::move(operand);
  return std::make_shared<const QueryNode>(std::move(node));
}

Query make_stop_word() { return std::make_shared<const QueryNode>(QueryNode{.kind = Kind::kStopWord}); }

Query without_stop_words(const Query& query) {
  Lack lack;
  return without_stop_words(query, lack);
}

Query parse_query(std::string_view text, const MakeOperand& make) { return QueryReader(text, make).read(); }

Query parse_query(std::string_view text) { return parse_query(text, make_lexeme); }

Query parse_web_query(std::string_view text, const MakeOperand& make) { return WebQueryReader(text, make).read(); }

std::string query_text(const Query& query) {
  std::string text;
  if (query) append_text(*query, -1, false, text);
  return text;
}

std::size_t node_count(const Query& query) { return query ? 1 + node_count(query->left) + node_count(query->right) : 0; }

Query indexable_part(const Query& query, bool& matches_all) {
  matches_all = false;
  if (!query || query->kind != Kind::kOperator) return query;
  if (query->operation == Operator::kNot) {
    matches_all = true;
    return nullptr;
  }
  bool left_all = false, right_all = false;
  Query left = indexable_part(query->left, left_all), right = indexable_part(query->right, right_all);
  if (query->operation == Operator::kOr ? left_all || right_all : left_all && right_all) {
    matches_all = true;
    return nullptr;
  }
  return make_operator(query->operation, std::move(left), std::move(right), query->distance);
}

int compare(const Query& a, const Query& b) {
  if (const int by_nodes = order(node_count(a), node_count(b)); by_nodes != 0) return by_nodes;
  if (const int by_bytes = order(stored_bytes(a), stored_bytes(b)); by_bytes != 0) return by_bytes;
  return a && b ? compare_nodes(a, b) : 0;
}

std::vector<const QueryNode*> operands_of(const Query& query) {
  std::vector<const QueryNode*> operands;
  collect(query, operands);
  return operands;
}

std::vector<std::string> lexemes_of(const Query& query) {
  std::set<std::string> lexemes;
  for (const QueryNode* operand : operands_of(query)) lexemes.insert(operand->text);
  return {lexemes.begin(), lexemes.end()};
}

Query over_texts(const Query& query) {
  if (!query) return nullptr;
  if (query->kind == Kind::kLexeme) return make_lexeme(query->text);
  if (query->operation == Operator::kNot) return make_not(over_texts(query->right));
  return make_operator(query->operation, over_texts(query->left), over_texts(query->right), query->distance);
}

}  // namespace redquel::sql::text_search
