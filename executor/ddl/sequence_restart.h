#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <utility>
#include <vector>

#include "executor/ddl/ddl.h"
#include "sql/catalog/catalog.h"

namespace redquel::executor {

/// Each sequence and the value that it gives next. In a transaction that value lies at a new key, which others learn of with the commit.
using SequenceRestarts = std::vector<std::pair<sql::Oid, std::int64_t>>;

/// RESTART of sequences as they are now; one that is gone is left out. Waits for other transactions that restart one of them.
asio::awaitable<void> restart_sequences(DdlContext& context, SequenceRestarts restarts);
/// Locks a sequence that a transaction changes until it ends.
asio::awaitable<void> lock_sequence(DdlContext& context, const sql::SequenceDef& sequence);

}  // namespace redquel::executor
