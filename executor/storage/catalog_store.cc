#include "executor/storage/catalog_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "executor/redis/own_keyspace.h"
#include "executor/redis/redis_error.h"
#include "executor/runtime/random_version.h"
#include "executor/scripts/scripts.h"
#include "executor/storage/bucket_writes.h"
#include "executor/storage/definition_parts.h"
#include "executor/storage/exclusive_tables.h"
#include "executor/storage/role_store.h"
#include "executor/storage/stored_format.h"
#include "executor/storage/version_copies.h"
#include "sql/catalog/buckets.h"
#include "sql/catalog/catalog_json.h"
#include "sql/catalog/catalog_references.h"
#include "sql/catalog/partitions.h"
#include "sql/catalog/spread_table.h"
#include "sql/catalog/role_set.h"
#include "sql/catalog/row_types.h"
#include "sql/catalog/stored_keys.h"
#include "sql/error.h"
#include "sql/extensions/extension.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

constexpr sql::Oid kPublicOid = 2200;  // as in PostgreSQL
// A schema that every database has until it is dropped: then its field holds this instead of a definition.
constexpr std::string_view kDropped = "dropped";
constexpr std::string_view kServerField = "server:redis", kNextOidField = "next_oid";

/// Fields and values in turn.
template <typename Take>
void for_each_pair(std::span<const Reply> replies, Take take) {
  for (std::size_t index = 0; index + 1 < replies.size(); index += 2) {
    if (replies[index].is_text() && replies[index + 1].is_text()) take(replies[index].text, replies[index + 1].text);
  }
}

sql::Oid parse_oid(std::string_view text) {
  sql::Oid oid = 0;
  std::from_chars(text.data(), text.data() + text.size(), oid);
  return oid;
}

/// Returns the number; 0: the text is no number as redquel writes it.
sql::Oid parse_next_oid(std::string_view text) {
  const sql::Oid oid = parse_oid(text);
  return std::to_string(oid) == text ? std::max(oid, sql::kFirstUserOid) : 0;
}

LoadedCatalog decode_catalog(const Replies& replies) {
  check_stored_format(replies.text(4));
  LoadedCatalog loaded;
  auto snapshot = std::make_shared<sql::CatalogSnapshot>();
  snapshot->version = replies.text(0).value_or("");
  sql::SchemaDef public_schema;
  public_schema.oid = kPublicOid;
  public_schema.name = "public";
  public_schema.owner = sql::owner_reference(sql::kDatabaseOwnerRole);
  public_schema.comment = "standard public schema";
  snapshot->schemas.emplace("public", std::move(public_schema));
  for_each_pair(replies.array(1), [&](std::string_view field, std::string_view value) {
    if (field == kNextOidField) {
      loaded.next_oid = parse_next_oid(value);
    } else if (field.starts_with("table:")) {
      auto table = std::make_shared<sql::TableDef>(sql::decode_table(value));
      snapshot->tables.emplace(table->oid, std::move(table));
    } else if (field.starts_with("sequence:")) {
      sql::SequenceDef sequence = sql::decode_sequence(value);
      snapshot->sequences.emplace(sequence.oid, std::move(sequence));
    } else if (field.starts_with("view:")) {
      auto view = std::make_shared<sql::ViewDef>(sql::decode_view(value));
      snapshot->views.emplace(view->oid, std::move(view));
    } else if (field.starts_with("type:")) {
      auto type = std::make_shared<sql::UserType>(sql::decode_user_type(value));
      snapshot->types.emplace(type->oid, std::move(type));
    } else if (field.starts_with("function:")) {
      auto function = std::make_shared<sql::FunctionDef>(sql::decode_function(value));
      snapshot->functions.emplace(function->oid, std::move(function));
    } else if (field.starts_with("extension:")) {
      sql::ExtensionDef extension = sql::decode_extension(value);
      snapshot->extensions.emplace(extension.oid, std::move(extension));
    } else if (field.starts_with("publication:")) {
      snapshot->publications.emplace(parse_oid(field.substr(field.find(':') + 1)), sql::decode_publication(value));
    } else if (field.starts_with("default_acl:")) {
      sql::DefaultAclDef definition = sql::decode_default_acl(value);
      snapshot->default_acls.emplace(definition.oid, std::move(definition));
    } else if (field == kServerField) {
      snapshot->server = sql::decode_server(value);
    } else if (field.starts_with("acl:")) {
      const std::size_t colon = std::min(field.find(':', 4), field.size() - 1);
      snapshot->system_acls.insert_or_assign({parse_oid(field.substr(4)), parse_oid(field.substr(colon + 1))}, sql::decode_acl(value));
    } else if (field.starts_with("schema:") && value == kDropped) {
      snapshot->schemas.erase(std::string(field.substr(7)));
    } else if (field.starts_with("schema:")) {
      sql::SchemaDef schema = sql::decode_schema(value);
      snapshot->schemas.insert_or_assign(schema.name, schema);
    }
  });
  if (!is_behind_all(*snapshot, loaded.next_oid)) loaded.next_oid = 0;
  sql::check_type_oids(*snapshot);
  for (const Reply& prefix : replies.array(2)) {
    if (prefix.is_text()) loaded.prefixes.insert(std::string(prefix.text));
  }
  for_each_pair(replies.array(3), [&](std::string_view id, std::string_view value) {
    loaded.removals.push_back(decode_removal(id, value));
  });
  loaded.snapshot = std::move(snapshot);
  return loaded;
}

