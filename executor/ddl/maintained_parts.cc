#include "executor/ddl/maintained_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "executor/catalog/dependent_changes.h"
#include "executor/ddl/table_parts.h"
#include "executor/roles/access.h"
#include "executor/runtime/session_context.h"
#include "parser/option_value.h"
#include "sql/catalog/prefixes.h"
#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/system_tables/trigger_words.h"
#include "sql/types/type_oids.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;
using sql::TriggerDef;

bool declares_maintained(const std::vector<ast::Option>& options) {
  const auto found = std::ranges::find_if(options, [](const ast::Option& option) { return option.name == "maintained" && option.name_space.empty(); });
  if (found == options.end()) return false;
  const std::optional<bool> flag = parser::option_flag(*found);
  if (!flag) {
    throw SqlError(sqlstate::kInvalidParameterValue,
                   fmt::format("invalid value for boolean option \"maintained\": {}", parser::option_text(*found).value_or("")));
  }
  return *flag;
}

bool is_maintained(const sql::ViewDef& query) { return query.options == kMaintainedOption; }

namespace {

void add_triggers(CatalogDraft& draft, sql::Oid base_oid, sql::Oid view) {
  sql::TableDef base = *draft.catalog().find_table(base_oid);
  require_rights(draft.session(), draft.catalog(), sql::AclKind::kTable, base.oid, sql::right::kTrigger);
  using Event = TriggerDef::Event;
  for (const auto& [event, word] : {std::pair(Event::kInsert, "insert"), std::pair(Event::kUpdate, "update"), std::pair(Event::kDelete, "delete"), std::pair(Event::kTruncate, "truncate")}) {
    TriggerDef trigger;
    trigger.oid = draft.new_oid();
    trigger.name = fmt::format(" maintains {} {}", view, word);
    trigger.function = sql::kMaintainView;
    trigger.events = static_cast<std::int16_t>(event);
    trigger.arguments = {std::to_string(view)};
    trigger.firing = TriggerDef::Firing::kAlways;
    if (event == Event::kInsert || event == Event::kUpdate) trigger.new_table = planner::kMaintainedNewRows;
    if (event == Event::kDelete || event == Event::kUpdate) trigger.old_table = planner::kMaintainedOldRows;
    base.triggers.push_back(std::move(trigger));
  }
  std::ranges::sort(base.triggers, {}, &TriggerDef::name);
  const DependentChanges checked;
  draft.put(std::move(base));
}

}  // namespace

planner::MaintainedView add_maintained_parts(CatalogDraft& draft, sql::TableDef table, const sql::ViewDef& query) {
  if (table.rows_expire()) throw sql::not_supported("a materialized view WITH (maintained) whose rows expire");
  planner::MaintainedView view = planner::MaintainedView::read(query, table, draft.catalog(), bind_settings(draft.session()));
  sql::ColumnDef state;
  state.number = table.next_column++;
  state.name = planner::kMaintainedState;
  state.field = sql::choose_field(table, "state");
  state.type = sql::Type{sql::oid::kNumericArray};
  state.not_null = true;
  state.hidden = true;
  table.columns.push_back(std::move(state));
  choose_presence(table);
  if (!view.key().empty()) {
    sql::IndexDef index;  // without a name: no client sees it
    index.oid = draft.new_oid();
    index.unique = index.short_members = true;
    index.nulls_not_distinct = view.has_nullable_groups();  // an upsert finds rows by = otherwise, which is one look
    for (const std::int16_t column : view.key()) index.parts.push_back({.column = column});
    table.indexes.push_back(std::move(index));
  }
  const sql::Oid oid = table.oid;
  draft.put(std::move(table));
  add_triggers(draft, view.base(), oid);
  return view;
}

void check_not_maintained(const sql::TableDef& base, std::string_view what) {
  if (std::ranges::none_of(base.triggers, sql::maintains_view)) return;
  throw sql::not_supported(fmt::format("{} of a table with a materialized view WITH (maintained)", what));
}

}  // namespace redquel::executor
