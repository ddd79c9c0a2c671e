#include "sql/functions/candidates.h"

#include <algorithm>

#include "sql/functions/polymorphic.h"
#include "sql/functions/resolve.h"

namespace redquel::sql {
namespace {

bool is_preferred(Oid type) {
  const TypeInfo* info = find_type(type);
  return info != nullptr && info->preferred;
}

bool accepts(std::span<const Oid> signature, std::span<const Oid> arguments) {
  for (std::size_t i = 0; i < signature.size(); ++i) {
    const Oid declared = signature[i], given = arguments[i];
    if (declared == given || declared == oid::kAny || given == oid::kUnknown || is_polymorphic(declared)) continue;
    if (!find_cast_path(given, declared, CastContext::kImplicit)) return false;
  }
  return match_polymorphic(signature, arguments).has_value();
}

/// Leaves the candidates that score highest.
template <class Score>
void keep_best(std::vector<std::size_t>& candidates, const Score& score) {
  std::vector<std::size_t> best;
  int highest = 0;
  for (std::size_t candidate : candidates) {
    const int points = score(candidate);
    if (points > highest) best.clear();
    highest = std::max(highest, points);
    if (points == highest) best.push_back(candidate);
  }
  candidates = std::move(best);
}

/// The guess for the unknown argument `slot`: a category, and whether a candidate takes the category's preferred type.
struct SlotGuess {
  TypeCategory category;
  bool preferred;
};

/// nullopt: the candidates' categories contradict each other (and none is a string).
std::optional<SlotGuess> guess_slot(std::span<const std::vector<Oid>> signatures,
                                    const std::vector<std::size_t>& candidates, std::size_t slot) {
  std::optional<SlotGuess> guess;
  bool conflict = false;
  for (std::size_t candidate : candidates) {
    const Oid type = signatures[candidate][slot];
    const TypeCategory category = category_of(type);
    if (!guess) {
      guess = SlotGuess{category, is_preferred(type)};
    } else if (category == guess->category) {
      guess->preferred = guess->preferred || is_preferred(type);
    } else if (category == TypeCategory::kString) {
      guess = SlotGuess{category, is_preferred(type)};
    } else {
      conflict = true;
    }
  }
  if (conflict && guess->category != TypeCategory::kString) return std::nullopt;
  return guess;
}

/// Step 4.e: candidates that take the guessed categories at every unknown argument.
void keep_guessed(std::span<const std::vector<Oid>> signatures, std::span<const Oid> arguments,
                  std::vector<std::size_t>& candidates) {
  std::vector<std::optional<SlotGuess>> guesses(arguments.size());
  for (std::size_t slot = 0; slot < arguments.size(); ++slot) {
    if (arguments[slot] != oid::kUnknown) continue;
    guesses[slot] = guess_slot(signatures, candidates, slot);
    if (!guesses[slot]) return;
  }
  std::vector<std::size_t> kept;
  for (std::size_t candidate : candidates) {
    bool keep = true;
    for (std::size_t slot = 0; slot < arguments.size(); ++slot) {
      if (!guesses[slot]) continue;
      const Oid type = signatures[candidate][slot];
      keep = keep && category_of(type) == guesses[slot]->category && (!guesses[slot]->preferred || is_preferred(type));
    }
    if (keep) kept.push_back(candidate);
  }
  if (!kept.empty()) candidates = std::move(kept);
}

/// Step 4.f: unknown arguments are of the one type that all known ones have.
void keep_of_known_type(std::span<const std::vector<Oid>> signatures, std::span<const Oid> arguments,
                        std::vector<std::size_t>& candidates) {
  Oid known = oid::kUnknown;
  for (Oid argument : arguments) {
    if (argument == oid::kUnknown || argument == known) continue;
    if (known != oid::kUnknown) return;
    known = argument;
  }
  if (known == oid::kUnknown) return;
  const std::vector<Oid> assumed(arguments.size(), known);
  std::vector<std::size_t> kept;
  for (std::size_t candidate : candidates) {
    if (accepts(signatures[candidate], assumed)) kept.push_back(candidate);
  }
  if (kept.size() == 1) candidates = std::move(kept);
}

}  // namespace

TypeCategory category_of(Oid type) {
  const TypeInfo* info = find_type(type);
  return info == nullptr ? TypeCategory::kPseudo : info->category;
}

Choice choose_candidate(std::span<const std::vector<Oid>> signatures, std::span<const Oid> arguments) {
  std::vector<std::size_t> candidates;
  for (std::size_t i = 0; i < signatures.size(); ++i) {
    if (std::ranges::equal(signatures[i], arguments)) return {Choice::Outcome::kFound, i};
    if (accepts(signatures[i], arguments)) candidates.push_back(i);
  }
  if (candidates.empty()) return {Choice::Outcome::kNone};
  const auto decided = [&] { return candidates.size() == 1; };
  const auto found = [&] { return Choice{Choice::Outcome::kFound, candidates.front()}; };
  if (decided()) return found();

  const auto is_known = [&](std::size_t slot) { return arguments[slot] != oid::kUnknown; };
  keep_best(candidates, [&](std::size_t candidate) {
    int exact = 0;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      exact += is_known(i) && signatures[candidate][i] == arguments[i];
    }
    return exact;
  });
  if (decided()) return found();
  keep_best(candidates, [&](std::size_t candidate) {
    int good = 0;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const Oid declared = signatures[candidate][i];
      const bool preferred = category_of(declared) == category_of(arguments[i]) && is_preferred(declared);
      good += is_known(i) && (declared == arguments[i] || preferred);
    }
    return good;
  });
  if (decided()) return found();
  if (std::ranges::find(arguments, oid::kUnknown) == arguments.end()) return {Choice::Outcome::kAmbiguous};
  keep_guessed(signatures, arguments, candidates);
  if (decided()) return found();
  keep_of_known_type(signatures, arguments, candidates);
  if (decided()) return found();
  return {Choice::Outcome::kAmbiguous};
}

}  // namespace redquel::sql
