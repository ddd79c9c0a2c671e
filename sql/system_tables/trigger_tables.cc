// pg_trigger, and the triggers of information_schema.

#include <algorithm>
#include <tuple>

#include "sql/catalog/view_rows.h"
#include "sql/functions/object_names.h"
#include "sql/functions/quote.h"
#include "sql/system_tables/constraints.h"
#include "sql/system_tables/families.h"
#include "sql/system_tables/row_writer.h"
#include "sql/system_tables/shown_objects.h"
#include "sql/system_tables/trigger_words.h"
#include "sql/types/text_io.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {

using Event = TriggerDef::Event;
using Timing = TriggerDef::Timing;

std::int16_t trigger_type(const TriggerDef& trigger) {
  int type = trigger.for_each_row ? 1 : 0;
  if (trigger.timing == Timing::kBefore) type |= 2;
  if (trigger.timing == Timing::kInsteadOf) type |= 64;
  if (trigger.is_for(Event::kInsert)) type |= 4;
  if (trigger.is_for(Event::kDelete)) type |= 8;
  if (trigger.is_for(Event::kUpdate)) type |= 16;
  if (trigger.is_for(Event::kTruncate)) type |= 32;
  return static_cast<std::int16_t>(type);
}

std::string trigger_condition(const TableDef& table, const TriggerDef& trigger, bool pretty, const EvaluationContext& context) {
  return trigger.when_sql.empty() ? std::string() : written_expression(table, trigger.when_sql, pretty, context);
}

std::string trigger_action(const TriggerDef& trigger, const EvaluationContext& context) {
  const bool is_built_in = trigger.function == kSuppressRedundantUpdates;
  const std::string function = is_built_in ? "suppress_redundant_updates_trigger" : object_name(Type{oid::kRegproc}, trigger.function, context);
  std::string text = "EXECUTE FUNCTION " + function + "(";
  for (const std::string& argument : trigger.arguments) {
    if (text.back() != '(') text += ", ";
    append_quoted_literal(argument, text);
  }
  return text + ")";
}

std::string trigger_definition(const TableDef& table, const TriggerDef& trigger, bool pretty, const EvaluationContext& context) {
  std::string text = trigger.constraint ? "CREATE CONSTRAINT TRIGGER " : "CREATE TRIGGER ";
  append_quoted_identifier(trigger.name, text);
  text += trigger.timing == Timing::kBefore ? " BEFORE" : trigger.timing == Timing::kAfter ? " AFTER" : " INSTEAD OF";
  bool is_first = true;
  const auto add_event = [&](Event event, std::string_view word) {
    if (!trigger.is_for(event)) return;
    text.append(is_first ? " " : " OR ").append(word);
    is_first = false;
  };
  add_event(Event::kInsert, "INSERT");
  add_event(Event::kDelete, "DELETE");
  add_event(Event::kUpdate, "UPDATE");
  if (trigger.is_for(Event::kUpdate)) {
    for (const std::int16_t number : trigger.columns) {
      const ColumnDef* column = table.find_column(number);
      if (column == nullptr) continue;
      text += number == trigger.columns.front() ? " OF " : ", ";
      append_quoted_identifier(column->name, text);
    }
  }
  add_event(Event::kTruncate, "TRUNCATE");
  text += " ON ";
  if (pretty) {
    text += relation_name(table.oid, context);
  } else {
    append_quoted_identifier(table.schema, text);
    text += '.';
    append_quoted_identifier(table.name, text);
  }
  if (trigger.constraint) {
    text += trigger.deferrable ? " DEFERRABLE INITIALLY " : " NOT DEFERRABLE INITIALLY ";
    text += trigger.initially_deferred ? "DEFERRED" : "IMMEDIATE";
  }
  if (!trigger.old_table.empty() || !trigger.new_table.empty()) text += " REFERENCING";
  for (const auto& [word, name] : {std::pair(" OLD TABLE AS ", &trigger.old_table), std::pair(" NEW TABLE AS ", &trigger.new_table)}) {
    if (name->empty()) continue;
    text += word;
    append_quoted_identifier(*name, text);
  }
  text += trigger.for_each_row ? " FOR EACH ROW " : " FOR EACH STATEMENT ";
  if (!trigger.when_sql.empty()) text += "WHEN (" + trigger_condition(table, trigger, pretty, context) + ") ";
  return text + trigger_action(trigger, context);
}

std::pair<std::shared_ptr<const TableDef>, const TriggerDef*> find_trigger(const CatalogSnapshot& catalog, Oid oid) {
  std::pair<std::shared_ptr<const TableDef>, const TriggerDef*> result;
  for_each_with_triggers(catalog, [&](const std::shared_ptr<const TableDef>& table) {
    const auto found = std::ranges::find(table->triggers, oid, &TriggerDef::oid);
    if (found != table->triggers.end()) result = {table, &*found};
  });
  return result;
}

