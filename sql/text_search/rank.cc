#include "sql/text_search/rank.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sql/interrupts.h"
#include "sql/text_search/match.h"

namespace redquel::sql::text_search {

namespace {

using Kind = QueryNode::Kind;

enum Normalization : std::int32_t { kLogLength = 1, kLength = 2, kDistance = 4, kUnique = 8, kLogUnique = 16, kIntoOne = 32 };

/// The operands of a query, each text once, in order.
std::vector<const QueryNode*> different_operands(const Query& query) {
  std::vector<const QueryNode*> operands = operands_of(query);
  std::ranges::stable_sort(operands, {}, [](const QueryNode* node) { return node->text; });
  const auto same = [](const QueryNode* a, const QueryNode* b) { return a->text == b->text; };
  operands.erase(std::unique(operands.begin(), operands.end(), same), operands.end());
  return operands;
}

/// A lexeme without positions counts as one at the end.
const std::vector<Position> kUnknown{{kLastPosition}};

const std::vector<Position>& positions_of(const Lexeme& lexeme) { return lexeme.positions.empty() ? kUnknown : lexeme.positions; }

/// How much two words are worth together that are so many positions apart.
float nearness(std::int32_t distance) {
  if (distance > 100) return 1e-30F;
  return static_cast<float>(1.0 / (1.005 + 0.05 * std::exp(static_cast<float>(distance) / 1.5 - 2)));
}

float rank_of_any(const Weights& weights, const Vector& vector, const std::vector<const QueryNode*>& operands) {
  constexpr double kLimitOfSum = 1.64493406685;  // of 1 / n²
  float rank = 0;
  for (const QueryNode* operand : operands) {
    for (const Lexeme& lexeme : lexemes_of_operand(vector, *operand)) {
      float sum = 0, best = -1;
      std::int32_t best_at = 0, number = 0;
      for (const Position& position : positions_of(lexeme)) {
        const float weight = weights[position.weight];
        sum = sum + weight / static_cast<float>((number + 1) * (number + 1));
        if (weight > best) best = weight, best_at = number;
        ++number;
      }
      rank = static_cast<float>(rank + (best + sum - best / static_cast<float>((best_at + 1) * (best_at + 1))) / kLimitOfSum);
    }
  }
  return operands.empty() ? rank : rank / static_cast<float>(operands.size());
}

float rank_of_all(const Weights& weights, const Vector& vector, const std::vector<const QueryNode*>& operands) {
  if (operands.size() < 2) return rank_of_any(weights, vector, operands);
  float rank = -1;
  WorkMeter meter;
  std::vector<const std::vector<Position>*> places(operands.size());
  for (std::size_t i = 0; i < operands.size(); ++i) {
    for (const Lexeme& lexeme : lexemes_of_operand(vector, *operands[i])) {
      places[i] = &positions_of(lexeme);
      for (std::size_t k = 0; k < i; ++k) {
        if (places[k] == nullptr) continue;
        meter.add(places[i]->size() * places[k]->size());
        for (const Position& one : *places[i]) {
          for (const Position& other : *places[k]) {
            std::int32_t distance = std::abs(std::int32_t{one.at} - std::int32_t{other.at});
            if (distance == 0 && places[i] != &kUnknown && places[k] != &kUnknown) continue;
            if (distance == 0) distance = kLastPosition + 1;
            const auto worth = static_cast<float>(std::sqrt(weights[one.weight] * weights[other.weight] * nearness(distance)));
            rank = rank < 0 ? worth : static_cast<float>(1.0 - (1.0 - rank) * (1.0 - worth));
          }
        }
      }
    }
  }
  return rank;
}

/// A place in the document with what stands there: operands of the query, by their numbers.
struct Place {
  Position position;
  std::vector<std::size_t> operands;
};

std::vector<Place> places_in(const Vector& vector, const std::vector<const QueryNode*>& operands) {
  std::vector<Place> places;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    for (const Lexeme& lexeme : lexemes_of_operand(vector, *operands[i])) {
      for (const Position& position : positions_of(lexeme)) {
        if (operands[i]->weights == 0 || (operands[i]->weights >> position.weight & 1) != 0) places.push_back({position, {i}});
      }
    }
  }
  const auto order = [](const Place& place) { return std::tuple(place.position.at, place.position.weight, place.operands.front()); };
  std::ranges::stable_sort(places, {}, order);
  std::vector<Place> merged;
  for (Place& place : places) {
    if (!merged.empty() && merged.back().position.at == place.position.at) merged.back().operands.push_back(place.operands.front());
    else merged.push_back(std::move(place));
  }
  return merged;
}

/// The positions of each operand within an extent, as a vector that a query is matched with.
class Extent {
 public:
  explicit Extent(const std::vector<const QueryNode*>& operands) : operands_(operands) { clear(); }

