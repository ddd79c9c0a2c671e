#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <vector>

#include "executor/ddl/ddl.h"
#include "executor/ddl/object_lookup.h"
#include "executor/ddl/table_alteration.h"

namespace redquel::executor {

/// Changes the definition of one table of the draft, which is there as an empty one. Gives the columns whose values another type gets. May be
/// called several times.
using ChangeDefinition = std::function<std::vector<ColumnRewrite>(CatalogDraft&)>;

/// Alters a table whose rows must be written anew: another key, another type, values for a new column. Copies the rows under another key
/// prefix, in bounded pieces, while the old ones stay readable. The definition changes in one step when all rows are there and no other
/// session has written meanwhile. Returns false, without effect, if one has written or changed the definition. Throws 23502, 23505, 23514
/// for rows that do not fit, and conversion errors.
asio::awaitable<bool> try_rewrite_table(DdlContext& context, TablePtr before, const ChangeDefinition& change);

/// The definition of a table whose rows are all written anew under the prefix.
sql::TableDef relocated(sql::TableDef table, const std::string& prefix);
/// Returns true if the parts of both have the same oids. Parts that are new have no counters of changes yet.
bool has_same_parts(const sql::TableDef& before, const sql::TableDef& after);
/// The sequences of the table's columns keep their counters under the new prefix.
void move_sequences(CatalogDraft& draft, const sql::TableDef& before, const std::string& prefix);

}  // namespace redquel::executor
