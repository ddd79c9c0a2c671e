#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "executor/replication/publisher.h"
#include "server/replication/replication_commands.h"
#include "server/session.h"

namespace redquel::server {

/// The commands of a session that replicates.
class Session::Replication {
 public:
  static asio::awaitable<std::unique_ptr<Replication>> open(Session& session);
  Replication(Session& session, executor::ReplicationWay way) : session_(session), way_(std::move(way)) {}

  /// Runs the text if it is a command of replication. Returns false if it is a statement of SQL.
  asio::awaitable<bool> run(std::string text);
  /// A statement of SQL has ended.
  asio::awaitable<void> note_statement(std::string_view text);

 private:
  asio::awaitable<void> identify();
  asio::awaitable<void> create(CreateReplicationSlot command);
  asio::awaitable<void> start(StartReplication command);
  asio::awaitable<void> stream();
  /// Returns false after CopyDone.
  bool take_messages();
  void take_status(std::string_view body);
  void send(const executor::ReplicationMessage& message);
  void send_keepalive(bool wants_answer);
  void answer(std::span<const executor::OutputColumn> columns, const std::vector<std::optional<std::string>>& row, std::string_view tag);

  Session& session_;
  executor::ReplicationWay way_;
  std::shared_ptr<executor::Publisher> publisher_;
  executor::Lsn sent_ = 0;
  std::chrono::steady_clock::time_point last_word_{}, last_answer_{};  // to the client, of the client
  bool wants_keepalive_ = false;
  bool has_made_slot_ = false;
};

}  // namespace redquel::server
