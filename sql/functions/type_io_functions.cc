// The functions that read and print the text forms of types (pg_type.typinput, typoutput): int4in('1'), numeric_out(1.5).

#include "sql/error.h"
#include "sql/functions/array_kernels.h"
#include "sql/functions/families.h"
#include "sql/functions/lift.h"
#include "sql/functions/object_names.h"
#include "sql/functions/polymorphic.h"
#include "sql/sqlstate.h"
#include "sql/types/geometry.h"
#include "sql/types/range_value.h"
#include "sql/types/row_value.h"
#include "sql/types/server_numbers.h"
#include "sql/types/text_io.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

/// The text, and for types with a modifier the element type (of no use here) and the modifier.
ColumnPtr input(Arguments arguments, std::size_t rows, Type result, const EvaluationContext& context) {
  const Now now = context.transaction_timestamp;
  return each_strict_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    Type type{result.oid};
    if (arguments.size() == 3) type.modifier = arguments[2]->get<std::int32_t>(row);
    column.append_datum(apply_modifier(type, parse_value(type, arguments[0]->get<std::string_view>(row), *context.settings, now), false));
  });
}

/// array_in(text, oid of the element type, modifier), enum_in(text, oid) and their like: read as the type that the oid names.
template <Oid kind>
ColumnPtr input_of_named_type(Arguments arguments, std::size_t rows, Type result, const EvaluationContext& context) {
  const auto is_kind = [](Oid type) {
    switch (kind) {
      case oid::kAnyArray: return is_array_type(type);
      case oid::kAnyEnum: return is_enum_type(type);
      case oid::kAnyRange: return is_range_type(type);
      case oid::kAnyMultirange: return is_multirange_type(type);
      default: return is_composite_type(type) || type == oid::kRecord;
    }
  };
  return each_strict_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    const auto named = static_cast<Oid>(arguments[1]->get<std::int32_t>(row));
    if (find_type(named) == nullptr) throw SqlError(sqlstate::kUndefinedObject, "type with OID " + std::to_string(named) + " does not exist");
    Type type{kind == oid::kAnyArray ? array_type_over(named) : named};
    const std::string_view text = arguments[0]->get<std::string_view>(row);
    if (!is_kind(type.oid)) {
      if (kind == oid::kAnyEnum) {
        throw SqlError(sqlstate::kInvalidTextRepresentation,
                       "invalid input value for enum " + format_type(type) + ": \"" + std::string(text) + "\"");
      }
      throw SqlError(sqlstate::kWrongObjectType, "type " + format_type(Type{named}) + " is not " +
                                                     (kind == oid::kRecord ? "composite" : "of the kind that the function reads"));
    }
    if (arguments.size() == 3) type.modifier = arguments[2]->get<std::int32_t>(row);
    const std::string stored = std::get<std::string>(apply_modifier(type, read_value(type, text, context), false));
    column.append(is_composite_type(type.oid) ? row_text(oid::kRecord, read_row(type.oid, stored)) : stored);
  });
}

/// regclassin('pg_class') and its like, for which the catalog is asked.
ColumnPtr object_input(Arguments arguments, std::size_t rows, Type result, const EvaluationContext& context) {
  return each_strict_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    column.append(static_cast<std::int32_t>(parse_object_name(result, arguments[0]->get<std::string_view>(row), context)));
  });
}
ColumnPtr object_output(Arguments arguments, std::size_t rows, Type result, const EvaluationContext& context) {
  return each_strict_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    column.append(object_name(arguments[0]->type(), static_cast<Oid>(arguments[0]->get<std::int32_t>(row)), context));
  });
}