/// Returns all definitions, with their types.
LoadedCatalog complete_catalog(const Replies& replies) {
  LoadedCatalog loaded = decode_catalog(replies);
  auto snapshot = std::make_shared<sql::CatalogSnapshot>(*loaded.snapshot);
  for (sql::ExtensionDef& extension : sql::built_in_extensions()) snapshot->extensions.emplace(extension.oid, std::move(extension));
  snapshot->user_types = sql::user_types_of(*snapshot);
  {
    const sql::KnownTypesScope types(snapshot->user_types);
    sql::check_references(*snapshot);
    sql::link_all_partitions(*snapshot);
    std::vector<sql::Oid> all;
    for (const auto& [oid, table] : snapshot->tables) all.push_back(oid);
    sql::check_partitions(*snapshot, all);
  }
  loaded.snapshot = std::move(snapshot);
  return loaded;
}

/// Removes the definition of a field that redquel:catalog has no longer.
void remove_field(sql::CatalogSnapshot& snapshot, std::string_view field) {
  const std::size_t colon = field.find(':');
  const std::string_view kind = field.substr(0, colon), name = colon == std::string_view::npos ? field : field.substr(colon + 1);
  if (kind == "table") snapshot.tables.erase(parse_oid(name));
  if (kind == "sequence") snapshot.sequences.erase(parse_oid(name));
  if (kind == "view") snapshot.views.erase(parse_oid(name));
  if (kind == "type") snapshot.types.erase(parse_oid(name));
  if (kind == "function") snapshot.functions.erase(parse_oid(name));
  if (kind == "extension") snapshot.extensions.erase(parse_oid(name));
  if (kind == "publication") snapshot.publications.erase(parse_oid(name));
  if (kind == "default_acl") snapshot.default_acls.erase(parse_oid(name));
  if (kind == "server") snapshot.server = {};
  if (kind == "acl") snapshot.system_acls.erase({parse_oid(name), parse_oid(name.substr(std::min(name.find(':'), name.size() - 1) + 1))});
  if (kind == "schema") snapshot.schemas.erase(std::string(name));
}

