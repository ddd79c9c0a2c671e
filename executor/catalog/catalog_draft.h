#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "executor/runtime/session_state.h"
#include "executor/storage/catalog_store.h"
#include "executor/storage/table_walk.h"
#include "sql/error.h"

namespace redquel::executor {

/// The catalog as a statement is about to make it: definitions are looked up and replaced here, then committed together.
class CatalogDraft {
 public:
  CatalogDraft(const LoadedCatalog& loaded, const SessionState& session);

  /// The definitions with this draft's changes.
  const sql::CatalogSnapshot& catalog() const { return state_; }
  const SessionState& session() const { return session_; }
  const std::vector<Removal>& pending_removals() const { return pending_removals_; }

  sql::Oid new_oid();
  /// Makes the draft use the oids from `first` to before `end`, which are reserved for it. A draft that is committed at once needs none:
  /// it takes the next ones, and is stale if another session has taken them.
  void take_oids(sql::Oid first, sql::Oid end);
  /// Returns how many oids were taken without a reservation.
  sql::Oid lacking_oids() const { return end_oid_ != 0 && next_oid_ > end_oid_ ? next_oid_ - end_oid_ : 0; }
  /// Returns how many oids were taken beyond those of the draft that it was made from.
  sql::Oid oids_taken_since(const CatalogDraft& before) const { return next_oid_ - before.next_oid_; }

  /// The tables, sequences, views, types and functions that it has made, changed or dropped.
  std::set<sql::Oid> touched() const;
  /// The tables among them.
  const std::set<sql::Oid>& touched_tables() const { return tables_; }
  const std::set<sql::Oid>& touched_sequences() const { return sequences_; }
  /// Prefixes that it has reserved.
  const std::vector<std::pair<std::string, std::string>>& reserved_prefixes() const { return change_.reserved_prefixes; }
  /// Returns the same changes applied to newer definitions. No other session has changed the objects concerned.
  CatalogDraft rebased(const LoadedCatalog& now) const;
  /// A free prefix for a new table or sequence, reserved for `owner`.
  std::string reserve_prefix(std::string_view schema, std::string_view name, const std::string& owner, std::string_view tag);

  /// Returns the prefixes that are taken.
  const sql::ReservedPrefixes& prefixes() const { return prefixes_; }
  /// Keeps tables and sequences from the prefix. `use`: why, for the notice that names the prefix chosen instead.
  void avoid_used_prefix(const std::string& prefix, std::string use) { used_.insert_or_assign(prefix, std::move(use)); }
  /// Marks a prefix as taken, although no definition has it.
  void avoid_prefix(std::string prefix) { prefixes_.insert(std::move(prefix)); }
  /// Returns a free prefix for the rows of a table that is there, reserved for it in each of its buckets.
  std::string reserve_place(const sql::TableDef& table);
  /// Reserves the prefixes of the table's parts, which differ from its own by their tags.
  void reserve_parts(const sql::TableDef& table);
  /// Reserves exactly this prefix; false if it is taken.
  bool reserve_exactly(const std::string& prefix, const std::string& owner);

  /// Tables that its foreign keys refer to, or referred to, learn of it.
  void put(sql::TableDef table);
  void put(sql::SequenceDef sequence);
  void put(sql::ViewDef view);
  void put(sql::FunctionDef function);
  void put(sql::SchemaDef schema);
  void put(sql::ExtensionDef extension);
  void drop_extension(sql::Oid oid);
  void put(sql::PublicationDef publication);
  void drop_publication(sql::Oid oid);
  void put(sql::DefaultAclDef definition);
  void drop_default_acl(sql::Oid oid);
  void put(sql::ForeignServerDef server);
  /// Privileges of an object that every database has.
  void put_system_acl(sql::Oid object_class, sql::Oid oid, sql::Acl acl);
  /// The running statement knows a type that its transaction has made. It knows a changed type as it was: the rows are of that definition.
  void put(sql::UserType type);
  /// With its sequences; its keys go on the removal list.
  void drop_table(sql::Oid oid);
  /// With its counter.
  void drop_sequence(sql::Oid oid);
  /// The sequence gets a counter at another key, where nothing has been given yet; that of before goes.
  void renew_counter(sql::Oid sequence);
  void drop_view(sql::Oid oid);
  void drop_function(sql::Oid oid);
  void drop_schema(const std::string& name);
  /// Nothing may use it any more.
  void drop_type(sql::Oid oid);
  /// Puts those structures on the removal list that the table kept before (as committed) and keeps no longer in `after`.
  void remove_unused_structures(const sql::TableDef& before, const sql::TableDef& after);
  /// Puts all keys of the table on the removal list, in each of its buckets.
  void remove_stored_tables(const sql::TableDef& table);
  void remove(Removal removal) { change_.removals.push_back(std::move(removal)); }
  void delete_key(std::string key) { change_.deleted_keys.push_back(std::move(key)); }
  void rename_key(std::string from, std::string to) { change_.renamed_keys.emplace_back(std::move(from), std::move(to)); }
  /// The change is refused if any session wrote to the table since its counter had this value.
  void require_unchanged(const TableState& state) {
    change_.unchanged_tables.insert(change_.unchanged_tables.end(), state.change_counters.begin(), state.change_counters.end());
  }
  void require_unchanged(sql::Oid table, std::string counter) {
    change_.unchanged_tables.emplace_back(table, std::move(counter));
  }

  /// Rows of the table change with this: its counter goes up, or those of its parts.
  void count_change(sql::Oid table);

  /// The index is committed as building, and its build begins at once.
  void begin_build(sql::Oid index) { change_.building.push_back(index); }

  /// Notes the text of the statement that makes the changes.
  void note_statement(std::string text) { change_.statements.push_back(std::move(text)); }

  /// Sent to the client once the change is committed.
  void notice(std::string_view sqlstate, std::string message, std::string detail = {});
  const std::vector<sql::SqlError>& notices() const { return notices_; }
  std::vector<sql::SqlError> take_notices() { return std::exchange(notices_, {}); }

  /// Returns the change to commit; empty if nothing changed.
  CatalogChange take_change();

 private:
  /// The running statement knows the type from now on.
  void make_known(sql::UserTypePtr type);
  void note_references(const sql::TableDef* before, const sql::TableDef* after);
  void delete_counter(const std::string& key);
  void merge_removals();
  void replace(sql::TableDef table);

  const SessionState& session_;
  sql::CatalogPtr committed_;
  sql::CatalogSnapshot state_;
  sql::ReservedPrefixes prefixes_;
  std::map<std::string, std::string> used_;  // prefixes that are not redquel's, and by what they are used
  std::vector<Removal> pending_removals_;
  sql::Oid next_oid_, first_oid_;
  sql::Oid end_oid_ = 0;  // of those that only this draft has; 0: it has none
  std::set<sql::Oid> tables_, sequences_, views_, types_, functions_;  // touched
  CatalogChange change_;
  std::vector<sql::SqlError> notices_;
};

/// The beginning of the owner of a prefix, if the owner is a part of a table.
inline constexpr std::string_view kPartOwner = "part of table ";

/// Makes a statement's changes. It may be called several times, each time for another draft.
using MakeDraft = std::function<void(CatalogDraft&)>;

}  // namespace redquel::executor
