// pg_rewrite and information_schema.views: what there is to say of views beside their place among the relations.

#include <algorithm>
#include <set>

#include "sql/system_tables/families.h"
#include "sql/system_tables/relations.h"
#include "sql/system_tables/row_writer.h"
#include "sql/system_tables/shown_objects.h"

namespace redquel::sql {
namespace {

/// The rule that makes a relation a view; its action is no tree of PostgreSQL's.
void rules(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext&) {
  for (const auto& [oid, view] : catalog.views) out.add(view->rule, "_RETURN", oid, '1', 'O', true, "<>", "<>");
  for (const auto& [oid, table] : catalog.tables) {
    if (table->materialized) out.add(table->materialized->rule, "_RETURN", oid, '1', 'O', true, "<>", "<>");
  }
}

std::string_view check_option(const ViewDef& view) {
  switch (view.check_option) {
    case ViewDef::CheckOption::kNone: return "NONE";
    case ViewDef::CheckOption::kLocal: return "LOCAL";
    case ViewDef::CheckOption::kCascaded: return "CASCADED";
  }
  return "NONE";
}

void information_schema_views(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  const ShownObjects shown(catalog, context);
  for (const Relation& relation : all_relations(catalog)) {
    if (relation.kind != 'v' || !shown.shows(relation)) continue;
    if (relation.view == nullptr) {
      out.add(context.database, relation.schema, relation.name, kNull, "NONE", false, false, false, false, false);
      continue;
    }
    std::optional<std::string> text;
    if (shown.owns_relation(relation.oid)) text = view_definition(catalog, *relation.view, false, context.search_path);
    const bool is_updatable = relation.view->is_updatable();
    out.add(context.database, relation.schema, relation.name, text, check_option(*relation.view), is_updatable, is_updatable,
            relation.view->has_instead_of(TriggerDef::Event::kUpdate), relation.view->has_instead_of(TriggerDef::Event::kDelete),
            relation.view->has_instead_of(TriggerDef::Event::kInsert));
  }
}

/// Calls `use(view, relation, columns)` for every relation of the current role that a view of the snapshot reads: its columns, by name.
template <class Use>
void for_each_use(const CatalogSnapshot& catalog, const EvaluationContext& context, const Use& use) {
  const ShownObjects shown(catalog, context);
  for (const auto& [oid, view] : catalog.views) {
    for (const ViewDef::Reference& reference : view->references) {
      const std::optional<Relation> relation = find_relation(catalog, reference.relation);
      if (!relation || !shown.owns_relation(relation->oid)) continue;
      std::set<std::string> columns;
      for (const Attribute& attribute : attributes_of(*relation)) {
        if (std::ranges::find(reference.columns, attribute.number) != reference.columns.end()) columns.insert(attribute.name);
      }
      use(*view, *relation, columns);
    }
  }
}

void table_uses(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  for_each_use(catalog, context, [&](const ViewDef& view, const Relation& relation, const std::set<std::string>&) {
    out.add(context.database, view.schema, view.name, context.database, relation.schema, relation.name);
  });
}

void column_uses(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  for_each_use(catalog, context, [&](const ViewDef& view, const Relation& relation, const std::set<std::string>& columns) {
    for (const std::string& column : columns) {
      out.add(context.database, view.schema, view.name, context.database, relation.schema, relation.name, column);
    }
  });
}

void routine_uses(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  const ShownObjects shown(catalog, context);
  for (const auto& [oid, view] : catalog.views) {
    for (const ViewDef::Reference& reference : view->references) {
      const auto function = catalog.functions.find(reference.relation);
      if (function == catalog.functions.end() || !shown.owns(catalog_class::kFunctions, function->first)) continue;
      out.add(context.database, view->schema, view->name, context.database, function->second->schema,
              function->second->name + "_" + std::to_string(function->first));
    }
  }
}

const SystemTableDefinition kViewTables[] = {
    {"pg_catalog", "pg_rewrite", 2618, 'r',
     "oid oid!, rulename name!, ev_class oid!, ev_type char!, ev_enabled char!, is_instead bool!, "
     "ev_qual pg_node_tree!, ev_action pg_node_tree!", rules},
    {"information_schema", "views", 13483, 'v',
     "table_catalog, table_schema, table_name, view_definition character_data, check_option character_data, "
     "is_updatable yes_or_no, is_insertable_into yes_or_no, is_trigger_updatable yes_or_no, "
     "is_trigger_deletable yes_or_no, is_trigger_insertable_into yes_or_no", information_schema_views},
    {"information_schema", "view_table_usage", 13478, 'v',
     "view_catalog, view_schema, view_name, table_catalog, table_schema, table_name", table_uses},
    {"information_schema", "view_column_usage", 13468, 'v',
     "view_catalog, view_schema, view_name, table_catalog, table_schema, table_name, column_name", column_uses},
    {"information_schema", "view_routine_usage", 13473, 'v',
     "table_catalog, table_schema, table_name, specific_catalog, specific_schema, specific_name", routine_uses},
};

}  // namespace

SystemTableFamily view_tables() { return kViewTables; }

}  // namespace redquel::sql
