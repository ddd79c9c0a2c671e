#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "planner/bind/bind.h"
#include "planner/bind/query_level.h"
#include "planner/tree/logical_plan.h"
#include "sql/catalog/catalog.h"

namespace redquel::planner {

class BindState;

/// A query as the catalog stores it. `names`: of the columns, as far as they are given (more than columns: 42601).
/// Gives `query`, the definitions, `columns` and `references` of a view; the rest is the caller's. Throws what bind() throws.
sql::ViewDef make_view_query(const parser::ast::Select& query, const std::vector<std::string>& names,
                             const sql::CatalogSnapshot& catalog, const BindSettings& settings);

/// The view's texts after relations or columns that it reads were renamed, or its own columns.
void rename_in_view(sql::ViewDef& view, const sql::CatalogSnapshot& before, const sql::CatalogSnapshot& after);

/// Parses the query of a view. XX001 where its text is none.
std::shared_ptr<const parser::ast::Select> parse_view_query(const sql::ViewDef& view);
/// Throws SqlError XX001 unless the view has as many columns as its query.
void check_view_columns(const sql::ViewDef& view, std::size_t query_columns);

/// While it lives, what is bound is the query of the view: its relations are read with the rights of the view's owner, or, with
/// security_invoker, of the role that runs the statement. Views of the system and the rows of sequences need no rights.
class ViewRights {
 public:
  ViewRights(BindState& state, const sql::ViewDef& view);

 private:
  static std::optional<sql::Oid> role_of(const BindState& state, const sql::ViewDef& view);

  Scoped<std::optional<sql::Oid>> bound_as_;
  Scoped<bool> is_exempt_, checks_schemas_;
};

struct BoundQuery;
/// The view's rows, its columns called as the view says. `pushed`: see bind_query.
BoundQuery bind_view(BindState& state, const sql::ViewDef& view, const std::optional<RowLock>& pushed = std::nullopt);

}  // namespace redquel::planner
