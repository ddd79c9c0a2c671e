#include "sql/system_tables/function_catalog.h"

#include <algorithm>
#include <unordered_map>

#include "sql/functions/window_function.h"
#include "sql/system_tables/type_layout.h"
#include "sql/types/geometry.h"
#include "sql/types/more_types.h"
#include "sql/types/range_value.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

struct TypeFunctionRow {
  Oid type;
  std::string_view prefix;  // int4 of int4in, numeric_ of numeric_in
  TypeFunctions functions;
};

constexpr TypeFunctionRow kTypeFunctions[] = {
    {oid::kBool, "bool", {1242, 1243, 2436, 2437}},
    {oid::kBytea, "bytea", {1244, 31, 2412, 2413}},
    {oid::kChar, "char", {1245, 33, 2434, 2435}},
    {oid::kName, "name", {34, 35, 2422, 2423}},
    {oid::kInt8, "int8", {460, 461, 2408, 2409}},
    {oid::kInt2, "int2", {38, 39, 2404, 2405}},
    {oid::kInt2Vector, "int2vector", {40, 41, 2410, 2411}},
    {oid::kInt4, "int4", {42, 43, 2406, 2407}},
    {oid::kRegproc, "regproc", {44, 45, 2444, 2445}},
    {oid::kText, "text", {46, 47, 2414, 2415}},
    {oid::kOid, "oid", {1798, 1799, 2418, 2419}},
    {oid::kOidVector, "oidvector", {54, 55, 2420, 2421}},
    {oid::kJson, "json_", {321, 322, 323, 324}},
    {oid::kTid, "tid", {48, 49, 2438, 2439}},
    {oid::kMoney, "cash_", {886, 887, 2492, 2493}},
    {oid::kMacaddr, "macaddr_", {436, 437, 2494, 2495}},
    {oid::kInet, "inet_", {910, 911, 2496, 2497}},
    {oid::kCidr, "cidr_", {1267, 1427, 2498, 2499}},
    {oid::kMacaddr8, "macaddr8_", {4110, 4111, 3446, 3447}},
    {oid::kTimetz, "timetz_", {1350, 1351, 2472, 2473, 2911, 2912}},
    {oid::kBit, "bit_", {1564, 1565, 2456, 2457, 2919, 2920}},
    {oid::kVarbit, "varbit_", {1579, 1580, 2458, 2459, 2902, 2921}},
    {oid::kJsonb, "jsonb_", {3806, 3804, 3805, 3803}},
    {oid::kJsonpath, "jsonpath_", {4001, 4003, 4002, 4004}},
    {oid::kFloat4, "float4", {200, 201, 2424, 2425}},
    {oid::kFloat8, "float8", {214, 215, 2426, 2427}},
    {oid::kUnknown, "unknown", {109, 110, 2416, 2417}},
    {oid::kBpchar, "bpchar", {1044, 1045, 2430, 2431, 2913, 2914}},
    {oid::kVarchar, "varchar", {1046, 1047, 2432, 2433, 2915, 2916}},
    {oid::kDate, "date_", {1084, 1085, 2468, 2469}},
    {oid::kTime, "time_", {1143, 1144, 2470, 2471, 2909, 2910}},
    {oid::kTimestamp, "timestamp_", {1312, 1313, 2474, 2475, 2905, 2906}},
    {oid::kTimestamptz, "timestamptz_", {1150, 1151, 2476, 2477, 2907, 2908}},
    {oid::kInterval, "interval_", {1160, 1161, 2478, 2479, 2903, 2904}},
    {oid::kNumeric, "numeric_", {1701, 1702, 2460, 2461, 2917, 2918}},
    {oid::kRegprocedure, "regprocedure", {2212, 2213, 2446, 2447}},
    {oid::kRegclass, "regclass", {2218, 2219, 2452, 2453}},
    {oid::kRegtype, "regtype", {2220, 2221, 2454, 2455}},
    {oid::kRecord, "record_", {2290, 2291, 2402, 2403}},
    {oid::kAny, "any_", {2294, 2295}},
    {oid::kAnyArray, "anyarray_", {2296, 2297, 2502, 2503}},
    {oid::kVoid, "void_", {2298, 2299, 3120, 3121}},
    {oid::kAnyElement, "anyelement_", {2312, 2313}},
    {oid::kUuid, "uuid_", {2952, 2953, 2961, 2962}},
    {oid::kRegnamespace, "regnamespace", {4084, 4085, 4087, 4088}},
    {oid::kRegrole, "regrole", {4098, 4092, 4094, 4095}},
    {oid::kPoint, "point_", {117, 118, 2428, 2429}},
    {oid::kLseg, "lseg_", {119, 120, 2480, 2481}},
    {oid::kPath, "path_", {121, 122, 2482, 2483}},
    {oid::kBox, "box_", {123, 124, 2484, 2485}},
    {oid::kPolygon, "poly_", {347, 348, 2486, 2487}},
    {oid::kLine, "line_", {1490, 1491, 2488, 2489}},
    {oid::kCircle, "circle_", {1450, 1451, 2490, 2491}},
    {oid::kCstring, "cstring_", {2292, 2293, 2500, 2501}},
    {oid::kTriggerFunction, "trigger_", {2300, 2301}},
    {oid::kInternal, "internal_", {2304, 2305}},
    {oid::kAnyNonArray, "anynonarray_", {2777, 2778}},
    {oid::kAnyEnum, "anyenum_", {3504, 3505}},
    {oid::kAnyRange, "anyrange_", {3832, 3833}},
    {oid::kAnyMultirange, "anymultirange_", {4229, 4230}},
    {oid::kAnyCompatible, "anycompatible_", {5086, 5087}},
    {oid::kAnyCompatibleArray, "anycompatiblearray_", {5088, 5089, 5090, 5091}},
    {oid::kAnyCompatibleNonArray, "anycompatiblenonarray_", {5092, 5093}},
    {oid::kAnyCompatibleRange, "anycompatiblerange_", {5094, 5095}},
    {oid::kAnyCompatibleMultirange, "anycompatiblemultirange_", {4226, 4227}},
};
constexpr TypeFunctions kRangeFunctions{3834, 3835, 3836, 3837}, kMultirangeFunctions{4231, 4232, 4233, 4234};
constexpr TypeFunctions kArrayFunctions{750, 751, 2400, 2401};

