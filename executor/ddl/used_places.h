#pragma once

#include <boost/asio/awaitable.hpp>
#include <map>
#include <string>

#include "executor/catalog/catalog_draft.h"
#include "executor/catalog/ddl_context.h"

namespace redquel::executor {

/// Prefixes that new tables and sequences must not have: an application has keys there, or a foreign table may reach them.
///
/// Redis lists no keys by prefix, so the look is bounded: in a large Redis it sees only a part of the keys. The write of a row finds a key
/// that is in its way, and a table removes only keys that its own keys name.
class UsedPlaces {
 public:
  /// Keeps the draft from choosing those found so far.
  void keep_from(CatalogDraft& draft) const;
  /// Looks at the prefixes that the draft has reserved, without the first `known` ones. If some are used it returns true, and the draft must
  /// be made again. Throws 42P17 if too many are.
  asio::awaitable<bool> find(DdlContext& context, const CatalogDraft& draft, std::size_t known = 0);

 private:
  asio::awaitable<std::string> use_of(DdlContext& context, const CatalogDraft& draft, std::string prefix);

  std::map<std::string, std::string> used_;  // prefix → by what
};

/// Throws 42P17 if a foreign table that the draft makes or changes (before: as in `before`) may reach keys that redquel has or may have, in
/// whichever logical database.
asio::awaitable<void> check_foreign_places(DdlContext& context, const CatalogDraft& draft, const sql::CatalogSnapshot& before);

/// Throws XX001 if a key exists that a structure would have which the draft adds to a table. `known`: definitions whose structures are there
/// already.
asio::awaitable<void> check_new_structures(DdlContext& context, const CatalogDraft& draft,
                                           std::vector<const sql::CatalogSnapshot*> known);

}  // namespace redquel::executor
