// Send functions: a value in its binary form, as bytea.

#include "sql/functions/array_kernels.h"
#include "sql/functions/families.h"
#include "sql/functions/lift.h"
#include "sql/types/binary_io.h"
#include "sql/types/geometry.h"
#include "sql/types/server_numbers.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

ColumnPtr send(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  std::string bytes;
  return each_strict_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    bytes.clear();
    encode_binary(*arguments[0], row, bytes);
    column.append(std::string_view(bytes));
  });
}

struct SendFunction {
  std::string_view name;
  Oid type;
};
constexpr SendFunction kSendFunctions[] = {
    {"boolsend", oid::kBool},           {"byteasend", oid::kBytea},       {"charsend", oid::kChar},
    {"namesend", oid::kName},           {"int8send", oid::kInt8},         {"int2send", oid::kInt2},
    {"int4send", oid::kInt4},           {"textsend", oid::kText},         {"oidsend", oid::kOid},
    {"json_send", oid::kJson},          {"jsonb_send", oid::kJsonb},      {"jsonpath_send", oid::kJsonpath},
    {"float4send", oid::kFloat4},       {"float8send", oid::kFloat8},     {"bpcharsend", oid::kBpchar},
    {"varcharsend", oid::kVarchar},     {"date_send", oid::kDate},        {"time_send", oid::kTime},
    {"timetz_send", oid::kTimetz},      {"timestamp_send", oid::kTimestamp}, {"timestamptz_send", oid::kTimestamptz},
    {"interval_send", oid::kInterval},  {"numeric_send", oid::kNumeric},  {"uuid_send", oid::kUuid},
    {"bit_send", oid::kBit},            {"varbit_send", oid::kVarbit},    {"inet_send", oid::kInet},
    {"cidr_send", oid::kCidr},          {"macaddr_send", oid::kMacaddr},  {"macaddr8_send", oid::kMacaddr8},
    {"array_send", oid::kAnyArray},     {"record_send", oid::kRecord},    {"range_send", oid::kAnyRange},
    {"point_send", oid::kPoint},                {"lseg_send", oid::kLseg},               {"path_send", oid::kPath},
    {"box_send", oid::kBox},                  {"poly_send", oid::kPolygon},               {"line_send", oid::kLine},
    {"circle_send", oid::kCircle},               {"multirange_send", oid::kAnyMultirange}, {"enum_send", oid::kAnyEnum},
    {"cash_send", oid::kMoney},         {"tidsend", oid::kTid},           {"xidsend", oid::kXid},
    {"cidsend", oid::kCid},             {"xid8send", oid::kXid8},         {"unknownsend", oid::kUnknown},
    {"int2vectorsend", oid::kInt2Vector}, {"oidvectorsend", oid::kOidVector}, {"regclasssend", oid::kRegclass},
    {"regtypesend", oid::kRegtype},     {"regprocsend", oid::kRegproc},   {"regproceduresend", oid::kRegprocedure},
    {"regopersend", oid::kRegoper},     {"regoperatorsend", oid::kRegoperator}, {"regcollationsend", oid::kRegcollation},
    {"regnamespacesend", oid::kRegnamespace}, {"regrolesend", oid::kRegrole},
};

}  // namespace

std::vector<ScalarFunction> binary_form_functions() {
  std::vector<ScalarFunction> table;
  for (const SendFunction& function : kSendFunctions) {
    table.push_back(column_function(function.name, {Type{function.type}}, kBytea, send, Volatility::kImmutable, true));
  }
  return table;
}

}  // namespace redquel::sql
