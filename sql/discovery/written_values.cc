#include "sql/discovery/written_values.h"

#include <algorithm>

#include "sql/discovery/key_shapes.h"
#include "sql/types/byte_text.h"
#include "sql/types/text_io.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {

namespace {

constexpr std::size_t kMaxFilledWidth = 18;  // of a number that is filled up with zeros

}  // namespace

bool looks_like(PieceKind kind, const std::string& value) {
  std::vector<std::string> values;
  const KeyPieces pieces = split_key(value, values);
  return pieces.size() == 1 && pieces[0].kind == kind;
}

std::size_t padded_width(const Values& values) {
  std::size_t width = 0, shortest = 19;
  for (const auto& value : values) {
    if (!looks_like(PieceKind::kInteger, *value) || value->starts_with('-')) return 0;
    shortest = std::min(shortest, value->size());
    if (value->size() < 2 || !value->starts_with('0')) continue;
    if (width != 0 && width != value->size()) return 0;
    width = value->size();
  }
  return shortest < width || width > kMaxFilledWidth ? 0 : width;
}

void read_back(ProposedColumn& made, const Values& values) {
  const bool has_bytes = std::ranges::any_of(values, [](const auto& value) { return !is_valid_utf8(*value); });
  if (has_bytes) {
    made.type = "bytea";
    made.options = {{"format", "raw"}};
    return;
  }
  const auto format = std::ranges::find(made.options, "format", &std::pair<std::string, std::string>::first);
  const bool is_time_or_flag = format != made.options.end() && format->second != "json";
  if (made.type == "bigint" || is_time_or_flag) return;
  const Type type = made.type == "uuid" ? kUuid : made.type == "date" ? kDate : made.type == "numeric" ? kNumeric : kText;
  const bool reads_back = std::ranges::all_of(values, [&](const auto& value) {
    return format_value(type, parse_value(type, *value, SessionSettings{})) == *value;
  });
  if (type.oid != kText.oid && reads_back) return;
  made.type = "text";
  made.options.clear();
}

std::size_t member_width(const Values& ids, const Values& keys) {
  const std::size_t width = padded_width(ids);
  if (width > 0) return width;
  const std::size_t of_keys = padded_width(keys);
  return std::ranges::all_of(ids, [&](const auto& id) { return id->size() >= of_keys; }) ? of_keys : 0;
}

bool is_score(const ProposedTable& table, const std::string& column) {
  const auto found = std::ranges::find(table.columns, column, &ProposedColumn::name);
  if (found == table.columns.end()) return false;
  const bool is_number = found->type == "bigint" || found->type == "numeric" || found->type == "double precision";
  return is_number || std::ranges::any_of(found->options, [](const auto& option) { return option.second == "unix" || option.second == "unix_ms"; });
}

}  // namespace redquel::sql
