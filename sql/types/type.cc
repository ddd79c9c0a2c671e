#include "sql/types/type.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>

#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/types/datetime.h"
#include "sql/types/geometry.h"
#include "sql/types/server_numbers.h"
#include "sql/types/type_oids.h"
#include "sql/types/user_types.h"

namespace redquel::sql {
namespace {

using enum TypeCategory;

// pg_type of PostgreSQL 15, ordered by oid.
constexpr TypeInfo kTypes[] = {
    {oid::kBool, "bool", "boolean", Storage::kBool, kBoolean, true, 1, 0, oid::kBoolArray, 'c'},
    {oid::kBytea, "bytea", "bytea", Storage::kText, kUserDefined, false, -1, 0, oid::kByteaArray, 'i'},
    {oid::kChar, "char", "\"char\"", Storage::kText, kInternal, false, 1, 0, oid::kCharArray, 'c'},
    {oid::kName, "name", "name", Storage::kText, kString, false, 64, oid::kChar, oid::kNameArray, 'c'},
    {oid::kInt8, "int8", "bigint", Storage::kInt8, TypeCategory::kNumeric, false, 8, 0, oid::kInt8Array, 'd'},
    {oid::kInt2, "int2", "smallint", Storage::kInt2, TypeCategory::kNumeric, false, 2, 0, oid::kInt2Array, 's'},
    {oid::kInt2Vector, "int2vector", "int2vector", Storage::kText, kArray, false, -1, oid::kInt2, oid::kInt2VectorArray, 'i'},
    {oid::kInt4, "int4", "integer", Storage::kInt4, TypeCategory::kNumeric, false, 4, 0, oid::kInt4Array, 'i'},
    {oid::kRegproc, "regproc", "regproc", Storage::kInt4, TypeCategory::kNumeric, false, 4, 0, oid::kRegprocArray, 'i'},
    {oid::kText, "text", "text", Storage::kText, kString, true, -1, 0, oid::kTextArray, 'i'},
    {oid::kOid, "oid", "oid", Storage::kInt4, TypeCategory::kNumeric, true, 4, 0, oid::kOidArray, 'i'},
    {oid::kTid, "tid", "tid", Storage::kInt8, kUserDefined, false, 6, 0, oid::kTidArray, 's'},
    {oid::kXid, "xid", "xid", Storage::kInt4, kUserDefined, false, 4, 0, 1011, 'i'},
    {oid::kCid, "cid", "cid", Storage::kInt4, kUserDefined, false, 4, 0, 1012, 'i'},
    {oid::kOidVector, "oidvector", "oidvector", Storage::kText, kArray, false, -1, oid::kOid, oid::kOidVectorArray, 'i'},
    {oid::kJson, "json", "json", Storage::kText, kUserDefined, false, -1, 0, oid::kJsonArray, 'i'},
    {oid::kNodeTree, "pg_node_tree", "pg_node_tree", Storage::kText, kInternal, false, -1, 0, 0, 'i'},
    {oid::kJsonArray, "_json", "json[]", Storage::kText, kArray, false, -1, oid::kJson, 0, 'i'},
    {269, "table_am_handler", "table_am_handler", Storage::kText, kPseudo, false, 4, 0, 0, 'i'},
    {271, "_xid8", "xid8[]", Storage::kText, kArray, false, -1, oid::kXid8, 0, 'd'},
    {325, "index_am_handler", "index_am_handler", Storage::kText, kPseudo, false, 4, 0, 0, 'i'},
    {oid::kPoint, "point", "point", Storage::kText, kGeometricCategory, false, 16, 0, 1017, 'd'},
    {oid::kLseg, "lseg", "lseg", Storage::kText, kGeometricCategory, false, 32, 0, 1018, 'd'},
    {oid::kPath, "path", "path", Storage::kText, kGeometricCategory, false, -1, 0, 1019, 'd'},
    {oid::kBox, "box", "box", Storage::kText, kGeometricCategory, false, 32, 0, 1020, 'd'},
    {oid::kPolygon, "polygon", "polygon", Storage::kText, kGeometricCategory, false, -1, 0, 1027, 'd'},
    {oid::kLine, "line", "line", Storage::kText, kGeometricCategory, false, 24, 0, 629, 'd'},
    {629, "_line", "line[]", Storage::kText, kArray, false, -1, oid::kLine, 0, 'd'},
    {oid::kCidr, "cidr", "cidr", Storage::kText, kNetworkCategory, false, -1, 0, oid::kCidrArray, 'i'},
    {oid::kCidrArray, "_cidr", "cidr[]", Storage::kText, kArray, false, -1, oid::kCidr, 0, 'i'},
    {oid::kFloat4, "float4", "real", Storage::kFloat4, TypeCategory::kNumeric, false, 4, 0, oid::kFloat4Array, 'i'},
    {oid::kFloat8, "float8", "double precision", Storage::kFloat8, TypeCategory::kNumeric, true, 8, 0,
     oid::kFloat8Array, 'd'},
    {oid::kUnknown, "unknown", "unknown", Storage::kText, TypeCategory::kUnknown, false, -2, 0, 0, 'c'},
    {oid::kCircle, "circle", "circle", Storage::kText, kGeometricCategory, false, 24, 0, 719, 'd'},
    {719, "_circle", "circle[]", Storage::kText, kArray, false, -1, oid::kCircle, 0, 'd'},
    {oid::kMacaddr8, "macaddr8", "macaddr8", Storage::kText, kUserDefined, false, 8, 0, oid::kMacaddr8Array, 'i'},
    {oid::kMacaddr8Array, "_macaddr8", "macaddr8[]", Storage::kText, kArray, false, -1, oid::kMacaddr8, 0, 'i'},
    {oid::kMoney, "money", "money", Storage::kInt8, TypeCategory::kNumeric, false, 8, 0, oid::kMoneyArray, 'd'},
    {oid::kMoneyArray, "_money", "money[]", Storage::kText, kArray, false, -1, oid::kMoney, 0, 'd'},
    {oid::kMacaddr, "macaddr", "macaddr", Storage::kText, kUserDefined, false, 6, 0, oid::kMacaddrArray, 'i'},
    {oid::kInet, "inet", "inet", Storage::kText, kNetworkCategory, true, -1, 0, oid::kInetArray, 'i'},
    {oid::kBoolArray, "_bool", "boolean[]", Storage::kText, kArray, false, -1, oid::kBool, 0, 'i'},
    {oid::kByteaArray, "_bytea", "bytea[]", Storage::kText, kArray, false, -1, oid::kBytea, 0, 'i'},
    {oid::kCharArray, "_char", "\"char\"[]", Storage::kText, kArray, false, -1, oid::kChar, 0, 'i'},
    {oid::kNameArray, "_name", "name[]", Storage::kText, kArray, false, -1, oid::kName, 0, 'i'},
    {oid::kInt2Array, "_int2", "smallint[]", Storage::kText, kArray, false, -1, oid::kInt2, 0, 'i'},
    {oid::kInt2VectorArray, "_int2vector", "int2vector[]", Storage::kText, kArray, false, -1, oid::kInt2Vector, 0, 'i'},
    {oid::kInt4Array, "_int4", "integer[]", Storage::kText, kArray, false, -1, oid::kInt4, 0, 'i'},
    {oid::kRegprocArray, "_regproc", "regproc[]", Storage::kText, kArray, false, -1, oid::kRegproc, 0, 'i'},
    {oid::kTextArray, "_text", "text[]", Storage::kText, kArray, false, -1, oid::kText, 0, 'i'},
    {oid::kTidArray, "_tid", "tid[]", Storage::kText, kArray, false, -1, oid::kTid, 0, 'i'},
    {1011, "_xid", "xid[]", Storage::kText, kArray, false, -1, oid::kXid, 0, 'i'},
    {1012, "_cid", "cid[]", Storage::kText, kArray, false, -1, oid::kCid, 0, 'i'},
    {oid::kOidVectorArray, "_oidvector", "oidvector[]", Storage::kText, kArray, false, -1, oid::kOidVector, 0, 'i'},
    {oid::kBpcharArray, "_bpchar", "character[]", Storage::kText, kArray, false, -1, oid::kBpchar, 0, 'i'},
    {oid::kVarcharArray, "_varchar", "character varying[]", Storage::kText, kArray, false, -1, oid::kVarchar, 0, 'i'},
    {oid::kInt8Array, "_int8", "bigint[]", Storage::kText, kArray, false, -1, oid::kInt8, 0, 'd'},
    {1017, "_point", "point[]", Storage::kText, kArray, false, -1, oid::kPoint, 0, 'd'},
    {1018, "_lseg", "lseg[]", Storage::kText, kArray, false, -1, oid::kLseg, 0, 'd'},
    {1019, "_path", "path[]", Storage::kText, kArray, false, -1, oid::kPath, 0, 'd'},
    {1020, "_box", "box[]", Storage::kText, kArray, false, -1, oid::kBox, 0, 'd'},
    {oid::kFloat4Array, "_float4", "real[]", Storage::kText, kArray, false, -1, oid::kFloat4, 0, 'i'},
    {oid::kFloat8Array, "_float8", "double precision[]", Storage::kText, kArray, false, -1, oid::kFloat8, 0, 'd'},
    {1027, "_polygon", "polygon[]", Storage::kText, kArray, false, -1, oid::kPolygon, 0, 'd'},
    {oid::kOidArray, "_oid", "oid[]", Storage::kText, kArray, false, -1, oid::kOid, 0, 'i'},
    {oid::kAclitem, "aclitem", "aclitem", Storage::kText, kUserDefined, false, 12, 0, oid::kAclitemArray, 'i'},
    {oid::kAclitemArray, "_aclitem", "aclitem[]", Storage::kText, kArray, false, -1, oid::kAclitem, 0, 'i'},
    {oid::kMacaddrArray, "_macaddr", "macaddr[]", Storage::kText, kArray, false, -1, oid::kMacaddr, 0, 'i'},
    {oid::kInetArray, "_inet", "inet[]", Storage::kText, kArray, false, -1, oid::kInet, 0, 'i'},
    {oid::kBpchar, "bpchar", "character", Storage::kText, kString, false, -1, 0, oid::kBpcharArray, 'i'},
    {oid::kVarchar, "varchar", "character varying", Storage::kText, kString, false, -1, 0, oid::kVarcharArray, 'i'},
    {oid::kDate, "date", "date", Storage::kInt4, kDateTime, false, 4, 0, oid::kDateArray, 'i'},
    {oid::kTime, "time", "time without time zone", Storage::kInt8, kDateTime, false, 8, 0, oid::kTimeArray, 'd'},
    {oid::kTimestamp, "timestamp", "timestamp without time zone", Storage::kInt8, kDateTime, false, 8, 0,
     oid::kTimestampArray, 'd'},
    {oid::kTimestampArray, "_timestamp", "timestamp without time zone[]", Storage::kText, kArray, false, -1,
     oid::kTimestamp, 0, 'd'},
    {oid::kDateArray, "_date", "date[]", Storage::kText, kArray, false, -1, oid::kDate, 0, 'i'},
    {oid::kTimeArray, "_time", "time without time zone[]", Storage::kText, kArray, false, -1, oid::kTime, 0, 'd'},
    {oid::kTimestamptz, "timestamptz", "timestamp with time zone", Storage::kInt8, kDateTime, true, 8, 0,
     oid::kTimestamptzArray, 'd'},
    {oid::kTimestamptzArray, "_timestamptz", "timestamp with time zone[]", Storage::kText, kArray, false, -1,
     oid::kTimestamptz, 0, 'd'},
    {oid::kInterval, "interval", "interval", Storage::kInterval, kTimespan, true, 16, 0, oid::kIntervalArray, 'd'},
    {oid::kIntervalArray, "_interval", "interval[]", Storage::kText, kArray, false, -1, oid::kInterval, 0, 'd'},
    {oid::kNumericArray, "_numeric", "numeric[]", Storage::kText, kArray, false, -1, oid::kNumeric, 0, 'i'},
    {1263, "_cstring", "cstring[]", Storage::kText, kArray, false, -1, 2275, 0, 'd'},
    {oid::kTimetz, "timetz", "time with time zone", Storage::kText, kDateTime, false, 12, 0, oid::kTimetzArray, 'd'},
    {oid::kTimetzArray, "_timetz", "time with time zone[]", Storage::kText, kArray, false, -1, oid::kTimetz, 0, 'd'},
    {oid::kBit, "bit", "bit", Storage::kText, kBitStringCategory, false, -1, 0, oid::kBitArray, 'i'},
    {oid::kBitArray, "_bit", "bit[]", Storage::kText, kArray, false, -1, oid::kBit, 0, 'i'},
    {oid::kVarbit, "varbit", "bit varying", Storage::kText, kBitStringCategory, true, -1, 0, oid::kVarbitArray, 'i'},
    {oid::kVarbitArray, "_varbit", "bit varying[]", Storage::kText, kArray, false, -1, oid::kVarbit, 0, 'i'},
    {oid::kNumeric, "numeric", "numeric", Storage::kNumeric, TypeCategory::kNumeric, false, -1, 0, oid::kNumericArray,
     'i'},
    {1790, "refcursor", "refcursor", Storage::kText, kUserDefined, false, -1, 0, 2201, 'i'},
    {2201, "_refcursor", "refcursor[]", Storage::kText, kArray, false, -1, 1790, 0, 'i'},
    {oid::kRegprocedure, "regprocedure", "regprocedure", Storage::kInt4, TypeCategory::kNumeric, false, 4, 0, oid::kRegprocedureArray, 'i'},
    {oid::kRegoper, "regoper", "regoper", Storage::kInt4, TypeCategory::kNumeric, false, 4, 0, 2208, 'i'},
    {oid::kRegoperator, "regoperator", "regoperator", Storage::kInt4, TypeCategory::kNumeric, false, 4, 0, 2209, 'i'},
    {oid::kRegclass, "regclass", "regclass", Storage::kInt4, TypeCategory::kNumeric, false, 4, 0, oid::kRegclassArray, 'i'},
    {oid::kRegtype, "regtype", "regtype", Storage::kInt4, TypeCategory::kNumeric, false, 4, 0, oid::kRegtypeArray, 'i'},
    {oid::kRegprocedureArray, "_regprocedure", "regprocedure[]", Storage::kText, kArray, false, -1, oid::kRegprocedure, 0, 'i'},
    {2208, "_regoper", "regoper[]", Storage::kText, kArray, false, -1, oid::kRegoper, 0, 'i'},
    {2209, "_regoperator", "regoperator[]", Storage::kText, kArray, false, -1, oid::kRegoperator, 0, 'i'},
    {oid::kRegclassArray, "_regclass", "regclass[]", Storage::kText, kArray, false, -1, oid::kRegclass, 0, 'i'},
    {oid::kRegtypeArray, "_regtype", "regtype[]", Storage::kText, kArray, false, -1, oid::kRegtype, 0, 'i'},
    {oid::kRecord, "record", "record", Storage::kText, kPseudo, false, -1, 0, oid::kRecordArray, 'd'},
    {2275, "cstring", "cstring", Storage::kText, kPseudo, false, -2, 0, 0, 'c'},
    {oid::kAny, "any", "\"any\"", Storage::kText, kPseudo, false, 4, 0, 0, 'i'},
    {oid::kAnyArray, "anyarray", "anyarray", Storage::kText, kPseudo, false, -1, 0, 0, 'd'},
    {oid::kVoid, "void", "void", Storage::kText, kPseudo, false, 4, 0, 0, 'i'},
    {2279, "trigger", "trigger", Storage::kText, kPseudo, false, 4, 0, 0, 'i'},
    {2280, "language_handler", "language_handler", Storage::kText, kPseudo, false, 4, 0, 0, 'i'},
    {2281, "internal", "internal", Storage::kText, kPseudo, false, 8, 0, 0, 'd'},
    {oid::kAnyElement, "anyelement", "anyelement", Storage::kText, kPseudo, false, 4, 0, 0, 'i'},
    {oid::kRecordArray, "_record", "record[]", Storage::kText, kPseudo, false, -1, oid::kRecord, 0, 'd'},
    {oid::kAnyNonArray, "anynonarray", "anynonarray", Storage::kText, kPseudo, false, 4, 0, 0, 'i'},
    {2949, "_txid_snapshot", "txid_snapshot[]", Storage::kText, kArray, false, -1, oid::kTxidSnapshot, 0, 'd'},
    {oid::kUuid, "uuid", "uuid", Storage::kUuid, kUserDefined, false, 16, 0, oid::kUuidArray, 'c'},
    {oid::kUuidArray, "_uuid", "uuid[]", Storage::kText, kArray, false, -1, oid::kUuid, 0, 'i'},
    {oid::kTxidSnapshot, "txid_snapshot", "txid_snapshot", Storage::kText, kUserDefined, false, -1, 0, 2949, 'd'},
    {3115, "fdw_handler", "fdw_handler", Storage::kText, kPseudo, false, 4, 0, 0, 'i'},
    {oid::kPgLsn, "pg_lsn", "pg_lsn", Storage::kInt8, kUserDefined, false, 8, 0, oid::kPgLsnArray, 'd'},
    {oid::kPgLsnArray, "_pg_lsn", "pg_lsn[]", Storage::kText, kArray, false, -1, oid::kPgLsn, 0, 'd'},
    {3310, "tsm_handler", "tsm_handler", Storage::kText, kPseudo, false, 4, 0, 0, 'i'},
    {oid::kAnyEnum, "anyenum", "anyenum", Storage::kText, kPseudo, false, 4, 0, 0, 'i'},
    {oid::kJsonb, "jsonb", "jsonb", Storage::kText, kUserDefined, false, -1, 0, oid::kJsonbArray, 'i'},
    {oid::kJsonbArray, "_jsonb", "jsonb[]", Storage::kText, kArray, false, -1, oid::kJsonb, 0, 'i'},
    {oid::kAnyRange, "anyrange", "anyrange", Storage::kText, kPseudo, false, -1, 0, 0, 'd'},
    {3838, "event_trigger", "event_trigger", Storage::kText, kPseudo, false, 4, 0, 0, 'i'},
    {oid::kInt4Range, "int4range", "int4range", Storage::kText, kRangeCategory, false, -1, 0, 3905, 'i'},
    {3905, "_int4range", "int4range[]", Storage::kText, kArray, false, -1, oid::kInt4Range, 0, 'i'},
    {oid::kNumRange, "numrange", "numrange", Storage::kText, kRangeCategory, false, -1, 0, 3907, 'i'},
    {3907, "_numrange", "numrange[]", Storage::kText, kArray, false, -1, oid::kNumRange, 0, 'i'},
    {oid::kTsRange, "tsrange", "tsrange", Storage::kText, kRangeCategory, false, -1, 0, 3909, 'd'},
    {3909, "_tsrange", "tsrange[]", Storage::kText, kArray, false, -1, oid::kTsRange, 0, 'd'},
    {oid::kTstzRange, "tstzrange", "tstzrange", Storage::kText, kRangeCategory, false, -1, 0, 3911, 'd'},
    {3911, "_tstzrange", "tstzrange[]", Storage::kText, kArray, false, -1, oid::kTstzRange, 0, 'd'},
    {oid::kDateRange, "daterange", "daterange", Storage::kText, kRangeCategory, false, -1, 0, 3913, 'i'},
    {3913, "_daterange", "daterange[]", Storage::kText, kArray, false, -1, oid::kDateRange, 0, 'i'},
    {oid::kInt8Range, "int8range", "int8range", Storage::kText, kRangeCategory, false, -1, 0, 3927, 'd'},
    {3927, "_int8range", "int8range[]", Storage::kText, kArray, false, -1, oid::kInt8Range, 0, 'd'},
    {oid::kJsonpath, "jsonpath", "jsonpath", Storage::kText, kUserDefined, false, -1, 0, oid::kJsonpathArray, 'i'},
    {oid::kJsonpathArray, "_jsonpath", "jsonpath[]", Storage::kText, kArray, false, -1, oid::kJsonpath, 0, 'i'},
    {oid::kRegnamespace, "regnamespace", "regnamespace", Storage::kInt4, TypeCategory::kNumeric, false, 4, 0, oid::kRegnamespaceArray, 'i'},
    {oid::kRegnamespaceArray, "_regnamespace", "regnamespace[]", Storage::kText, kArray, false, -1, oid::kRegnamespace, 0, 'i'},
    {oid::kRegrole, "regrole", "regrole", Storage::kInt4, TypeCategory::kNumeric, false, 4, 0, oid::kRegroleArray, 'i'},
    {oid::kRegroleArray, "_regrole", "regrole[]", Storage::kText, kArray, false, -1, oid::kRegrole, 0, 'i'},
    {oid::kRegcollation, "regcollation", "regcollation", Storage::kInt4, TypeCategory::kNumeric, false, 4, 0, 4192, 'i'},
    {4192, "_regcollation", "regcollation[]", Storage::kText, kArray, false, -1, oid::kRegcollation, 0, 'i'},
    {oid::kInt4Multirange, "int4multirange", "int4multirange", Storage::kText, kRangeCategory, false, -1, 0, 6150, 'i'},
    {oid::kNumMultirange, "nummultirange", "nummultirange", Storage::kText, kRangeCategory, false, -1, 0, 6151, 'i'},
    {oid::kTsMultirange, "tsmultirange", "tsmultirange", Storage::kText, kRangeCategory, false, -1, 0, 6152, 'd'},
    {oid::kTstzMultirange, "tstzmultirange", "tstzmultirange", Storage::kText, kRangeCategory, false, -1, 0, 6153, 'd'},
    {oid::kDateMultirange, "datemultirange", "datemultirange", Storage::kText, kRangeCategory, false, -1, 0, 6155, 'i'},
    {oid::kInt8Multirange, "int8multirange", "int8multirange", Storage::kText, kRangeCategory, false, -1, 0, 6157, 'd'},
    {oid::kAnyMultirange, "anymultirange", "anymultirange", Storage::kText, kPseudo, false, -1, 0, 0, 'd'},
    {oid::kAnyCompatibleMultirange, "anycompatiblemultirange", "anycompatiblemultirange", Storage::kText, kPseudo, false, -1, 0, 0,
     'd'},
    {oid::kPgSnapshot, "pg_snapshot", "pg_snapshot", Storage::kText, kUserDefined, false, -1, 0, 5039, 'd'},
    {5039, "_pg_snapshot", "pg_snapshot[]", Storage::kText, kArray, false, -1, oid::kPgSnapshot, 0, 'd'},
    {oid::kXid8, "xid8", "xid8", Storage::kInt8, kUserDefined, false, 8, 0, 271, 'd'},
    {oid::kAnyCompatible, "anycompatible", "anycompatible", Storage::kText, kPseudo, false, 4, 0, 0, 'i'},
    {oid::kAnyCompatibleArray, "anycompatiblearray", "anycompatiblearray", Storage::kText, kPseudo, false, -1, 0, 0, 'd'},
    {oid::kAnyCompatibleNonArray, "anycompatiblenonarray", "anycompatiblenonarray", Storage::kText, kPseudo, false, 4, 0, 0, 'i'},
    {oid::kAnyCompatibleRange, "anycompatiblerange", "anycompatiblerange", Storage::kText, kPseudo, false, -1, 0, 0, 'd'},
    {6150, "_int4multirange", "int4multirange[]", Storage::kText, kArray, false, -1, oid::kInt4Multirange, 0, 'i'},
    {6151, "_nummultirange", "nummultirange[]", Storage::kText, kArray, false, -1, oid::kNumMultirange, 0, 'i'},
    {6152, "_tsmultirange", "tsmultirange[]", Storage::kText, kArray, false, -1, oid::kTsMultirange, 0, 'd'},
    {6153, "_tstzmultirange", "tstzmultirange[]", Storage::kText, kArray, false, -1, oid::kTstzMultirange, 0, 'd'},
    {6155, "_datemultirange", "datemultirange[]", Storage::kText, kArray, false, -1, oid::kDateMultirange, 0, 'i'},
    {6157, "_int8multirange", "int8multirange[]", Storage::kText, kArray, false, -1, oid::kInt8Multirange, 0, 'd'},
};
static_assert(std::ranges::is_sorted(kTypes, {}, &TypeInfo::oid));

// Spellings that the SQL grammar turns into pg_catalog names.
constexpr std::pair<std::string_view, Oid> kSpellings[] = {
    {"bigint", oid::kInt8},     {"boolean", oid::kBool}, {"character", oid::kBpchar}, {"dec", oid::kNumeric},
    {"decimal", oid::kNumeric}, {"int", oid::kInt4},     {"integer", oid::kInt4},     {"real", oid::kFloat4},
    {"smallint", oid::kInt2},   {"float", oid::kFloat8},
};

/// Marks the highest oid of the built-in types below which a direct table is worth its room.
constexpr std::size_t kDirect = 6200;

const std::array<const TypeInfo*, kDirect>& by_oid() {
  static const std::array<const TypeInfo*, kDirect> table = [] {
    std::array<const TypeInfo*, kDirect> result{};
    for (const TypeInfo& info : kTypes) result[info.oid] = &info;
    return result;
  }();
  return table;
}

constexpr std::int32_t kHeaderSize = 4;  // VARHDRSZ: PostgreSQL counts it into the modifiers of varlena types
constexpr std::int32_t kMaxTextLength = 10485760, kMaxBits = 8 * kMaxTextLength;
constexpr std::int32_t kMaxPrecision = 1000, kMinScale = -1000, kMaxScale = 1000;
constexpr std::int32_t kMaxTimePrecision = 6;

std::string interval_suffix(std::int32_t modifier) {
  using namespace interval_field;
  const int fields = (modifier >> 16) & 0x7FFF;
  const int precision = modifier & 0xFFFF;
  std::string_view name;
  switch (fields) {
    case kYear:
      name = " year";
      break;
    case kMonth:
      name = " month";
      break;
    case kDay:
      name = " day";
      break;
    case kHour:
      name = " hour";
      break;
    case kMinute:
      name = " minute";
      break;
    case kSecond:
      name = " second";
      break;
    case kYear | kMonth:
      name = " year to month";
      break;
    case kDay | kHour:
      name = " day to hour";
      break;
    case kDay | kHour | kMinute:
      name = " day to minute";
      break;
    case kDay | kHour | kMinute | kSecond:
      name = " day to second";
      break;
    case kHour | kMinute:
      name = " hour to minute";
      break;
    case kHour | kMinute | kSecond:
      name = " hour to second";
      break;
    case kMinute | kSecond:
      name = " minute to second";
      break;
    default:
      break;
  }
  return precision == kFullPrecision ? std::string(name) : fmt::format("{}({})", name, precision);
}

SqlError invalid_modifier(std::string message) { return SqlError(sqlstate::kInvalidParameterValue, std::move(message)); }

std::int32_t encode_length(std::string_view name, std::span<const std::int32_t> written,
                           std::int32_t longest = kMaxTextLength) {
  if (written.size() != 1) throw invalid_modifier("invalid type modifier");
  if (written[0] < 1) throw invalid_modifier(fmt::format("length for type {} must be at least 1", name));
  if (written[0] > longest)
    throw invalid_modifier(fmt::format("length for type {} cannot exceed {}", name, longest));
  return written[0] + kHeaderSize;
}

std::int32_t encode_numeric_modifier(std::span<const std::int32_t> written) {
  if (written.empty() || written.size() > 2) throw invalid_modifier("invalid NUMERIC type modifier");
  const std::int32_t precision = written[0], scale = written.size() == 2 ? written[1] : 0;
  if (precision < 1 || precision > kMaxPrecision)
    throw invalid_modifier(fmt::format("NUMERIC precision {} must be between 1 and {}", precision, kMaxPrecision));
  if (scale < kMinScale || scale > kMaxScale)
    throw invalid_modifier(fmt::format("NUMERIC scale {} must be between {} and {}", scale, kMinScale, kMaxScale));
  return ((precision << 16) | (scale & 0x7FF)) + kHeaderSize;
}

/// PostgreSQL warns about precisions above 6 and takes 6.
std::int32_t encode_precision(std::string_view name, std::string_view suffix, std::span<const std::int32_t> written) {
  if (written.size() != 1) throw invalid_modifier("invalid type modifier");
  if (written[0] < 0)
    throw invalid_modifier(fmt::format("{}({}){} precision must not be negative", name, written[0], suffix));
  return std::min(written[0], kMaxTimePrecision);
}

/// The parser writes the fields first, then the precision: INTERVAL DAY TO SECOND(3).
std::int32_t encode_interval_modifier(std::span<const std::int32_t> written) {
  if (written.empty() || written.size() > 2) throw invalid_modifier("invalid INTERVAL type modifier");
  if (written.size() == 1) {
    if (written[0] == interval_field::kAll) return -1;
    return (written[0] & 0x7FFF) << 16 | interval_field::kFullPrecision;
  }
  if (written[1] < 0) throw invalid_modifier(fmt::format("INTERVAL({}) precision must not be negative", written[1]));
  return (written[0] & 0x7FFF) << 16 | std::min(written[1], kMaxTimePrecision);
}

}  // namespace

const TypeInfo* find_type(Oid oid) { return oid < kDirect ? by_oid()[oid] : find_user_type_info(oid); }

const TypeInfo& type_info(Oid oid) {
  const TypeInfo* info = find_type(oid);
  assert(info != nullptr);
  return *info;
}

const TypeInfo* find_type(std::string_view name) {
  for (const TypeInfo& info : kTypes)
    if (info.name == name) return &info;
  for (const auto& [spelling, oid] : kSpellings)
    if (spelling == name) return find_type(oid);
  return nullptr;
}

std::span<const TypeInfo> all_types() { return kTypes; }

std::string format_type(Type type) {
  const TypeInfo* info = find_type(type.oid);
  if (info == nullptr) return "???";
  if (info->oid >= kFirstUserOid) return std::string(info->display_name);
  if (info->category == kArray && info->name.front() == '_') {  // not int2vector
    return format_type(Type{info->element, type.modifier}) + "[]";
  }
  if (type.modifier < 0) return std::string(info->display_name);
  switch (type.oid) {
    case oid::kVarchar:
    case oid::kBpchar:
      return fmt::format("{}({})", info->display_name, type.modifier - kHeaderSize);
    case oid::kNumeric: {
      const std::int32_t packed = type.modifier - kHeaderSize;
      const std::int32_t scale = ((packed & 0x7FF) ^ 1024) - 1024;  // eleven bits with sign
      return fmt::format("numeric({},{})", (packed >> 16) & 0xFFFF, scale);
    }
    case oid::kTime:
      return fmt::format("time({}) without time zone", type.modifier);
    case oid::kTimetz:
      return fmt::format("time({}) with time zone", type.modifier);
    case oid::kBit:
    case oid::kVarbit:
      return fmt::format("{}({})", info->display_name, type.modifier);
    case oid::kTimestamp:
      return fmt::format("timestamp({}) without time zone", type.modifier);
    case oid::kTimestamptz:
      return fmt::format("timestamp({}) with time zone", type.modifier);
    case oid::kInterval:
      return "interval" + interval_suffix(type.modifier);
    default:
      return std::string(info->display_name);
  }
}

std::int32_t encode_modifier(Oid type, std::span<const std::int32_t> written) {
  if (written.empty()) return -1;
  switch (type) {
    case oid::kVarchar:
      return encode_length("varchar", written);
    case oid::kBpchar:
      return encode_length("char", written);
    case oid::kNumeric:
      return encode_numeric_modifier(written);
    case oid::kTime:
      return encode_precision("TIME", "", written);
    case oid::kTimetz:
      return encode_precision("TIME", " WITH TIME ZONE", written);
    case oid::kBit:
      return encode_length("bit", written, kMaxBits) - kHeaderSize;
    case oid::kVarbit:
      return encode_length("varbit", written, kMaxBits) - kHeaderSize;
    case oid::kTimestamp:
      return encode_precision("TIMESTAMP", "", written);
    case oid::kTimestamptz:
      return encode_precision("TIMESTAMP", " WITH TIME ZONE", written);
    case oid::kInterval:
      return encode_interval_modifier(written);
    default:
      if (const TypeInfo* info = find_type(type); info != nullptr && info->element != 0 && info->category == kArray)
        return encode_modifier(info->element, written);
      throw SqlError(sqlstate::kSyntaxError, fmt::format("type modifier is not allowed for type \"{}\"", type_info(type).name));
  }
}

}  // namespace redquel::sql
