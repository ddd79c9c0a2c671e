#include "sql/text_search/analysis.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sql/interrupts.h"
#include "sql/text_search/token_parser.h"

namespace redquel::sql::text_search {

namespace {

/// Calls `take(lexemes)` with what each token becomes, none for a stop word. Tokens that no dictionary knows are left out.
template <class Take>
void for_each_token(const ConfigurationRow& configuration, std::string_view text, const Take& take) {
  std::map<TokenKind, std::shared_ptr<const Dictionary>> dictionaries;
  TokenParser parser(text);
  WorkMeter meter;
  while (const std::optional<Token> token = parser.next()) {
    meter.add(token->text.size() + 64);
    if (token->text.size() >= kMostLexemeBytes) continue;
    auto [found, is_new] = dictionaries.try_emplace(token->kind);
    if (is_new) found->second = dictionary_for(configuration, token->kind);
    if (!found->second) continue;
    if (auto lexemes = found->second->lexemes(token->text)) take(*std::move(lexemes));
  }
}

/// The tokens of a query's word side by side, stop words as such.
Query words_of(const ConfigurationRow& configuration, std::string_view text, Operator joint, std::uint8_t weights, bool is_prefix) {
  Query query;
  std::uint32_t missing = 0;  // stop words since the last lexeme
  for_each_token(configuration, text, [&](std::vector<std::string> lexemes) {
    if (lexemes.empty()) {
      ++missing;
      return;
    }
    for (; query && missing > 0; --missing) query = make_operator(joint, std::move(query), make_stop_word());
    missing = 0;
    Query word;
    for (std::string& lexeme : lexemes) word = make_operator(Operator::kAnd, std::move(word), make_lexeme(std::move(lexeme), weights, is_prefix));
    query = make_operator(joint, std::move(query), std::move(word));
  });
  return query ? query : make_stop_word();
}

}  // namespace

void Document::add(std::string_view text) {
  const std::size_t before = lexemes_.size();
  for_each_token(configuration_, text, [&](std::vector<std::string> lexemes) {
    ++position_;
    for (std::string& lexeme : lexemes) lexemes_.push_back({std::move(lexeme), {{static_cast<std::uint16_t>(std::min<std::uint32_t>(position_, kLastPosition))}}});
  });
  if (lexemes_.size() > before) ++position_;
}

Vector Document::vector() && { return settled(std::move(lexemes_), kMostPositions - 1); }

Vector to_vector(const ConfigurationRow& configuration, std::string_view text) {
  Document document(configuration);
  document.add(text);
  return std::move(document).vector();
}

Query to_query(const ConfigurationRow& configuration, std::string_view text) {
  return parse_query(text, [&](const std::string& word, std::uint8_t weights, bool is_prefix) {
    return words_of(configuration, word, Operator::kPhrase, weights, is_prefix);
  });
}

Query plain_to_query(const ConfigurationRow& configuration, std::string_view text) {
  return text.empty() ? nullptr : words_of(configuration, text, Operator::kAnd, 0, false);
}

Query phrase_to_query(const ConfigurationRow& configuration, std::string_view text) {
  return text.empty() ? nullptr : words_of(configuration, text, Operator::kPhrase, 0, false);
}

Query web_to_query(const ConfigurationRow& configuration, std::string_view text) {
  return parse_web_query(text, [&](const std::string& word, std::uint8_t weights, bool is_prefix) {
    return words_of(configuration, word, Operator::kPhrase, weights, is_prefix);
  });
}

}  // namespace redquel::sql::text_search
