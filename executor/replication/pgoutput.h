#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "executor/replication/stream_decoder.h"

namespace redquel::executor {

/// The log sequence number of a place in the stream: pg_lsn.
using Lsn = std::uint64_t;
/// Returns "1/2ABC".
std::string lsn_text(Lsn lsn);

/// A message for a subscriber: XLogData without its header.
struct ReplicationMessage {
  Lsn start = 0, end = 0;
  std::string body;
};

/// Encodes transactions as PostgreSQL's plugin pgoutput does, protocol version 1 (manual, 55.9).
class PgoutputEncoder {
 public:
  /// `changes` have neither kReadTable nor kReadRow, and no unread values. `base`: of the transaction's offsets. Returns no message where nothing
  /// of the transaction is published. `time`: microseconds since 2000.
  std::vector<ReplicationMessage> encode(const StreamTransaction& transaction, Lsn base, std::int64_t time);

 private:
  /// Describes the table unless the subscriber knows it.
  void describe(const PublishedTablePtr& table, std::vector<std::string>& bodies);

  std::map<sql::Oid, PublishedTablePtr> described_;
};

}  // namespace redquel::executor
