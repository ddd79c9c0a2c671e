// Views of information_schema that have no rows because redquel has none of the objects (yet).

#include "sql/system_tables/families.h"

namespace redquel::sql {
namespace {

const SystemTableDefinition kEmptyInformationViews[] = {
    {"information_schema", "_pg_foreign_data_wrappers", 13507, 'v',
     "oid oid, fdwowner oid, fdwoptions _text, foreign_data_wrapper_catalog, foreign_data_wrapper_name, "
     "authorization_identifier, foreign_data_wrapper_language character_data"},
    {"information_schema", "_pg_foreign_servers", 13519, 'v',
     "oid oid, srvoptions _text, foreign_server_catalog, foreign_server_name, foreign_data_wrapper_catalog, "
     "foreign_data_wrapper_name, foreign_server_type character_data, foreign_server_version character_data, "
     "authorization_identifier"},
    {"information_schema", "_pg_foreign_table_columns", 13498, 'v',
     "nspname name, relname name, attname name, attfdwoptions _text"},
    {"information_schema", "_pg_foreign_tables", 13532, 'v',
     "foreign_table_catalog, foreign_table_schema, foreign_table_name, ftoptions _text, foreign_server_catalog, "
     "foreign_server_name, authorization_identifier"},
    {"information_schema", "check_constraint_routine_usage", 13255, 'v',
     "constraint_catalog, constraint_schema, constraint_name, specific_catalog, specific_schema, specific_name"},
    {"information_schema", "column_column_usage", 13275, 'v',
     "table_catalog, table_schema, table_name, column_name, dependent_column"},
    {"information_schema", "column_options", 13503, 'v',
     "table_catalog, table_schema, table_name, column_name, option_name, option_value character_data"},
    {"information_schema", "domain_udt_usage", 13315, 'v',
     "udt_catalog, udt_schema, udt_name, domain_catalog, domain_schema, domain_name"},
    {"information_schema", "foreign_data_wrapper_options", 13511, 'v',
     "foreign_data_wrapper_catalog, foreign_data_wrapper_name, option_name, option_value character_data"},
    {"information_schema", "foreign_data_wrappers", 13515, 'v',
     "foreign_data_wrapper_catalog, foreign_data_wrapper_name, authorization_identifier, "
     "library_name character_data, foreign_data_wrapper_language character_data"},
    {"information_schema", "foreign_server_options", 13524, 'v',
     "foreign_server_catalog, foreign_server_name, option_name, option_value character_data"},
    {"information_schema", "foreign_servers", 13528, 'v',
     "foreign_server_catalog, foreign_server_name, foreign_data_wrapper_catalog, foreign_data_wrapper_name, "
     "foreign_server_type character_data, foreign_server_version character_data, authorization_identifier"},
    {"information_schema", "foreign_table_options", 13537, 'v',
     "foreign_table_catalog, foreign_table_schema, foreign_table_name, option_name, option_value character_data"},
    {"information_schema", "foreign_tables", 13541, 'v',
     "foreign_table_catalog, foreign_table_schema, foreign_table_name, foreign_server_catalog, "
     "foreign_server_name"},
    {"information_schema", "routine_column_usage", 13348, 'v',
     "specific_catalog, specific_schema, specific_name, routine_catalog, routine_schema, routine_name, "
     "table_catalog, table_schema, table_name, column_name"},
    {"information_schema", "routine_routine_usage", 13362, 'v',
     "specific_catalog, specific_schema, specific_name, routine_catalog, routine_schema, routine_name"},
    {"information_schema", "routine_sequence_usage", 13367, 'v',
     "specific_catalog, specific_schema, specific_name, routine_catalog, routine_schema, routine_name, "
     "sequence_catalog, sequence_schema, sequence_name"},
    {"information_schema", "routine_table_usage", 13372, 'v',
     "specific_catalog, specific_schema, specific_name, routine_catalog, routine_schema, routine_name, "
     "table_catalog, table_schema, table_name"},
    {"information_schema", "transforms", 13430, 'v',
     "udt_catalog, udt_schema, udt_name, specific_catalog, specific_schema, specific_name, group_name, "
     "transform_type character_data"},
    {"information_schema", "data_type_privileges", 13488, 'v',
     "object_catalog, object_schema, object_name, object_type character_data, dtd_identifier"},
};

}  // namespace

SystemTableFamily empty_information_views() { return kEmptyInformationViews; }

}  // namespace redquel::sql
