#include "executor/redis/redis_user.h"

#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

/// A connection whose refused login is an error of the foreign server instead of redquel's.
class UserConnection final : public RedisClient {
 public:
  UserConnection(std::unique_ptr<RedisClient> connection, std::shared_ptr<bool> is_refused)
      : connection_(std::move(connection)), is_refused_(std::move(is_refused)) {}

  asio::awaitable<RepliesPtr> execute(CommandBatch batch, ExecutionCounters* counters) override {
    std::string reason;
    try {
      co_return co_await connection_->execute(std::move(batch), counters);
    } catch (const sql::SqlError& error) {
      if (error.sqlstate() != sqlstate::kInvalidAuthorizationSpecification) throw;
      reason = error.message();
    }
    *is_refused_ = true;
    throw login_refused(reason);
  }

  std::uint64_t generation() const override { return connection_->generation(); }

 private:
  std::unique_ptr<RedisClient> connection_;
  std::shared_ptr<bool> is_refused_;
};

}  // namespace

RedisLogins& logins_of(RedisAccess& access) {
  auto* const logins = dynamic_cast<RedisLogins*>(&access);
  if (logins == nullptr) throw sql::not_supported("a connection of another Redis user");
  return *logins;
}

RedisUser::RedisUser(RedisAccess& own, std::string name, std::string password)
    : own_(own), login_{.user = std::move(name), .password = std::move(password), .tls = nullptr} {}

RedisClient& RedisUser::connection(int database, std::string_view purpose) {
  std::unique_ptr<RedisClient>& slot = connections_[{database, purpose}];
  if (!slot) slot = std::make_unique<UserConnection>(logins_of(own_).log_in(login_, database, purpose), is_refused_);
  return *slot;
}

sql::SqlError login_refused(std::string_view reason) {
  return sql::SqlError(sqlstate::kUnableToEstablishConnection, "could not connect to server \"redis\"").detail(std::string(reason));
}

}  // namespace redquel::executor
