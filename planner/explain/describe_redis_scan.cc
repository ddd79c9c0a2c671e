#include "planner/explain/describe_redis_scan.h"

#include <fmt/format.h>

#include "sql/catalog/key_pattern.h"
#include "sql/system_tables.h"

namespace redquel::planner {

namespace {

/// The text that an expression is known to be when the plan is printed.
std::optional<std::string> known_text(const sql::Expression& value) {
  const auto* constant = std::get_if<sql::Constant>(&value.node);
  const auto* text = constant ? std::get_if<std::string>(&constant->value) : nullptr;
  return text ? std::optional(*text) : std::nullopt;
}

std::string shown_value(const sql::Expression& value) { return known_text(value).value_or(sql::to_string(value)); }

std::string pattern_text(const sql::Expression& pattern) {
  const std::optional<std::string> known = known_text(pattern);
  if (!known) return "<" + sql::to_string(pattern) + ">";
  return sql::glob_of_like(*known).value_or("*");
}

bool has_column(const PhysicalSystemScan& scan, std::string_view name) {
  const sql::SystemTable* table = sql::find_system_table(scan.schema, scan.name);
  for (const std::size_t position : scan.positions) {
    if (table->columns[position].name == name) return true;
  }
  return false;
}

std::string scan_command(const RowBounds& bounds, std::string_view type) {
  std::string command = "SCAN <cursor>";
  if (bounds.pattern) command += " MATCH " + pattern_text(*bounds.pattern);
  command += " COUNT 1000";
  if (!type.empty()) command += fmt::format(" TYPE {}", type);
  return command;
}

CommandText keys(const PhysicalSystemScan& scan) {
  const RowBounds& bounds = scan.bounds;
  CommandText text;
  const bool is_direct = !bounds.names.empty();
  if (!is_direct && scan.positions.empty() && !bounds.pattern && !bounds.type) return {{"DBSIZE"}, "1"};
  if (!is_direct) text.commands.push_back(scan_command(bounds, bounds.type ? shown_value(*bounds.type) : ""));
  const std::string key = is_direct && bounds.names.size() == 1 ? shown_value(*bounds.names[0]) : "<key>";
  const bool per_key = has_column(scan, "ttl") || has_column(scan, "encoding") || has_column(scan, "memory");
  const bool asks_type = is_direct || (has_column(scan, "type") && !bounds.type);
  if (asks_type) text.commands.push_back("TYPE " + key);
  if (has_column(scan, "ttl")) text.commands.push_back("TTL " + key);
  if (has_column(scan, "encoding")) text.commands.push_back("OBJECT ENCODING " + key);
  if (has_column(scan, "memory")) text.commands.push_back("MEMORY USAGE " + key);
  text.round_trips = is_direct ? "1 per 200 keys" : per_key || asks_type ? "2 per 1000 keys of the database" : "1 per 1000 keys of the database";
  return text;
}

std::string argument(const RowBounds& bounds, std::string_view otherwise) {
  if (bounds.names.size() == 1) return shown_value(*bounds.names[0]);
  return std::string(otherwise);
}

}  // namespace

CommandText describe_redis_scan(const PhysicalSystemScan& scan) {
  if (scan.schema != sql::kRedisSchema) return {};
  if (scan.name == "keys") return keys(scan);
  if (scan.name == "streams" || scan.name == "groups") {
    CommandText text{{}, "2 per 1000 keys of the database"};
    if (scan.bounds.names.empty()) text.commands.push_back(scan_command(scan.bounds, "stream"));
    else text.round_trips = "1 per 200 keys";
    text.commands.push_back((scan.name == "groups" ? "XINFO GROUPS " : "XINFO STREAM ") + argument(scan.bounds, "<key>"));
    return text;
  }
  if (scan.name == "info") return {{"INFO " + argument(scan.bounds, "everything")}, "1"};
  if (scan.name == "config") return {{"CONFIG GET " + argument(scan.bounds, "*")}, "1"};
  if (scan.name == "clients") return {{"CLIENT LIST"}, "1"};
  if (scan.name == "slowlog") return {{"SLOWLOG GET 1000"}, "1"};
  if (scan.name == "commandstats") return {{"INFO commandstats"}, "1"};
  if (scan.name == "memory_stats") return {{"MEMORY STATS"}, "1"};
  if (scan.name == "latency") return {{"LATENCY LATEST"}, "1"};
  return {{"CLUSTER NODES"}, "1"};
}

}  // namespace redquel::planner
