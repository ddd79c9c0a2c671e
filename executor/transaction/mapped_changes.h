#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "executor/storage/mapped_unit.h"
#include "executor/storage/row_buffer.h"

namespace redquel::executor {

// Rows of mapped tables in a transaction's buffer, by identity. A row that got another identity stands under the new one, with what Redis
// holds under the old one as `stored`; the old identity's entry says that no row has it any more.

/// A statement's change as a change of what Redis holds; nullopt: Redis has nothing to do with it. Throws 23505 for a new row that the
/// transaction has already, 0A000 for a row that takes the key of one which the transaction has moved.
std::optional<MappedChange> over_buffer(const sql::TableDef& table, const MappedChange& change, const RowBuffer& buffer);
/// Returns true if the transaction has a row with the key of this new one.
bool is_in_buffer(const sql::TableDef& table, const MappedChange& change, const RowBuffer& buffer);
/// Adds the change to the transaction. New rows of lists and streams have no identity of their own: `number` identifies them.
void absorb(RowBuffer& buffer, const std::shared_ptr<const sql::TableDef>& table, const MappedChange& change, std::size_t number);
/// All that the transaction has changed of mapped tables.
std::vector<std::shared_ptr<MappedUnit>> mapped_units(const RowBuffer& buffer);
/// Values of lookups that a table's rows take and give up in the transaction.
MappedLookups mapped_lookups(const std::shared_ptr<const sql::TableDef>& table, const RowBuffer& buffer);

}  // namespace redquel::executor
