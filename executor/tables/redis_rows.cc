#include "executor/tables/redis_rows.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "sql/ascii.h"
#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/types/byte_text.h"

namespace redquel::executor {

namespace {

using Fields = std::map<std::string, std::string, std::less<>>;

std::optional<std::string> field(const Fields& fields, std::string_view name) {
  const auto found = fields.find(name);
  return found == fields.end() || found->second.empty() ? std::nullopt : std::optional(readable(found->second));
}

/// Pieces of a text between separators, empty ones left out.
std::vector<std::string_view> pieces(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> found;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(separators), text.size());
    if (end > 0) found.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return found;
}

/// "a=1,b=2"
Fields assignments(std::string_view text, std::string_view separators) {
  Fields fields;
  for (const std::string_view piece : pieces(text, separators)) {
    const std::size_t equals = piece.find('=');
    if (equals == std::string_view::npos) continue;
    std::string name(piece.substr(0, equals));
    std::ranges::replace(name, '-', '_');
    fields.emplace(std::move(name), piece.substr(equals + 1));
  }
  return fields;
}

std::string reply_text(const Reply& reply) {
  return reply.kind == Reply::Kind::integer ? std::to_string(reply.integer) : std::string(reply.text);
}

void add_info(std::string_view text, RedisRows& rows) {
  std::string section;
  for (const std::string_view line : pieces(text, "\r\n")) {
    if (line.starts_with("# ")) {
      section = line.substr(2);
      std::ranges::transform(section, section.begin(), sql::to_lower);
      continue;
    }
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    rows.add([&](std::string_view column) -> std::optional<std::string> {
      if (column == "section") return section;
      return readable(column == "name" ? line.substr(0, colon) : line.substr(colon + 1));
    });
  }
}

void add_command_statistics(std::string_view text, RedisRows& rows) {
  constexpr std::string_view kPrefix = "cmdstat_";
  for (const std::string_view line : pieces(text, "\r\n")) {
    const std::size_t colon = line.find(':');
    if (!line.starts_with(kPrefix) || colon == std::string_view::npos) continue;
    const Fields fields = assignments(line.substr(colon + 1), ",");
    rows.add([&](std::string_view column) -> std::optional<std::string> {
      if (column == "command") return std::string(line.substr(kPrefix.size(), colon - kPrefix.size()));
      return field(fields, column);
    });
  }
}

void add_clients(std::string_view text, RedisRows& rows) {
  for (const std::string_view line : pieces(text, "\r\n")) {
    const Fields fields = assignments(line, " ");
    rows.add([&](std::string_view column) { return field(fields, column); });
  }
}

void add_slow_log(std::span<const Reply> entries, bool hides_arguments, RedisRows& rows) {
  for (const Reply& entry : entries) {
    const std::span<const Reply> parts = entry.children();
    if (parts.size() < 4) continue;
    rows.add([&](std::string_view column) -> std::optional<std::string> {
      if (column == "id") return reply_text(parts[0]);
      if (column == "at") return timestamp_text(parts[1].integer);
      if (column == "microseconds") return reply_text(parts[2]);
      const std::span<const Reply> words = parts[3].children();
      if (column == "command") return words.empty() ? "" : readable(words[0].text);
      if (column == "arguments" && hides_arguments) return std::nullopt;
      if (column == "arguments") {
        std::vector<std::string> arguments;
        for (std::size_t i = 1; i < words.size(); ++i) arguments.push_back(readable(words[i].text));
        return array_text(arguments);
      }
      const std::size_t place = column == "client_addr" ? 4 : 5;
      if (parts.size() <= place || parts[place].text.empty()) return std::nullopt;
      return readable(parts[place].text);
    });
  }
}

/// Names and values by turns, values of nested lists under both names.
void add_pairs(std::span<const Reply> words, const std::string& prefix, RedisRows& rows) {
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
    const std::string name = prefix + readable(words[i].text);
    if (words[i + 1].is_array()) {
      add_pairs(words[i + 1].children(), name + ".", rows);
      continue;
    }
    rows.add([&](std::string_view column) { return column == "name" ? name : readable(reply_text(words[i + 1])); });
  }
}

/// Parameters whose values are passwords, and those whose values may contain one.
bool is_secret(std::string_view parameter) {
  constexpr std::string_view kSecrets[] = {"masterauth", "requirepass", "tls-client-key-file-pass", "tls-key-file-pass", "user"};
  return std::ranges::find(kSecrets, parameter) != std::end(kSecrets);
}

/// CONFIG GET; a secret is NULL, or empty where none is set.
void add_configuration(std::span<const Reply> words, RedisRows& rows) {
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
    const std::string value = reply_text(words[i + 1]);
    rows.add([&](std::string_view column) -> std::optional<std::string> {
      if (column == "name") return readable(words[i].text);
      if (!value.empty() && is_secret(words[i].text)) return std::nullopt;
      return readable(value);
    });
  }
}

void add_latency(std::span<const Reply> events, RedisRows& rows) {
  for (const Reply& event : events) {
    const std::span<const Reply> parts = event.children();
    if (parts.size() < 4) continue;
    rows.add([&](std::string_view column) {
      if (column == "event") return readable(parts[0].text);
      if (column == "at") return timestamp_text(parts[1].integer);
      return reply_text(parts[column == "latest_ms" ? 2 : 3]);
    });
  }
}

