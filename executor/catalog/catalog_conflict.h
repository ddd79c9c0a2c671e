#pragma once

#include <set>

#include "executor/catalog/catalog_draft.h"

namespace redquel::executor {

/// Returns true if the changes of other sessions to `before` conflict with those of the draft, which was made from it too. They conflict
/// if both changed one object; if one dropped, renamed or reshaped an object that the other's objects depend on (in PostgreSQL one would
/// have waited for the other's locks); if both used a new name; and if another session changed a table that the transaction relies on.
/// `claimed`: prefixes that `now` has on behalf of the draft.
bool conflicts(const CatalogDraft& draft, const sql::CatalogSnapshot& before, const LoadedCatalog& now, const std::set<sql::Oid>& relied_on,
               const std::set<std::string>& claimed);

}  // namespace redquel::executor
