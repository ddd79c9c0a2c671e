#pragma once

#include <string>
#include <string_view>

#include "sql/discovery/frameworks/framework.h"

namespace redquel::sql {

/// Differences between Bull and BullMQ, which keep jobs in the same way: a hash for each job, and a list or zset for each state.
struct BullVariant {
  std::string_view framework, schema;
  bool has_priority_zset;  // states prioritized and waiting-children, counts of attempts in the fields atm and ats
};

/// Tables of the keys `<prefix>:<queue>:…`, and the view `jobs`.
FoundFramework bull_framework(const BullVariant& variant, const std::string& prefix);
/// Returns true if the hash has the fields that each job of Bull or BullMQ has.
bool is_bull_job(const KeySample& key);
/// Returns the prefix of a key `<prefix>:<queue>:<rest>`; empty: the key has another form.
std::string bull_prefix(std::string_view key);

}  // namespace redquel::sql