constexpr Oid kFirstOwnFunction = 14000;

class Collector {
 public:
  std::vector<CatalogFunction> collect() {
    for (const TypeFunctionRow& row : kTypeFunctions) add_type(row);
    const std::vector<Oid> input_with_modifier = {oid::kCstring, oid::kOid, oid::kInt4};
    add({.oid = 750, .name = "array_in", .arguments = input_with_modifier, .result = oid::kAnyArray, .volatility = Volatility::kStable});
    add({.oid = 751, .name = "array_out", .arguments = {oid::kAnyArray}, .result = oid::kCstring, .volatility = Volatility::kStable});
    add({.oid = 2400, .name = "array_recv", .arguments = {oid::kInternal, oid::kOid, oid::kInt4}, .result = oid::kAnyArray,
         .volatility = Volatility::kStable});
    add({.oid = 2401, .name = "array_send", .arguments = {oid::kAnyArray}, .result = oid::kBytea, .volatility = Volatility::kStable});
    add({.oid = oid::kArrayAnalyze, .name = "array_typanalyze", .arguments = {oid::kInternal}, .result = oid::kBool});
    add({.oid = oid::kArraySubscript, .name = "array_subscript_handler", .arguments = {oid::kInternal}, .result = oid::kInternal});
    add({.oid = oid::kRawArraySubscript, .name = "raw_array_subscript_handler", .arguments = {oid::kInternal},
         .result = oid::kInternal});
    add_family("range_", kRangeFunctions, oid::kAnyRange, {oid::kOid, oid::kInt4});
    add_family("multirange_", kMultirangeFunctions, oid::kAnyMultirange, {oid::kOid, oid::kInt4});
    add_family("enum_", kEnumFunctions, oid::kAnyEnum, {oid::kOid});
    add({.oid = kDomainFunctions.input, .name = "domain_in", .arguments = input_with_modifier, .result = oid::kAny,
         .volatility = Volatility::kStable, .strict = false});
    add({.oid = kDomainFunctions.receive, .name = "domain_recv", .arguments = {oid::kInternal, oid::kOid, oid::kInt4}, .result = oid::kAny,
         .volatility = Volatility::kStable, .strict = false});
    for (const ScalarFunction& function : all_functions()) add_scalar(function);
    for (const AggregateFunction& aggregate : all_aggregates()) {
      add({.name = std::string(aggregate.name), .arguments = aggregate.arguments, .result = aggregate.result, .kind = 'a',
           .strict = false});
    }
    for (const WindowFunction& function : all_window_functions()) {
      add({.name = std::string(function.name), .arguments = function.arguments, .result = function.result, .kind = 'w'});
    }
    for (const TableFunction& function : all_table_functions()) add_table_function(function);
    return std::move(functions_);
  }

