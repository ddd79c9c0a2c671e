// The functions behind operators (pg_operator.oprcode): int4pl(1, 2) is 1 + 2; and second names of functions: dexp(1) is exp(1). Names
// follow patterns, so that a table of prefixes and of what may follow them says them all.

#include <algorithm>
#include <deque>
#include <string>
#include <unordered_map>

#include "sql/functions/families.h"
#include "sql/functions/lift.h"
#include "sql/types/geometry.h"
#include "sql/types/server_numbers.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

/// The operators (or functions) of one pair of types. A function's name is prefix, member, suffix; `members` are pairs of member and
/// operator.
struct Family {
  std::string_view prefix, suffix;
  Oid left, right;  // left 0: before its only operand
  std::string_view members;
};

constexpr std::string_view kOrder = "eq = ne <> lt < le <= gt > ge >=";
constexpr std::string_view kSums = "pl + mi - mul * div /";
constexpr std::string_view kSigns = "um - up + abs @";
constexpr std::string_view kPatterns = "like ~~ nlike !~~ iclike ~~* icnlike !~~* regexeq ~ regexne !~ icregexeq ~* icregexne !~*";
constexpr std::string_view kPatternOrder = "_pattern_lt ~<~ _pattern_le ~<=~ _pattern_gt ~>~ _pattern_ge ~>=~";
constexpr std::string_view kPositions =
    "adjacent -|- after >> before << contained_by <@ contains @> overlaps && overleft &< overright &>";

constexpr std::string_view kPlaces =
    "same ~= overlap && left << overleft &< right >> overright &> below <<| overbelow &<| above |>> overabove |&> contained <@ "
    "contain @> distance <->";

constexpr Oid kNone = 0;

