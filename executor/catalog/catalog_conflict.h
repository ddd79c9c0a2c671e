#pragma once

#include <set>

#include "executor/catalog/catalog_draft.h"

namespace redquel::executor {

/// Is what others have made of `before` in each other's way with the draft, which was made of it too? It is where both have touched one
/// object; where one of them has dropped, renamed or reformed what something of the other depends on (both would have waited for each
/// other's locks in PostgreSQL); where both gave a name; and where others have touched a table that the transaction relies on.
/// `claimed`: prefixes that are in `now` for the draft's own sake.
bool conflicts(const CatalogDraft& draft, const sql::CatalogSnapshot& before, const LoadedCatalog& now, const std::set<sql::Oid>& relied_on,
               const std::set<std::string>& claimed);

}  // namespace redquel::executor
