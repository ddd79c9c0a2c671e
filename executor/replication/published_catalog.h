#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sql/catalog/catalog.h"

namespace redquel::executor {

/// A table whose changes are sent, with what reading its stored rows needs.
class PublishedTable {
 public:
  /// The kinds of changes that the publications have of it.
  struct Kinds {
    bool inserts = false, updates = false, deletes = false, truncates = false;
  };

  PublishedTable(std::shared_ptr<const sql::TableDef> table, Kinds kinds);

  const sql::TableDef& definition() const { return *table_; }
  const Kinds& kinds() const { return kinds_; }
  /// The columns that subscribers get, in order: all but generated ones.
  const std::vector<const sql::ColumnDef*>& columns() const { return columns_; }
  bool is_key(std::size_t column) const { return is_key_[column]; }
  bool has_identity() const { return has_identity_; }
  /// The column that a field of a row's hash holds. `is_null`: the field marks its value as NULL. nullopt: none.
  struct Field {
    std::size_t column = 0;
    bool is_null = false;
  };
  std::optional<Field> find_field(std::string_view field) const;
  /// The member of the row with this key; nullopt: the key has only a hash of it.
  std::optional<std::string> member_of(std::string_view key) const;
  /// The key of the row with this member.
  std::string row_of(std::string_view member) const;
  /// The values of the key's columns: column → text.
  std::map<std::size_t, std::string> key_values(std::string_view member) const;

 private:
  std::shared_ptr<const sql::TableDef> table_;
  Kinds kinds_;
  std::vector<const sql::ColumnDef*> columns_;
  std::vector<bool> is_key_;
  std::vector<std::size_t> key_columns_;  // in the order of the key; empty: a hidden key
  std::map<std::string, Field, std::less<>> fields_;
  bool has_identity_ = false;
};
using PublishedTablePtr = std::shared_ptr<const PublishedTable>;

/// The stored definitions at one place of the stream, as far as publications need them: field of redquel:catalog → JSON.
using StoredDefinitions = std::map<std::string, std::string, std::less<>>;
/// Returns true for fields of redquel:catalog that StoredDefinitions keep.
bool is_published_definition(std::string_view field);

/// The tables of some publications at one place of the stream.
class PublishedCatalog {
 public:
  /// Throws SqlError 42704 for a publication that does not exist; XX001.
  PublishedCatalog(const StoredDefinitions& definitions, const std::vector<std::string>& publications, const PublishedCatalog* before);

  const std::map<sql::Oid, PublishedTablePtr>& tables() const { return tables_; }
  PublishedTablePtr find(sql::Oid oid) const;
  /// The table that a key of a row or an index belongs to; null: it is none of these.
  PublishedTablePtr table_of_key(std::string_view key) const;

 private:
  std::map<sql::Oid, PublishedTablePtr> tables_;
  std::unordered_map<std::string, PublishedTablePtr> by_prefix_;
};

}  // namespace redquel::executor
