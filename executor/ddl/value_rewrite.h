#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "executor/catalog/catalog_draft.h"
#include "executor/ddl/ddl.h"

namespace redquel::executor {

/// The change of a type's values (sql/functions/changed_values.h).
struct TypeChange {
  sql::Oid type = 0;
  std::string from, to;
  /// The type as values are read while rows of before and after are there; null: as it is.
  sql::UserTypePtr meanwhile;
};

/// TypeChange::to of a composite type: for each field the place of the old one that it is.
std::string places_text(const std::vector<std::optional<std::size_t>>& places);

/// Changes a definition, and with it every row that holds values of the type: tables that have such rows are written anew under another
/// key prefix, and everything changes in one step. `make` drafts the definition, several times; it says what becomes of values. 0A000 in
/// a transaction that sees such rows, for foreign tables over them, and where they lie in keys and indexes that cannot follow. 40001 when
/// others write to the tables all the time.
asio::awaitable<void> change_type(DdlContext& context, const std::function<TypeChange(CatalogDraft&)>& make);

}  // namespace redquel::executor
