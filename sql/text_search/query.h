#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sql/text_search/vector.h"

namespace redquel::sql::text_search {

struct QueryNode;
/// A query or a part of it; null: an empty one. Parts are shared and never change.
using Query = std::shared_ptr<const QueryNode>;

/// The numbers are those of the binary form.
enum class Operator : std::uint8_t { kNot = 1, kAnd = 2, kOr = 3, kPhrase = 4 };

struct QueryNode {
  enum class Kind : std::uint8_t { kLexeme, kOperator, kStopWord } kind = Kind::kLexeme;
  // kLexeme
  std::string text = {};
  std::uint8_t weights = 0;  // a bit for each weight that the lexeme may have; 0: any
  bool is_prefix = false;
  // kOperator
  Operator operation = Operator::kAnd;
  std::uint16_t distance = 0;  // kPhrase: positions from the left side's end to the right side's end
  Query left = {}, right = {}; // kNot: `right` alone
};

inline constexpr std::uint32_t kMostDistance = kLastPosition + 1;

Query make_lexeme(std::string text, std::uint8_t weights = 0, bool is_prefix = false);
/// Either side may be null: then the other one is the result.
Query make_operator(Operator operation, Query left, Query right, std::uint32_t distance = 1);
Query make_not(Query operand);
/// Stands for a word that is left out, until the query is complete.
Query make_stop_word();
/// The query without stop words: distances grow by what is left out.
Query without_stop_words(const Query& query);

/// A written word as it enters a query.
using MakeOperand = std::function<Query(std::string text, std::uint8_t weights, bool is_prefix)>;
/// Reads `'fat' & ( cat:*AB <-> !rat )`. 42601, 22023, 54000. `make`: lexemes as they are, or what a configuration makes of them.
Query parse_query(std::string_view text, const MakeOperand& make);
Query parse_query(std::string_view text);
/// Reads what users type into a search field: "phrases", or, -without.
Query parse_web_query(std::string_view text, const MakeOperand& make);

std::string query_text(const Query& query);
/// numnode()
std::size_t node_count(const Query& query);
/// The part that an index can answer; null with `matches_all`: every row may match.
Query indexable_part(const Query& query, bool& matches_all);
/// The order of PostgreSQL's btree.
int compare(const Query& a, const Query& b);
/// Its lexemes as they are written, from left to right. The query keeps them.
std::vector<const QueryNode*> operands_of(const Query& query);
/// Its lexemes, each once, in order.
std::vector<std::string> lexemes_of(const Query& query);
/// The query over the texts of its lexemes alone, without weights and prefixes.
Query over_texts(const Query& query);

}  // namespace redquel::sql::text_search
