#pragma once

#include <string_view>

#include "sql/text_search/dictionary.h"
#include "sql/text_search/query.h"
#include "sql/text_search/vector.h"

namespace redquel::sql::text_search {

/// Texts become lexemes: the parser's tokens, through the dictionaries of a configuration. Texts that are added one after another make one
/// vector, in which no phrase goes from one to the next.
class Document {
 public:
  explicit Document(const ConfigurationRow& configuration) : configuration_(configuration) {}
  void add(std::string_view text);
  /// 54000 if it is too large.
  Vector vector() &&;

 private:
  const ConfigurationRow& configuration_;
  std::vector<Lexeme> lexemes_;
  std::uint32_t position_ = 0;  // of the last token
};

Vector to_vector(const ConfigurationRow& configuration, std::string_view text);

/// to_tsquery(), plainto_tsquery(), phraseto_tsquery(), websearch_to_tsquery(), with stop words as such. Null: the text has no word.
Query to_query(const ConfigurationRow& configuration, std::string_view text);
Query plain_to_query(const ConfigurationRow& configuration, std::string_view text);
Query phrase_to_query(const ConfigurationRow& configuration, std::string_view text);
Query web_to_query(const ConfigurationRow& configuration, std::string_view text);

}  // namespace redquel::sql::text_search
