#include "planner/bind/bind.h"

#include "parser/parse.h"
#include "planner/bind/modification.h"
#include "planner/bind/name_uses.h"
#include "planner/bind/query_binder.h"
#include "planner/bind/view_answer.h"
#include "planner/tree/logical_walk.h"
#include "sql/error.h"
#include "sql/value_errors.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::SqlError;
using sql::Type;

namespace {

/// The statement's own WITH clause; null: it has none.
const ast::WithClause* with_clause(const ast::Statement& statement) {
  return std::visit(
      []<class Node>(const Node& node) -> const ast::WithClause* {
        if constexpr (OneOf<Node, ast::Select, ast::Insert, ast::Update, ast::Delete, ast::Merge>) {
          return node.with ? &*node.with : nullptr;
        } else {
          return nullptr;
        }
      },
      statement.node);
}

LogicalPtr bind_node(BindState& state, const ast::Statement& statement) {
  state.statement_with = with_clause(statement);
  if (const auto* insert = std::get_if<ast::Insert>(&statement.node)) return bind_insert(state, *insert);
  if (const auto* update = std::get_if<ast::Update>(&statement.node)) return bind_update(state, *update);
  if (const auto* removal = std::get_if<ast::Delete>(&statement.node)) return bind_delete(state, *removal);
  if (const auto* merge = std::get_if<ast::Merge>(&statement.node)) return bind_merge(state, *merge);
  throw sql::not_supported(parser::command_tag(statement), statement.offset);
}

/// Deeper plans could overflow the stack of a later stage (thousands of subqueries in one select list).
constexpr std::size_t kPlanDepth = 2'000;

void check_depth(const LogicalPtr& plan) {
  std::vector<std::pair<LogicalPtr, std::size_t>> open = {{plan, 1}};
  while (!open.empty()) {
    const auto [node, depth] = std::move(open.back());
    open.pop_back();
    if (depth > kPlanDepth)
      throw sql::stack_depth_exceeded().detail("The statement's plan is too deep.");
    for (LogicalPtr& input : inputs_of(*node)) open.emplace_back(std::move(input), depth + 1);
  }
}

/// The planner's own slots follow those of $1…, whose number is only known at the end: bound again when the guess was
/// wrong.
template <class Bind>
BoundStatement bind_with_slots(const sql::CatalogSnapshot& catalog, const std::vector<Type>& declared,
                               const BindSettings& settings, const Bind& bind) {
  auto first_slot = static_cast<std::uint32_t>(declared.size());
  while (true) {
    BindState state(catalog, settings, declared, first_slot);
    LogicalPtr plan = bind(state);
    check_depth(plan);
    std::vector<Type> types = state.parameters.finish();
    const bool has_own_slots = state.next_slot() != first_slot;
    const auto count = static_cast<std::uint32_t>(types.size());
    if (has_own_slots && count > first_slot) {
      first_slot = count;
      continue;
    }
    if (settings.rights != nullptr) *settings.rights = {state.requirements.finish(), state.depends_on_role};
    return {std::move(plan), std::move(types), has_own_slots ? state.next_slot() : count, state.next_column(), state.runs_functions,
            state.sizes_asked};
  }
}

/// Binds a query whose rows a maintained view may have. It needs the rights of the query as it is written.
BoundStatement bind_beside_views(const ast::Select& query, const sql::CatalogSnapshot& catalog, const std::vector<Type>& declared,
                                 const BindSettings& settings) {
  NameUses names;
  BindSettings own = settings;
  own.names = &names;
  const BoundStatement written = planner::bind(query, catalog, declared, own);
  std::vector<std::string> columns;
  for (const LogicalColumn& column : written.plan->columns) columns.push_back(column.name);
  const std::optional<std::string> text = answer_from_view(query, columns, names, catalog, settings);
  own.names = nullptr;
  own.left_out.rules |= kViewsLeftOut;
  if (!text) return planner::bind(query, catalog, declared, own);
  own.rights = nullptr;
  const std::shared_ptr<const ast::Statement> answer = parser::parse_statement(*text);
  return planner::bind(std::get<ast::Select>(answer->node), catalog, written.parameter_types, own);
}

}  // namespace

BoundStatement bind(const ast::Statement& statement, const sql::CatalogSnapshot& catalog, std::vector<Type> declared,
                    const BindSettings& settings) {
  if (const auto* query = std::get_if<ast::Select>(&statement.node)) return planner::bind(*query, catalog, std::move(declared), settings);
  return bind_with_slots(catalog, declared, settings, [&](BindState& state) { return bind_node(state, statement); });
}

BoundStatement bind(const ast::Select& query, const sql::CatalogSnapshot& catalog, std::vector<Type> declared,
                    const BindSettings& settings) {
  if (may_have_view(query, catalog, settings)) return bind_beside_views(query, catalog, declared, settings);
  return bind_with_slots(catalog, declared, settings, [&](BindState& state) {
    state.statement_with = query.with ? &*query.with : nullptr;
    return bind_query(state, nullptr, nullptr, query).plan;
  });
}

}  // namespace redquel::planner
