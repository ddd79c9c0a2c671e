// Catalogs of PostgreSQL's that have no rows because redquel has none of the objects (yet).

#include "sql/system_tables/families.h"

namespace redquel::sql {
namespace {

const SystemTableDefinition kTables[] = {
    {"pg_catalog", "pg_event_trigger", 3466, 'r',
     "oid oid!, evtname name!, evtevent name!, evtowner oid!, evtfoid oid!, evtenabled char!, evttags _text"},
    {"pg_catalog", "pg_largeobject_metadata", 2995, 'r', "oid oid!, lomowner oid!, lomacl _aclitem"},
    {"pg_catalog", "pg_parameter_acl", 6243, 'r', "oid oid!, parname text!, paracl _aclitem"},
    {"pg_catalog", "pg_seclabel", 3596, 'r', "objoid oid!, classoid oid!, objsubid int4!, provider text!, label text!"},
    {"pg_catalog", "pg_shseclabel", 3592, 'r', "objoid oid!, classoid oid!, provider text!, label text!"},
    {"pg_catalog", "pg_statistic", 2619, 'r',
     "starelid oid!, staattnum int2!, stainherit bool!, stanullfrac float4!, stawidth int4!, "
     "stadistinct float4!, stakind1 int2!, stakind2 int2!, stakind3 int2!, stakind4 int2!, stakind5 int2!, "
     "staop1 oid!, staop2 oid!, staop3 oid!, staop4 oid!, staop5 oid!, stacoll1 oid!, stacoll2 oid!, "
     "stacoll3 oid!, stacoll4 oid!, stacoll5 oid!, stanumbers1 _float4, stanumbers2 _float4, "
     "stanumbers3 _float4, stanumbers4 _float4, stanumbers5 _float4, stavalues1 anyarray, stavalues2 anyarray, "
     "stavalues3 anyarray, stavalues4 anyarray, stavalues5 anyarray"},
    {"pg_catalog", "pg_statistic_ext", 3381, 'r',
     "oid oid!, stxrelid oid!, stxname name!, stxnamespace oid!, stxowner oid!, stxstattarget int4!, "
     "stxkeys int2vector!, stxkind _char!, stxexprs pg_node_tree"},
    {"pg_catalog", "pg_statistic_ext_data", 3429, 'r',
     "stxoid oid!, stxdinherit bool!, stxdndistinct pg_ndistinct, stxddependencies pg_dependencies, "
     "stxdmcv pg_mcv_list, stxdexpr _pg_statistic"},
    {"pg_catalog", "pg_subscription", 6100, 'r',
     "oid oid!, subdbid oid!, subskiplsn pg_lsn!, subname name!, subowner oid!, subenabled bool!, "
     "subbinary bool!, substream bool!, subtwophasestate char!, subdisableonerr bool!, subconninfo text!, "
     "subslotname name, subsynccommit text!, subpublications _text!"},
    {"pg_catalog", "pg_subscription_rel", 6102, 'r', "srsubid oid!, srrelid oid!, srsubstate char!, srsublsn pg_lsn"},
    {"pg_catalog", "pg_transform", 3576, 'r',
     "oid oid!, trftype oid!, trflang oid!, trffromsql regproc!, trftosql regproc!"},
};

}  // namespace

SystemTableFamily empty_tables() { return kTables; }

}  // namespace redquel::sql