/// Puts the definitions of these fields of `changes` into the snapshot.
void put_fields(sql::CatalogSnapshot& snapshot, const sql::CatalogSnapshot& changes, std::span<const Reply> fields) {
  const auto put = [](const auto& from, auto& to) {
    for (const auto& [key, definition] : from) to.insert_or_assign(key, definition);
  };
  put(changes.tables, snapshot.tables);
  put(changes.sequences, snapshot.sequences);
  put(changes.views, snapshot.views);
  put(changes.types, snapshot.types);
  put(changes.functions, snapshot.functions);
  put(changes.extensions, snapshot.extensions);
  put(changes.publications, snapshot.publications);
  put(changes.default_acls, snapshot.default_acls);
  put(changes.system_acls, snapshot.system_acls);
  constexpr std::string_view kSchema = "schema:";
  for_each_pair(fields, [&](std::string_view field, std::string_view) {
    if (field == kServerField) snapshot.server = changes.server;
    if (!field.starts_with(kSchema)) return;
    const std::string name(field.substr(kSchema.size()));
    const auto schema = changes.schemas.find(name);
    if (schema == changes.schemas.end()) snapshot.schemas.erase(name);
    else snapshot.schemas.insert_or_assign(name, schema->second);
  });
}

/// Returns the tables whose definitions differ, and those that they were partitions of.
std::vector<sql::Oid> changed_relatives(const sql::CatalogSnapshot& before, const sql::CatalogSnapshot& after) {
  std::vector<sql::Oid> changed;
  sql::DefinitionMap<std::shared_ptr<const sql::TableDef>>::for_each_difference(before.tables, after.tables, [&](const auto& known, const auto& now) {
    if (known != nullptr && known->second->partition) changed.push_back(known->second->partition->parent);
    if (now != nullptr) changed.push_back(now->first);
  });
  return changed;
}

/// Returns the definitions after the changes that changed_definitions.lua gives.
LoadedCatalog with_changes(const LoadedCatalog& known, std::span<const Reply> answer) {
  constexpr std::size_t kFields = 1, kRemoved = 5, kFreed = 6;
  Replies replies;
  for (const Reply& part : answer) replies.append(part);
  LoadedCatalog loaded = decode_catalog(replies);
  const std::vector<std::string> taken = loaded.prefixes.all();
  loaded.prefixes = known.prefixes;
  for (const std::string& prefix : taken) loaded.prefixes.insert(prefix);
  for (const Reply& prefix : answer[kFreed].children()) loaded.prefixes.erase(std::string(prefix.text));
  if (loaded.snapshot->version == known.snapshot->version) {
    loaded.snapshot = known.snapshot;
    return loaded;
  }
  auto snapshot = std::make_shared<sql::CatalogSnapshot>(*known.snapshot);
  snapshot->version = loaded.snapshot->version;
  put_fields(*snapshot, *loaded.snapshot, answer[kFields].children());
  for (const Reply& field : answer[kRemoved].children()) remove_field(*snapshot, field.text);
  snapshot->user_types = sql::user_types_of(*snapshot, *known.snapshot);
  {
    const sql::KnownTypesScope types(snapshot->user_types);
    sql::check_new_references(*snapshot, *known.snapshot);
    const std::vector<sql::Oid> changed = changed_relatives(*known.snapshot, *snapshot);
    sql::link_partitions(*snapshot, changed);
    sql::check_partitions(*snapshot, changed);
  }
  loaded.snapshot = std::move(snapshot);
  return loaded;
}

/// The arguments of commit_catalog.lua.
class CommitArguments {
 public:
  std::vector<std::string> words;

  void begin() {
    count_at_ = words.size();
    words.emplace_back();
  }
  void add(std::string word) { words.push_back(std::move(word)); }
  void end() { words[count_at_] = std::to_string(words.size() - count_at_ - 1); }
  void pairs(const std::vector<std::pair<std::string, std::string>>& list) {
    begin();
    for (const auto& [first, second] : list) add(first), add(second);
    end();
  }
  void strings(const std::vector<std::string>& list) {
    begin();
    for (const std::string& text : list) add(text);
    end();
  }

 private:
  std::size_t count_at_ = 0;
};

std::string changes_key(const PlacedTable& table) { return own_key(table.tag(), sql::kChangesPrefix) + std::to_string(table.oid()); }

/// Returns the tables that the change defines anew, drops, or has read the rows of.
std::vector<sql::Oid> tables_in_use(const CatalogChange& change) {
  std::vector<sql::Oid> tables = change.dropped_tables;
  for (const sql::TableDef& table : change.tables) tables.push_back(table.oid);
  for (const auto& [table, counter] : change.unchanged_tables) tables.push_back(table);
  return tables;
}

