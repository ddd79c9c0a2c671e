#include "sql/entries/entry_query.h"

#include <utility>

namespace redquel::sql {

using Kind = EntryQuery::Kind;

EntryQuery one_entry(std::string entry) { return {Kind::kEntry, std::move(entry)}; }
EntryQuery every_row() { return {.kind = Kind::kEverything, .exact = false}; }
EntryQuery no_row() { return {Kind::kNothing}; }

namespace {

/// `whole` ends the combination, `without` adds nothing to it.
EntryQuery combined(Kind kind, Kind whole, Kind without, std::vector<EntryQuery> queries) {
  EntryQuery result{kind};
  for (EntryQuery& query : queries) {
    if (query.kind == whole) return std::move(query);
    result.exact = result.exact && query.exact;
    if (query.kind != without) result.operands.push_back(std::move(query));
  }
  if (result.operands.size() > 1) return result;
  EntryQuery only = result.operands.empty() ? EntryQuery{without} : std::move(result.operands.front());
  only.exact = result.exact && only.kind != Kind::kEverything;
  return only;
}

}  // namespace

EntryQuery all_of(std::vector<EntryQuery> queries) { return combined(Kind::kAll, Kind::kNothing, Kind::kEverything, std::move(queries)); }
EntryQuery any_of(std::vector<EntryQuery> queries) { return combined(Kind::kAny, Kind::kEverything, Kind::kNothing, std::move(queries)); }

}  // namespace redquel::sql
