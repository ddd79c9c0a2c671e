#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "executor/ddl/catalog_draft.h"
#include "executor/ddl/ddl.h"
#include "executor/ddl/object_lookup.h"
#include "parser/deparse.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;

namespace {

/// How errors name the kinds of relation that DROP knows.
struct DropKind {
  ast::ObjectType type;
  std::string_view name;        // table "x" does not exist
  std::string_view with_article;  // "x" is not a table
  std::string_view sqlstate;    // of a missing one
  RelationKind relation;
};
constexpr DropKind kKinds[] = {
    {ast::ObjectType::kTable, "table", "a table", "42P01", RelationKind::kTable},
    {ast::ObjectType::kIndex, "index", "an index", "42704", RelationKind::kIndex},
    {ast::ObjectType::kSequence, "sequence", "a sequence", "42P01", RelationKind::kSequence},
    {ast::ObjectType::kView, "view", "a view", "42P01", RelationKind::kNone},
    {ast::ObjectType::kMaterializedView, "materialized view", "a materialized view", "42P01", RelationKind::kNone},
    {ast::ObjectType::kForeignTable, "foreign table", "a foreign table", "42P01", RelationKind::kNone},
};

SqlError wrong_kind(const std::string& name, const DropKind& wanted, RelationKind found) {
  SqlError error("42809", fmt::format("\"{}\" is not {}", name, wanted.with_article));
  switch (found) {
    case RelationKind::kTable:
      return std::move(error).hint("Use DROP TABLE to remove a table.");
    case RelationKind::kIndex:
      return std::move(error).hint("Use DROP INDEX to remove an index.");
    case RelationKind::kSequence:
      return std::move(error).hint("Use DROP SEQUENCE to remove a sequence.");
    default:
      return error;
  }
}

/// Dependent objects that go along are told in one notice.
void report_cascade(CatalogDraft& draft, const std::vector<std::string>& dependents) {
  constexpr std::size_t kReported = 100;
  if (dependents.empty()) return;
  if (dependents.size() == 1) return draft.notice("00000", "drop cascades to " + dependents[0]);
  std::string detail;
  for (std::size_t index = 0; index < std::min(dependents.size(), kReported); ++index) {
    detail += (index == 0 ? "" : "\n") + ("drop cascades to " + dependents[index]);
  }
  if (dependents.size() > kReported) {
    detail += fmt::format("\nand {} other objects (see server log for list)", dependents.size() - kReported);
  }
  draft.notice("00000", fmt::format("drop cascades to {} other objects", dependents.size()), std::move(detail));
}

SqlError still_needed(std::string_view what, const std::vector<std::string>& dependents) {
  std::string detail;
  for (const std::string& dependent : dependents) detail += (detail.empty() ? "" : "\n") + dependent + " depends on " + std::string(what);
  return SqlError("2BP01", fmt::format("cannot drop {} because other objects depend on it", what))
      .detail(std::move(detail))
      .hint("Use DROP ... CASCADE to drop the dependent objects too.");
}

void drop_index(CatalogDraft& draft, const ast::RelationName& name) {
  const auto& path = draft.session().search_path;
  const auto refuse = [&](const std::string& index, const sql::TableDef& table) {
    const std::string shown = display_name(draft, table.schema, table.name);
    return SqlError("2BP01", fmt::format("cannot drop index {} because constraint {} on table {} requires it",
                                         display_name(draft, table.schema, index), parser::quote_identifier(index), shown))
        .hint(fmt::format("You can drop constraint {} on table {} instead.", parser::quote_identifier(index), shown));
  };
  if (const TablePtr table = draft.catalog().find_primary_key(name.schema, name.name, path)) {
    throw refuse(table->primary_key_name, *table);
  }
  const auto [table, index] = draft.catalog().find_index(name.schema, name.name, path);
  if (index == nullptr) return;  // named twice
  if (index->constraint) throw refuse(index->name, *table);
  sql::TableDef changed = *table;
  std::erase_if(changed.indexes, [&](const sql::IndexDef& other) { return other.oid == index->oid; });
  draft.remove_unused_structures(*table, changed);
  draft.put(std::move(changed));
}

void drop_sequence(CatalogDraft& draft, const ast::RelationName& name, bool cascade) {
  const sql::SequenceDef* sequence = draft.catalog().find_sequence(name.schema, name.name, draft.session().search_path);
  if (sequence == nullptr) return;  // named twice
  const std::string shown = "sequence " + display_name(draft, sequence->schema, sequence->name);
  if (const TablePtr table = draft.catalog().find_table(sequence->owner_table)) {
    const sql::ColumnDef* column = table->find_column(sequence->owner_column);
    if (column != nullptr && column->sequence == sequence->oid) {
      const std::string place = fmt::format("column {} of table {}", parser::quote_identifier(column->name),
                                            display_name(draft, table->schema, table->name));
      if (column->identity != sql::ColumnDef::Identity::kNone) {
        throw SqlError("2BP01", fmt::format("cannot drop {} because {} requires it", shown, place))
            .hint(fmt::format("You can drop {} instead.", place));
      }
      const std::string dependent = "default value for " + place;
      if (!cascade) throw still_needed(shown, {dependent});
      report_cascade(draft, {dependent});
      sql::TableDef changed = *table;
      changed.columns[changed.position(column->number)].sequence = 0;
      draft.put(std::move(changed));
    }
  }
  draft.drop_sequence(sequence->oid);
}

void drop_relations(CatalogDraft& draft, const ast::Drop& statement, const DropKind& kind) {
  std::vector<ast::RelationName> found;
  for (const ast::ObjectName& object : statement.names) {
    const ast::RelationName name = relation_name(object.names);
    if (!name.schema.empty() && !is_system_schema(name.schema) && !draft.catalog().schemas.contains(name.schema)) {
      if (!statement.if_exists) throw SqlError("3F000", fmt::format("schema \"{}\" does not exist", name.schema));
      draft.notice("00000", fmt::format("schema \"{}\" does not exist, skipping", name.schema));
      continue;
    }
    const RelationKind relation = relation_kind(draft, name);
    if (relation == RelationKind::kSystemTable) {
      throw SqlError("42501", fmt::format("permission denied: \"{}\" is a system catalog", name.name));
    }
    if (relation == RelationKind::kNone) {
      const std::string message = fmt::format("{} \"{}\" does not exist", kind.name, name.name);
      if (!statement.if_exists) throw SqlError(kind.sqlstate, message);
      draft.notice("00000", message + ", skipping");
      continue;
    }
    if (relation != kind.relation) throw wrong_kind(name.name, kind, relation);
    found.push_back(name);
  }
  for (const ast::RelationName& name : found) {
    switch (kind.relation) {
      case RelationKind::kTable:
        if (const TablePtr table = find_table(draft, name)) draft.drop_table(table->oid);
        break;
      case RelationKind::kIndex:
        drop_index(draft, name);
        break;
      default:
        drop_sequence(draft, name, statement.cascade);
    }
  }
}

void drop_schemas(CatalogDraft& draft, const ast::Drop& statement) {
  std::vector<std::string> dependents;
  for (const ast::ObjectName& object : statement.names) {
    const std::string& name = object.names.back();
    if (is_system_schema(name)) {
      throw SqlError("2BP01", fmt::format("cannot drop schema {} because it is required by the database system", name));
    }
    if (!draft.catalog().schemas.contains(name)) {
      const std::string message = fmt::format("schema \"{}\" does not exist", name);
      if (!statement.if_exists) throw SqlError("3F000", message);
      draft.notice("00000", message + ", skipping");
      continue;
    }
    std::vector<std::pair<sql::Oid, std::string>> members;
    std::vector<sql::Oid> tables, sequences;
    for (const auto& [oid, table] : draft.catalog().tables) {
      if (table->schema != name) continue;
      tables.push_back(oid);
      members.emplace_back(oid, "table " + display_name(draft, name, table->name));
    }
    for (const auto& [oid, sequence] : draft.catalog().sequences) {
      if (sequence.schema != name || sequence.owner_table != 0) continue;
      sequences.push_back(oid);
      members.emplace_back(oid, "sequence " + display_name(draft, name, sequence.name));
    }
    std::sort(members.begin(), members.end());
    std::vector<std::string> shown;
    for (auto& [oid, text] : members) shown.push_back(std::move(text));
    if (!shown.empty() && !statement.cascade) throw still_needed("schema " + parser::quote_identifier(name), shown);
    for (sql::Oid oid : tables) draft.drop_table(oid);
    for (sql::Oid oid : sequences) draft.drop_sequence(oid);
    draft.drop_schema(name);
    dependents.insert(dependents.end(), shown.begin(), shown.end());
  }
  report_cascade(draft, dependents);
}

}  // namespace

asio::awaitable<void> run(DdlContext& context, const ast::Drop& statement) {
  if (statement.object == ast::ObjectType::kDatabase) co_return co_await drop_database(context, statement);
  const auto kind = std::find_if(std::begin(kKinds), std::end(kKinds), [&](const DropKind& k) { return k.type == statement.object; });
  const bool is_schema = statement.object == ast::ObjectType::kSchema;
  if (kind == std::end(kKinds) && !is_schema) throw sql::not_supported("DROP of this kind of object");
  const MakeDraft make = [&](CatalogDraft& draft) {
    if (is_schema) {
      drop_schemas(draft, statement);
    } else {
      drop_relations(draft, statement, *kind);
    }
  };
  co_await change_catalog(context, make);
}

}  // namespace redquel::executor