/// The definitions of a change as fields of stored hashes.
struct CatalogFields {
  std::vector<std::pair<std::string, std::string>> definitions, versions;
  std::vector<std::string> dropped, dropped_versions;
};

/// Returns the fields. Gives changed tables the new version, and adds the counters of dropped ones to the deleted keys.
CatalogFields fields_of(const sql::CatalogSnapshot& base, CatalogChange& change, const std::string& new_version) {
  CatalogFields fields;
  auto& [definitions, versions, dropped, dropped_versions] = fields;
  for (sql::TableDef& table : change.tables) {
    table.version = new_version;
    definitions.emplace_back("table:" + std::to_string(table.oid), sql::encode_table(table));
    versions.emplace_back(std::to_string(table.oid), new_version);
  }
  for (const sql::SequenceDef& sequence : change.sequences) {
    definitions.emplace_back("sequence:" + std::to_string(sequence.oid), sql::encode_sequence(sequence));
  }
  for (const sql::ViewDef& view : change.views) {
    definitions.emplace_back("view:" + std::to_string(view.oid), sql::encode_view(view));
  }
  for (sql::Oid oid : change.dropped_views) dropped.push_back("view:" + std::to_string(oid));
  for (const sql::UserTypePtr& type : change.types) {
    definitions.emplace_back("type:" + std::to_string(type->oid), sql::encode_user_type(*type));
  }
  for (sql::Oid oid : change.dropped_types) dropped.push_back("type:" + std::to_string(oid));
  for (const sql::FunctionDef& function : change.functions) {
    definitions.emplace_back("function:" + std::to_string(function.oid), sql::encode_function(function));
  }
  for (sql::Oid oid : change.dropped_functions) dropped.push_back("function:" + std::to_string(oid));
  for (const sql::SchemaDef& schema : change.schemas) definitions.emplace_back("schema:" + schema.name, sql::encode_schema(schema));
  for (const std::string& schema : change.dropped_schemas) {
    if (schema == "public") {
      definitions.emplace_back("schema:public", kDropped);
    } else {
      dropped.push_back("schema:" + schema);
    }
  }
  for (const sql::ExtensionDef& extension : change.extensions) {
    definitions.emplace_back("extension:" + std::to_string(extension.oid), sql::encode_extension(extension));
  }
  for (const sql::Oid oid : change.dropped_extensions) dropped.push_back("extension:" + std::to_string(oid));
  for (const sql::PublicationDef& publication : change.publications) {
    definitions.emplace_back("publication:" + std::to_string(publication.oid), sql::encode_publication(publication));
  }
  for (const sql::Oid oid : change.dropped_publications) dropped.push_back("publication:" + std::to_string(oid));
  for (const sql::DefaultAclDef& definition : change.default_acls) {
    definitions.emplace_back("default_acl:" + std::to_string(definition.oid), sql::encode_default_acl(definition));
  }
  for (sql::Oid oid : change.dropped_default_acls) dropped.push_back("default_acl:" + std::to_string(oid));
  if (change.server) definitions.emplace_back(kServerField, sql::encode_server(*change.server));
  for (const auto& [object, acl] : change.system_acls) {
    definitions.emplace_back("acl:" + std::to_string(object.first) + ":" + std::to_string(object.second), sql::encode_acl(acl));
  }
  if (change.next_oid != 0) definitions.emplace_back(kNextOidField, std::to_string(change.next_oid));
  for (sql::Oid oid : change.dropped_tables) {
    dropped.push_back("table:" + std::to_string(oid));
    dropped_versions.push_back(std::to_string(oid));
    change.deleted_keys.push_back(changes_key(placed(base, oid)));
  }
  for (sql::Oid oid : change.dropped_sequences) dropped.push_back("sequence:" + std::to_string(oid));
  return fields;
}

