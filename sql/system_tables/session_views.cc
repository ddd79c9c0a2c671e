// The session's own views: pg_settings, pg_prepared_statements, pg_cursors.

#include "sql/connection_hooks.h"
#include "sql/functions/function.h"
#include "sql/session_hooks.h"
#include "sql/system_tables/families.h"
#include "sql/system_tables/row_writer.h"

namespace redquel::sql {
namespace {

void settings(RowWriter& out, const CatalogSnapshot&, const EvaluationContext& context) {
  if (context.run_time_parameters == nullptr) return;
  const auto is_pending_restart = connection_hooks().is_pending_restart;
  for (const RunTimeParameter& parameter : context.run_time_parameters(context.session)) {
    out.add(parameter.name, parameter.setting, null_if_empty(parameter.unit), parameter.category, parameter.description, kNull,
            parameter.context, parameter.type, parameter.source, null_if_empty(parameter.minimum), null_if_empty(parameter.maximum),
            null_if_empty(parameter.choices), parameter.boot_value, parameter.reset_value, kNull, kNull,
            is_pending_restart != nullptr && is_pending_restart(parameter.name));
  }
}

void prepared_statements(RowWriter& out, const CatalogSnapshot&, const EvaluationContext& context) {
  if (session_hooks().names == nullptr || context.session == nullptr) return;
  for (const SessionStatement& statement : session_hooks().names(context.session).statements) {
    std::vector<Oid> types;
    for (const Type type : statement.parameter_types) types.push_back(type.oid);
    out.add(statement.name, statement.text, statement.prepared_at, array_text(types), statement.from_sql, types.empty() ? statement.runs : 0,
            types.empty() ? 0 : statement.runs);
  }
}

void cursors(RowWriter& out, const CatalogSnapshot&, const EvaluationContext& context) {
  if (session_hooks().names == nullptr || context.session == nullptr) return;
  for (const SessionCursor& cursor : session_hooks().names(context.session).cursors) {
    out.add(cursor.name, cursor.text, cursor.holdable, cursor.binary, cursor.scrollable, cursor.created_at);
  }
}

const SystemTableDefinition kSessionViews[] = {
    {"pg_catalog", "pg_prepared_statements", 12095, 'v',
     "name text, statement text, prepare_time timestamptz, parameter_types _regtype, from_sql bool, "
     "generic_plans int8, custom_plans int8", prepared_statements},
    {"pg_catalog", "pg_cursors", 12077, 'v',
     "name text, statement text, is_holdable bool, is_binary bool, is_scrollable bool, creation_time timestamptz", cursors},
    {"pg_catalog", "pg_settings", 12104, 'v',
     "name text, setting text, unit text, category text, short_desc text, extra_desc text, context text, "
     "vartype text, source text, min_val text, max_val text, enumvals _text, boot_val text, reset_val text, "
     "sourcefile text, sourceline int4, pending_restart bool", settings},
    {"pg_catalog", "pg_timezone_names", 12126, 'v', "name text, abbrev text, utc_offset interval, is_dst bool", nullptr,
     "SELECT z.name, z.abbrev, z.utc_offset, z.is_dst FROM pg_catalog.pg_timezone_names() AS z"},
    {"pg_catalog", "pg_timezone_abbrevs", 12122, 'v', "abbrev text, utc_offset interval, is_dst bool", nullptr,
     "SELECT a.abbrev, a.utc_offset, a.is_dst FROM pg_catalog.pg_timezone_abbrevs() AS a"},
};

}  // namespace

SystemTableFamily session_views() { return kSessionViews; }

}  // namespace redquel::sql
