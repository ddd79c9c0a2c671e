#include "planner/access/ordered_source.h"

#include "sql/types/index_value.h"

namespace redquel::planner {

namespace {

/// Returns the source with this key in the order of an index's column.
OrderedSource source_with(std::string key, sql::Type type) {
  if (!sql::has_score(type)) return {std::move(key), OrderedSource::Encoding::kMember, false};
  return {std::move(key), OrderedSource::Encoding::kScore, sql::score_is_exact(type)};
}

}  // namespace

std::optional<OrderedSource> ordered_source(const sql::TableDef& table, std::int16_t column) {
  const sql::Oid type = table.find_column(column)->type.oid;
  sql::TableKeys keys(table);
  if (table.primary_key.size() == 1 && table.primary_key[0] == column) {
    switch (type) {
      case sql::oid::kInt2:
      case sql::oid::kInt4:
        return OrderedSource{keys.all_rows(), OrderedSource::Encoding::kScore, true};
      case sql::oid::kInt8:
        return OrderedSource{keys.all_rows(), OrderedSource::Encoding::kScore, false};
      case sql::oid::kText:
      case sql::oid::kVarchar:
      case sql::oid::kUuid:
        return OrderedSource{keys.all_rows(), OrderedSource::Encoding::kRowKey, true};
      default:
        break;  // members are not in the type's order: an index of its own may be
    }
  }
  for (const sql::Structure& structure : sql::structures_of(table)) {
    if (structure.kind != sql::Structure::Kind::kZset || !structure.readable || structure.columns[0] != column) continue;
    if (structure.columns.size() > 1) continue;
    return source_with(keys.ordered(column), table.find_column(column)->type);
  }
  return {};
}

std::optional<OrderedSource> value_ordered_source(const sql::TableDef& table, std::span<const std::int16_t> leading, std::int16_t column) {
  sql::Structure wanted{sql::Structure::Kind::kValueZsets, {leading.begin(), leading.end()}};
  wanted.columns.push_back(column);
  for (const sql::Structure& structure : sql::structures_of(table)) {
    if (structure == wanted && structure.readable) return source_with({}, table.find_column(column)->type);
  }
  return {};
}

bool scores_are_values(const sql::TableDef& table, std::int16_t column) {
  const sql::Oid type = table.find_column(column)->type.oid;
  if (type != sql::oid::kInt2 && type != sql::oid::kInt4) return false;
  const auto source = ordered_source(table, column);
  return source && source->encoding == OrderedSource::Encoding::kScore && source->exact;
}

}  // namespace redquel::planner
