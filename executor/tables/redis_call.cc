#include "executor/tables/redis_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "executor/setting.h"
#include "sql/ascii.h"
#include "sql/error.h"
#include "sql/types/byte_text.h"
#include "sql/types/jsonb.h"

namespace redquel::executor {

namespace {

using CallWords = std::span<const std::string>;

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), sql::to_lower);
  return result;
}

/// A command that redquel's connections must not run, and why. The connection is shared by all sessions of a thread.
struct Refusal {
  std::string_view command, reason;
};

constexpr std::string_view kConnection = "it would change the state of a connection that sessions share";
constexpr std::string_view kBlocks = "it may block Redis or the connection";
constexpr std::string_view kServer = "it would stop the server or replace its data";

constexpr Refusal kRefusals[] = {
    {"asking", kConnection},    {"auth", kConnection},       {"discard", kConnection},  {"exec", kConnection},
    {"hello", kConnection},     {"monitor", kConnection},    {"multi", kConnection},    {"psubscribe", kConnection},
    {"psync", kConnection},     {"punsubscribe", kConnection}, {"quit", kConnection},   {"readonly", kConnection},
    {"readwrite", kConnection}, {"replconf", kConnection},   {"reset", kConnection},    {"select", kConnection},
    {"ssubscribe", kConnection}, {"subscribe", kConnection}, {"sunsubscribe", kConnection}, {"sync", kConnection},
    {"unsubscribe", kConnection}, {"unwatch", kConnection},  {"watch", kConnection},
    {"keys", kBlocks},          {"save", kBlocks},           {"wait", kBlocks},         {"waitaof", kBlocks},
    {"debug", kServer},         {"failover", kServer},       {"flushall", kServer},     {"flushdb", kServer},
    {"replicaof", kServer},     {"restore-asking", kServer}, {"shutdown", kServer},     {"slaveof", kServer},
    {"swapdb", kServer},
};

/// Subcommands of CLIENT that only tell something.
constexpr std::string_view kHarmlessClient[] = {"getname", "getredir", "help", "id", "info", "list", "trackinginfo"};

sql::SqlError refused(std::string_view command, std::string_view reason) {
  return sql::SqlError("42501", fmt::format("redis.call() does not run {}", command)).detail(fmt::format("{}{}.", static_cast<char>(reason[0] - 32), reason.substr(1)));
}

bool has_word(CallWords words, std::string_view wanted) {
  return std::ranges::any_of(words, [&](const std::string& word) { return lower(word) == wanted; });
}

/// Refuses what redquel knows without asking Redis.
void check_command(CallWords words, const std::string& name, std::string_view shown) {
  for (const Refusal& refusal : kRefusals) {
    if (refusal.command == name) throw refused(shown, refusal.reason);
  }
  if (name != "client") return;
  if (words.size() < 2 || std::ranges::find(kHarmlessClient, lower(words[1])) == std::end(kHarmlessClient)) {
    throw refused(words.size() < 2 ? std::string(shown) : fmt::format("{} {}", shown, words[1]), kConnection);
  }
}

/// Has the command of a COMMAND INFO reply this flag?
bool has_flag(const Reply& command, std::string_view flag) {
  const std::span<const Reply> parts = command.children();
  if (parts.size() < 3) return false;
  return std::ranges::any_of(parts[2].children(), [&](const Reply& found) { return found.text == flag; });
}

void append_string(std::string_view text, std::string& json) {
  if (!sql::is_valid_utf8(text) || text.find('\0') != std::string_view::npos) {
    throw sql::SqlError("22021", "the reply of Redis is not text in encoding \"UTF8\"");
  }
  json += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') json += '\\', json += c;
    else if (byte < 0x20) json += fmt::format("\\u{:04x}", byte);
    else json += c;
  }
  json += '"';
}

void append_reply(const Reply& reply, std::string& json) {
  switch (reply.kind) {
    case Reply::Kind::nil:
      json += "null";
      return;
    case Reply::Kind::integer:
      json += std::to_string(reply.integer);
      return;
    case Reply::Kind::string:
    case Reply::Kind::status:
    case Reply::Kind::error:  // inside of an array
      append_string(reply.text, json);
      return;
    case Reply::Kind::array:
      json += '[';
      for (const Reply& child : reply.children()) {
        if (&child != &reply.children().front()) json += ',';
        append_reply(child, json);
      }
      json += ']';
      return;
  }
}

}  // namespace

asio::awaitable<std::optional<std::string>> call_redis(CallWords words, ExecutionContext& context) {
  if (!is_on(context, "is_superuser")) throw sql::SqlError("42501", "permission denied for function call");
  const std::string name = lower(words[0]);
  std::string shown = name;
  std::ranges::transform(shown, shown.begin(), [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  check_command(words, name, shown);

  // Redis knows best which commands write and which may wait.
  CommandBatch question;
  question.add("COMMAND", "INFO", name);
  if (words.size() > 1) question.add("COMMAND", "INFO", name + "|" + lower(words[1]));
  const RepliesPtr about = co_await context.redis().execute(std::move(question));
  const Reply& general = about->array(0).empty() ? about->checked(0) : about->array(0)[0];
  const bool has_special = words.size() > 1 && !(*about)[1].is_error() && !about->array(1).empty() && about->array(1)[0].is_array();
  const Reply& command = has_special ? about->array(1)[0] : general;
  const bool waits = has_flag(command, "blocking") && (!name.starts_with("xread") || has_word(words.subspan(1), "block"));
  if (waits) throw refused(shown, kBlocks);
  const bool runs_script = name == "eval" || name == "evalsha" || name == "fcall";  // which may do anything
  const bool may_write = runs_script || has_flag(command, "write");
  if (may_write && is_on(context, "transaction_read_only")) {
    throw sql::in_read_only_transaction(shown);
  }

  CommandBatch batch;
  batch.begin(words.size());
  batch.arg(shown);
  for (const std::string& word : words.subspan(1)) batch.arg(word);
  const RepliesPtr replies = co_await context.redis().execute(std::move(batch));
  const Reply& reply = replies->checked(0);
  if (reply.is_nil()) co_return std::nullopt;
  std::string json;
  append_reply(reply, json);
  co_return sql::parse_jsonb(json);
}

}  // namespace redquel::executor