std::vector<std::string> commit_arguments(const sql::CatalogSnapshot& base, CatalogChange& change,
                                          const std::string& new_version, const std::optional<RoleCommit>& roles) {
  CommitArguments arguments;
  arguments.add(base.version);
  arguments.add(new_version);
  arguments.add(change.first_oid == 0 ? std::string() : std::to_string(change.first_oid));
  arguments.add(std::to_string(sql::kStoredFormat));
  arguments.begin();
  if (roles) {
    arguments.add(std::to_string(change.database));
    for (const std::string& word : roles->arguments) arguments.add(word);
  }
  arguments.end();
  arguments.begin();
  for (const auto& [table, counter] : change.unchanged_tables) arguments.add(changes_key(placed(base, table))), arguments.add(counter);
  arguments.end();
  arguments.begin();
  for (sql::Oid oid : tables_in_use(change)) arguments.add(std::to_string(oid));
  if (sql::uses_cluster()) arguments.add(std::string(kDefinitionsField));
  arguments.end();

  const CatalogFields fields = fields_of(base, change, new_version);
  const auto& [definitions, versions, dropped, dropped_versions] = fields;
  std::vector<std::pair<std::string, std::string>> removals;
  for (const Removal& removal : change.removals) removals.emplace_back(removal.id, encode_removal(removal));

  arguments.pairs(definitions);
  arguments.strings(dropped);
  arguments.pairs(versions);
  arguments.strings(dropped_versions);
  arguments.pairs(change.reserved_prefixes);
  arguments.strings(change.freed_prefixes);
  arguments.pairs(removals);
  arguments.strings(change.finished_removals);
  arguments.strings(change.deleted_keys);
  arguments.pairs(change.renamed_keys);
  arguments.begin();
  for (sql::Oid table : change.counted_changes) arguments.add(changes_key(placed(base, table)));
  arguments.end();
  arguments.begin();
  for (sql::Oid index : change.building) arguments.add(building_key(index)), arguments.add(std::to_string(kBuildLeaseMilliseconds));
  arguments.end();
  return std::move(arguments.words);
}

/// Returns the parts of a change by bucket; none if it concerns the home bucket alone, unless `by_parts`.
std::map<int, std::vector<std::string>> parts_of(const sql::CatalogSnapshot& base, CatalogChange change, const std::string& new_version,
                                                 bool by_parts) {
  using sql::home_key;
  const auto words_of = [](const auto& pairs) {
    std::vector<std::string> words;
    for (const auto& [first, second] : pairs) words.insert(words.end(), {first, second});
    return words;
  };
  DefinitionParts parts;
  parts.expect_value(home_key(sql::kVersionKey), base.version);
  parts.take(sql::home_tag(), std::string(kDefinitionsField));
  if (change.first_oid != 0) parts.expect_field_or_none(home_key(sql::kCatalogKey), std::string(kNextOidField), std::to_string(change.first_oid));
  if (change.next_oid != 0) parts.run_early({"HSET", home_key(sql::kCatalogKey), std::string(kNextOidField), std::to_string(change.next_oid)});
  change.next_oid = 0;
  for (const auto& [oid, counter] : change.unchanged_tables) {
    const PlacedTable table = placed(base, oid);
    parts.take(table.tag(), std::to_string(oid));
    parts.expect_value(changes_key(table), counter);
  }
  const auto drop = [&](const PlacedTable& table) {
    parts.take(table.tag(), std::to_string(table.oid()));
    parts.run({"HDEL", own_key(table.tag(), sql::kVersionsKey), std::to_string(table.oid())});
  };
  const auto drop_part = [&](const PlacedTable& part) {
    drop(part);
    parts.run({"UNLINK", changes_key(part)});
  };
  for (const sql::Oid oid : change.dropped_tables) {
    drop(placed(base, oid));
    for (const PlacedTable& part : placed_parts(base, oid)) drop_part(part);
  }
  const auto define = [&](const PlacedTable& table) {
    if (base.find_table(table.oid())) parts.take(table.tag(), std::to_string(table.oid()));
    parts.run({"HSET", own_key(table.tag(), sql::kVersionsKey), std::to_string(table.oid()), new_version});
  };
  for (const sql::TableDef& table : change.tables) {
    define(table);
    const auto own_parts = sql::bucket_parts(table);
    for (const auto& part : own_parts) define(*part);
    for (const PlacedTable& part : placed_parts(base, table.oid)) {
      if (std::ranges::find(own_parts, part.oid(), &sql::TableDef::oid) == own_parts.end()) drop_part(part);
    }
  }
  const CatalogFields fields = fields_of(base, change, new_version);
  parts.run_pieces("HSET", home_key(sql::kCatalogKey), words_of(fields.definitions));
  parts.run_pieces("HDEL", home_key(sql::kCatalogKey), fields.dropped);
  parts.run_pieces("HSET", home_key(sql::kPrefixesKey), words_of(change.reserved_prefixes));
  parts.run_pieces("HDEL", home_key(sql::kPrefixesKey), change.freed_prefixes);
  for (const Removal& removal : change.removals) {
    parts.run({"HSET", home_key(sql::kRemovalsKey), removal.id, encode_removal(removal)});
    const std::string_view tag = sql::tag_of(removal.prefix);
    if (tag != sql::home_tag()) parts.run({"HSET", own_key(tag, sql::kRemovalsKey), removal.id, "1"});
  }
  for (const std::string& key : change.deleted_keys) parts.run({"UNLINK", key});
  for (const auto& [from, to] : change.renamed_keys) parts.run({"@rename", from, to});
  for (const sql::Oid table : change.counted_changes) parts.run({"INCR", changes_key(placed(base, table))});
  for (const sql::Oid index : change.building) parts.run({"SET", building_key(index), "1", "PX", std::to_string(kBuildLeaseMilliseconds)});
  if (!parts.has_others() && !by_parts) return {};
  if (change.roles) append_change(parts, *change.roles);
  for (const int bucket : parts.buckets()) parts.run_pieces("HDEL", own_key(sql::bucket_tag(bucket), sql::kRemovalsKey), change.finished_removals);
  parts.run({"SET", home_key(sql::kVersionKey), new_version});
  parts.run({"SET", home_key(sql::kFormatKey), std::to_string(sql::kStoredFormat)});
  return parts.words();
}

