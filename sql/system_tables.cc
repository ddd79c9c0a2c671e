#include "sql/system_tables.h"

#include <map>
#include <unordered_map>

#include "sql/system_tables/families.h"
#include "sql/system_tables/row_writer.h"

namespace redquel::sql {
namespace {

struct Registry {
  std::vector<SystemTable> tables;
  std::map<std::pair<std::string_view, std::string_view>, const SystemTable*> by_name;
  std::unordered_map<Oid, const SystemTable*> by_oid;
};

const Registry& registry() {
  static const Registry instance = [] {
    Registry built;
    for (const auto& family :
         {relation_tables(), index_tables(), policy_tables(), trigger_tables(), dependency_tables(), extension_tables(), publication_tables(), type_tables(), function_tables(), text_search_tables(), cluster_tables(),
          view_tables(), summary_views(), server_views(), rule_file_views(), session_views(), statistics_views(), foreign_tables(), partition_tables(), empty_tables(),
          empty_views(), information_tables(),
          information_constraints(), information_grants(), information_implementation(), privilege_tables(), empty_information_views(), redis_tables()}) {
      for (const SystemTableDefinition& definition : family) built.tables.push_back(make_system_table(definition));
    }
    for (const SystemTable& table : built.tables) {
      built.by_name[{table.schema, table.name}] = &table;
      built.by_oid[table.oid] = &table;
    }
    return built;
  }();
  return instance;
}

}  // namespace

Batch SystemTable::rows(const CatalogSnapshot& catalog, const EvaluationContext& context) const {
  RowWriter writer(*this);
  if (fill != nullptr) fill(writer, catalog, context);
  return writer.finish();
}

const SystemTable* find_system_table(std::string_view schema, std::string_view name) {
  const auto found = registry().by_name.find({schema, name});
  return found == registry().by_name.end() ? nullptr : found->second;
}

const SystemTable* find_system_table(Oid oid) {
  const auto found = registry().by_oid.find(oid);
  return found == registry().by_oid.end() ? nullptr : found->second;
}

std::span<const SystemTable> all_system_tables() { return registry().tables; }

}  // namespace redquel::sql
