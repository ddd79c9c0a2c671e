#pragma once

#include <boost/asio/awaitable.hpp>

#include "executor/ddl/ddl.h"
#include "executor/ddl/object_lookup.h"
#include "sql/progress.h"

namespace redquel::executor {

/// Do the rows of `before` become those of `after` by another key alone? So it is where a table without indexes gets a primary key of one
/// integer. Whether values are converted is not asked.
bool may_relocate(const TablePtr& before, const TablePtr& after);

/// Has each of these rows, called by its hidden number so far, that number as its new key? Then nothing has to be moved. So it is where they came
/// in the order of their keys, from 1 on.
asio::awaitable<bool> may_stay(DdlContext& context, TablePtr before, TablePtr after);

/// Copies them within Redis, in bounded pieces, to the place of `after`, which nobody looks at yet. Throws 23502 for a row without a key, 23505
/// in the words of an index that cannot be built for one that two rows have.
asio::awaitable<void> relocate_rows(DdlContext& context, TablePtr before, TablePtr after, sql::ProgressReport& progress);

}  // namespace redquel::executor