/// Applies the change to definitions in memory, as commit_catalog.lua does in Redis. Throws 25006 if the change needs keys of tables.
std::optional<std::string> commit_to(OwnKeyspace& own, const sql::CatalogSnapshot& base, CatalogChange change) {
  if (!change.reserved_prefixes.empty() || !change.removals.empty() || !change.building.empty() || !change.renamed_keys.empty()) {
    throw sql::SqlError(sqlstate::kReadOnlyTransaction, "tables with rows of their own cannot be changed: this redquel only looks at Redis");
  }
  std::string new_version = random_version();
  CatalogFields fields = fields_of(base, change, new_version);
  OwnKeyspace::Commit commit{base.version, new_version, std::string(sql::kCatalogKey), std::move(fields.definitions), std::move(fields.dropped), std::move(change.statements)};
  if (change.first_oid != 0) commit.still_free = {std::string(kNextOidField), change.first_oid};
  if (!own.commit(std::move(commit))) return std::nullopt;
  return new_version;
}

}  // namespace

bool CatalogChange::empty() const {
  return tables.empty() && dropped_tables.empty() && sequences.empty() && dropped_sequences.empty() && views.empty() &&
         dropped_views.empty() && types.empty() && dropped_types.empty() && functions.empty() && dropped_functions.empty() && schemas.empty() &&
         dropped_schemas.empty() && extensions.empty() && dropped_extensions.empty() && publications.empty() && dropped_publications.empty() && default_acls.empty() && dropped_default_acls.empty() && !server && system_acls.empty() && reserved_prefixes.empty() && removals.empty() && finished_removals.empty() && deleted_keys.empty() && !roles;
}

