#include "server/init.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <termios.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <stdexcept>

#include "executor/roles/first_password.h"
#include "executor/runtime/failure.h"
#include "executor/storage/role_store.h"
#include "server/configuration.h"
#include "server/redis_check.h"
#include "server/reload.h"
#include "server/tls_options.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::server {

namespace {

constexpr std::size_t kMaxPasswordBytes = 65535;

/// Switches the terminal's echo off while it lives.
class SilentTerminal {
 public:
  SilentTerminal() : is_terminal_(tcgetattr(STDIN_FILENO, &before_) == 0) {
    if (!is_terminal_) return;
    termios silent = before_;
    silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent);
  }
  ~SilentTerminal() {
    if (is_terminal_) tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
  }
  SilentTerminal(const SilentTerminal&) = delete;
  SilentTerminal& operator=(const SilentTerminal&) = delete;

 private:
  termios before_{};
  bool is_terminal_;
};

std::string ask(const char* prompt) {
  std::fputs(prompt, stderr);
  const SilentTerminal silent;
  std::string line;
  if (!std::getline(std::cin, line)) throw std::runtime_error("no password was given");
  std::fputc('\n', stderr);
  return line;
}

std::string prompted_password() {
  std::string password = ask("New password: ");
  if (ask("Enter it again: ") != password) throw std::runtime_error("the passwords are not the same");
  return password;
}

asio::awaitable<void> set_password(executor::RedisPool& pool, std::string role, std::string password) {
  executor::RedisClient& home = pool.shared(pool.default_database());
  executor::home_database() = {&home, pool.default_database()};
  const std::exception_ptr failure = co_await executor::failure_of(executor::set_first_password(home, std::move(role), std::move(password)));
  executor::home_database() = {};
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

std::string read_password_file(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!file || !std::getline(file, line)) throw std::runtime_error(fmt::format("could not read a password from \"{}\"", path));
  if (line.ends_with('\r')) line.pop_back();
  if (line.empty() || line.size() > kMaxPasswordBytes) throw std::runtime_error(fmt::format("the first line of \"{}\" is no password", path));
  return line;
}

int run_init(int argc, const char* const* argv) {
  constexpr int kFailed = 1, kBadUsage = 2;
  CLI::App app("redquel init: gives a superuser its first password", "redquel init");
  Configuration configuration;
  std::string role = "postgres", file;
  bool prompts = false;
  app.add_option("--redis", configuration.redis_url, "the Redis: redis://[[user]:password@]host[:port][/db], rediss://… (TLS), unix://… or sentinel://host:26379,…/master")
      ->type_name("URL")
      ->required();
  add_tls_options(app, configuration.redis_tls);
  app.add_option("--username", role, "the superuser (postgres)")->type_name("NAME");
  CLI::Option* from_file = app.add_option("--pwfile", file, "the file whose first line is the password")->type_name("FILE");
  app.add_flag("--pwprompt", prompts, "ask for the password")->excludes(from_file);
  try {
    app.parse(argc - 1, argv + 1);
    if (file.empty() && !prompts) throw CLI::RequiredError("--pwfile or --pwprompt");
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help
    std::fprintf(stderr, "redquel init: %s\n", error.what());
    return kBadUsage;
  }
  try {
    configuration.redis_password = environment_password();
    use_buckets(configuration);
    std::string password = prompts ? prompted_password() : read_password_file(file);
    run_over_redis(redis_connection(configuration), [&](executor::RedisPool& pool) { return set_password(pool, role, std::move(password)); });
    std::printf("role %s has a password\n", role.c_str());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "redquel: %s\n", error.what());
    return kFailed;
  }
}

void set_first_password(executor::ConnectionOptions redis, const std::string& password) {
  try {
    run_over_redis(std::move(redis), [&](executor::RedisPool& pool) { return set_password(pool, "postgres", password); });
    spdlog::info("role postgres has the password of the password file");
  } catch (const sql::SqlError& error) {
    constexpr std::string_view kHasOne = sqlstate::kDuplicateObject;
    if (error.sqlstate() != kHasOne) throw;
  }
}

}  // namespace redquel::server
