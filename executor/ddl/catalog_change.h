#pragma once

#include <boost/asio/awaitable.hpp>

#include "executor/catalog/catalog_draft.h"
#include "executor/catalog/ddl_context.h"

namespace redquel::executor {

/// Loads, drafts, commits, until no other process is faster; then runs the removals that the change made. Sends the notices.
/// In a transaction the draft becomes the transaction's, which commits it.
asio::awaitable<void> change_catalog(DdlContext& context, const MakeDraft& draft);
/// Like change_catalog(), but tries once: false if another process was faster, or a table was written to that must be unchanged. For
/// changes that depend on more than definitions.
asio::awaitable<bool> try_change_catalog(DdlContext& context, const MakeDraft& draft);
/// change_catalog() for drafts that throw KeyColumnGoes: drops these columns first, each by an ALTER TABLE of its own.
asio::awaitable<void> drop_with_key_columns(DdlContext& context, const MakeDraft& draft);

}  // namespace redquel::executor
