#include "executor/ddl/sequence_restart.h"

#include <algorithm>

#include "executor/catalog/catalog_draft.h"
#include "executor/ddl/catalog_change.h"
#include "executor/roles/role_access.h"
#include "executor/roles/user_mappings.h"
#include "executor/storage/sequences.h"
#include "executor/transaction/transaction_catalog.h"
#include "sql/catalog/mapping.h"

namespace redquel::executor {

asio::awaitable<void> lock_sequence(DdlContext& context, const sql::SequenceDef& sequence) {
  if (!context.lock_table) co_return;
  sql::TableDef relation;  // locks need no more than a number, a name and a bucket
  relation.oid = sequence.oid;
  relation.name = sequence.name;
  relation.prefix = sequence.key;  // for the tag of its bucket
  co_await context.lock_table(relation, TableLock::kShareRowExclusive);
}

namespace {

/// The values that sessions have taken ahead are stale.
asio::awaitable<void> forget_values_ahead(DdlContext& context, const SequenceRestarts& restarts) {
  const MakeDraft make = [&](CatalogDraft& draft) {
    for (const auto& [oid, first] : restarts) {
      const auto sequence = draft.catalog().sequences.find(oid);
      if (sequence == draft.catalog().sequences.end() || sequence->second.cache == 1) continue;
      sql::SequenceDef changed = sequence->second;
      ++changed.changes;
      draft.put(std::move(changed));
    }
  };
  co_await change_catalog(context, make);
}

/// Returns the client that writes the counter: that of a foreign table is the application's, and written as the Redis user of the role.
asio::awaitable<RedisClient*> client_of(DdlContext& context, const LoadedCatalog& loaded, const sql::SequenceDef& sequence) {
  const auto table = loaded.snapshot->find_table(sequence.owner_table);
  RoleAccess* const access = role_access(context.access);
  if (!sequence.foreign) co_return &context.redis;
  if (!table || !table->is_mapped() || access == nullptr) throw foreign_server_denied();
  const int database = table->mapping().database.value_or(context.database);
  if (const RedisUserPtr user = co_await access->user_of(*table)) co_return &user->shared(database);
  co_return &access->shared(database);
}

}  // namespace

asio::awaitable<void> restart_sequences(DdlContext& context, SequenceRestarts restarts) {
  if (restarts.empty()) co_return;
  LoadedCatalog loaded = co_await load_definitions(context);
  for (const auto& [oid, first] : restarts) {
    const auto sequence = loaded.snapshot->sequences.find(oid);
    if (sequence != loaded.snapshot->sequences.end()) co_await lock_sequence(context, sequence->second);
  }
  if (context.session.transaction) {
    const MakeDraft make = [&](CatalogDraft& draft) {
      for (const auto& [oid, first] : restarts) {
        const auto sequence = draft.catalog().sequences.find(oid);
        // The counter of a foreign table is the application's.
        if (sequence != draft.catalog().sequences.end() && !sequence->second.foreign) draft.renew_counter(oid);
      }
    };
    co_await change_catalog(context, make);
  }
  loaded = co_await load_definitions(context);
  for (const auto& [oid, first] : restarts) {
    const auto sequence = loaded.snapshot->sequences.find(oid);
    if (sequence == loaded.snapshot->sequences.end()) continue;
    RedisClient* client = co_await client_of(context, loaded, sequence->second);
    co_await set_sequence(*client, sequence->second, first, false);
  }
  // In a transaction the new key shows the restart.
  if (!context.session.transaction) co_await forget_values_ahead(context, restarts);
}

}  // namespace redquel::executor
