// The extension pg_trgm: similarity of texts by their trigrams.

#include <charconv>

#include "sql/error.h"
#include "sql/extensions/families.h"
#include "sql/extensions/trigrams.h"
#include "sql/functions/lift.h"
#include "sql/session_hooks.h"
#include "sql/sqlstate.h"
#include "sql/types/array_value.h"
#include "sql/types/number_text.h"

namespace redquel::sql {
namespace {

/// A parameter of the session.
struct Threshold {
  std::string_view name;
  double initial;
};
constexpr Threshold kSimilarity{"pg_trgm.similarity_threshold", 0.3}, kWord{"pg_trgm.word_similarity_threshold", 0.6},
    kStrictWord{"pg_trgm.strict_word_similarity_threshold", 0.5};

/// Returns the value of the parameter. 22023 for one that is no number from 0 to 1.
double threshold(Context context, const Threshold& parameter) {
  const std::string* text = context.show == nullptr ? nullptr : context.show(context.session, std::string(parameter.name));
  if (text == nullptr) return parameter.initial;
  double value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || end != text->data() + text->size()) {
    throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("invalid value for parameter \"{}\": \"{}\"", parameter.name, *text));
  }
  if (!(value >= 0 && value <= 1)) {
    throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("{} is outside the valid range for parameter \"{}\" (0 .. 1)", *text, parameter.name));
  }
  return value;
}

float show_limit(Context context) { return static_cast<float>(threshold(context, kSimilarity)); }

float set_limit(Context context, float limit) {
  if (session_hooks().set == nullptr || context.session == nullptr) throw not_supported("set_limit() outside of a session");
  std::string text;
  append_float4(limit, 1, text);
  if (!(limit >= 0 && limit <= 1)) {
    throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("{} is outside the valid range for parameter \"{}\" (0 .. 1)", text, kSimilarity.name));
  }
  session_hooks().set(context.session, std::string(kSimilarity.name), &text, false);
  return limit;
}

void show_trigrams(Text text, std::string& out) {
  const std::vector<std::string> trigrams = trigrams_of(text);
  ArrayValue array;
  for (const std::string& trigram : trigrams) array.add(trigram);
  array.make_vector();
  append_array(oid::kTextArray, array, out);
}

float similarity(Text a, Text b) { return trigram_similarity(a, b); }
float word(Text a, Text b) { return trigram_word_similarity(a, b, TrigramExtent::kAny); }
float strict_word(Text a, Text b) { return trigram_word_similarity(a, b, TrigramExtent::kWholeWords); }

template <auto measure>
float distance(Text a, Text b) {
  return 1 - measure(a, b);
}
template <auto measure>
float commuted(Text a, Text b) {
  return measure(b, a);
}
template <auto measure, const Threshold& parameter>
bool is_similar(Context context, Text a, Text b) {
  return measure(a, b) >= threshold(context, parameter);
}

}  // namespace

Extension pg_trgm_extension() {
  constexpr Volatility kVolatile = Volatility::kVolatile;
  const auto real = [](ScalarFunction function, std::string_view source) { return ExtensionFunction{std::move(function), source}; };
  return {.name = "pg_trgm",
          .version = "1.6",
          .comment = "text similarity measurement and index searching based on trigrams",
          .functions = {
              real(scalar<set_limit>("set_limit", {kFloat4}, kFloat4, kVolatile), "set_limit"),
              real(scalar<show_limit>("show_limit", {}, kFloat4, kStable), "show_limit"),
              real(scalar<show_trigrams>("show_trgm", {kText}, kTextArray), "show_trgm"),
              real(scalar<similarity>("similarity", {kText, kText}, kFloat4), "similarity"),
              real(scalar<is_similar<similarity, kSimilarity>>("similarity_op", {kText, kText}, kBool, kStable), "similarity_op"),
              real(scalar<word>("word_similarity", {kText, kText}, kFloat4), "word_similarity"),
              real(scalar<is_similar<word, kWord>>("word_similarity_op", {kText, kText}, kBool, kStable), "word_similarity_op"),
              real(scalar<is_similar<commuted<word>, kWord>>("word_similarity_commutator_op", {kText, kText}, kBool, kStable),
                   "word_similarity_commutator_op"),
              real(scalar<distance<similarity>>("similarity_dist", {kText, kText}, kFloat4), "similarity_dist"),
              real(scalar<distance<word>>("word_similarity_dist_op", {kText, kText}, kFloat4), "word_similarity_dist_op"),
              real(scalar<distance<commuted<word>>>("word_similarity_dist_commutator_op", {kText, kText}, kFloat4), "word_similarity_dist_commutator_op"),
              real(scalar<strict_word>("strict_word_similarity", {kText, kText}, kFloat4), "strict_word_similarity"),
              real(scalar<is_similar<strict_word, kStrictWord>>("strict_word_similarity_op", {kText, kText}, kBool, kStable),
                   "strict_word_similarity_op"),
              real(scalar<is_similar<commuted<strict_word>, kStrictWord>>("strict_word_similarity_commutator_op", {kText, kText}, kBool, kStable),
                   "strict_word_similarity_commutator_op"),
              real(scalar<distance<strict_word>>("strict_word_similarity_dist_op", {kText, kText}, kFloat4), "strict_word_similarity_dist_op"),
              real(scalar<distance<commuted<strict_word>>>("strict_word_similarity_dist_commutator_op", {kText, kText}, kFloat4),
                   "strict_word_similarity_dist_commutator_op"),
          },
          .operators = {
              {"%", "similarity_op"},
              {"<%", "word_similarity_op"},
              {"%>", "word_similarity_commutator_op"},
              {"<<%", "strict_word_similarity_op"},
              {"%>>", "strict_word_similarity_commutator_op"},
              {"<->", "similarity_dist"},
              {"<<->", "word_similarity_dist_op"},
              {"<->>", "word_similarity_dist_commutator_op"},
              {"<<<->", "strict_word_similarity_dist_op"},
              {"<->>>", "strict_word_similarity_dist_commutator_op"},
          },
          .text_classes = {"gin_trgm_ops", "gist_trgm_ops"}};
}

}  // namespace redquel::sql
