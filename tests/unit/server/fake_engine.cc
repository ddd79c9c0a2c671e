#include "tests/unit/server/fake_engine.h"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <charconv>

#include "sql/error.h"

namespace redquel::server {

namespace {

using executor::Engine;
using executor::Execution;
using executor::Prepared;
using executor::PreparedPtr;
using executor::SessionState;

/// The numbers in parentheses behind a word; {} when the word is not there.
std::vector<int> arguments_of(std::string_view text, std::string_view word) {
  std::vector<int> numbers;
  std::size_t at = text.find(std::string(word) + "(");
  if (at == std::string_view::npos) return numbers;
  at += word.size() + 1;
  while (at < text.size() && text[at] != ')') {
    int number = 0;
    const auto parsed = std::from_chars(text.data() + at, text.data() + text.size(), number);
    if (parsed.ec == std::errc()) {
      numbers.push_back(number);
      at = static_cast<std::size_t>(parsed.ptr - text.data());
    } else {
      ++at;
    }
  }
  return numbers;
}

class FakeExecution final : public Execution {
 public:
  FakeExecution(PreparedPtr prepared, std::vector<sql::Datum> parameters, SessionState& session,
                std::shared_ptr<FakeCounters> counters)
      : prepared_(std::move(prepared)), parameters_(std::move(parameters)), session_(session), counters_(counters) {
    ++counters_->running;
    if (const auto rows = arguments_of(prepared_->text, "rows"); !rows.empty()) rows_ = rows[0];
    if (const auto wide = arguments_of(prepared_->text, "wide"); wide.size() == 2) {
      rows_ = wide[0];
      width_ = static_cast<std::size_t>(wide[1]);
    }
  }
  ~FakeExecution() override { --counters_->running; }

  asio::awaitable<std::optional<sql::Batch>> next() override {
    const std::string& text = prepared_->text;
    if (text.find("wait") != std::string::npos) {
      try {
        asio::steady_timer timer(co_await asio::this_coro::executor, std::chrono::hours(1));
        co_await timer.async_wait(asio::use_awaitable);
      } catch (...) {
        ++counters_->cancelled;
        throw;
      }
    }
    if (text.find("divide") != std::string::npos) throw sql::SqlError("22012", "division by zero");
    if (text.find("notice") != std::string::npos && sent_ == 0) {
      session_.notice("NOTICE", sql::SqlError("00000", "well"));
      rows_ = 1;
    }
    if (text.find("echo") != std::string::npos) rows_ = 1;
    if (sent_ >= rows_) co_return std::nullopt;
    ++counters_->pulled;
    sql::Batch batch;
    batch.rows = 1;
    if (text.find("echo") != std::string::npos) {
      for (std::size_t i = 0; i < parameters_.size(); ++i) {
        sql::Column column(prepared_->parameter_types[i]);
        if (sql::is_null(parameters_[i])) {
          column.append_null();
        } else {
          column.append_datum(parameters_[i]);
        }
        batch.columns.push_back(std::make_shared<const sql::Column>(std::move(column)));
      }
    } else if (width_ > 0) {
      sql::Column column(sql::kText);
      column.append(std::string_view(std::string(width_, 'x')));
      batch.columns.push_back(std::make_shared<const sql::Column>(std::move(column)));
    } else {
      sql::Column column = sql::Column::encoded(sql::kInt4);
      batch.rows = static_cast<std::size_t>(std::min(rows_ - sent_, 10));
      for (std::size_t i = 0; i < batch.rows; ++i) {
        column.append(std::string_view(std::to_string(sent_ + static_cast<int>(i) + 1)));
      }
      batch.columns.push_back(std::make_shared<const sql::Column>(std::move(column)));
    }
    sent_ += static_cast<int>(batch.rows);
    co_return batch;
  }

  std::string command_tag() const override {
    if (std::holds_alternative<parser::ast::Select>(prepared_->statement->node))
      return "SELECT " + std::to_string(sent_);
    return "INSERT 0 " + std::to_string(std::max(sent_, 1));
  }

 private:
  PreparedPtr prepared_;
  std::vector<sql::Datum> parameters_;
  SessionState& session_;
  std::shared_ptr<FakeCounters> counters_;
  int rows_ = 0, sent_ = 0;
  std::size_t width_ = 0;
};

class FakeEngine final : public Engine {
 public:
  explicit FakeEngine(std::shared_ptr<FakeCounters> counters) : counters_(std::move(counters)) {}

  asio::awaitable<PreparedPtr> prepare(std::string text, std::shared_ptr<const parser::ast::Statement> statement,
                                       executor::DeclaredParameters declared, SessionState&) override {
    ++counters_->prepared;
    if (const std::size_t at = text.find("wrong"); at != std::string::npos) {
      throw sql::SqlError("42703", "column \"wrong\" does not exist").at(static_cast<std::uint32_t>(at));
    }
    std::vector<sql::Type> types = std::move(declared).value_or(std::vector<sql::Type>{});
    auto prepared = std::make_shared<Prepared>();
    const bool select = std::holds_alternative<parser::ast::Select>(statement->node);
    if (text.find("echo") != std::string::npos) {
      for (sql::Type& type : types) {
        if (type.oid == sql::oid::kUnknown) type = sql::kText;
        prepared->columns.push_back({"p", type, 0, 0});
      }
    } else if (text.find("wide") != std::string::npos) {
      prepared->columns.push_back({"wide", sql::kText, 0, 0});
    } else if (select || text.find("rows") != std::string::npos) {
      prepared->columns.push_back({"rows", sql::kInt4, 77, 3});
    }
    prepared->parameter_types = std::move(types);
    prepared->returns_rows = select || !prepared->columns.empty();
    prepared->text = std::move(text);
    prepared->statement = std::move(statement);
    co_return prepared;
  }
  std::unique_ptr<Execution> execute(PreparedPtr prepared, std::vector<sql::Datum> parameters,
                                     SessionState& session) override {
    return std::make_unique<FakeExecution>(std::move(prepared), std::move(parameters), session, counters_);
  }
  void begin(SessionState&) override {}
  asio::awaitable<void> commit(SessionState&) override { co_return; }
  asio::awaitable<void> roll_back(SessionState&) override { co_return; }
  void set_savepoint(SessionState&) override {}
  void release_savepoint(SessionState&, std::size_t) override {}
  asio::awaitable<void> roll_back_to(SessionState&, std::size_t) override { co_return; }

 private:
  std::shared_ptr<FakeCounters> counters_;
};

class FakeEngines final : public EngineSource {
 public:
  asio::awaitable<executor::LoginFacts> login_facts(std::string role, std::string) override {
    executor::LoginRole known{.oid = 10, .name = role, .superuser = true, .can_login = true, .verifier = {}, .memberships = {role}, .settings = {}};
    co_return executor::LoginFacts{.has_roles = true, .mock_nonce = "nonce", .database = {}, .role = std::move(known)};
  }

  explicit FakeEngines(std::shared_ptr<FakeCounters> counters)
      : engine_(std::make_shared<FakeEngine>(std::move(counters))) {}
  asio::awaitable<std::shared_ptr<Engine>> open(std::string database) override {
    if (database != "postgres") throw sql::SqlError("3D000", "database \"" + database + "\" does not exist");
    co_return engine_;
  }

 private:
  std::shared_ptr<Engine> engine_;
};

}  // namespace

EngineSourceFactory fake_engines(std::shared_ptr<FakeCounters> counters) {
  return [counters](asio::io_context&) { return std::make_unique<FakeEngines>(counters); };
}

}  // namespace redquel::server
