#include "executor/ddl/trigger.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "executor/catalog/dependencies.h"
#include "executor/catalog/dependent_changes.h"
#include "executor/ddl/catalog_change.h"
#include "executor/ddl/ddl.h"
#include "executor/ddl/function_lookup.h"
#include "executor/ddl/object_lookup.h"
#include "executor/roles/access.h"
#include "executor/runtime/plpgsql_declarations.h"
#include "executor/runtime/session_context.h"
#include "planner/bind/trigger_condition.h"
#include "sql/catalog/table_triggers.h"
#include "sql/catalog/view_rows.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"
#include "sql/system_tables/trigger_words.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;
using sql::TriggerDef;
using Event = TriggerDef::Event;

namespace {

SqlError missing_trigger(const std::string& name, const std::string& table) {
  return SqlError(sqlstate::kUndefinedObject, fmt::format("trigger \"{}\" for table \"{}\" does not exist", name, table));
}

SqlError duplicate_trigger(const std::string& name, const std::string& table) {
  return SqlError(sqlstate::kDuplicateObject, fmt::format("trigger \"{}\" for relation \"{}\" already exists", name, table));
}

TriggerDef* find_trigger_of(sql::TableDef& table, const std::string& name) {
  const auto found = std::ranges::find_if(table.triggers, [&](const TriggerDef& trigger) { return trigger.name == name && !sql::maintains_view(trigger); });
  return found == table.triggers.end() ? nullptr : &*found;
}

void sort_by_name(sql::TableDef& table) { std::ranges::sort(table.triggers, {}, &TriggerDef::name); }

SqlError wrong_kind(const std::string& name, const char* kind, std::string detail) {
  return SqlError(sqlstate::kWrongObjectType, fmt::format("\"{}\" is {}", name, kind)).detail(std::move(detail));
}

/// Gives a table, or the view that `table` stands for, its changed triggers. The caller has checked the right, which need not be the owner's.
void put_triggers(CatalogDraft& draft, sql::TableDef table) {
  const DependentChanges checked;
  if (!table.of_view) return draft.put(std::move(table));
  sql::ViewDef view = *draft.catalog().find_view(table.oid);
  view.triggers = std::move(table.triggers);
  draft.put(std::move(view));
}

TablePtr view_with_triggers(const CatalogDraft& draft, const ast::RelationName& name) {
  return sql::view_rows(*draft.catalog().find_view(name.schema, name.name, draft.session().search_path));
}

/// The table, or the rows of the view, of a new trigger. 42P01; 42809 for other relations.
TablePtr trigger_table(const CatalogDraft& draft, const ast::CreateTrigger& written) {
  const ast::RelationName& name = written.relation;
  const bool is_instead = written.timing == ast::CreateTrigger::Timing::kInsteadOf;
  switch (relation_kind(draft, name)) {
    case RelationKind::kNone:
      throw missing_relation(draft, name);
    case RelationKind::kSystemTable:
      throw SqlError(sqlstate::kInsufficientPrivilege, fmt::format("permission denied: \"{}\" is a system catalog", name.name));
    case RelationKind::kView:
      if (!is_instead && written.for_each_row) throw wrong_kind(name.name, "a view", "Views cannot have row-level BEFORE or AFTER triggers.");
      if (written.on_truncate) throw wrong_kind(name.name, "a view", "Views cannot have TRUNCATE triggers.");
      return view_with_triggers(draft, name);
    case RelationKind::kIndex:
      throw SqlError(sqlstate::kWrongObjectType, fmt::format("relation \"{}\" cannot have triggers", name.name)).detail("This operation is not supported for indexes.");
    case RelationKind::kSequence:
      throw SqlError(sqlstate::kWrongObjectType, fmt::format("relation \"{}\" cannot have triggers", name.name)).detail("This operation is not supported for sequences.");
    case RelationKind::kTable:
      break;
  }
  TablePtr table = require_table(draft, name);
  if (table->materialized) {
    throw SqlError(sqlstate::kWrongObjectType, fmt::format("relation \"{}\" cannot have triggers", name.name)).detail("This operation is not supported for materialized views.");
  }
  if (table->is_mapped()) {
    if (is_instead) throw wrong_kind(name.name, "a foreign table", "Foreign tables cannot have INSTEAD OF triggers.");
    if (written.on_truncate) throw wrong_kind(name.name, "a foreign table", "Foreign tables cannot have TRUNCATE triggers.");
    if (written.constraint) throw wrong_kind(name.name, "a foreign table", "Foreign tables cannot have constraint triggers.");
  } else if (is_instead) {
    throw wrong_kind(name.name, "a table", "Tables cannot have INSTEAD OF triggers.");
  }
  return table;
}

/// REFERENCING.
void check_transition_tables(const ast::CreateTrigger& written, const sql::TableDef& table) {
  const auto refused = [](const char* message) { return SqlError(sqlstate::kInvalidObjectDefinition, message); };
  const auto unsupported_kind = [](const std::string& name, const char* kind, const char* detail) {
    return SqlError(sqlstate::kFeatureNotSupported, fmt::format("\"{}\" is {}", name, kind)).detail(detail);
  };
  const auto unsupported = [](const char* message) { return SqlError(sqlstate::kFeatureNotSupported, message); };
  const ast::CreateTrigger::TransitionTable* known[2] = {nullptr, nullptr};
  for (const ast::CreateTrigger::TransitionTable& named : written.transition_tables) {
    if (!named.is_table) {
      throw unsupported("ROW variable naming in the REFERENCING clause is not supported").hint("Use OLD TABLE or NEW TABLE for naming transition tables.");
    }
    if (table.is_mapped()) throw wrong_kind(table.name, "a foreign table", "Triggers on foreign tables cannot have transition tables.");
    if (table.of_view) throw wrong_kind(table.name, "a view", "Triggers on views cannot have transition tables.");
    if (table.partition_key && written.for_each_row) {
      throw unsupported_kind(table.name, "a partitioned table", "ROW triggers with transition tables are not supported on partitioned tables.");
    }
    if (table.partition && written.for_each_row) throw unsupported("ROW triggers with transition tables are not supported on partitions");
    if (written.timing != ast::CreateTrigger::Timing::kAfter) throw refused("transition table name can only be specified for an AFTER trigger");
    if (written.on_truncate) throw unsupported("TRUNCATE triggers with transition tables are not supported");
    if (written.on_insert + written.on_update + written.on_delete > 1) {
      throw unsupported("transition tables cannot be specified for triggers with more than one event");
    }
    if (!written.columns.empty()) throw unsupported("transition tables cannot be specified for triggers with column lists");
    if (named.is_new && written.on_delete) throw refused("NEW TABLE can only be specified for an INSERT or UPDATE trigger");
    if (!named.is_new && written.on_insert) throw refused("OLD TABLE can only be specified for a DELETE or UPDATE trigger");
    if (known[named.is_new] != nullptr) throw refused(named.is_new ? "NEW TABLE cannot be specified multiple times" : "OLD TABLE cannot be specified multiple times");
    known[named.is_new] = &named;
  }
  if (known[0] != nullptr && known[1] != nullptr && known[0]->name == known[1]->name) throw refused("OLD TABLE name and NEW TABLE name cannot be the same");
}

/// Throws for parts of the statement that do not go together, in PostgreSQL's order.
void check_parts(const ast::CreateTrigger& written, const sql::TableDef& table) {
  if (written.on_truncate && written.for_each_row) throw SqlError(sqlstate::kFeatureNotSupported, "TRUNCATE FOR EACH ROW triggers are not supported");
  if (written.timing == ast::CreateTrigger::Timing::kInsteadOf) {
    if (!written.for_each_row) throw SqlError(sqlstate::kFeatureNotSupported, "INSTEAD OF triggers must be FOR EACH ROW");
    if (written.condition) throw SqlError(sqlstate::kFeatureNotSupported, "INSTEAD OF triggers cannot have WHEN conditions");
    if (!written.columns.empty()) throw SqlError(sqlstate::kFeatureNotSupported, "INSTEAD OF triggers cannot have column lists");
  }
  check_transition_tables(written, table);
  if (written.names_other_table) throw sql::not_supported("CREATE CONSTRAINT TRIGGER with FROM");
  if (written.deferrable || written.initially_deferred) throw sql::not_supported("CREATE CONSTRAINT TRIGGER with DEFERRABLE");
}

std::vector<std::int16_t> columns_of_update(const sql::TableDef& table, const std::vector<std::string>& names) {
  std::vector<std::int16_t> numbers;
  for (const std::string& name : names) {
    const sql::ColumnDef* column = table.find_column(name);
    if (column == nullptr) throw sql::undefined_column(name, table.name);
    if (std::ranges::find(numbers, column->number) != numbers.end()) throw sql::column_listed_twice(name);
    numbers.push_back(column->number);
  }
  return numbers;
}

sql::Oid trigger_function(const CatalogDraft& draft, const std::vector<std::string>& names) {
  constexpr std::string_view kBuiltIn = "suppress_redundant_updates_trigger";
  const bool is_built_in = names.back() == kBuiltIn && (names.size() == 1 || (names.size() == 2 && names[0] == "pg_catalog"));
  if (is_built_in) return sql::kSuppressRedundantUpdates;
  ast::ObjectName name;
  name.names = names;
  name.arguments_given = true;
  const std::shared_ptr<const sql::FunctionDef> function = require_function(draft, name, ast::ObjectType::kFunction);
  if (function->acl) require_rights(draft.session(), draft.catalog(), sql::AclKind::kFunction, function->oid, sql::right::kExecute);
  if (!is_trigger_type(function->result) || sql::format_type(function->result) != "trigger") {
    throw SqlError(sqlstate::kInvalidObjectDefinition, fmt::format("function {} must return type trigger", fmt::join(names, ".")));
  }
  return function->oid;
}

void require_free_name_below(const CatalogDraft& draft, const sql::TableDef& table, const std::string& name) {
  if (!table.partition_key) return;
  for (const TablePtr& below : draft.catalog().partitions_of(table.oid)) {
    if (std::ranges::find(below->triggers, name, &TriggerDef::name) != below->triggers.end()) throw duplicate_trigger(name, below->name);
    require_free_name_below(draft, *below, name);
  }
}

/// A trigger for each row of a partitioned table is one of its partitions, too. 42710
void require_free_name(const CatalogDraft& draft, const sql::TableDef& table, const TriggerDef& trigger) {
  if (table.partition && sql::inherited_trigger(draft.catalog(), draft.catalog().find_table(table.oid), trigger.name).trigger != nullptr) {
    throw duplicate_trigger(trigger.name, table.name);
  }
  if (trigger.for_each_row) require_free_name_below(draft, table, trigger.name);
}

void create_trigger(CatalogDraft& draft, const ast::CreateTrigger& written) {
  sql::TableDef table = *trigger_table(draft, written);
  require_rights(draft.session(), draft.catalog(), sql::AclKind::kTable, table.oid, sql::right::kTrigger);
  check_parts(written, table);
  TriggerDef trigger;
  trigger.name = written.name;
  trigger.timing = static_cast<TriggerDef::Timing>(written.timing);
  trigger.for_each_row = written.for_each_row;
  const auto add_event = [&](bool is_for, Event event) { trigger.events = static_cast<std::int16_t>(trigger.events | (is_for ? static_cast<int>(event) : 0)); };
  add_event(written.on_insert, Event::kInsert);
  add_event(written.on_delete, Event::kDelete);
  add_event(written.on_update, Event::kUpdate);
  add_event(written.on_truncate, Event::kTruncate);
  for (const ast::CreateTrigger::TransitionTable& named : written.transition_tables) (named.is_new ? trigger.new_table : trigger.old_table) = named.name;
  trigger.arguments = written.arguments;
  trigger.constraint = written.constraint;
  if (written.condition) {
    trigger.when_sql = planner::make_trigger_condition(*written.condition, trigger, table, draft.catalog(), bind_settings(draft.session()));
  }
  trigger.function = trigger_function(draft, written.function);
  const TriggerDef* const existing = find_trigger_of(table, trigger.name);
  if (existing != nullptr && !written.replace) throw duplicate_trigger(trigger.name, table.name);
  require_free_name(draft, table, trigger);
  if (existing != nullptr && existing->constraint) {
    throw SqlError(sqlstate::kDuplicateObject, fmt::format("trigger \"{}\" for relation \"{}\" is a constraint trigger", trigger.name, table.name));
  }
  trigger.columns = columns_of_update(table, written.columns);
  trigger.references = planner::trigger_references(trigger, table, draft.catalog());
  trigger.oid = existing != nullptr ? existing->oid : draft.new_oid();
  if (existing != nullptr) {
    trigger.comment = existing->comment;
    *find_trigger_of(table, trigger.name) = std::move(trigger);
  } else {
    table.triggers.push_back(std::move(trigger));
    sort_by_name(table);
  }
  put_triggers(draft, std::move(table));
}

/// The table and the name of a trigger that is named with its table's parts in front.
std::pair<ast::RelationName, std::string> table_and_trigger(const ast::ObjectName& name) {
  return {relation_name({name.names.begin(), name.names.end() - 1}), name.names.back()};
}

/// The trigger of a partition that a partitioned table above it has: it is changed there. nullopt: there is no such trigger.
std::optional<sql::TableTrigger> trigger_above(const CatalogDraft& draft, const ast::RelationName& relation, const std::string& name) {
  if (relation_kind(draft, relation) != RelationKind::kTable) return std::nullopt;
  sql::TableTrigger found = sql::inherited_trigger(draft.catalog(), require_table(draft, relation), name);
  return found.trigger == nullptr ? std::nullopt : std::optional(std::move(found));
}

/// The owner's table, or the rows of the owner's view, that has the trigger; null: there is none.
std::optional<sql::TableDef> table_with(const CatalogDraft& draft, const ast::RelationName& relation, const std::string& name) {
  if (!relation.schema.empty() && !draft.catalog().schemas.contains(relation.schema)) return std::nullopt;
  const RelationKind kind = relation_kind(draft, relation);
  if (kind != RelationKind::kTable && kind != RelationKind::kView) return std::nullopt;
  sql::TableDef table = kind == RelationKind::kView ? *view_with_triggers(draft, relation) : *require_table(draft, relation);
  if (find_trigger_of(table, name) == nullptr) return std::nullopt;
  require_owner(draft.session(), table.owner, "relation", table.name);
  return table;
}

}  // namespace