void add_cluster_nodes(std::string_view text, RedisRows& rows) {
  constexpr std::string_view kColumns[] = {"id", "address", "flags", "master", "ping_sent", "pong_received", "config_epoch", "link_state"};
  for (const std::string_view line : pieces(text, "\n")) {
    const std::vector<std::string_view> words = pieces(line, " ");
    if (words.size() < std::size(kColumns)) continue;
    rows.add([&](std::string_view column) -> std::optional<std::string> {
      std::vector<std::string> list;
      if (column == "slots") {
        list.assign(words.begin() + std::size(kColumns), words.end());
        return array_text(list);
      }
      const std::string_view word = words[static_cast<std::size_t>(std::ranges::find(kColumns, column) - std::begin(kColumns))];
      if (column == "master" && word == "-") return std::nullopt;
      if (column != "flags") return std::string(word);
      for (const std::string_view flag : pieces(word, ",")) list.emplace_back(flag);
      return array_text(list);
    });
  }
}

}  // namespace

std::string readable(std::string_view bytes) {
  if (sql::is_valid_utf8(bytes) && bytes.find('\0') == std::string_view::npos) return std::string(bytes);
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f && c != '\\') text += c;
    else text += fmt::format("\\x{:02x}", byte);
  }
  return text;
}

std::string timestamp_text(std::int64_t seconds) {
  // Redis is not trusted with years that nothing can print.
  seconds = std::clamp<std::int64_t>(seconds, 0, 253'402'300'799);
  return fmt::format("{:%F %T}+00", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

std::string array_text(const std::vector<std::string>& elements) {
  std::string text = "{";
  for (const std::string& element : elements) {
    text += text.size() == 1 ? "\"" : ",\"";
    for (const char c : element) {
      if (c == '"' || c == '\\') text += '\\';
      text += c;
    }
    text += '"';
  }
  return text + "}";
}

RedisRows::RedisRows(const planner::PhysicalSystemScan& plan) {
  const sql::SystemTable* table = sql::find_system_table(plan.schema, plan.name);
  if (table == nullptr) throw sql::SqlError(sqlstate::kInternalError, "system table " + plan.schema + "." + plan.name + " does not exist");
  for (const std::size_t position : plan.positions) wanted_.push_back(&table->columns[position]);
  take();
}

void RedisRows::add(const std::function<std::optional<std::string>(std::string_view column)>& value) {
  for (std::size_t i = 0; i < wanted_.size(); ++i) {
    const std::optional<std::string> text = value(wanted_[i]->name);
    if (text) columns_[i]->append(std::string_view(*text));
    else columns_[i]->append_null();
  }
  ++rows_;
}

bool RedisRows::wants(std::string_view column) const {
  return std::ranges::any_of(wanted_, [&](const sql::SystemTable::SystemColumn* wanted) { return wanted->name == column; });
}

sql::Batch RedisRows::take() {
  sql::Batch batch;
  batch.rows = std::exchange(rows_, 0);
  for (const std::shared_ptr<sql::Column>& column : columns_) batch.columns.push_back(std::make_shared<const sql::Column>(column->decode()));
  columns_.clear();
  for (const sql::SystemTable::SystemColumn* column : wanted_) {
    columns_.push_back(std::make_shared<sql::Column>(sql::Column::encoded(column->type)));
  }
  return batch;
}

CommandBatch report_command(std::string_view table, const std::optional<std::string>& name) {
  CommandBatch batch;
  if (table == "info") batch.add("INFO", name.value_or("everything"));
  else if (table == "commandstats") batch.add("INFO", "commandstats");
  else if (table == "clients") batch.add("CLIENT", "LIST");
  else if (table == "slowlog") batch.add("SLOWLOG", "GET", 1000);
  else if (table == "config") batch.add("CONFIG", "GET", name.value_or("*"));
  else if (table == "memory_stats") batch.add("MEMORY", "STATS");
  else if (table == "latency") batch.add("LATENCY", "LATEST");
  else batch.add("CLUSTER", "NODES");
  return batch;
}

void add_report(std::string_view table, const Replies& replies, bool hides_arguments, RedisRows& rows) {
  const bool has_no_cluster = table == "cluster_nodes" && replies[0].is_error() && replies[0].text.find("cluster support disabled") != std::string_view::npos;
  if (has_no_cluster) return;
  const Reply& reply = replies.checked(0);
  if (table == "info") add_info(reply.text, rows);
  else if (table == "commandstats") add_command_statistics(reply.text, rows);
  else if (table == "clients") add_clients(reply.text, rows);
  else if (table == "slowlog") add_slow_log(reply.children(), hides_arguments, rows);
  else if (table == "latency") add_latency(reply.children(), rows);
  else if (table == "cluster_nodes") add_cluster_nodes(reply.text, rows);
  else if (table == "config") add_configuration(reply.children(), rows);
  else add_pairs(reply.children(), "", rows);
}

}  // namespace redquel::executor
