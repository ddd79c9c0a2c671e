#pragma once

#include <span>

#include "sql/text_search/query.h"
#include "sql/text_search/vector.h"

namespace redquel::sql::text_search {

/// Returns true if the query matches: tsvector @@ tsquery. A phrase needs positions; a weight counts only where there are some.
bool matches(const Vector& vector, const Query& query);

/// The lexemes that an operand of a query means: one, or all that begin so.
std::span<const Lexeme> lexemes_of_operand(const Vector& vector, const QueryNode& operand);

}  // namespace redquel::sql::text_search
