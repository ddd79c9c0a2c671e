#include "executor/catalog/catalog_draft.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "executor/catalog/default_privileges.h"
#include "executor/catalog/dependent_changes.h"
#include "executor/roles/access.h"
#include "executor/roles/user_mappings.h"
#include "executor/storage/mapped_script.h"
#include "sql/catalog/member_form.h"
#include "sql/catalog/role_set.h"
#include "sql/catalog/partitions.h"
#include "sql/catalog/spread_table.h"
#include "sql/catalog/row_types.h"
#include "sql/catalog/table_keys.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"
#include "sql/system_tables/relations.h"
#include "sql/system_tables/trigger_words.h"

namespace redquel::executor {

using sql::SqlError;

namespace {

/// The computed columns of indexes that are gone, go: their fields are never used again.
void drop_unused_computed(sql::TableDef& table) {
  std::erase_if(table.computed, [&](const sql::ColumnDef& computed) {
    const bool is_used = std::ranges::any_of(table.indexes, [&](const sql::IndexDef& index) {
      return std::ranges::find(index.parts, computed.number, &sql::IndexDef::Part::column) != index.parts.end();
    });
    if (!is_used) table.used_fields.push_back(computed.field);
    return !is_used;
  });
}

std::string_view kind_of(const sql::TableDef& table) { return sql::kind_name(table); }
std::string_view kind_of(const sql::ViewDef&) { return "view"; }
std::string_view kind_of(const sql::UserType&) { return "type"; }
std::string_view kind_of(const sql::FunctionDef& function) { return function.procedure ? "procedure" : "function"; }
std::string_view kind_of(const sql::SchemaDef&) { return "schema"; }
/// Returns the name as PostgreSQL shows it in an error about ownership.
std::string shown_name(const auto& definition) { return definition.name; }
std::string shown_name(const sql::UserType& type) { return sql::format_type(sql::Type{type.oid}); }

template <typename Definition>
void require_owner_of(const SessionState& session, const Definition& definition) {
  if (!DependentChanges::are_made()) require_owner(session, definition.owner, kind_of(definition), shown_name(definition));
}

/// Checks that the session's role may make or change the definition, and names a new owner by its oid. `before`: null for a new object.
template <typename Definition>
void settle_owner(const sql::CatalogSnapshot& catalog, const SessionState& session, const Definition* before, Definition& after) {
  if (before != nullptr) {
    require_owner_of(session, *before);
  } else if (!DependentChanges::are_made()) {
    if constexpr (requires { after.schema; }) {
      require_creation(catalog, session, after.schema);
    } else if (!sql::is_temporary_schema(after.name)) {
      require_schema_creation(session);
    }
  }
  if (!sql::is_before_roles(after.owner) || (before != nullptr && before->owner == after.owner)) return;
  const sql::RoleDef* role = sql::known_roles()->find(after.owner);
  if (role == nullptr) throw sql::undefined_role(after.owner);
  after.owner = sql::owner_reference(role->oid);
}

/// The table that writes to the view reach; null: none.
sql::CatalogSnapshot::TablePtr table_under(const sql::CatalogSnapshot& catalog, const sql::ViewDef& view) {
  std::set<sql::Oid> seen;
  sql::Oid base = view.base;
  while (base != 0 && seen.insert(base).second) {
    if (auto table = catalog.find_table(base)) return table;
    const auto below = catalog.find_view(base);
    base = below ? below->base : 0;
  }
  return nullptr;
}

bool has_other_rights(const sql::ViewDef& before, const sql::ViewDef& after) {
  const auto same_acl = [](const sql::ViewDef::Column& a, const sql::ViewDef::Column& b) { return a.acl == b.acl; };
  return before.owner != after.owner || before.acl != after.acl || !std::ranges::equal(before.columns, after.columns, same_acl);
}

}  // namespace

CatalogDraft::CatalogDraft(const LoadedCatalog& loaded, const SessionState& session)
    : session_(session),
      committed_(loaded.snapshot),
      state_(*loaded.snapshot),
      prefixes_(loaded.prefixes),
      pending_removals_(loaded.removals),
      next_oid_(loaded.next_oid),
      first_oid_(loaded.next_oid) {}

sql::Oid CatalogDraft::new_oid() {
  if (next_oid_ == 0) throw damaged_next_oid(state_);
  return next_oid_++;
}

void CatalogDraft::take_oids(sql::Oid first, sql::Oid end) {
  next_oid_ = first;
  end_oid_ = end;
}

std::set<sql::Oid> CatalogDraft::touched() const {
  std::set<sql::Oid> oids = tables_;
  for (const auto* others : {&sequences_, &views_, &types_, &functions_}) oids.insert(others->begin(), others->end());
  return oids;
}

CatalogDraft CatalogDraft::rebased(const LoadedCatalog& now) const {
  CatalogDraft draft(now, session_);
  const auto carry_over = [](const std::set<sql::Oid>& oids, const auto& from, auto& to) {
    for (const sql::Oid oid : oids) {
      if (const auto found = from.find(oid); found != from.end()) {
        to.insert_or_assign(oid, found->second);
      } else {
        to.erase(oid);
      }
    }
  };
  std::vector<sql::Oid> relatives(tables_.begin(), tables_.end());
  for (const sql::Oid oid : tables_) {
    for (const sql::CatalogSnapshot* catalog : std::initializer_list<const sql::CatalogSnapshot*>{&state_, &draft.state_}) {
      const auto* table = catalog->tables.get(oid);
      if (table != nullptr && (*table)->partition) relatives.push_back((*table)->partition->parent);
    }
  }
  carry_over(draft.tables_ = tables_, state_.tables, draft.state_.tables);
  sql::link_partitions(draft.state_, relatives);
  carry_over(draft.sequences_ = sequences_, state_.sequences, draft.state_.sequences);
  carry_over(draft.views_ = views_, state_.views, draft.state_.views);
  carry_over(draft.types_ = types_, state_.types, draft.state_.types);
  carry_over(draft.functions_ = functions_, state_.functions, draft.state_.functions);
  for (const std::string& schema : change_.dropped_schemas) draft.state_.schemas.erase(schema);
  for (const sql::SchemaDef& schema : change_.schemas) draft.state_.schemas.insert_or_assign(schema.name, schema);
  for (const sql::Oid oid : change_.dropped_extensions) draft.state_.extensions.erase(oid);
  for (const sql::ExtensionDef& extension : change_.extensions) draft.state_.extensions.insert_or_assign(extension.oid, extension);
  for (const sql::Oid oid : change_.dropped_publications) draft.state_.publications.erase(oid);
  for (const sql::PublicationDef& publication : change_.publications) draft.state_.publications.insert_or_assign(publication.oid, publication);
  for (const sql::Oid oid : change_.dropped_default_acls) draft.state_.default_acls.erase(oid);
  for (const sql::DefaultAclDef& definition : change_.default_acls) draft.state_.default_acls.insert_or_assign(definition.oid, definition);
  if (change_.server) draft.state_.server = *change_.server;
  for (const auto& [object, acl] : change_.system_acls) draft.state_.system_acls.insert_or_assign(object, acl);
  for (const auto& [prefix, owner] : change_.reserved_prefixes) draft.prefixes_.insert(prefix);
  draft.change_ = change_;
  draft.next_oid_ = next_oid_;
  draft.end_oid_ = end_oid_;
  return draft;
}

std::string CatalogDraft::reserve_prefix(std::string_view schema, std::string_view name, const std::string& owner, std::string_view tag) {
  sql::ReservedPrefixes taken = prefixes_;
  for (const auto& [used, use] : used_) taken.insert(used);
  std::string prefix = std::string(tag).append(sql::choose_prefix(schema, name, taken));
  if (const auto wanted = used_.find(std::string(tag).append(sql::choose_prefix(schema, name, prefixes_))); wanted != used_.end()) {
    notice(sqlstate::kSuccessfulCompletion, fmt::format("keys of \"{}\" begin with \"{}:\"", name, prefix), wanted->second);
  }
  prefixes_.insert(prefix);
  change_.reserved_prefixes.emplace_back(prefix, owner);
  return prefix;
}

bool CatalogDraft::reserve_exactly(const std::string& prefix, const std::string& owner) {
  if (used_.contains(prefix) || prefixes_.collide(prefix)) return false;
  prefixes_.insert(prefix);
  change_.reserved_prefixes.emplace_back(prefix, owner);
  return true;
}

void CatalogDraft::make_known(sql::UserTypePtr type) {
  sql::KnownTypes& known = *session_.known_types;
  const auto extended = std::make_shared<sql::UserTypes>(known.types);
  extended->add({std::move(type)});
  known.types = extended;
}

void CatalogDraft::put(sql::TableDef table) {
  sql::settle_spread(table);
  drop_unused_computed(table);
  const auto before = state_.find_table(table.oid);
  settle_owner(state_, session_, before.get(), table);
  if (before) table.referencing = before->referencing;
  sql::choose_member_forms(before.get(), table);
  if (table.is_mapped() && !DependentChanges::are_made() && !may_define_foreign_tables(state_, current_role(*sql::known_roles(), session_))) {
    throw foreign_server_denied();
  }
  if (sql::UserTypePtr row = sql::row_type_of(table); row && !committed_->tables.contains(table.oid)) make_known(std::move(row));
  replace(table);
  note_references(before.get(), &table);
}

/// If a table is referred to by other tables than before, it gets a new version, so that no session writes to it with the old definition.
void CatalogDraft::note_references(const sql::TableDef* before, const sql::TableDef* after) {
  std::set<sql::Oid> referenced;
  for (const sql::TableDef* table : {before, after}) {
    if (table == nullptr) continue;
    for (const sql::ForeignKeyDef& key : table->foreign_keys) referenced.insert(key.referenced);
  }
  for (sql::Oid oid : referenced) {
    const auto table = state_.find_table(oid);
    if (!table) continue;
    std::vector<sql::Oid> referencing = table->referencing;
    const sql::Oid other = before != nullptr ? before->oid : after->oid;
    const bool refers = after != nullptr && std::ranges::find(after->foreign_keys, oid, &sql::ForeignKeyDef::referenced) != after->foreign_keys.end();
    std::erase(referencing, other);
    if (refers) referencing.insert(std::ranges::lower_bound(referencing, other), other);
    if (referencing == table->referencing) continue;
    sql::TableDef changed = *table;
    changed.referencing = std::move(referencing);
    replace(std::move(changed));
  }
}

namespace {

/// Redis has no version of a part that the table has got now: rows of an open transaction are written by that.
void clear_versions_of_new_parts(const sql::TableDef* before, sql::TableDef& table) {
  for (auto& part : table.parts) {
    std::string version;
    if (before != nullptr) {
      const auto known = std::ranges::find(before->parts, part->oid, &sql::TableDef::oid);
      if (known != before->parts.end()) version = (*known)->version;
    }
    if (part->version == version) continue;
    sql::TableDef changed = *part;
    changed.version = std::move(version);
    part = std::make_shared<const sql::TableDef>(std::move(changed));
  }
}

}  // namespace

void CatalogDraft::replace(sql::TableDef table) {
  tables_.insert(table.oid);
  sql::make_parts(table);
  clear_versions_of_new_parts(state_.find_table(table.oid).get(), table);
  const auto before = state_.find_table(table.oid);
  std::vector<sql::Oid> relatives{table.oid};
  if (before && before->partition) relatives.push_back(before->partition->parent);
  state_.tables.insert_or_assign(relatives.front(), std::make_shared<const sql::TableDef>(std::move(table)));
  sql::link_partitions(state_, relatives);
}

void CatalogDraft::put(sql::SequenceDef sequence) {
  if (!DependentChanges::are_made()) {
    const auto before = state_.sequences.find(sequence.oid);
    if (before == state_.sequences.end()) {
      require_creation(state_, session_, sequence.schema);
    } else {
      require_owner(session_, sql::owner_of(state_, before->second), "sequence", before->second.name);
    }
  }
  if (!state_.sequences.contains(sequence.oid)) {
    const sql::Oid role = current_role(*sql::known_roles(), session_);
    sequence.owner = sequence.owner_table == 0 && role != 0 ? sql::owner_reference(role) : "";
    const sql::Oid owner = sql::owner_role(sql::owner_of(state_, sequence));
    sequence.acl = default_privileges(*this, sql::AclKind::kSequence, owner, sequence.schema);
  }
  const sql::Oid oid = sequence.oid;
  sequences_.insert(oid);
  state_.sequences.insert_or_assign(oid, std::move(sequence));
}

void CatalogDraft::put(sql::ViewDef view) {
  const auto before = state_.find_view(view.oid);
  settle_owner(state_, session_, before.get(), view);
  if (before && has_other_rights(*before, view)) {
    // The table under an updatable view gets another version, so that Redis refuses writes that were checked before.
    if (const auto table = table_under(state_, view)) replace(*table);
  }
  views_.insert(view.oid);
  const sql::Oid oid = view.oid;
  state_.views.insert_or_assign(oid, std::make_shared<const sql::ViewDef>(std::move(view)));
}

void CatalogDraft::put(sql::FunctionDef function) {
  const auto before = state_.functions.find(function.oid);
  settle_owner(state_, session_, before == state_.functions.end() ? nullptr : before->second.get(), function);
  functions_.insert(function.oid);
  const sql::Oid oid = function.oid;
  state_.functions.insert_or_assign(oid, std::make_shared<const sql::FunctionDef>(std::move(function)));
}

void CatalogDraft::put(sql::SchemaDef schema) {
  const auto before = state_.schemas.find(schema.name);
  settle_owner(state_, session_, before == state_.schemas.end() ? nullptr : &before->second, schema);
  std::erase(change_.dropped_schemas, schema.name);
  std::erase_if(change_.schemas, [&](const sql::SchemaDef& other) { return other.name == schema.name; });
  change_.schemas.push_back(schema);
  state_.schemas.insert_or_assign(schema.name, std::move(schema));
}

void CatalogDraft::put(sql::ExtensionDef extension) {
  const sql::Oid oid = extension.oid;
  std::erase_if(change_.extensions, [&](const sql::ExtensionDef& other) { return other.oid == oid; });
  change_.extensions.push_back(extension);
  state_.extensions.insert_or_assign(oid, std::move(extension));
}

void CatalogDraft::drop_extension(sql::Oid oid) {
  std::erase_if(change_.extensions, [&](const sql::ExtensionDef& other) { return other.oid == oid; });
  change_.dropped_extensions.push_back(oid);
  state_.extensions.erase(oid);
}

void CatalogDraft::put(sql::PublicationDef publication) {
  const sql::Oid oid = publication.oid;
  std::erase_if(change_.publications, [&](const sql::PublicationDef& other) { return other.oid == oid; });
  change_.publications.push_back(publication);
  state_.publications.insert_or_assign(oid, std::move(publication));
}

void CatalogDraft::drop_publication(sql::Oid oid) {
  std::erase_if(change_.publications, [&](const sql::PublicationDef& other) { return other.oid == oid; });
  change_.dropped_publications.push_back(oid);
  state_.publications.erase(oid);
}

void CatalogDraft::put(sql::DefaultAclDef definition) {
  const sql::Oid oid = definition.oid;
  std::erase_if(change_.default_acls, [&](const sql::DefaultAclDef& other) { return other.oid == oid; });
  std::erase(change_.dropped_default_acls, oid);
  change_.default_acls.push_back(definition);
  state_.default_acls.insert_or_assign(oid, std::move(definition));
}

void CatalogDraft::drop_default_acl(sql::Oid oid) {
  std::erase_if(change_.default_acls, [&](const sql::DefaultAclDef& other) { return other.oid == oid; });
  change_.dropped_default_acls.push_back(oid);
  state_.default_acls.erase(oid);
}

void CatalogDraft::put(sql::ForeignServerDef server) {
  change_.server = server;
  state_.server = std::move(server);
}

void CatalogDraft::put_system_acl(sql::Oid object_class, sql::Oid oid, sql::Acl acl) {
  change_.system_acls.insert_or_assign({object_class, oid}, acl);
  state_.system_acls.insert_or_assign({object_class, oid}, std::move(acl));
}

void CatalogDraft::put(sql::UserType type) {
  const sql::Oid oid = type.oid;
  const auto before = state_.types.find(oid);
  settle_owner(state_, session_, before == state_.types.end() ? nullptr : before->second.get(), type);
  types_.insert(oid);
  auto made = std::make_shared<const sql::UserType>(std::move(type));
  if (!committed_->types.contains(oid)) make_known(made);
  state_.types.insert_or_assign(oid, std::move(made));
}

void CatalogDraft::drop_type(sql::Oid oid) {
  if (const auto found = state_.types.find(oid); found != state_.types.end()) require_owner_of(session_, *found->second);
  types_.insert(oid);
  state_.types.erase(oid);
}

namespace {

/// Takes the triggers away that keep the materialized view current.
void drop_maintenance(CatalogDraft& draft, const sql::TableDef& view) {
  const auto keeps = [&](const sql::TriggerDef& trigger) { return sql::maintains_view(trigger) && sql::maintained_view(trigger) == view.oid; };
  for (const sql::ViewDef::Reference& reference : view.materialized->references) {
    const auto base = draft.catalog().find_table(reference.relation);
    if (!base || std::ranges::none_of(base->triggers, keeps)) continue;
    sql::TableDef changed = *base;
    std::erase_if(changed.triggers, keeps);
    const DependentChanges dependents;
    draft.put(std::move(changed));
  }
}

}  // namespace

void CatalogDraft::drop_table(sql::Oid oid) {
  const auto table = state_.find_table(oid);
  require_owner_of(session_, *table);
  if (table->materialized) drop_maintenance(*this, *table);
  const sql::Overloaded remove_storage{
      [&](const sql::ManagedRows&) { remove_stored_tables(*table); },
      [&](const sql::MappedRows&) { delete_key(unkept_key(oid)); },  // the rows' keys belong to the application
  };
  std::visit(remove_storage, table->storage);
  for (const sql::Oid sequence : state_.sequences_of(oid)) drop_sequence(sequence);
  tables_.insert(oid);
  state_.tables.erase(oid);
  if (table->partition) sql::link_partitions(state_, {&table->partition->parent, 1});
  note_references(table.get(), nullptr);
}

void CatalogDraft::remove_stored_tables(const sql::TableDef& table) {
  remove(removal_of_table(table));  // and the first part
  for (const auto& part : sql::bucket_parts(table)) {
    if (part->prefix != table.prefix) remove(removal_of_table(*part));
  }
}

void CatalogDraft::count_change(sql::Oid oid) {
  const auto table = state_.find_table(oid);
  if (!table || table->parts.empty()) change_.counted_changes.push_back(oid);
  else std::ranges::transform(table->parts, std::back_inserter(change_.counted_changes), &sql::TableDef::oid);
}

std::string CatalogDraft::reserve_place(const sql::TableDef& table) {
  sql::TableDef moved = table;
  moved.prefix = reserve_prefix(table.schema, table.name, fmt::format("table {}", table.oid), table.tag());
  sql::make_parts(moved);
  reserve_parts(moved);
  return moved.prefix;
}

void CatalogDraft::reserve_parts(const sql::TableDef& table) {
  for (const auto& part : sql::bucket_parts(table)) {
    if (!prefixes_.insert(part->prefix)) continue;
    change_.reserved_prefixes.emplace_back(part->prefix, fmt::format("{}{}", kPartOwner, table.oid));
  }
}

void CatalogDraft::drop_sequence(sql::Oid oid) {
  const auto found = state_.sequences.find(oid);
  if (!DependentChanges::are_made()) require_owner(session_, sql::owner_of(state_, found->second), "sequence", found->second.name);
  if (!found->second.foreign) delete_counter(found->second.key);
  sequences_.insert(oid);
  state_.sequences.erase(oid);
}

void CatalogDraft::renew_counter(sql::Oid oid) {
  sql::SequenceDef sequence = state_.sequences.at(oid);
  delete_counter(sequence.key);
  sequence.key = reserve_prefix(sequence.schema, sequence.name, "sequence " + std::to_string(oid), sql::tag_of(sequence.key)) + ":id";
  put(std::move(sequence));
}

void CatalogDraft::delete_counter(const std::string& key) {
  delete_key(key);
  // A counter of its own, not one under its table's prefix.
  if (!key.ends_with(":id") || !prefixes_.contains(key.substr(0, key.size() - 3))) return;
  const std::string prefix = key.substr(0, key.size() - 3);
  const bool is_tables = std::any_of(state_.tables.begin(), state_.tables.end(),
                                     [&](const auto& entry) { return entry.second->prefix == prefix; });
  const bool is_removed = std::any_of(pending_removals_.begin(), pending_removals_.end(),
                                      [&](const Removal& removal) { return removal.prefix == prefix; });
  if (!is_tables && !is_removed) change_.freed_prefixes.push_back(prefix);
}

void CatalogDraft::drop_view(sql::Oid oid) {
  if (const auto view = state_.find_view(oid)) require_owner_of(session_, *view);
  views_.insert(oid);
  state_.views.erase(oid);
}

void CatalogDraft::drop_function(sql::Oid oid) {
  if (const auto found = state_.functions.find(oid); found != state_.functions.end()) require_owner_of(session_, *found->second);
  functions_.insert(oid);
  state_.functions.erase(oid);
}

void CatalogDraft::drop_schema(const std::string& name) {
  if (const auto found = state_.schemas.find(name); found != state_.schemas.end() && !sql::is_temporary_schema(name)) {
    require_owner_of(session_, found->second);
  }
  if (const auto found = state_.schemas.find(name); found != state_.schemas.end()) {
    const auto default_acls = state_.default_acls;
    for (const auto& [oid, entry] : default_acls) {
      if (entry.schema == found->second.oid) drop_default_acl(oid);
    }
  }
  std::erase_if(change_.schemas, [&](const sql::SchemaDef& schema) { return schema.name == name; });
  change_.dropped_schemas.push_back(name);
  state_.schemas.erase(name);
}

void CatalogDraft::remove_unused_structures(const sql::TableDef& before, const sql::TableDef& after) {
  const std::vector<sql::Structure> kept = sql::structures_of(after);
  std::vector<sql::Structure> unused;
  for (const sql::Structure& structure : sql::structures_of(before)) {
    if (std::find(kept.begin(), kept.end(), structure) == kept.end()) unused.push_back(structure);
  }
  if (unused.empty()) return;
  if (before.parts.empty()) remove(removal_of_structures(before, unused));
  for (const auto& part : before.parts) remove(removal_of_structures(*part, unused));
}

void CatalogDraft::notice(std::string_view sqlstate, std::string message, std::string detail) {
  notices_.push_back(SqlError(sqlstate, std::move(message)).detail(std::move(detail)));
}

/// The removal of a table takes along what is still to be removed of its indexes: its prefix is free when it has ended.
void CatalogDraft::merge_removals() {
  std::vector<Removal>& removals = change_.removals;
  const std::vector<Removal> parts = removals;
  const auto merge = [&](const Removal& part) {
    const auto whole = std::ranges::find_if(removals, [&](const Removal& other) { return other.whole && other.prefix == part.prefix; });
    if (part.whole || whole == removals.end()) return false;
    add_parts(*whole, part);
    return true;
  };
  for (const Removal& part : parts) {
    if (merge(part)) std::erase_if(removals, [&](const Removal& other) { return other.id == part.id; });
  }
  for (const Removal& part : pending_removals_) {
    if (merge(part)) change_.finished_removals.push_back(part.id);
  }
}

CatalogChange CatalogDraft::take_change() {
  merge_removals();
  sql::check_partitions(state_, std::vector<sql::Oid>(tables_.begin(), tables_.end()));
  for (sql::Oid oid : tables_) {
    if (const auto table = state_.find_table(oid)) {
      change_.tables.push_back(*table);
    } else if (committed_->tables.contains(oid)) {
      change_.dropped_tables.push_back(oid);
    }
  }
  for (sql::Oid oid : sequences_) {
    if (const auto found = state_.sequences.find(oid); found != state_.sequences.end()) {
      change_.sequences.push_back(found->second);
    } else if (committed_->sequences.contains(oid)) {
      change_.dropped_sequences.push_back(oid);
    }
  }
  for (sql::Oid oid : views_) {
    if (const auto view = state_.find_view(oid)) {
      change_.views.push_back(*view);
    } else if (committed_->views.contains(oid)) {
      change_.dropped_views.push_back(oid);
    }
  }
  for (sql::Oid oid : types_) {
    if (const auto found = state_.types.find(oid); found != state_.types.end()) {
      change_.types.push_back(found->second);
    } else if (committed_->types.contains(oid)) {
      change_.dropped_types.push_back(oid);
    }
  }
  for (sql::Oid oid : functions_) {
    if (const auto found = state_.functions.find(oid); found != state_.functions.end()) {
      change_.functions.push_back(*found->second);
    } else if (committed_->functions.contains(oid)) {
      change_.dropped_functions.push_back(oid);
    }
  }
  if (end_oid_ == 0 && next_oid_ != first_oid_) {
    change_.first_oid = first_oid_;
    change_.next_oid = next_oid_;
  }
  return std::move(change_);
}

}  // namespace redquel::executor