 private:
  void add(CatalogFunction function) {
    if (function.oid == 0) function.oid = next_++;
    functions_.push_back(std::move(function));
  }

  /// The functions of a family of types, whose input is told which type it is about.
  void add_family(const std::string& prefix, const TypeFunctions& f, Oid type, const std::vector<Oid>& told) {
    std::vector<Oid> input = {oid::kCstring}, receive = {oid::kInternal};
    input.insert(input.end(), told.begin(), told.end());
    receive.insert(receive.end(), told.begin(), told.end());
    constexpr Volatility kStable = Volatility::kStable;
    add({.oid = f.input, .name = prefix + "in", .arguments = input, .result = type, .volatility = kStable});
    add({.oid = f.output, .name = prefix + "out", .arguments = {type}, .result = oid::kCstring, .volatility = kStable});
    add({.oid = f.receive, .name = prefix + "recv", .arguments = receive, .result = type, .volatility = kStable});
    add({.oid = f.send, .name = prefix + "send", .arguments = {type}, .result = oid::kBytea, .volatility = kStable});
  }

  void add_type(const TypeFunctionRow& row) {
    const std::string prefix(row.prefix);
    const TypeFunctions& f = row.functions;
    // Types with a modifier are told it, and what array element they are.
    std::vector<Oid> input = {oid::kCstring}, receive = {oid::kInternal};
    if (f.modifier_input != 0) {
      input.insert(input.end(), {oid::kOid, oid::kInt4});
      receive.insert(receive.end(), {oid::kOid, oid::kInt4});
    }
    add({.oid = f.input, .name = prefix + "in", .arguments = input, .result = row.type});
    add({.oid = f.output, .name = prefix + "out", .arguments = {row.type}, .result = oid::kCstring});
    if (f.receive != 0) add({.oid = f.receive, .name = prefix + "recv", .arguments = receive, .result = row.type});
    if (f.send != 0) add({.oid = f.send, .name = prefix + "send", .arguments = {row.type}, .result = oid::kBytea});
    const std::string bare = prefix.ends_with('_') ? prefix.substr(0, prefix.size() - 1) : prefix;
    if (f.modifier_input == 0) return;
    add({.oid = f.modifier_input, .name = bare + "typmodin", .arguments = {1263}, .result = oid::kInt4});
    add({.oid = f.modifier_output, .name = bare + "typmodout", .arguments = {oid::kInt4}, .result = oid::kCstring});
  }