constexpr Family kFamilies[] = {
    {"bool", "", oid::kBool, oid::kBool, kOrder},
    {"char", "", oid::kChar, oid::kChar, kOrder},
    {"name", "", oid::kName, oid::kName, kOrder},
    {"name", "text", oid::kName, oid::kText, kOrder},
    {"name", "", oid::kName, oid::kText, kPatterns},
    {"text", "name", oid::kText, oid::kName, kOrder},
    {"text", "", oid::kText, oid::kText, "eq = ne <> _lt < _le <= _gt > _ge >= cat ||"},
    {"text", "", oid::kText, oid::kText, kPatterns},
    {"text", "", oid::kText, oid::kText, kPatternOrder},
    {"text", "", kNone, oid::kText, "len length"},
    {"text", "", oid::kText, oid::kAnyNonArray, "anycat ||"},
    {"anytext", "", oid::kAnyNonArray, oid::kText, "cat ||"},
    {"bpchar", "", oid::kBpchar, oid::kBpchar, kOrder},
    {"bpchar", "", oid::kBpchar, oid::kBpchar, kPatternOrder},
    {"bpchar", "", oid::kBpchar, oid::kText, kPatterns},
    {"bytea", "", oid::kBytea, oid::kBytea, kOrder},
    {"bytea", "", oid::kBytea, oid::kBytea, "cat || like ~~ nlike !~~"},
    {"oid", "", oid::kOid, oid::kOid, kOrder},
    {"oidvector", "", oid::kOidVector, oid::kOidVector, kOrder},
    {"uuid_", "", oid::kUuid, oid::kUuid, kOrder},

    {"int2", "", oid::kInt2, oid::kInt2, kOrder},
    {"int2", "", oid::kInt2, oid::kInt2, kSums},
    {"int2", "", oid::kInt2, oid::kInt2, "mod % and & or | xor #"},
    {"int2", "", oid::kInt2, oid::kInt4, "shl << shr >>"},
    {"int2", "", kNone, oid::kInt2, kSigns},
    {"int2", "", kNone, oid::kInt2, "not ~"},
    {"int4", "", oid::kInt4, oid::kInt4, kOrder},
    {"int4", "", oid::kInt4, oid::kInt4, kSums},
    {"int4", "", oid::kInt4, oid::kInt4, "mod % and & or | xor # shl << shr >>"},
    {"int4", "", kNone, oid::kInt4, kSigns},
    {"int4", "", kNone, oid::kInt4, "not ~"},
    {"int8", "", oid::kInt8, oid::kInt8, kOrder},
    {"int8", "", oid::kInt8, oid::kInt8, kSums},
    {"int8", "", oid::kInt8, oid::kInt8, "mod % and & or | xor #"},
    {"int8", "", oid::kInt8, oid::kInt4, "shl << shr >>"},
    {"int8", "", kNone, oid::kInt8, kSigns},
    {"int8", "", kNone, oid::kInt8, "not ~"},
    {"int24", "", oid::kInt2, oid::kInt4, kOrder},
    {"int24", "", oid::kInt2, oid::kInt4, kSums},
    {"int28", "", oid::kInt2, oid::kInt8, kOrder},
    {"int28", "", oid::kInt2, oid::kInt8, kSums},
    {"int42", "", oid::kInt4, oid::kInt2, kOrder},
    {"int42", "", oid::kInt4, oid::kInt2, kSums},
    {"int48", "", oid::kInt4, oid::kInt8, kOrder},
    {"int48", "", oid::kInt4, oid::kInt8, kSums},
    {"int82", "", oid::kInt8, oid::kInt2, kOrder},
    {"int82", "", oid::kInt8, oid::kInt2, kSums},
    {"int84", "", oid::kInt8, oid::kInt4, kOrder},
    {"int84", "", oid::kInt8, oid::kInt4, kSums},
    {"float4", "", oid::kFloat4, oid::kFloat4, kOrder},
    {"float4", "", oid::kFloat4, oid::kFloat4, kSums},
    {"float4", "", kNone, oid::kFloat4, kSigns},
    {"float48", "", oid::kFloat4, oid::kFloat8, kOrder},
    {"float48", "", oid::kFloat4, oid::kFloat8, kSums},
    {"float84", "", oid::kFloat8, oid::kFloat4, kOrder},
    {"float84", "", oid::kFloat8, oid::kFloat4, kSums},
    {"float8", "", oid::kFloat8, oid::kFloat8, kOrder},
    {"float8", "", oid::kFloat8, oid::kFloat8, kSums},
    {"float8", "", kNone, oid::kFloat8, kSigns},
    {"d", "", oid::kFloat8, oid::kFloat8, "pow ^"},
    {"d", "", kNone, oid::kFloat8, "sqrt |/ cbrt ||/ exp exp log1 ln log10 log trunc trunc"},
    {"numeric_", "", oid::kNumeric, oid::kNumeric, kOrder},
    {"numeric_", "", oid::kNumeric, oid::kNumeric, "add + sub - mul * div / mod % power ^"},
    {"numeric_", "", kNone, oid::kNumeric, "abs @ uminus - uplus + exp exp ln ln sqrt sqrt"},
    {"numeric_", "", oid::kNumeric, oid::kNumeric, "log log div_trunc div"},

    {"date_", "", oid::kDate, oid::kDate, kOrder},
    {"date_", "", oid::kDate, oid::kDate, "mi -"},
    {"date_", "", oid::kDate, oid::kInt4, "pli + mii -"},
    {"date_", "", oid::kDate, oid::kInterval, "pl_interval + mi_interval -"},
    {"date_", "_timestamp", oid::kDate, oid::kTimestamp, kOrder},
    {"date_", "_timestamptz", oid::kDate, oid::kTimestamptz, kOrder},
    {"timestamp", "", oid::kDate, oid::kTime, " +"},
    {"timestamptz", "", oid::kDate, oid::kTimetz, " +"},
    {"datetime_", "", oid::kDate, oid::kTime, "pl +"},
    {"datetimetz_", "", oid::kDate, oid::kTimetz, "pl +"},
    {"integer_", "_date", oid::kInt4, oid::kDate, "pl +"},
    {"time_", "", oid::kTime, oid::kTime, kOrder},
    {"time_", "", oid::kTime, oid::kTime, "mi_time -"},
    {"time_", "_interval", oid::kTime, oid::kInterval, "pl + mi -"},
    {"timedate_", "", oid::kTime, oid::kDate, "pl +"},
    {"timetz_", "", oid::kTimetz, oid::kTimetz, kOrder},
    {"timetz_", "_interval", oid::kTimetz, oid::kInterval, "pl + mi -"},
    {"timetzdate_", "", oid::kTimetz, oid::kDate, "pl +"},
    {"timestamp_", "", oid::kTimestamp, oid::kTimestamp, kOrder},
    {"timestamp_", "", oid::kTimestamp, oid::kTimestamp, "mi -"},
    {"timestamp_", "_interval", oid::kTimestamp, oid::kInterval, "pl + mi -"},
    {"timestamp_", "_date", oid::kTimestamp, oid::kDate, kOrder},
    {"timestamp_", "_timestamptz", oid::kTimestamp, oid::kTimestamptz, kOrder},
    {"timestamptz_", "", oid::kTimestamptz, oid::kTimestamptz, kOrder},
    {"timestamptz_", "", oid::kTimestamptz, oid::kTimestamptz, "mi -"},
    {"timestamptz_", "_interval", oid::kTimestamptz, oid::kInterval, "pl + mi -"},
    {"timestamptz_", "_date", oid::kTimestamptz, oid::kDate, kOrder},
    {"timestamptz_", "_timestamp", oid::kTimestamptz, oid::kTimestamp, kOrder},
    {"interval_", "", oid::kInterval, oid::kInterval, kOrder},
    {"interval_", "", oid::kInterval, oid::kInterval, "pl + mi -"},
    {"interval_", "", oid::kInterval, oid::kFloat8, "mul * div /"},
    {"interval_", "", kNone, oid::kInterval, "um -"},
    {"mul_d_interval", "", oid::kFloat8, oid::kInterval, " *"},
    {"interval_", "_date", oid::kInterval, oid::kDate, "pl +"},
    {"interval_", "_time", oid::kInterval, oid::kTime, "pl +"},
    {"interval_", "_timetz", oid::kInterval, oid::kTimetz, "pl +"},
    {"interval_", "_timestamp", oid::kInterval, oid::kTimestamp, "pl +"},
    {"interval_", "_timestamptz", oid::kInterval, oid::kTimestamptz, "pl +"},

    {"network_", "", oid::kInet, oid::kInet, kOrder},
    {"network_", "", oid::kInet, oid::kInet, "sub << subeq <<= sup >> supeq >>= overlap &&"},
    {"inet", "", oid::kInet, oid::kInet, "and & or | mi -"},
    {"inet", "", oid::kInet, oid::kInt8, "pl + mi_int8 -"},
    {"int8", "_inet", oid::kInt8, oid::kInet, "pl +"},
    {"inet", "", kNone, oid::kInet, "not ~"},
    {"macaddr_", "", oid::kMacaddr, oid::kMacaddr, kOrder},
    {"macaddr_", "", oid::kMacaddr, oid::kMacaddr, "and & or |"},
    {"macaddr_", "", kNone, oid::kMacaddr, "not ~"},
    {"macaddr8_", "", oid::kMacaddr8, oid::kMacaddr8, kOrder},
    {"macaddr8_", "", oid::kMacaddr8, oid::kMacaddr8, "and & or |"},
    {"macaddr8_", "", kNone, oid::kMacaddr8, "not ~"},
    {"bit", "", oid::kBit, oid::kBit, kOrder},
    {"bit", "", oid::kBit, oid::kBit, "and & or | xor #"},
    {"bit", "", oid::kBit, oid::kInt4, "shiftleft << shiftright >>"},
    {"bit", "", kNone, oid::kBit, "not ~"},
    {"bit", "", oid::kVarbit, oid::kVarbit, "cat ||"},
    {"varbit", "", oid::kVarbit, oid::kVarbit, kOrder},

    {"tid", "", oid::kTid, oid::kTid, kOrder},
    {"xid", "", oid::kXid, oid::kXid, "eq = neq <>"},
    {"xid", "int4", oid::kXid, oid::kInt4, "eq = neq <>"},
    {"cid", "", oid::kCid, oid::kCid, "eq ="},
    {"xid8", "", oid::kXid8, oid::kXid8, kOrder},
    {"pg_lsn_", "", oid::kPgLsn, oid::kPgLsn, kOrder},
    {"pg_lsn_", "", oid::kPgLsn, oid::kPgLsn, "mi -"},
    {"pg_lsn_", "", oid::kPgLsn, oid::kNumeric, "pli + mii -"},
    {"numeric_", "_pg_lsn", oid::kNumeric, oid::kPgLsn, "pl +"},
    {"cash_", "", oid::kMoney, oid::kMoney, kOrder},
    {"cash_", "", oid::kMoney, oid::kMoney, "pl + mi - div_cash /"},
    {"cash_", "_flt4", oid::kMoney, oid::kFloat4, "mul * div /"},
    {"cash_", "_flt8", oid::kMoney, oid::kFloat8, "mul * div /"},
    {"cash_", "_int2", oid::kMoney, oid::kInt2, "mul * div /"},
    {"cash_", "_int4", oid::kMoney, oid::kInt4, "mul * div /"},
    {"cash_", "_int8", oid::kMoney, oid::kInt8, "mul * div /"},
    {"flt4_", "_cash", oid::kFloat4, oid::kMoney, "mul *"},
    {"flt8_", "_cash", oid::kFloat8, oid::kMoney, "mul *"},
    {"int2_", "_cash", oid::kInt2, oid::kMoney, "mul *"},
    {"int4_", "_cash", oid::kInt4, oid::kMoney, "mul *"},
    {"int8_", "_cash", oid::kInt8, oid::kMoney, "mul *"},

    {"array_", "", oid::kAnyArray, oid::kAnyArray, kOrder},
    {"array", "", oid::kAnyArray, oid::kAnyArray, "contains @> contained <@ overlap &&"},
    {"enum_", "", oid::kAnyEnum, oid::kAnyEnum, kOrder},
    {"record_", "", oid::kRecord, oid::kRecord, kOrder},
    {"record_image_", "", oid::kRecord, oid::kRecord, "eq *= ne *<> lt *< le *<= gt *> ge *>="},
    {"range_", "", oid::kAnyRange, oid::kAnyRange, kOrder},
    {"range_", "", oid::kAnyRange, oid::kAnyRange, kPositions},
    {"range_", "", oid::kAnyRange, oid::kAnyRange, "intersect * minus - union +"},
    {"range_", "", oid::kAnyRange, oid::kAnyElement, "contains_elem @>"},
    {"elem_", "", oid::kAnyElement, oid::kAnyRange, "contained_by_range <@"},
    {"range_", "_multirange", oid::kAnyRange, oid::kAnyMultirange, kPositions},
    {"multirange_", "", oid::kAnyMultirange, oid::kAnyMultirange, kOrder},
    {"multirange_", "", oid::kAnyMultirange, oid::kAnyMultirange, "intersect * minus - union +"},
    {"multirange_", "", oid::kAnyMultirange, oid::kAnyElement, "contains_elem @>"},
    {"elem_", "", oid::kAnyElement, oid::kAnyMultirange, "contained_by_multirange <@"},
    {"multirange_", "_multirange", oid::kAnyMultirange, oid::kAnyMultirange, kPositions},
    {"multirange_", "_range", oid::kAnyMultirange, oid::kAnyRange, kPositions},

    {"point_", "", oid::kPoint, oid::kPoint, "left << right >> above |>> below <<| vert ?| horiz ?- eq ~= ne <> distance <->"},
    {"point_", "", oid::kPoint, oid::kPoint, "add + sub - mul * div /"},
    {"lseg_", "", oid::kLseg, oid::kLseg, kOrder},
    {"lseg_", "", oid::kLseg, oid::kLseg, "intersect ?# parallel ?|| perp ?-| distance <-> interpt #"},
    {"lseg_", "", kNone, oid::kLseg, "vertical ?| horizontal ?- center @@ length @-@"},
    {"line_", "", oid::kLine, oid::kLine, "eq = intersect ?# parallel ?|| perp ?-| distance <-> interpt #"},
    {"line_", "", kNone, oid::kLine, "vertical ?| horizontal ?-"},
    {"box_", "", oid::kBox, oid::kBox, kPlaces},
    {"box_", "", oid::kBox, oid::kBox, "lt < gt > eq = le <= ge >= below_eq <^ above_eq >^ intersect #"},
    {"box_", "", oid::kBox, oid::kPoint, "add + sub - mul * div / contain_pt @>"},
    {"box_", "", kNone, oid::kBox, "center @@"},
    {"circle_", "", oid::kCircle, oid::kCircle, kPlaces},
    {"circle_", "", oid::kCircle, oid::kCircle, kOrder},
    {"circle_", "", oid::kCircle, oid::kPoint, "add_pt + sub_pt - mul_pt * div_pt / contain_pt @>"},
    {"circle_", "", kNone, oid::kCircle, "center @@"},
    {"path_n_", "", oid::kPath, oid::kPath, kOrder},
    {"path_", "", oid::kPath, oid::kPath, "add + distance <-> inter ?#"},
    {"path_", "", oid::kPath, oid::kPoint, "add_pt + sub_pt - mul_pt * div_pt / contain_pt @>"},
    {"path_", "", kNone, oid::kPath, "npoints #"},
    {"poly_", "", oid::kPolygon, oid::kPolygon, kPlaces},
    {"poly_", "", oid::kPolygon, oid::kPoint, "contain_pt @>"},
    {"poly_", "", kNone, oid::kPolygon, "npoints # center @@"},
    {"", "", oid::kPoint, oid::kLine, "dist_pl <-> close_pl ## on_pl <@"},
    {"", "", oid::kPoint, oid::kLseg, "dist_ps <-> close_ps ## on_ps <@"},
    {"", "", oid::kPoint, oid::kBox, "dist_pb <-> close_pb ## on_pb <@"},
    {"", "", oid::kPoint, oid::kPath, "dist_ppath <-> on_ppath <@"},
    {"", "", oid::kPoint, oid::kCircle, "dist_pc <-> pt_contained_circle <@"},
    {"", "", oid::kPoint, oid::kPolygon, "dist_ppoly <-> pt_contained_poly <@"},
    {"", "", oid::kLine, oid::kPoint, "dist_lp <->"},
    {"", "", oid::kLine, oid::kLseg, "dist_ls <-> close_ls ##"},
    {"", "", oid::kLine, oid::kBox, "inter_lb ?#"},
    {"", "", oid::kLseg, oid::kPoint, "dist_sp <->"},
    {"", "", oid::kLseg, oid::kLine, "dist_sl <-> on_sl <@ inter_sl ?#"},
    {"", "", oid::kLseg, oid::kBox, "dist_sb <-> close_sb ## on_sb <@ inter_sb ?#"},
    {"", "", oid::kLseg, oid::kLseg, "close_lseg ##"},
    {"", "", oid::kBox, oid::kPoint, "dist_bp <->"},
    {"", "", oid::kBox, oid::kLseg, "dist_bs <->"},
    {"", "", oid::kPath, oid::kPoint, "dist_pathp <->"},
    {"", "", oid::kCircle, oid::kPoint, "dist_cpoint <->"},
    {"", "", oid::kCircle, oid::kPolygon, "dist_cpoly <->"},
    {"", "", oid::kPolygon, oid::kCircle, "dist_polyc <->"},
    {"", "", oid::kPolygon, oid::kPoint, "dist_polyp <->"},

    {"json_", "", oid::kJson, oid::kInt4, "array_element -> array_element_text ->>"},
    {"json_", "", oid::kJson, oid::kText, "object_field -> object_field_text ->>"},
    {"jsonb_", "", oid::kJsonb, oid::kInt4, "array_element -> array_element_text ->> delete -"},
    {"jsonb_", "", oid::kJsonb, oid::kText, "object_field -> object_field_text ->> delete - exists ?"},
    {"jsonb_", "", oid::kJsonb, oid::kTextArray, "delete - delete_path #- exists_all ?& exists_any ?|"},
    {"jsonb_", "", oid::kJsonb, oid::kJsonb, kOrder},
    {"jsonb_", "", oid::kJsonb, oid::kJsonb, "concat || contains @> contained <@"},
    {"tsvector_", "", oid::kTsvector, oid::kTsvector, kOrder},
    {"tsvector_", "", oid::kTsvector, oid::kTsvector, "concat ||"},
    {"tsquery_", "", oid::kTsquery, oid::kTsquery, kOrder},
    {"tsquery_", "", oid::kTsquery, oid::kTsquery, "and && or ||"},
    {"tsquery_", "", kNone, oid::kTsquery, "not !!"},
    {"tsq_m", "", oid::kTsquery, oid::kTsquery, "contains @> contained <@"},
    {"ts_match_", "", oid::kTsvector, oid::kTsquery, "vq @@"},
    {"ts_match_", "", oid::kTsquery, oid::kTsvector, "qv @@"},
    {"ts_match_", "", oid::kText, oid::kText, "tt @@"},
    {"ts_match_", "", oid::kText, oid::kTsquery, "tq @@"},
    {"jsonb_path_", "_opr", oid::kJsonb, oid::kJsonpath, "exists @? match @@"},
};

