#include "server/status/page_api.h"

#include <fmt/format.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <boost/asio/this_coro.hpp>
#include <boost/json.hpp>
#include <charconv>
#include <utility>

#include "server/status/metrics.h"
#include "server/status/page_data.h"

namespace redquel::server {

namespace {

namespace json = boost::json;

constexpr std::size_t kMostConsoles = 16;
constexpr auto kIdleTime = std::chrono::minutes(30);
/// Rows of one result that the page gets.
constexpr std::uint32_t kMostRows = 5000;
constexpr const char* kPageName = "redquel status page";

std::string text_of(const json::object& request, std::string_view name) {
  const json::value* const value = request.if_contains(json::string_view(name.data(), name.size()));
  const json::string* const text = value == nullptr ? nullptr : value->if_string();
  return text == nullptr ? std::string() : std::string(text->data(), text->size());
}

json::value json_of(const InsideClient::Fields& fields) {
  json::object object;
  static constexpr std::pair<char, const char*> kNames[] = {{'S', "severity"}, {'C', "sqlstate"}, {'M', "message"}, {'D', "detail"}, {'H', "hint"}, {'P', "position"}, {'W', "context"}};
  for (const auto& [letter, name] : kNames) {
    if (const auto found = fields.find(letter); found != fields.end()) object[name] = found->second;
  }
  return object;
}

json::object json_of(const InsideClient::Result& result) {
  json::array columns, types, rows, notices;
  for (const InsideClient::Result::Column& column : result.columns) {
    columns.emplace_back(column.name);
    types.emplace_back(column.type);
  }
  for (const auto& row : result.rows) {
    json::array values;
    for (const auto& value : row) value ? values.emplace_back(*value) : values.emplace_back(nullptr);
    rows.emplace_back(std::move(values));
  }
  for (const auto& notice : result.notices) notices.push_back(json_of(notice));
  json::object object{{"columns", std::move(columns)}, {"types", std::move(types)}, {"rows", std::move(rows)}, {"more", result.has_more}, {"count", result.count}, {"whole", result.is_whole}, {"tag", result.tag},
                      {"notices", std::move(notices)}};
  if (!result.error.empty()) object["error"] = json_of(result.error);
  return object;
}

// Initializer lists stand in functions that are no coroutines: g++ 12 destroys them twice there.

json::value answer_of(const InsideClient::Fields& error) { return json::object{{"error", json_of(error)}}; }

json::value answer_of(const std::string& console, bool may_write) { return json::object{{"console", console}, {"writes", may_write}}; }

json::value answer_of(const std::vector<InsideClient::Result>& results, double milliseconds) {
  json::array list;
  for (const InsideClient::Result& result : results) list.push_back(json_of(result));
  return json::object{{"results", std::move(list)}, {"milliseconds", milliseconds}};
}

asio::awaitable<json::object> read_parts(InsideClient& client, std::span<const PagePart> parts) {
  json::object object;
  for (const PagePart& part : parts) {
    const std::vector<InsideClient::Result> results = co_await client.run(part.query, kMostRows);
    object[json::string_view(part.name.data(), part.name.size())] = results.empty() ? json::object() : json_of(results.front());
  }
  co_return object;
}

/// Returns statements that explain a text without constants: its parameters are NULL.
std::string explanation_of(const std::string& text) {
  constexpr std::size_t kMostParameters = 1000;
  std::size_t parameters = 0;
  for (std::size_t at = text.find('$'); at != std::string::npos; at = text.find('$', at + 1)) {
    std::size_t number = 0;
    std::from_chars(text.data() + at + 1, text.data() + text.size(), number);
    if (number <= kMostParameters) parameters = std::max(parameters, number);
  }
  std::string values;
  for (std::size_t i = 0; i < parameters; ++i) values += i == 0 ? "NULL" : ", NULL";
  return fmt::format("PREPARE redquel_page_plan AS {}; EXPLAIN (FORMAT JSON) EXECUTE redquel_page_plan{}", text, values.empty() ? "" : "(" + values + ")");
}

std::string random_name() {
  std::array<unsigned char, 16> bytes;
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) throw std::runtime_error("no random numbers");
  std::string name;
  for (const unsigned char byte : bytes) name += fmt::format("{:02x}", byte);
  return name;
}

}  // namespace

asio::awaitable<std::unique_ptr<InsideClient>> PageApi::open_reader(const std::string& database) {
  auto client = std::make_unique<InsideClient>(co_await asio::this_coro::executor, open_(ClientOrigin::kStatusPage));
  const InsideClient::Login login{.role = "postgres", .database = database, .password = {}, .application = kPageName, .is_read_only = true};
  InsideClient::Fields error;
  try {
    error = co_await client->log_in(login);
  } catch (const InsideClient::Gone&) {
    throw Failure{503, "the server ends"};
  }
  if (!error.empty()) throw Failure{503, error['M']};
  co_return client;
}

