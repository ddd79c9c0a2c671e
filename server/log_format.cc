#include "server/log_format.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <boost/json.hpp>

#include "sql/ascii.h"

namespace redquel::server {

namespace {

/// Seconds from 1970 to 2000.
constexpr std::int64_t kEpoch = 946'684'800;

/// The line that this thread is writing; null: one without fields.
thread_local const LogFields* current_fields = nullptr;

/// A client's text cannot look like a line of the log: no line begins with a tab.
constexpr std::string_view kNextLine = "\n\t";

class EscapedMessage final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& line) override {
    for (const char c : message.payload) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte >= 0x20 && byte != 0x7f) {
        line.push_back(c);
        continue;
      }
      if (c == '\n' && current_fields != nullptr && current_fields->has_lines) {
        line.append(kNextLine.data(), kNextLine.data() + kNextLine.size());
        continue;
      }
      for (const char escaped : {'\\', 'x', sql::kHexDigits[byte >> 4], sql::kHexDigits[byte & 15]}) line.push_back(escaped);
    }
  }
  std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<EscapedMessage>(); }
};

boost::json::string_view view(std::string_view text) { return {text.data(), text.size()}; }

std::string_view severity_of(spdlog::level::level_enum level) {
  switch (level) {
    case spdlog::level::trace: return "DEBUG5";
    case spdlog::level::debug: return "DEBUG1";
    case spdlog::level::warn: return "WARNING";
    case spdlog::level::err: return "ERROR";
    case spdlog::level::critical: return "FATAL";
    default: return "LOG";
  }
}

class JsonLines final : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& line) override {
    boost::json::object object;
    const auto add = [&](const char* key, std::string_view text) {
      if (!text.empty()) object[key] = view(text);
    };
    const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(message.time.time_since_epoch()).count();
    const auto seconds = static_cast<std::time_t>(milliseconds / 1000);
    add("timestamp", fmt::format("{:%Y-%m-%d %H:%M:%S}.{:03} UTC", fmt::gmtime(seconds), milliseconds % 1000));
    if (current_fields == nullptr) {
      object["pid"] = ::getpid();
      add("error_severity", severity_of(message.level));
      add("message", {message.payload.data(), message.payload.size()});
      add("backend_type", "redquel");
    } else {
      add_session(*current_fields, object, add);
    }
    const std::string text = boost::json::serialize(object);
    line.append(text.data(), text.data() + text.size());
    line.push_back('\n');
  }
  std::unique_ptr<spdlog::formatter> clone() const override { return std::make_unique<JsonLines>(); }

 private:
  template <class Add>
  static void add_session(const LogFields& fields, boost::json::object& object, const Add& add) {
    add("user", fields.user);
    add("dbname", fields.database);
    object["pid"] = fields.process_id;
    add("remote_host", fields.remote_host);
    if (fields.remote_port > 0) object["remote_port"] = fields.remote_port;
    const std::int64_t started = fields.session_started / 1'000'000 + kEpoch;
    add("session_id", fmt::format("{:x}.{:x}", started, fields.process_id));
    add("session_start", fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(static_cast<std::time_t>(started))));
    add("error_severity", fields.severity);
    add("state_code", fields.state_code);
    add("message", fields.message);
    add("detail", fields.detail);
    add("hint", fields.hint);
    add("statement", fields.statement);
    add("application_name", fields.application_name);
    add("backend_type", "client backend");
    if (fields.query_id != 0) object["query_id"] = fields.query_id;
    if (fields.redis_round_trips != 0) object["redis_round_trips"] = fields.redis_round_trips;
    if (fields.redis_commands != 0) object["redis_commands"] = fields.redis_commands;
  }
};

}  // namespace

std::unique_ptr<spdlog::formatter> log_format(LogForm form) {
  if (form == LogForm::kJson) return std::make_unique<JsonLines>();
  auto format = std::make_unique<spdlog::pattern_formatter>();
  format->add_flag<EscapedMessage>('*').set_pattern("%Y-%m-%d %H:%M:%S.%e %^%l%$ %*");
  return format;
}

void log_fields(spdlog::level::level_enum level, const LogFields& fields) {
  if (!spdlog::should_log(level)) return;
  std::string text = fmt::format("[{}] {}@{} {} {}: ", fields.process_id, fields.user, fields.database, fields.remote_host, fields.severity);
  if (!fields.state_code.empty()) text += fmt::format("{}: ", fields.state_code);
  text += fields.message;
  for (const auto& [name, value] : {std::pair<std::string_view, std::string_view>{"DETAIL", fields.detail}, {"HINT", fields.hint}, {"STATEMENT", fields.statement}}) {
    if (!value.empty()) text += fmt::format("  {}: {}", name, value);
  }
  current_fields = &fields;
  spdlog::log(level, spdlog::string_view_t(text.data(), text.size()));
  current_fields = nullptr;
}

}  // namespace redquel::server