namespace {

/// Reads what has changed since the definitions that are known. nullopt: all must be read.
asio::awaitable<std::optional<LoadedCatalog>> load_changes(RedisClient& client, std::shared_ptr<const LoadedCatalog> known,
                                                           ExecutionCounters* counters) {
  std::vector<std::string> keys, arguments{known->snapshot->version};
  for (const std::string_view key : {sql::kVersionKey, sql::kCatalogKey, sql::kPrefixesKey, sql::kRemovalsKey, sql::kFormatKey, sql::kDefinitionLogKey}) {
    keys.push_back(sql::home_key(key));
  }
  for (const Removal& removal : known->removals) arguments.push_back(removal.prefix);
  const RepliesPtr replies = co_await run_script(client, kChangedDefinitionsScript, keys, arguments, counters);
  const Reply& answer = replies->checked(0);
  if (!answer.is_array()) co_return std::nullopt;
  co_await refresh_known_roles();
  co_return with_changes(*known, answer.children());
}

/// Throws if the home bucket of a cluster has lost its data, as if an empty replica was promoted: other buckets still have copies of the version.
asio::awaitable<void> refuse_lost_definitions(RedisClient& client, ExecutionCounters* counters) {
  CommandBatch batch;
  for (const std::string& tag : placement_tags()) batch.add("GET", own_key(tag, sql::kVersionKey));
  const RepliesPtr copies = co_await client.execute(std::move(batch), counters);
  // The first one is that of the home bucket, which may have been written meanwhile.
  const bool is_lost = (*copies)[0].is_nil() && std::ranges::any_of(copies->all(), &Reply::is_text);
  if (!is_lost) co_return;
  throw sql::SqlError(sqlstate::kCannotConnectNow, "the cluster has lost redquel's definitions, but not all of its data")
      .detail(fmt::format("Slot {} is empty.", sql::slot_of(sql::home_tag())))
      .hint("Restore that node. If there is no copy of it, empty the other nodes, too.");
}

}  // namespace

bool is_behind_all(const sql::CatalogSnapshot& catalog, sql::Oid oid) {
  const auto is_behind = [&](const auto& definitions) {
    return definitions.empty() || definitions.rbegin()->first < oid;
  };
  return is_behind(catalog.tables) && is_behind(catalog.sequences) && is_behind(catalog.views) &&
         is_behind(catalog.functions) && is_behind(catalog.extensions) && is_behind(catalog.publications);
}

sql::SqlError damaged_next_oid(const sql::CatalogSnapshot& catalog) {
  sql::Oid highest = sql::kFirstUserOid;
  const auto note = [&](sql::Oid oid) { highest = std::max(highest, oid); };
  const auto note_keys = [&](const auto& definitions) {
    if (!definitions.empty()) note(definitions.rbegin()->first);
  };
  note_keys(catalog.tables), note_keys(catalog.sequences), note_keys(catalog.views), note_keys(catalog.functions), note_keys(catalog.extensions), note_keys(catalog.publications);
  for (const auto& [name, schema] : catalog.schemas) note(schema.oid);
  for (const auto& [oid, table] : catalog.tables) {
    for (const sql::IndexDef& index : table->indexes) note(index.oid);
  }
  constexpr sql::Oid kRoom = 1000;  // constraints and the like have oids of their own
  return sql::SqlError(sqlstate::kDataCorrupted,
                       fmt::format("the field \"{}\" of the key \"{}\" does not hold the next oid", kNextOidField,
                                   sql::home_key(sql::kCatalogKey)))
      .hint(fmt::format("redis-cli HSET {} {} {} writes it anew.", sql::home_key(sql::kCatalogKey), kNextOidField,
                        highest + kRoom));
}

asio::awaitable<LoadedCatalog> load_catalog(RedisClient& client, ExecutionCounters* counters) {
  const std::shared_ptr<const LoadedCatalog> known = client.known_definitions;
  if (known && !known->snapshot->version.empty() && client.own_keyspace() == nullptr) {
    if (std::optional<LoadedCatalog> loaded = co_await load_changes(client, known, counters)) {
      client.known_definitions = std::make_shared<const LoadedCatalog>(*loaded);
      co_return *std::move(loaded);
    }
  }
  CommandBatch batch;
  batch.add("GET", sql::home_key(sql::kVersionKey));
  batch.add("HGETALL", sql::home_key(sql::kCatalogKey));
  batch.add("HKEYS", sql::home_key(sql::kPrefixesKey));
  batch.add("HGETALL", sql::home_key(sql::kRemovalsKey));
  batch.add("GET", sql::home_key(sql::kFormatKey));
  RepliesPtr replies = co_await client.execute_atomic(std::move(batch), counters);
  if (sql::uses_cluster() && (*replies)[0].is_nil()) co_await refuse_lost_definitions(client, counters);
  co_await refresh_known_roles();
  LoadedCatalog loaded = complete_catalog(*replies);
  client.known_definitions = std::make_shared<const LoadedCatalog>(loaded);
  co_return loaded;
}

