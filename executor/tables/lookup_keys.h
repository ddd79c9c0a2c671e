#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "planner/tree/physical_plan.h"
#include "sql/catalog/member_form.h"
#include "sql/catalog/table_keys.h"
#include "sql/column.h"
#include "sql/evaluation_context.h"

namespace redquel::executor {

/// The lookups of a batch of outer rows: a row's member, a prefix of members, a field of the uniques hash or the key of a set, each
/// distinct one once.
struct LookupKeys {
  std::vector<std::string> names;
  std::vector<sql::MemberEnds> ends;  // of the members of sets, parallel to `names`; empty: they are whole
  std::vector<std::optional<std::size_t>> of_rows;  // numbers of `names`; nullopt: a key with NULL, or one that no row can have
};

LookupKeys lookup_keys(const planner::LookupJoin& join, const sql::TableKeys& keys, const sql::Batch& outer, const sql::EvaluationContext& context);

/// Returns the end of the members with this prefix, for ZRANGE … BYLEX; the last byte of `start` is a ':'.
std::string end_of_start(std::string start);

}  // namespace redquel::executor