void drop_triggers(CatalogDraft& draft, const ast::Drop& statement) {
  for (const ast::ObjectName& object : statement.names) {
    const auto [relation, name] = table_and_trigger(object);
    std::optional<sql::TableDef> table = table_with(draft, relation, name);
    const bool exists = relation.schema.empty() || draft.catalog().schemas.contains(relation.schema);
    if (const auto above = table || !exists ? std::nullopt : trigger_above(draft, relation, name)) {
      const std::string owner = fmt::format("trigger {} on table {}", name, display_name(draft, above->owner->schema, above->owner->name));
      throw SqlError(sqlstate::kDependentObjectsStillExist, fmt::format("cannot drop trigger {} on table {} because {} requires it", name, relation.name, owner))
          .hint(fmt::format("You can drop {} instead.", owner));
    }
    if (!table) {
      drop_missing(draft, statement.object, std::span(&object, 1), statement.if_exists);
      continue;
    }
    std::erase_if(table->triggers, [&, &of = name](const TriggerDef& trigger) { return trigger.name == of; });
    put_triggers(draft, *std::move(table));
  }
}

void rename_trigger(CatalogDraft& draft, const ast::Rename& statement) {
  const ast::RelationName& relation = *statement.relation;
  const RelationKind kind = relation_kind(draft, relation);
  if (kind == RelationKind::kNone) throw missing_relation(draft, relation);
  const bool is_view = kind == RelationKind::kView;
  if (kind != RelationKind::kTable && !is_view) throw missing_trigger(statement.old_name, relation.name);
  sql::TableDef table = is_view ? *view_with_triggers(draft, relation) : *require_table(draft, relation);
  require_owner(draft.session(), table.owner, is_view ? "view" : "table", table.name);
  if (const auto above = trigger_above(draft, relation, statement.old_name)) {
    throw SqlError(sqlstate::kInternalError, fmt::format("cannot rename trigger \"{}\" on table \"{}\"", statement.old_name, table.name))
        .hint(fmt::format("Rename the trigger on the partitioned table \"{}\" instead.", above->owner->name));
  }
  TriggerDef* trigger = find_trigger_of(table, statement.old_name);
  if (trigger == nullptr) throw missing_trigger(statement.old_name, table.name);
  if (statement.new_name != statement.old_name && find_trigger_of(table, statement.new_name) != nullptr) throw duplicate_trigger(statement.new_name, table.name);
  trigger->name = statement.new_name;
  sort_by_name(table);
  put_triggers(draft, std::move(table));
}

