#include "planner/bind/query_binder.h"

#include "planner/bind/locking.h"
#include "planner/bind/with.h"
#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/stack_depth.h"

namespace redquel::planner {

namespace ast = parser::ast;

BoundQuery bind_query(BindState& state, QueryLevel* outer, WithItem* with, const ast::Select& select,
                      bool keep_unknowns, const std::optional<RowLock>& pushed) {
  sql::check_stack_depth();
  state.count_query();
  const Scoped depth(state.requirements.depth, state.requirements.depth + 1);
  const bool is_outermost = outer == nullptr && with == nullptr;
  if (select.into && !(is_outermost && state.settings.into)) {
    throw sql::SqlError(sqlstate::kSyntaxError, "SELECT ... INTO is not allowed here").at(state.position(select.into->relation.offset));
  }
  const bool is_operation = select.set_operator != ast::SetOperator::kNone;
  if (is_operation || !select.values.empty()) refuse_locking(select, is_operation ? pushed : std::nullopt);
  const WithScope scope(state, outer, with, select.with);
  BoundQuery query;
  if (is_operation) {
    query = bind_set_operation(state, outer, scope.innermost(), select);
  } else if (!select.values.empty()) {
    query = bind_values(state, outer, scope.innermost(), select);
  } else {
    query = bind_select(state, outer, scope.innermost(), select, keep_unknowns, pushed);
  }
  query.plan = scope.place(std::move(query.plan));
  return query;
}

}  // namespace redquel::planner
