#pragma once

#include <array>
#include <cstdint>

#include "sql/text_search/query.h"
#include "sql/text_search/vector.h"

namespace redquel::sql::text_search {

/// The worth of a position, by its weight from D to A.
using Weights = std::array<float, 4>;
inline constexpr Weights kUsualWeights{0.1F, 0.2F, 0.4F, 1.0F};

/// ts_rank(). `normalization`: the bits of its last argument (manual 12.3.3).
float rank(const Weights& weights, const Vector& vector, const Query& query, std::int32_t normalization);
/// ts_rank_cd(): by the shortest extents that satisfy the query.
float cover_rank(const Weights& weights, const Vector& vector, const Query& query, std::int32_t normalization);

}  // namespace redquel::sql::text_search