namespace {

char firing_letter(TriggerDef::Firing firing) {
  switch (firing) {
    case TriggerDef::Firing::kOrigin: return 'O';
    case TriggerDef::Firing::kDisabled: return 'D';
    case TriggerDef::Firing::kReplica: return 'R';
    case TriggerDef::Firing::kAlways: return 'A';
  }
  return 'O';
}

/// Each argument with a zero byte behind it.
std::string argument_bytes(const TriggerDef& trigger) {
  std::string bytes;
  for (const std::string& argument : trigger.arguments) bytes.append(argument).push_back('\0');
  return bytes;
}

void triggers(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  for_each_with_triggers(catalog, [&](const std::shared_ptr<const TableDef>& table) {
    for (const TriggerDef& trigger : table->triggers) {
      if (maintains_view(trigger)) continue;
      const std::string condition = trigger_condition(*table, trigger, false, context);
      const std::string arguments = argument_bytes(trigger), columns = vector_text(trigger.columns);
      out.add(trigger.oid, table->oid, 0, trigger.name, trigger.function, trigger_type(trigger), firing_letter(trigger.firing), false, 0, 0,
              trigger.constraint ? trigger.oid : 0, trigger.deferrable, trigger.initially_deferred,
              static_cast<std::int16_t>(trigger.arguments.size()), columns, arguments, null_if_empty(condition),
              null_if_empty(trigger.old_table), null_if_empty(trigger.new_table));
    }
  });
}

std::string_view timing_word(Timing timing) {
  return timing == Timing::kBefore ? "BEFORE" : timing == Timing::kAfter ? "AFTER" : "INSTEAD OF";
}

void information_triggers(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  const ShownObjects shown(catalog, context);
  for_each_with_triggers(catalog, [&](const std::shared_ptr<const TableDef>& table) {
    if (!shown.shows_constraints(*table)) return;
    for (const auto& [event, word] : {std::pair(Event::kInsert, "INSERT"), std::pair(Event::kDelete, "DELETE"), std::pair(Event::kUpdate, "UPDATE")}) {
      for (const TriggerDef& trigger : table->triggers) {
        if (!trigger.is_for(event) || maintains_view(trigger)) continue;
        const auto is_beside = [&, of = event](const TriggerDef& other) {
          return other.is_for(of) && other.for_each_row == trigger.for_each_row && other.timing == trigger.timing && other.name <= trigger.name;
        };
        const std::string condition = shown.owns_relation(table->oid) ? trigger_condition(*table, trigger, false, context) : std::string();
        out.add(context.database, table->schema, trigger.name, word, context.database, table->schema, table->name,
                std::ranges::count_if(table->triggers, is_beside), null_if_empty(condition), trigger_action(trigger, context),
                trigger.for_each_row ? "ROW" : "STATEMENT", timing_word(trigger.timing), null_if_empty(trigger.old_table),
                null_if_empty(trigger.new_table), kNull, kNull, kNull);
      }
    }
  });
}

void triggered_columns(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  const ShownObjects shown(catalog, context);
  for_each_with_triggers(catalog, [&](const std::shared_ptr<const TableDef>& table) {
    if (!shown.shows_constraints(*table)) return;
    for (const TriggerDef& trigger : table->triggers) {
      for (const std::int16_t number : trigger.columns) {
        const ColumnDef* column = table->find_column(number);
        if (column != nullptr) out.add(context.database, table->schema, trigger.name, context.database, table->schema, table->name, column->name);
      }
    }
  });
}

const SystemTableDefinition kTriggerTables[] = {
    {"pg_catalog", "pg_trigger", 2620, 'r',
     "oid oid!, tgrelid oid!, tgparentid oid!, tgname name!, tgfoid oid!, tgtype int2!, tgenabled char!, "
     "tgisinternal bool!, tgconstrrelid oid!, tgconstrindid oid!, tgconstraint oid!, tgdeferrable bool!, "
     "tginitdeferred bool!, tgnargs int2!, tgattr int2vector!, tgargs bytea!, tgqual pg_node_tree, "
     "tgoldtable name, tgnewtable name", triggers},
    {"information_schema", "triggered_update_columns", 13435, 'v',
     "trigger_catalog, trigger_schema, trigger_name, event_object_catalog, event_object_schema, "
     "event_object_table, event_object_column", triggered_columns},
    {"information_schema", "triggers", 13440, 'v',
     "trigger_catalog, trigger_schema, trigger_name, event_manipulation character_data, event_object_catalog, "
     "event_object_schema, event_object_table, action_order cardinal_number, action_condition character_data, "
     "action_statement character_data, action_orientation character_data, action_timing character_data, "
     "action_reference_old_table, action_reference_new_table, action_reference_old_row, "
     "action_reference_new_row, created time_stamp", information_triggers},
};

}  // namespace

SystemTableFamily trigger_tables() { return kTriggerTables; }

}  // namespace redquel::sql
