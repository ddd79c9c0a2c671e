// pg_ts_config, pg_ts_config_map, pg_ts_dict, pg_ts_parser, pg_ts_template: what every database has.

#include "sql/extensions/extension.h"
#include "sql/system_tables/families.h"
#include "sql/system_tables/relations.h"
#include "sql/system_tables/roles.h"
#include "sql/system_tables/row_writer.h"
#include "sql/text_search/dictionary.h"

namespace redquel::sql {
namespace {

namespace ts = text_search;

void configurations(RowWriter& out, const CatalogSnapshot&, const EvaluationContext&) {
  for (const ts::ConfigurationRow& row : ts::built_in_configurations()) {
    out.add(row.oid, row.name, oid::kPgCatalogSchema, kPostgresRole, ts::kDefaultParserOid);
  }
}

void configuration_maps(RowWriter& out, const CatalogSnapshot&, const EvaluationContext&) {
  for (const ts::ConfigurationRow& row : ts::built_in_configurations()) {
    for (int kind = 1; kind <= static_cast<int>(ts::TokenKind::kEntity); ++kind) {
      const ts::DictionaryRow* dictionary = ts::dictionary_row_for(row, static_cast<ts::TokenKind>(kind));
      if (dictionary != nullptr) out.add(row.oid, kind, 1, dictionary->oid);
    }
  }
}

/// The template of the dictionary unaccent.
constexpr Oid kUnaccentTemplate = 6196;

void dictionaries(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext&) {
  if (const ExtensionDef* extension = catalog.find_extension("unaccent")) {
    out.add(kUnaccentDictionary, "unaccent", schema_oid(catalog, extension->schema), owner_oid(extension->owner), kUnaccentTemplate, "rules = 'unaccent'");
  }
  for (const ts::DictionaryRow& row : ts::built_in_dictionaries()) {
    out.add(row.oid, row.name, oid::kPgCatalogSchema, kPostgresRole, row.template_oid, row.options.empty() ? std::nullopt : std::optional(std::string(row.options)));
  }
}

void parsers(RowWriter& out, const CatalogSnapshot&, const EvaluationContext&) {
  out.add(ts::kDefaultParserOid, "default", oid::kPgCatalogSchema, 3717, 3718, 3719, 3720, 3721);  // functions that nothing calls
}

void templates(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext&) {
  if (const ExtensionDef* extension = catalog.find_extension("unaccent")) {
    out.add(kUnaccentTemplate, "unaccent", schema_oid(catalog, extension->schema), 0, 0);  // functions that nothing calls
  }
  out.add(ts::kSimpleTemplateOid, "simple", oid::kPgCatalogSchema, 3725, 3726);
  out.add(ts::kSnowballTemplateOid, "snowball", oid::kPgCatalogSchema, 13148, 13149);
}

const SystemTableDefinition kTextSearchTables[] = {
    {"pg_catalog", "pg_ts_config", 3602, 'r', "oid oid!, cfgname name!, cfgnamespace oid!, cfgowner oid!, cfgparser oid!", configurations},
    {"pg_catalog", "pg_ts_config_map", 3603, 'r', "mapcfg oid!, maptokentype int4!, mapseqno int4!, mapdict oid!", configuration_maps},
    {"pg_catalog", "pg_ts_dict", 3600, 'r',
     "oid oid!, dictname name!, dictnamespace oid!, dictowner oid!, dicttemplate oid!, dictinitoption text", dictionaries},
    {"pg_catalog", "pg_ts_parser", 3601, 'r',
     "oid oid!, prsname name!, prsnamespace oid!, prsstart regproc!, prstoken regproc!, prsend regproc!, "
     "prsheadline regproc!, prslextype regproc!", parsers},
    {"pg_catalog", "pg_ts_template", 3764, 'r',
     "oid oid!, tmplname name!, tmplnamespace oid!, tmplinit regproc!, tmpllexize regproc!", templates},
};

}  // namespace

SystemTableFamily text_search_tables() { return kTextSearchTables; }

}  // namespace redquel::sql
