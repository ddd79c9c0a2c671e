#include "executor/tables/redis_call.h"

#include <fmt/format.h>

#include "executor/context/setting.h"
#include "executor/roles/access.h"
#include "executor/roles/role_access.h"
#include "executor/tables/callable_commands.h"
#include "sql/error.h"
#include "sql/privileges/permission_errors.h"
#include "sql/sqlstate.h"
#include "sql/types/byte_text.h"
#include "sql/types/jsonb.h"

namespace redquel::executor {

namespace {

void append_string(std::string_view text, std::string& json) {
  if (!sql::is_valid_utf8(text) || text.find('\0') != std::string_view::npos) {
    throw sql::SqlError(sqlstate::kCharacterNotInRepertoire, "the reply of Redis is not text in encoding \"UTF8\"");
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

asio::awaitable<std::optional<std::string>> call_redis(std::span<const std::string> words, ExecutionContext& context) {
  RoleAccess* const access = role_access(context.access);
  RedisUserPtr user;
  if (access != nullptr) user = co_await access->user();
  const bool is_trusted = is_superuser(context.evaluation());
  if (!user && !is_trusted) throw sql::permission_denied("function", "call");
  if (context.callable_commands == nullptr) throw sql::not_supported("redis.call() in this place");
  co_await context.callable_commands->check(words, is_on(context, "transaction_read_only"), is_trusted, context.redis());
  CommandBatch batch;
  batch.begin(words.size());
  for (const std::string& word : words) batch.arg(word);
  RedisClient& client = user ? user->shared(context.database) : context.redis();
  const RepliesPtr replies = co_await client.execute(std::move(batch));
  const Reply& reply = replies->checked(0);
  if (reply.is_nil()) co_return std::nullopt;
  std::string json;
  append_reply(reply, json);
  co_return sql::parse_jsonb(json);
}

}  // namespace redquel::executor
