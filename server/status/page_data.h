#pragma once

#include <span>
#include <string_view>

namespace redquel::server {

/// A part of the status page and the query whose rows it shows.
struct PagePart {
  std::string_view name, query;
};

/// Returns the parts that change from second to second, read from database postgres.
std::span<const PagePart> live_parts();
/// The tables of the database that the session is connected to.
std::span<const PagePart> table_parts();
/// The tables and columns that a console completes.
std::span<const PagePart> catalog_parts();

}  // namespace redquel::server