  void clear() { positions_.assign(operands_.size(), {}); }
  void add(const Place& place) {
    for (const std::size_t operand : place.operands) positions_[operand].insert(place.position.at);
  }
  bool satisfies(const Query& query) const {
    Vector vector;
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      if (positions_[i].empty()) continue;
      Lexeme lexeme{operands_[i]->text};
      for (const std::uint16_t at : positions_[i]) lexeme.positions.push_back({at});
      vector.push_back(std::move(lexeme));
    }
    return matches(vector, query);
  }

 private:
  const std::vector<const QueryNode*>& operands_;
  std::vector<std::set<std::uint16_t>> positions_;
};

}  // namespace

float rank(const Weights& weights, const Vector& vector, const Query& query, std::int32_t normalization) {
  if (vector.empty() || !query) return 0;
  const std::vector<const QueryNode*> operands = different_operands(query);
  const bool needs_all = query->kind == Kind::kOperator && (query->operation == Operator::kAnd || query->operation == Operator::kPhrase);
  float rank = needs_all ? rank_of_all(weights, vector, operands) : rank_of_any(weights, vector, operands);
  if (rank < 0) rank = 1e-20F;
  const auto length = static_cast<double>(length_with_positions(vector)), size = static_cast<double>(vector.size());
  if (normalization & kLogLength) rank = static_cast<float>(rank / (std::log(length + 1) / std::log(2.0)));
  if ((normalization & kLength) && length > 0) rank /= static_cast<float>(length);
  if (normalization & kUnique) rank /= static_cast<float>(size);
  if (normalization & kLogUnique) rank = static_cast<float>(rank / (std::log(size + 1) / std::log(2.0)));
  if (normalization & kIntoOne) rank /= rank + 1;
  return rank;
}

float cover_rank(const Weights& weights, const Vector& vector, const Query& query, std::int32_t normalization) {
  if (vector.empty() || !query) return 0;
  const std::vector<const QueryNode*> operands = different_operands(query);
  const Query wanted = over_texts(query);  // its places have the weights and prefixes already
  const std::vector<Place> places = places_in(vector, operands);
  double rank = 0, sum_of_distances = 0, middle_before = 0;
  std::size_t extents = 0, begin = 0;
  WorkMeter meter;
  while (begin < places.size()) {
    // The first place at which all before it, from `begin`, satisfies the query; then the last one from which that still holds.
    Extent extent(operands);
    std::size_t end = begin;
    for (; end < places.size(); ++end) {
      meter.add(64);
      extent.add(places[end]);
      if (extent.satisfies(wanted)) break;
    }
    if (end == places.size()) break;
    extent.clear();
    std::size_t first = end;
    for (;; --first) {
      meter.add(64);
      extent.add(places[first]);
      if (first == begin || extent.satisfies(wanted)) break;
    }
    double inverse = 0;
    for (std::size_t i = first; i <= end; ++i) inverse += 1.0 / static_cast<double>(weights[places[i].position.weight]);
    const double count = static_cast<double>(end - first + 1);
    std::int32_t noise = (places[end].position.at - places[first].position.at) - static_cast<std::int32_t>(end - first);
    if (noise < 0) noise = static_cast<std::int32_t>(end - first) / 2;
    rank += count / inverse / static_cast<double>(1 + noise);
    const double middle = (places[end].position.at + places[first].position.at) / 2.0;
    if (extents > 0 && middle > middle_before) sum_of_distances += 1.0 / (middle - middle_before);
    middle_before = middle;
    ++extents;
    begin = first + 1;
  }
  const auto length = static_cast<double>(length_with_positions(vector)), size = static_cast<double>(vector.size());
  if (normalization & kLogLength) rank /= std::log(length + 1);
  if ((normalization & kLength) && length > 0) rank /= length;
  if ((normalization & kDistance) && extents > 0 && sum_of_distances > 0) rank /= static_cast<double>(extents) / sum_of_distances;
  if (normalization & kUnique) rank /= size;
  if (normalization & kLogUnique) rank /= std::log(size + 1) / std::log(2.0);
  if (normalization & kIntoOne) rank /= rank + 1;
  return static_cast<float>(rank);
}

}  // namespace redquel::sql::text_search