struct ObjectForm {
  std::string_view input, output;
  Oid type;
};
constexpr ObjectForm kObjectForms[] = {
    {"regclassin", "regclassout", oid::kRegclass},
    {"regtypein", "regtypeout", oid::kRegtype},
    {"regprocin", "regprocout", oid::kRegproc},
    {"regprocedurein", "regprocedureout", oid::kRegprocedure},
    {"regoperin", "regoperout", oid::kRegoper},
    {"regoperatorin", "regoperatorout", oid::kRegoperator},
    {"regcollationin", "regcollationout", oid::kRegcollation},
    {"regnamespacein", "regnamespaceout", oid::kRegnamespace},
    {"regrolein", "regroleout", oid::kRegrole},
};

/// A value, the modifier, and for some types whether what is too long is cut.
ColumnPtr coerce_length(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  return each_strict_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    const Type type{result.oid, arguments[1]->get<std::int32_t>(row)};
    const bool is_bits = type.oid == oid::kBit || type.oid == oid::kVarbit;
    if (is_bits && type.modifier <= 0) return column.append_datum(arguments[0]->datum(row));  // no length
    column.append_datum(apply_modifier(type, arguments[0]->datum(row), arguments.size() < 3 || arguments[2]->get<bool>(row)));
  });
}

struct LengthCoercion {
  std::string_view name;
  Oid type;
  bool may_refuse;  // told by a third argument
};
constexpr LengthCoercion kLengthCoercions[] = {
    {"bpchar", oid::kBpchar, true},        {"varchar", oid::kVarchar, true},      {"bit", oid::kBit, true},
    {"varbit", oid::kVarbit, true},        {"numeric", oid::kNumeric, false},     {"time", oid::kTime, false},
    {"timetz", oid::kTimetz, false},       {"timestamp", oid::kTimestamp, false}, {"timestamptz", oid::kTimestamptz, false},
    {"interval", oid::kInterval, false},
};

ColumnPtr output(Arguments arguments, std::size_t rows, Type result, const EvaluationContext& context) {
  std::string text;
  return each_strict_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    text.clear();
    format_value(*arguments[0], row, *context.settings, text);
    column.append(std::string_view(text));
  });
}

struct TextForm {
  std::string_view input, output;  // input empty: the type is not known from the text alone
  Oid type;
  bool has_modifier = false;
  Volatility volatility = Volatility::kImmutable;
};