  void add_scalar(const ScalarFunction& function) {
    const char first = function.name.empty() ? ' ' : function.name.front();
    if (!(first >= 'a' && first <= 'z') && first != '_') return;  // an operator: pg_operator has it
    if (function.result == oid::kBytea && function.name.ends_with("send")) return;  // a type's, with its oid
    const bool is_text_form = function.result == oid::kCstring || (!function.arguments.empty() && function.arguments[0] == oid::kCstring);
    if (is_text_form && std::ranges::find(functions_, function.name, &CatalogFunction::name) != functions_.end()) return;
    add({.name = std::string(function.name), .arguments = function.arguments, .result = function.result,
         .volatility = function.volatility, .strict = function.strict,
         .variadic = function.variadic ? function.arguments.back() : 0});
  }

  void add_table_function(const TableFunction& function) {
    if (function.name.starts_with("information_schema.")) return;  // there they are functions in LANGUAGE sql
    CatalogFunction made{.name = std::string(function.name), .arguments = function.arguments, .returns_set = true};
    made.result = function.columns.size() == 1 ? function.columns.front().second : oid::kRecord;
    if (function.columns.size() > 1) {
      for (const auto& [name, type] : function.columns) made.output_columns.emplace_back(name, type);
    }
    add(std::move(made));
  }

  std::vector<CatalogFunction> functions_;
  Oid next_ = kFirstOwnFunction;
};

struct Functions {
  std::vector<CatalogFunction> rows;
  std::unordered_map<Oid, const CatalogFunction*> by_oid;
  std::unordered_multimap<std::string_view, const CatalogFunction*> by_name;
};

const Functions& functions() {
  static const Functions instance = [] {
    Functions built{.rows = Collector().collect(), .by_oid = {}, .by_name = {}};
    for (const CatalogFunction& function : built.rows) {
      built.by_oid[function.oid] = &function;
      built.by_name.emplace(function.name, &function);
    }
    return built;
  }();
  return instance;
}

std::string type_text(Oid type) {
  switch (type) {
    case oid::kCstring: return "cstring";
    case oid::kInternal: return "internal";
    case 1263: return "cstring[]";
    default: return format_type(Type{type});
  }
}

}  // namespace

std::span<const CatalogFunction> all_catalog_functions() { return functions().rows; }

const CatalogFunction* find_catalog_function(Oid function) {
  const auto found = functions().by_oid.find(function);
  return found == functions().by_oid.end() ? nullptr : found->second;
}

std::vector<const CatalogFunction*> find_catalog_functions(std::string_view name) {
  std::vector<const CatalogFunction*> found;
  const auto [begin, end] = functions().by_name.equal_range(name);
  for (auto at = begin; at != end; ++at) found.push_back(at->second);
  return found;
}

std::string function_arguments(const CatalogFunction& function) {
  std::string text;
  for (std::size_t i = 0; i < function.arguments.size(); ++i) {
    if (i > 0) text += ", ";
    const bool variadic = function.variadic != 0 && i + 1 == function.arguments.size();
    if (variadic) text += "VARIADIC ";
    text += type_text(function.arguments[i]);
    if (variadic && function.arguments[i] != oid::kAny) text += "[]";
  }
  for (const auto& [name, type] : function.output_columns) {
    text += (text.empty() ? "OUT " : ", OUT ") + name + " " + type_text(type);
  }
  return text;
}

std::string function_result(const CatalogFunction& function) {
  return (function.returns_set ? "SETOF " : "") + type_text(function.result);
}

TypeFunctions functions_of_type(const TypeInfo& type) {
  for (const TypeFunctionRow& row : kTypeFunctions) {
    if (row.type == type.oid) return row.functions;
  }
  if (is_range_type(type.oid)) return kRangeFunctions;
  if (is_multirange_type(type.oid)) return kMultirangeFunctions;
  return is_true_array(type) ? kArrayFunctions : TypeFunctions{};
}

}  // namespace redquel::sql
