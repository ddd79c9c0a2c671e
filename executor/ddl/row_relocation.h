#pragma once

#include <boost/asio/awaitable.hpp>

#include "executor/ddl/ddl.h"
#include "executor/ddl/object_lookup.h"
#include "sql/progress.h"

namespace redquel::executor {

/// Returns true if only the key of the rows differs between `before` and `after`: a table without indexes gets a primary key of one
/// integer. Does not check whether values are converted.
bool may_relocate(const TablePtr& before, const TablePtr& after);

/// Returns true if the hidden key of each row equals its new key, so that no row has to be moved: the rows came in the order of their
/// keys, from 1 on.
asio::awaitable<bool> may_stay(DdlContext& context, TablePtr before, TablePtr after);

/// Copies the rows within Redis, in bounded pieces, to the new place of `after`, which is not visible yet. Throws 23502 for a row without
/// a key, 23505 in the words of a failed index build for a duplicate key.
asio::awaitable<void> relocate_rows(DdlContext& context, TablePtr before, TablePtr after, sql::ProgressReport& progress);

}  // namespace redquel::executor
