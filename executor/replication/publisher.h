#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "executor/redis/client.h"
#include "executor/replication/replication_link.h"
#include "executor/replication/pgoutput.h"
#include "executor/replication/replication_way.h"
#include "executor/replication/slots.h"

namespace redquel::executor {

/// The present place of the stream.
struct StreamEnd {
  std::string system;
  Lsn lsn = 0;
};
/// Throws 0A000 for a Redis Cluster and behind Sentinel.
asio::awaitable<StreamEnd> find_stream_end(ReplicationWay way);
/// Makes a slot at the present place, which is returned. Throws 42710, 42602, 55000 if the Redis counts replicas before it writes.
asio::awaitable<Lsn> create_slot(ReplicationWay way, std::string name);
/// Throws 42704, 55006. `waits`: until no session has the slot.
asio::awaitable<void> drop_slot(ReplicationWay way, std::string name, bool waits);
/// Notes that rows up to now may have been copied by a subscriber.
asio::awaitable<void> note_copy(ReplicationWay way);

/// Sends the changes behind a slot. Belongs to one thread.
class Publisher : public std::enable_shared_from_this<Publisher> {
 public:
  /// `wake`: called when there is something to take, or the second is over.
  Publisher(ReplicationWay way, std::vector<std::string> publications, std::string process, std::function<void()> wake);

  /// Takes the slot and finds its place. `from`: the subscriber has everything before. Throws 42704, 55006, 55000 if changes are lost.
  asio::awaitable<void> start(std::string slot, Lsn from);
  /// Returns the messages that wait. Throws what ended the stream.
  std::vector<ReplicationMessage> take();
  /// Returns true if take() would not return nothing.
  bool has_output() const { return !output_.empty() || failure_; }
  /// Everything before this was taken.
  Lsn position() const { return taken_; }
  /// The subscriber keeps everything before.
  void confirm(Lsn flushed);
  /// Writes the last record and gives the slot back.
  asio::awaitable<void> stop();

 private:
  struct Checkpoint {
    Lsn lsn = 0;
    std::uint64_t offset = 0;
    StreamDecoder::State state;
  };

  asio::awaitable<void> resume(ReplicationSlot& slot, Lsn from);
  static asio::awaitable<void> read(std::shared_ptr<Publisher> self);
  static asio::awaitable<void> keep(std::shared_ptr<Publisher> self);
  asio::awaitable<void> read_stream();
  asio::awaitable<void> send(StreamTransaction transaction);
  asio::awaitable<void> complete(StreamTransaction& transaction);
  asio::awaitable<void> read_table(const PublishedTablePtr& table, std::vector<TableChange>& changes);
  asio::awaitable<void> read_rows(const PublishedTablePtr& table, std::vector<std::string> members, bool replaces, std::vector<TableChange>& changes);
  asio::awaitable<bool> read_values(TableChange& change);
  asio::awaitable<void> note_upserts();
  asio::awaitable<void> write_record();
  void note_checkpoint();
  void fail(std::exception_ptr failure);

  ReplicationWay way_;
  SlotStore slots_;
  std::vector<std::string> publications_;
  std::string token_;
  std::function<void()> wake_;
  std::shared_ptr<ReplicationLink> link_;
  std::unique_ptr<StreamDecoder> decoder_;
  PgoutputEncoder encoder_;
  ReplicationSlot slot_;
  Lsn skipped_ = 0;   // transactions up to here are not sent
  Lsn position_ = 0;  // of the decoder, between two commits
  Lsn taken_ = 0;     // the position when messages were taken last
  Lsn upserts_ = 0;   // rows that come up to here may be at the subscriber already
  std::vector<ReplicationMessage> output_;
  std::size_t output_bytes_ = 0;
  std::deque<Checkpoint> checkpoints_;
  std::chrono::steady_clock::time_point last_checkpoint_{};
  std::optional<Checkpoint> latest_;  // behind the transaction that was sent last
  std::optional<Checkpoint> unwritten_;
  std::shared_ptr<const StoredDefinitions> written_definitions_;
  std::exception_ptr failure_;
  bool is_stopped_ = false, has_lease_ = false;
  bool waits_for_stream_ = false;  // everything that was read has been sent
  asio::steady_timer pause_, tick_;
};

}  // namespace redquel::executor
