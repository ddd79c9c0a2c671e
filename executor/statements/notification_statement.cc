#include "executor/statements/notification_statement.h"

#include "executor/runtime/notifications.h"
#include "parser/parse.h"
#include "sql/error.h"

namespace redquel::executor {

namespace ast = parser::ast;
using Action = SessionNotifications::Action;

namespace {

class NotificationStatement final : public Execution {
 public:
  NotificationStatement(PreparedPtr prepared, SessionState& session) : prepared_(std::move(prepared)), session_(session) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    const auto& node = prepared_->statement->node;
    if (!session_.notifications) throw sql::not_supported(command_tag());
    SessionNotifications& notifications = *session_.notifications;
    if (const auto* listen = std::get_if<ast::Listen>(&node)) {
      notifications.add({Action::Kind::kListen, listen->channel});
    } else if (const auto* unlisten = std::get_if<ast::Unlisten>(&node)) {
      const bool all = unlisten->channel.empty();
      notifications.add({all ? Action::Kind::kUnlistenAll : Action::Kind::kUnlisten, unlisten->channel});
    } else {
      const auto& notify = std::get<ast::Notify>(node);
      if (session_.only_looks) throw sql::in_read_only_transaction(command_tag());
      notifications.notify(notify.channel, notify.payload);
    }
    co_return std::nullopt;
  }

  std::string command_tag() const override { return std::string(parser::command_tag(*prepared_->statement)); }

 private:
  PreparedPtr prepared_;
  SessionState& session_;
};

}  // namespace

std::unique_ptr<Execution> make_notification_statement(PreparedPtr prepared, SessionState& session) {
  return std::make_unique<NotificationStatement>(std::move(prepared), session);
}

}  // namespace redquel::executor
