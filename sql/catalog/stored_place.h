#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "sql/catalog/buckets.h"
#include "sql/catalog/catalog.h"

namespace redquel::sql {

/// Writes or reads a prefix or key of a definition: stored are the number of its bucket and the rest. On one Redis there is no bucket. Throws
/// out_of_range for the number of a bucket that does not exist.
template <typename Visitor>
void visit_place(Visitor& visitor, std::string_view name, std::string& place) {
  std::optional<int> bucket;
  if (Visitor::kWrites && !tag_of(place).empty()) {
    bucket = bucket_of(place);
    place.erase(0, tag_of(place).size());
  }
  visitor.member("bucket", bucket);
  visitor.member(name, place);
  if (Visitor::kWrites || !bucket) return;
  if (*bucket < 0 || *bucket >= kBucketLimit) throw std::out_of_range("bucket");
  place.insert(0, bucket_tag(*bucket));
}

/// Writes or reads the members of the parts of a table in several buckets.
template <typename Visitor>
void visit(Visitor& visitor, SpreadDef::Place& place) {
  visitor.member("oid", place.oid);
  visitor.member("bucket", place.bucket);
}

template <typename Visitor>
void visit(Visitor& visitor, SpreadDef& spread) {
  visitor.member("column", spread.column);
  visitor.member("buckets", spread.buckets);
  visitor.member("by_default", spread.by_default);
  visitor.member("names_column", spread.names_column);
  visitor.member("parts", spread.places);
}

}  // namespace redquel::sql
