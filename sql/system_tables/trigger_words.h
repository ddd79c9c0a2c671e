#pragma once

#include <optional>
#include <string>
#include <utility>

#include "sql/catalog/catalog.h"
#include "sql/evaluation_context.h"

namespace redquel::sql {

/// The function suppress_redundant_updates_trigger(), which every database has.
inline constexpr Oid kSuppressRedundantUpdates = 1291;
/// The function of the triggers that keep a materialized view WITH (maintained) current. Their only argument is the view's oid. No client sees them.
inline constexpr Oid kMaintainView = 9;

/// Returns true if the trigger keeps a materialized view current.
inline bool maintains_view(const TriggerDef& trigger) { return trigger.function == kMaintainView; }
/// Returns the view that the trigger keeps current. The trigger must be one that does.
inline Oid maintained_view(const TriggerDef& trigger) { return static_cast<Oid>(std::stoul(trigger.arguments.at(0))); }

/// pg_trigger.tgtype.
std::int16_t trigger_type(const TriggerDef& trigger);
/// pg_get_triggerdef(): CREATE TRIGGER t BEFORE INSERT ON public.emp FOR EACH ROW EXECUTE FUNCTION f(). `pretty`: the table without a schema
/// where the search path finds it.
std::string trigger_definition(const TableDef& table, const TriggerDef& trigger, bool pretty, const EvaluationContext& context);
/// EXECUTE FUNCTION f('argument').
std::string trigger_action(const TriggerDef& trigger, const EvaluationContext& context);
/// The condition in PostgreSQL's words; empty: none.
std::string trigger_condition(const TableDef& table, const TriggerDef& trigger, bool pretty, const EvaluationContext& context);
/// The trigger with that oid and its table; null: there is none.
std::pair<std::shared_ptr<const TableDef>, const TriggerDef*> find_trigger(const CatalogSnapshot& catalog, Oid oid);

}  // namespace redquel::sql
