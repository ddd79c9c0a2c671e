#include "executor/replication/published_catalog.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql/catalog/catalog_json.h"
#include "sql/catalog/key_segments.h"
#include "sql/catalog/publications.h"
#include "sql/catalog/table_keys.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

PublishedTable::PublishedTable(std::shared_ptr<const sql::TableDef> table, Kinds kinds)
    : table_(std::move(table)), kinds_(kinds), has_identity_(sql::has_replica_identity(*table_)) {
  for (const sql::ColumnDef& column : table_->columns) {
    if (!column.generated_sql.empty()) continue;
    const std::size_t index = columns_.size();
    columns_.push_back(&column);
    is_key_.push_back(table_->in_primary_key(column.number));
    fields_.emplace(column.field, Field{index, false});
    fields_.emplace(column.field + std::string(sql::kNullSegment), Field{index, true});
  }
  for (const std::int16_t number : table_->primary_key) {
    const auto column = std::ranges::find(columns_, number, [](const sql::ColumnDef* one) { return one->number; });
    key_columns_.push_back(static_cast<std::size_t>(column - columns_.begin()));  // a generated column cannot be part of a key that is sent
  }
}

std::optional<PublishedTable::Field> PublishedTable::find_field(std::string_view field) const {
  const auto found = fields_.find(field);
  return found == fields_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::string> PublishedTable::member_of(std::string_view key) const {
  const std::string_view rest = key.substr(table_->prefix.size() + 1);
  const std::vector<std::string_view> segments = sql::split_segments(rest);
  if (std::ranges::any_of(segments, sql::is_hashed_segment)) return std::nullopt;
  if (segments.size() == 1) return sql::unescape_segment(rest);
  return std::string(rest);
}

std::string PublishedTable::row_of(std::string_view member) const { return sql::TableKeys(*table_).row_of_member(member); }

std::map<std::size_t, std::string> PublishedTable::key_values(std::string_view member) const {
  std::map<std::size_t, std::string> values;
  if (key_columns_.empty()) return values;
  const std::vector<std::string> texts = sql::TableKeys(*table_).split_member(member);
  for (std::size_t index = 0; index < key_columns_.size(); ++index) {
    if (key_columns_[index] < columns_.size()) values.emplace(key_columns_[index], texts[index]);
  }
  return values;
}

namespace {

constexpr std::string_view kTable = "table:", kPublication = "publication:", kSchema = "schema:";

sql::CatalogSnapshot snapshot_of(const StoredDefinitions& definitions) {
  sql::CatalogSnapshot snapshot;
  snapshot.schemas.emplace("public", sql::SchemaDef{.oid = 2200, .name = "public", .comment = {}, .acl = {}});
  for (const auto& [field, json] : definitions) {
    if (field.starts_with(kTable)) {
      auto table = std::make_shared<sql::TableDef>(sql::decode_table(json));
      snapshot.tables.emplace(table->oid, std::move(table));
    } else if (field.starts_with(kPublication)) {
      sql::PublicationDef publication = sql::decode_publication(json);
      snapshot.publications.emplace(publication.oid, std::move(publication));
    } else if (!json.starts_with('{')) {
      snapshot.schemas.erase(field.substr(kSchema.size()));  // the schema public, which was dropped
    } else {
      sql::SchemaDef schema = sql::decode_schema(json);
      snapshot.schemas.insert_or_assign(schema.name, schema);
    }
  }
  return snapshot;
}

}  // namespace

bool is_published_definition(std::string_view field) {
  return field.starts_with(kTable) || field.starts_with(kPublication) || field.starts_with(kSchema);
}

PublishedCatalog::PublishedCatalog(const StoredDefinitions& definitions, const std::vector<std::string>& publications, const PublishedCatalog* before) {
  const sql::CatalogSnapshot snapshot = snapshot_of(definitions);
  std::map<sql::Oid, PublishedTable::Kinds> kinds;
  for (const std::string& name : publications) {
    const sql::PublicationDef* publication = snapshot.find_publication(name);
    if (publication == nullptr) throw sql::SqlError(sqlstate::kUndefinedObject, fmt::format("publication \"{}\" does not exist", name));
    for (const auto& table : sql::published_tables(snapshot, *publication)) {
      PublishedTable::Kinds& of_table = kinds[table->oid];
      of_table.inserts |= publication->inserts;
      of_table.updates |= publication->updates;
      of_table.deletes |= publication->deletes;
      of_table.truncates |= publication->truncates;
    }
  }
  for (const auto& [oid, of_table] : kinds) {
    const auto table = snapshot.find_table(oid);
    // A table whose definition stayed is the same object, so that its description is sent once.
    const PublishedTablePtr known = before != nullptr ? before->find(oid) : nullptr;
    const bool is_same = known && known->definition().version == table->version && known->kinds().inserts == of_table.inserts &&
                         known->kinds().updates == of_table.updates && known->kinds().deletes == of_table.deletes &&
                         known->kinds().truncates == of_table.truncates;
    const PublishedTablePtr published = is_same ? known : std::make_shared<const PublishedTable>(table, of_table);
    tables_.emplace(oid, published);
    by_prefix_.emplace(table->prefix, published);
  }
}

PublishedTablePtr PublishedCatalog::find(sql::Oid oid) const {
  const auto found = tables_.find(oid);
  return found == tables_.end() ? nullptr : found->second;
}

PublishedTablePtr PublishedCatalog::table_of_key(std::string_view key) const {
  // The longest prefix decides; most keys have one colon.
  for (std::size_t colon = key.rfind(':'); colon != std::string_view::npos && colon > 0; colon = key.rfind(':', colon - 1)) {
    const auto found = by_prefix_.find(std::string(key.substr(0, colon)));
    if (found != by_prefix_.end()) return found->second;
  }
  return nullptr;
}

}  // namespace redquel::executor