namespace {

/// Commits the parts of a change in their buckets. Returns false if something is not as expected. Throws 08007 if the outcome is unknown.
asio::awaitable<bool> commit_parts(RedisClient& client, const CatalogCommit& commit) {
  std::vector<BucketWrite> writes;
  for (const auto& [bucket, words] : commit.parts) writes.push_back({bucket, definitions_program(words)});
  std::vector<int> buckets;
  for (const BucketWrite& write : writes) buckets.push_back(write.bucket);
  std::vector<sql::Oid> tables;
  for (const PlacedTable& table : commit.tables) tables.push_back(table.oid());
  co_return co_await commit_writes(client, make_commit_name(std::move(buckets), tables), std::move(writes)) == std::nullopt;
}

}  // namespace

asio::awaitable<std::optional<std::string>> commit_catalog(RedisClient& client, const sql::CatalogSnapshot& base,
                                                           CatalogChange change) {
  if (OwnKeyspace* own = client.own_keyspace()) co_return commit_to(*own, base, std::move(change));
  CatalogCommit commit = encode_commit(base, std::move(change));
  bool is_committed = false, is_busy = true;
  if (commit.parts.empty()) {
    const RepliesPtr replies = co_await run_script(client, kCommitCatalogScript, commit.keys, commit.arguments);
    const std::string_view answer = replies->text(0).value_or("");
    is_committed = answer == "committed";
    is_busy = answer == "busy";
  } else {
    is_committed = co_await commit_parts(client, commit);
  }
  if (is_committed) {
    co_await publish_version(client);
    co_return commit.new_version;
  }
  if (is_busy) co_await wait_while_exclusive(client, std::move(commit.tables));
  co_return std::nullopt;
}

CatalogCommit encode_commit(const sql::CatalogSnapshot& base, CatalogChange change, bool by_parts) {
  CatalogCommit commit;
  commit.new_version = random_version();
  for (const sql::Oid table : tables_in_use(change)) {
    commit.tables.push_back(placed(base, table));
    for (const PlacedTable& part : placed_parts(base, table)) commit.tables.push_back(part);
  }
  if (sql::uses_cluster()) {
    commit.tables.push_back(home_table(0));  // kDefinitionsField
    commit.parts = parts_of(base, change, commit.new_version, by_parts);
    if (!commit.parts.empty()) return commit;
  }
  for (const std::string_view key : {sql::kVersionKey, sql::kCatalogKey, sql::kVersionsKey, sql::kPrefixesKey, sql::kRemovalsKey, sql::kFormatKey}) {
    commit.keys.push_back(sql::home_key(key));
  }
  std::optional<RoleCommit> roles;
  if (change.roles) roles = encode_commit(*change.roles);
  if (roles) commit.keys.insert(commit.keys.end(), roles->keys.begin(), roles->keys.end());
  commit.arguments = commit_arguments(base, change, commit.new_version, roles);
  return commit;
}

asio::awaitable<sql::Oid> reserve_oids(RedisClient& client, sql::Oid count) {
  if (OwnKeyspace* own = client.own_keyspace()) co_return static_cast<sql::Oid>(own->reserve(sql::kCatalogKey, kNextOidField, sql::kFirstUserOid, count));
  const std::vector<std::string> keys{sql::home_key(sql::kCatalogKey)}, arguments{std::to_string(sql::kFirstUserOid), std::to_string(count)};
  const RepliesPtr replies = co_await run_script(client, kReserveOidsScript, keys, arguments);
  co_return static_cast<sql::Oid>(replies->integer(0));
}

std::string building_key(sql::Oid index) { return sql::home_key(sql::kBuildingPrefix) + std::to_string(index); }

}  // namespace redquel::executor