asio::awaitable<std::string> PageApi::Stream::next() {
  if (!client_) {
    const std::string database = "postgres";
    client_ = co_await api_.open_reader(database);
  }
  json::object event;
  try {
    event = co_await read_parts(*client_, live_parts());
  } catch (const InsideClient::Gone&) {
    throw Failure{503, "the server ends"};
  }
  event["metrics"] = metrics_text(api_.counts_, api_.max_sessions_);
  co_return json::serialize(event);
}

asio::awaitable<json::value> PageApi::answer(const std::string& name, const json::object& request, PageTokens::Right right) {
  forget_idle();
  if (name == "tables") co_return co_await read(request, table_parts());
  if (name == "catalog") co_return co_await read(request, catalog_parts());
  if (name == "plan") co_return co_await plan(request);
  if (name == "open") co_return co_await open_console(request, right);
  if (name == "run") co_return co_await run(request, right);
  if (name == "cancel") co_return cancel(request, right);
  if (name == "close") co_return close(request, right);
  throw Failure{404, "not found"};
}

asio::awaitable<json::value> PageApi::read(const json::object& request, std::span<const PagePart> parts) {
  std::string database = text_of(request, "database");
  if (database.empty()) database = "postgres";
  const std::unique_ptr<InsideClient> client = co_await open_reader(database);
  try {
    co_return co_await read_parts(*client, parts);
  } catch (const InsideClient::Gone&) {
    throw Failure{503, "the server ends"};
  }
}

asio::awaitable<json::value> PageApi::plan(const json::object& request) {
  const std::string id = text_of(request, "id"), database = text_of(request, "database");
  const std::vector<sql::StatementStatistics> statements = counts_.statements();
  const auto statement = std::ranges::find_if(statements, [&](const sql::StatementStatistics& one) { return std::to_string(one.query_id) == id && one.database == database; });
  if (statement == statements.end()) throw Failure{404, "there is no such statement"};
  const std::unique_ptr<InsideClient> client = co_await open_reader(database);
  try {
    const std::string sql = explanation_of(statement->text);
    const std::vector<InsideClient::Result> results = co_await client->run(sql, kMostRows);
    co_return json_of(results.back());
  } catch (const InsideClient::Gone&) {
    throw Failure{503, "the server ends"};
  }
}

asio::awaitable<json::value> PageApi::open_console(const json::object& request, PageTokens::Right right) {
  if (consoles_.size() >= kMostConsoles) throw Failure{429, "too many consoles are open"};
  const bool may_write = right == PageTokens::Right::kWrite;
  auto console = std::make_shared<Console>();
  console->right = right;
  console->client = std::make_unique<InsideClient>(co_await asio::this_coro::executor, open_(may_write ? ClientOrigin::kConsole : ClientOrigin::kReadingConsole));
  InsideClient::Login login{.role = text_of(request, "role"), .database = text_of(request, "database"), .password = text_of(request, "password"),
                            .application = "redquel console", .is_read_only = !may_write};
  if (login.role.empty()) throw Failure{400, "a console needs a role"};
  if (login.database.empty()) login.database = login.role;
  try {
    const InsideClient::Fields error = co_await console->client->log_in(login);
    if (!error.empty()) co_return answer_of(error);
  } catch (const InsideClient::Gone&) {
    throw Failure{503, "the server has closed the connection"};
  }
  std::string name = random_name();
  consoles_[name] = std::move(console);
  co_return answer_of(name, may_write);
}

std::shared_ptr<PageApi::Console> PageApi::find(const json::object& request, PageTokens::Right right) {
  const auto found = consoles_.find(text_of(request, "console"));
  // A console that may write needs the token that may.
  if (found == consoles_.end() || (found->second->right == PageTokens::Right::kWrite && right != PageTokens::Right::kWrite)) throw Failure{404, "there is no such console"};
  found->second->used = Clock::now();
  return found->second;
}

asio::awaitable<json::value> PageApi::run(const json::object& request, PageTokens::Right right) {
  const std::shared_ptr<Console> console = find(request, right);
  if (console->is_running) throw Failure{409, "the console runs a statement"};
  console->is_running = true;
  const Clock::time_point began = Clock::now();
  std::vector<InsideClient::Result> results;
  bool is_gone = false;
  try {
    const std::string sql = text_of(request, "sql");
    results = co_await console->client->run(sql, kMostRows);
  } catch (const InsideClient::Gone&) {
    is_gone = true;
  }
  console->is_running = false;
  console->used = Clock::now();
  if (is_gone) {
    std::erase_if(consoles_, [&](const auto& entry) { return entry.second == console; });
    throw Failure{503, "the session has ended"};
  }
  co_return answer_of(results, std::chrono::duration<double, std::milli>(Clock::now() - began).count());
}

json::value PageApi::cancel(const json::object& request, PageTokens::Right right) {
  send_cancel_request(open_(ClientOrigin::kConsole), find(request, right)->client->cancel_request());
  return json::object{};
}

json::value PageApi::close(const json::object& request, PageTokens::Right right) {
  find(request, right);
  consoles_.erase(text_of(request, "console"));
  return json::object{};
}

void PageApi::forget_idle() {
  std::erase_if(consoles_, [](const auto& entry) { return !entry.second->is_running && Clock::now() - entry.second->used > kIdleTime; });
}

}  // namespace redquel::server
