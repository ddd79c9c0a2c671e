#include "executor/ddl/placement.h"

#include <map>

#include "executor/ddl/object_lookup.h"
#include "executor/storage/placed_table.h"
#include "executor/storage/version_copies.h"
#include "sql/catalog/spread_table.h"

namespace redquel::executor {

namespace {

/// Returns the position with its lowest `bits` bits reversed: successive tables go to buckets that are far apart, hence to different nodes.
std::size_t reversed(std::size_t position, int bits) {
  std::size_t result = 0;
  for (int bit = 0; bit < bits; ++bit) result |= ((position >> bit) & 1) << (bits - 1 - bit);
  return result;
}

std::string_view emptiest_bucket(const sql::CatalogSnapshot& catalog) {
  constexpr int kBits = 6;
  std::map<std::string_view, std::size_t> tables;
  for (const auto& table : catalog.managed_tables()) {
    for (const auto& stored : sql::own_stored_tables(table)) ++tables[stored->tag()];
  }
  const std::vector<std::string>& tags = placement_tags();
  std::string_view best;
  for (std::size_t position = 0; position < tags.size(); ++position) {
    const std::string_view tag = tags[reversed(position, kBits)];
    if (best.empty() || tables[tag] < tables[best]) best = tag;
  }
  return best;
}

}  // namespace

std::string_view tag_of_new_table(const CatalogDraft& draft, const std::vector<const parser::ast::RelationName*>& referenced) {
  if (!sql::uses_cluster()) return {};
  for (const parser::ast::RelationName* name : referenced) {
    if (relation_kind(draft, *name) == RelationKind::kTable) return sql::bucket_tag(sql::bucket_of(find_table(draft, *name)->prefix));
  }
  const auto& show = draft.session().show;
  const bool is_balanced = show && show("redquel.placement") == "balanced";
  return is_balanced ? emptiest_bucket(draft.catalog()) : sql::home_tag();
}

}  // namespace redquel::executor
