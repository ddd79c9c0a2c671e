#include "executor/runtime/session_exchange.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "executor/runtime/process_exchange.h"
#include "sql/catalog/stored_keys.h"
#include "sql/connection_hooks.h"
#include "sql/system_tables/shown_sessions.h"

namespace redquel::executor {

namespace {

/// Sessions of one process that others show.
constexpr std::size_t kMostSessions = 2000;

// Questions: "sessions", "number", "cancel <process id>", "terminate <process id>", "request <process id> <secret>".
constexpr std::string_view kYes = "yes", kNo = "no";

/// Takes a word off the text.
std::string_view take_word(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(text.size(), word.size() + 1));
  return word;
}

std::optional<std::int32_t> take_number(std::string_view& text) {
  const std::string_view word = take_word(text);
  std::int32_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc() && end == word.data() + word.size() ? std::optional(number) : std::nullopt;
}

asio::awaitable<std::vector<std::string>> ask(std::string question) {
  ProcessQuestions* const others = other_processes();
  if (others == nullptr) co_return std::vector<std::string>{};
  co_return co_await others->ask(std::move(question));
}

}  // namespace

std::optional<std::string> answer_about_sessions(std::string_view question, std::int32_t number) {
  const std::string_view word = take_word(question);
  if (word == "number") return std::to_string(number);
  if (word == "sessions" && sql::statistics_hooks().sessions != nullptr) {
    std::vector<sql::SessionStatistics> sessions = sql::statistics_hooks().sessions();
    sessions.resize(std::min(sessions.size(), kMostSessions));
    return sql::encode_sessions(sessions);
  }
  const std::optional<std::int32_t> process_id = take_number(question);
  const sql::ConnectionHooks& server = sql::connection_hooks();
  if (!process_id || server.signal == nullptr) return std::nullopt;
  if (word == "cancel" || word == "terminate") return std::string(server.signal(*process_id, word == "terminate") ? kYes : kNo);
  if (word == "request") {
    if (const auto secret = take_number(question)) server.cancel(*process_id, *secret);
    return std::string(kYes);
  }
  return std::nullopt;
}

asio::awaitable<std::vector<sql::SessionStatistics>> sessions_elsewhere() {
  std::vector<sql::SessionStatistics> all;
  for (const std::string& answer : co_await ask("sessions")) {
    try {
      std::ranges::move(sql::decode_sessions(answer), std::back_inserter(all));
    } catch (const std::exception& error) {  // of another version
      spdlog::debug("the sessions of another process are not shown: {}", error.what());
    }
  }
  co_return all;
}

asio::awaitable<bool> signal_elsewhere(std::int32_t process_id, bool ends_session) {
  const std::vector<std::string> answers = co_await ask(fmt::format("{} {}", ends_session ? "terminate" : "cancel", process_id));
  co_return std::ranges::find(answers, kYes) != answers.end();
}

asio::awaitable<void> cancel_elsewhere(std::int32_t process_id, std::int32_t secret) { co_await ask(fmt::format("request {} {}", process_id, secret)); }

asio::awaitable<std::int32_t> take_process_number(RedisClient& home, std::string identity) {
  std::set<std::int32_t> taken;
  const std::vector<std::string> answers = co_await ask("number");
  for (const std::string& answer : answers) {
    std::string_view text = answer;
    if (const auto number = take_number(text)) taken.insert(*number);
  }
  // Processes that start at the same moment do not hear each other yet.
  for (std::int32_t number = 0; number < sql::kMostProcesses; ++number) {
    if (taken.contains(number)) continue;
    CommandBatch batch;
    batch.add("SET", fmt::format("{}{}", sql::kProcessNumberPrefix, number), identity, "NX", "PX", "5000");
    const RepliesPtr replies = co_await home.execute(std::move(batch));
    replies->or_throw();
    if ((*replies)[0].is_text()) co_return number;
  }
  co_return 0;
}

}  // namespace redquel::executor