/// The next part up to a blank; `text` goes on behind it. A blank at the start: the empty part.
std::string_view next_part(std::string_view& text) {
  const std::size_t end = std::min(text.find(' '), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

}  // namespace

std::vector<ScalarFunction> operator_functions(const std::vector<ScalarFunction>& functions) {
  static std::deque<std::string> names;  // what the rows' names point to
  std::unordered_multimap<std::string_view, const ScalarFunction*> by_name;
  for (const ScalarFunction& function : functions) by_name.emplace(function.name, &function);
  const auto find = [&](std::string_view name, const std::vector<Oid>& arguments) -> const ScalarFunction* {
    const auto [begin, end] = by_name.equal_range(name);
    const auto found = std::find_if(begin, end, [&](const auto& entry) { return entry.second->arguments == arguments; });
    return found == end ? nullptr : found->second;
  };
  std::vector<ScalarFunction> made;
  for (const Family& family : kFamilies) {
    std::vector<Oid> arguments = {family.right};
    if (family.left != kNone) arguments.insert(arguments.begin(), family.left);
    for (std::string_view members = family.members; !members.empty();) {
      const std::string_view member = next_part(members), operator_name = next_part(members);
      std::string name = std::string(family.prefix) + std::string(member) + std::string(family.suffix);
      const ScalarFunction* same = find(operator_name, arguments);
      if (same == nullptr || find(name, arguments) != nullptr) continue;
      made.push_back(*same);
      made.back().name = names.emplace_back(std::move(name));
    }
  }
  return made;
}

}  // namespace redquel::sql
