#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sql/catalog/buckets.h"
#include "sql/catalog/catalog.h"
#include "sql/catalog/spread_table.h"

namespace redquel::executor {

/// A table by its oid, and the bucket of a cluster that has its keys, locks and counters. Ordered by oids.
class PlacedTable {
 public:
  /// A table of one Redis.
  PlacedTable(sql::Oid oid = 0) : oid_(oid) {}
  PlacedTable(sql::Oid oid, int bucket) : oid_(oid), bucket_(static_cast<std::int16_t>(bucket)) {}
  PlacedTable(const sql::TableDef& table) : oid_(table.oid), bucket_(table.tag().empty() ? kNone : static_cast<std::int16_t>(sql::bucket_of(table.prefix))) {}

  sql::Oid oid() const { return oid_; }
  /// kNone: one Redis.
  int bucket() const { return bucket_; }
  std::string_view tag() const { return bucket_ == kNone ? std::string_view() : sql::bucket_tag(bucket_); }

  friend auto operator<=>(const PlacedTable& a, const PlacedTable& b) { return a.oid_ <=> b.oid_; }
  friend bool operator==(const PlacedTable& a, const PlacedTable& b) { return a.oid_ == b.oid_; }

  static constexpr std::int16_t kNone = -1;

 private:
  sql::Oid oid_;
  std::int16_t bucket_ = kNone;
};

/// Returns a table whose own keys are in the home bucket, such as a foreign one.
inline PlacedTable home_table(sql::Oid oid) { return sql::uses_cluster() ? PlacedTable(oid, sql::kHomeBucket) : PlacedTable(oid); }

/// Returns the table with its bucket as the catalog has it. A table that is gone is in the home bucket.
inline PlacedTable placed(const sql::CatalogSnapshot& catalog, sql::Oid oid) {
  if (const auto table = catalog.find_table(oid)) return *table;
  return home_table(oid);
}

/// Returns the parts of a table of the catalog that lies in several buckets; none for other tables.
inline std::vector<PlacedTable> placed_parts(const sql::CatalogSnapshot& catalog, sql::Oid oid) {
  std::vector<PlacedTable> parts;
  if (const auto table = catalog.find_table(oid)) {
    for (const auto& part : sql::bucket_parts(*table)) parts.emplace_back(*part);
  }
  return parts;
}

/// Returns a key of stored_keys.h behind the tag of a bucket.
inline std::string own_key(std::string_view tag, std::string_view key) { return std::string(tag).append(key); }

}  // namespace redquel::executor
