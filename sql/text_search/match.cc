#include "sql/text_search/match.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace redquel::sql::text_search {

namespace {

using Kind = QueryNode::Kind;

/// kMaybe: positions would tell.
enum class Answer : std::uint8_t { kNo, kYes, kMaybe };

Answer negated(Answer answer) { return answer == Answer::kMaybe ? answer : answer == Answer::kYes ? Answer::kNo : Answer::kYes; }

Answer both(Answer a, Answer b) {
  if (a == Answer::kNo || b == Answer::kNo) return Answer::kNo;
  return a == Answer::kYes ? b : a;
}

Answer either(Answer a, Answer b) {
  if (a == Answer::kYes || b == Answer::kYes) return Answer::kYes;
  return a == Answer::kNo ? b : a;
}

/// Where a part of a phrase ends.
struct Places {
  std::vector<std::uint32_t> ends = {};  // in order
  bool is_negated = false;               // everywhere else
  std::uint32_t width = 0;               // from the first word to the end
};

bool has_weight(const QueryNode& operand, const Position& position) { return operand.weights == 0 || (operand.weights >> position.weight & 1) != 0; }

/// Sorted numbers of two lists, shifted, by whether they are in the first alone, the second alone or both.
std::vector<std::uint32_t> combined(const Places& left, std::uint32_t shift_left, const Places& right, std::uint32_t shift_right, bool of_both,
                                    bool of_left, bool of_right) {
  std::vector<std::uint32_t> ends;
  auto l = left.ends.begin();
  auto r = right.ends.begin();
  while (l != left.ends.end() || r != right.ends.end()) {
    const bool has_left = l != left.ends.end(), has_right = r != right.ends.end();
    const std::uint32_t at_left = has_left ? *l + shift_left : 0, at_right = has_right ? *r + shift_right : 0;
    if (has_left && has_right && at_left == at_right) {
      if (of_both) ends.push_back(at_left);
      ++l, ++r;
    } else if (has_left && (!has_right || at_left < at_right)) {
      if (of_left) ends.push_back(at_left);
      ++l;
    } else {
      if (of_right) ends.push_back(at_right);
      ++r;
    }
  }
  return ends;
}

class Matcher {
 public:
  explicit Matcher(const Vector& vector) : vector_(vector) {}

  Answer match(const QueryNode& node) const {
    if (node.kind != Kind::kOperator) return match_operand(node);
    switch (node.operation) {
      case Operator::kNot: return negated(match(*node.right));
      case Operator::kAnd: {
        const Answer left = match(*node.left);
        return left == Answer::kNo ? left : both(left, match(*node.right));
      }
      case Operator::kOr: {
        const Answer left = match(*node.left);
        return left == Answer::kYes ? left : either(left, match(*node.right));
      }
      case Operator::kPhrase: break;
    }
    Places places;
    const Answer found = match_phrase(node, places);
    return found == Answer::kYes ? found : Answer::kNo;  // without positions there is no phrase
  }

 private:
  Answer match_operand(const QueryNode& operand) const {
    const auto counts = [&](const Lexeme& lexeme) {
      return lexeme.positions.empty() || std::ranges::any_of(lexeme.positions, [&](const Position& position) { return has_weight(operand, position); });
    };
    return std::ranges::any_of(lexemes_of_operand(vector_, operand), counts) ? Answer::kYes : Answer::kNo;
  }

  Answer match_phrase(const QueryNode& node, Places& places) const {
    if (node.kind != Kind::kOperator) return places_of_operand(node, places);
    if (node.operation == Operator::kNot) return places_of_not(node, places);
    Places left, right;
    const Answer of_left = match_phrase(*node.left, left), of_right = match_phrase(*node.right, right);
    const bool is_or = node.operation == Operator::kOr;
    if (!is_or && (of_left == Answer::kNo || of_right == Answer::kNo)) return Answer::kNo;
    if (is_or && of_left == Answer::kNo && of_right == Answer::kNo) return Answer::kNo;
    if (of_left == Answer::kMaybe || of_right == Answer::kMaybe) return Answer::kMaybe;
    if (of_left == Answer::kNo) left = {};
    if (of_right == Answer::kNo) right = {};
    const bool is_phrase = node.operation == Operator::kPhrase;
    places.width = is_phrase ? node.distance + left.width + right.width : std::max(left.width, right.width);
    const std::uint32_t shift_left = is_phrase ? node.distance + right.width : places.width - left.width;
    const std::uint32_t shift_right = is_phrase ? 0 : places.width - right.width;
    // An AND of what is not there is what neither has; with one negated side, what the other has alone. An OR is the AND of the opposites.
    const bool takes_left = left.is_negated != is_or, takes_right = right.is_negated != is_or;
    places.is_negated = is_or ? left.is_negated || right.is_negated : left.is_negated && right.is_negated;
    bool of_both = false, left_alone = false, right_alone = false;
    if (takes_left && takes_right) of_both = left_alone = right_alone = true;
    else if (takes_left) right_alone = true;
    else if (takes_right) left_alone = true;
    else of_both = true;
    places.ends = combined(left, shift_left, right, shift_right, of_both, left_alone, right_alone);
    return places.is_negated || !places.ends.empty() ? Answer::kYes : Answer::kNo;
  }

  Answer places_of_not(const QueryNode& node, Places& places) const {
    const Answer found = match_phrase(*node.right, places);
    if (found == Answer::kMaybe) return found;
    if (found == Answer::kNo) {
      places = {.is_negated = true};
      return Answer::kYes;
    }
    if (places.ends.empty() && places.is_negated) {
      places.is_negated = false;
      return Answer::kNo;
    }
    places.is_negated = !places.is_negated;
    return Answer::kYes;
  }

  Answer places_of_operand(const QueryNode& operand, Places& places) const {
    bool is_unknown = false;
    for (const Lexeme& lexeme : lexemes_of_operand(vector_, operand)) {
      is_unknown = is_unknown || lexeme.positions.empty();
      for (const Position& position : lexeme.positions) {
        if (has_weight(operand, position)) places.ends.push_back(position.at);
      }
    }
    if (is_unknown) return Answer::kMaybe;
    std::ranges::sort(places.ends);
    places.ends.erase(std::unique(places.ends.begin(), places.ends.end()), places.ends.end());
    return places.ends.empty() ? Answer::kNo : Answer::kYes;
  }

  const Vector& vector_;
};

}  // namespace

std::span<const Lexeme> lexemes_of_operand(const Vector& vector, const QueryNode& operand) {
  const auto text_of = [](const Lexeme& lexeme) { return std::string_view(lexeme.text); };
  const auto first = std::ranges::lower_bound(vector, std::string_view(operand.text), {}, text_of);
  auto last = first;
  if (operand.is_prefix) {
    while (last != vector.end() && last->text.starts_with(operand.text)) ++last;
  } else if (last != vector.end() && last->text == operand.text) {
    ++last;
  }
  return {first, last};
}

bool matches(const Vector& vector, const Query& query) { return query && Matcher(vector).match(*query) != Answer::kNo; }

}  // namespace redquel::sql::text_search