void comment_on_trigger(CatalogDraft& draft, const ast::ObjectName& object, const std::string& text) {
  const auto [relation, name] = table_and_trigger(object);
  if (relation_kind(draft, relation) == RelationKind::kNone) throw missing_relation(draft, relation);
  std::optional<sql::TableDef> table = table_with(draft, relation, name);
  if (!table && trigger_above(draft, relation, name)) throw sql::not_supported("COMMENT ON TRIGGER of a trigger that a partitioned table has");
  if (!table) throw missing_trigger(name, relation.name);
  find_trigger_of(*table, name)->comment = text;
  put_triggers(draft, *std::move(table));
}

void set_trigger_firing(const CatalogDraft& draft, sql::TableDef& table, const ast::SetTriggerFiring& written) {
  using Scope = ast::SetTriggerFiring::Scope;
  const auto firing = static_cast<TriggerDef::Firing>(written.firing);
  if (written.scope == Scope::kOne) {
    TriggerDef* trigger = find_trigger_of(table, written.name);
    if (trigger == nullptr && table.partition && sql::inherited_trigger(draft.catalog(), draft.catalog().find_table(table.oid), written.name).trigger != nullptr) {
      throw sql::not_supported("ENABLE and DISABLE in a partition of a trigger that a partitioned table has");
    }
    if (trigger == nullptr) throw missing_trigger(written.name, table.name);
    trigger->firing = firing;
    return;
  }
  if (written.scope == Scope::kAll && firing == TriggerDef::Firing::kDisabled && table.has_foreign_keys()) {
    throw sql::not_supported("ALTER TABLE ... DISABLE TRIGGER ALL of a table with foreign keys");
  }
  for (TriggerDef& trigger : table.triggers) {
    if (!sql::maintains_view(trigger)) trigger.firing = firing;
  }
}

void check_no_trigger_uses(const CatalogDraft& draft, const sql::TableDef& table, std::int16_t column) {
  for (const TriggerDef& trigger : table.triggers) {
    if (!reads(trigger, {DropObject::Kind::kColumn, table.oid, column})) continue;
    throw SqlError(sqlstate::kFeatureNotSupported, "cannot alter type of a column used in a trigger definition")
        .detail(fmt::format("trigger {} on table {} depends on column \"{}\"", trigger.name, display_name(draft, table.schema, table.name),
                            table.find_column(column)->name));
  }
}

asio::awaitable<void> run(DdlContext& context, const ast::CreateTrigger& statement) {
  const MakeDraft make = [&](CatalogDraft& draft) { create_trigger(draft, statement); };
  co_await change_catalog(context, make);
}

}  // namespace redquel::executor