constexpr TextForm kTextForms[] = {
    {"boolin", "boolout", oid::kBool},
    {"byteain", "byteaout", oid::kBytea},
    {"charin", "charout", oid::kChar},
    {"namein", "nameout", oid::kName},
    {"int8in", "int8out", oid::kInt8},
    {"int2in", "int2out", oid::kInt2},
    {"int4in", "int4out", oid::kInt4},
    {"textin", "textout", oid::kText},
    {"oidin", "oidout", oid::kOid},
    {"json_in", "json_out", oid::kJson},
    {"jsonb_in", "jsonb_out", oid::kJsonb},
    {"jsonpath_in", "jsonpath_out", oid::kJsonpath},
    {"float4in", "float4out", oid::kFloat4},
    {"float8in", "float8out", oid::kFloat8},
    {"unknownin", "unknownout", oid::kUnknown},
    {"bpcharin", "bpcharout", oid::kBpchar, true},
    {"varcharin", "varcharout", oid::kVarchar, true},
    {"date_in", "date_out", oid::kDate, false, kStable},
    {"time_in", "time_out", oid::kTime, true, kStable},
    {"timetz_in", "timetz_out", oid::kTimetz, true, kStable},
    {"timestamp_in", "timestamp_out", oid::kTimestamp, true, kStable},
    {"timestamptz_in", "timestamptz_out", oid::kTimestamptz, true, kStable},
    {"interval_in", "interval_out", oid::kInterval, true, kStable},
    {"numeric_in", "numeric_out", oid::kNumeric, true},
    {"cash_in", "cash_out", oid::kMoney, false, kStable},
    {"uuid_in", "uuid_out", oid::kUuid},
    {"bit_in", "bit_out", oid::kBit, true},
    {"varbit_in", "varbit_out", oid::kVarbit, true},
    {"inet_in", "inet_out", oid::kInet},
    {"cidr_in", "cidr_out", oid::kCidr},
    {"macaddr_in", "macaddr_out", oid::kMacaddr},
    {"macaddr8_in", "macaddr8_out", oid::kMacaddr8},
    {"tidin", "tidout", oid::kTid},
    {"xidin", "xidout", oid::kXid},
    {"cidin", "cidout", oid::kCid},
    {"xid8in", "xid8out", oid::kXid8},
    {"pg_lsn_in", "pg_lsn_out", oid::kPgLsn},
    {"pg_snapshot_in", "pg_snapshot_out", oid::kPgSnapshot},
    {"txid_snapshot_in", "txid_snapshot_out", oid::kTxidSnapshot},
    {"int2vectorin", "int2vectorout", oid::kInt2Vector},
    {"oidvectorin", "oidvectorout", oid::kOidVector},
    {"aclitemin", "aclitemout", oid::kAclitem, false, kStable},
    {"point_in", "point_out", oid::kPoint},
    {"lseg_in", "lseg_out", oid::kLseg},
    {"path_in", "path_out", oid::kPath},
    {"box_in", "box_out", oid::kBox},
    {"poly_in", "poly_out", oid::kPolygon},
    {"line_in", "line_out", oid::kLine},
    {"circle_in", "circle_out", oid::kCircle},
    {"", "array_out", oid::kAnyArray, false, kStable},
    {"", "record_out", oid::kRecord, false, kStable},
    {"", "enum_out", oid::kAnyEnum, false, kStable},
    {"", "range_out", oid::kAnyRange, false, kStable},
    {"", "multirange_out", oid::kAnyMultirange, false, kStable},
};

}  // namespace

std::vector<ScalarFunction> type_io_functions() {
  std::vector<ScalarFunction> table;
  for (const TextForm& form : kTextForms) {
    const Type type{form.type};
    if (!form.input.empty()) {
      table.push_back(form.has_modifier ? column_function(form.input, {kCstring, kOidType, kInt4}, type, input, form.volatility, true)
                                        : column_function(form.input, {kCstring}, type, input, form.volatility, true));
    }
    table.push_back(column_function(form.output, {type}, kCstring, output, form.volatility, true));
  }
  for (const ObjectForm& form : kObjectForms) {
    table.push_back(column_function(form.input, {kCstring}, Type{form.type}, object_input, kStable, true));
    table.push_back(column_function(form.output, {Type{form.type}}, kCstring, object_output, kStable, true));
  }
  const auto add_input = [&](std::string_view name, Oid kind, Kernel kernel) {
    table.push_back(kind == oid::kAnyEnum ? column_function(name, {kCstring, kOidType}, Type{kind}, kernel, kStable, true)
                                          : column_function(name, {kCstring, kOidType, kInt4}, Type{kind}, kernel, kStable, true));
  };
  add_input("array_in", oid::kAnyArray, input_of_named_type<oid::kAnyArray>);
  add_input("enum_in", oid::kAnyEnum, input_of_named_type<oid::kAnyEnum>);
  add_input("range_in", oid::kAnyRange, input_of_named_type<oid::kAnyRange>);
  add_input("multirange_in", oid::kAnyMultirange, input_of_named_type<oid::kAnyMultirange>);
  add_input("record_in", oid::kRecord, input_of_named_type<oid::kRecord>);
  for (const LengthCoercion& coercion : kLengthCoercions) {
    const Type type{coercion.type};
    table.push_back(coercion.may_refuse
                        ? column_function(coercion.name, {type, kInt4, kBool}, type, coerce_length, Volatility::kImmutable, true)
                        : column_function(coercion.name, {type, kInt4}, type, coerce_length, Volatility::kImmutable, true));
  }
  return table;
}

}  // namespace redquel::sql
