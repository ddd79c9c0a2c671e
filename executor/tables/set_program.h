#pragma once

#include "executor/tables/set_scripts.h"
#include "planner/tree/physical_plan.h"
#include "sql/catalog/member_form.h"
#include "sql/evaluation_context.h"

namespace redquel::executor {

/// Key of a plain set with its values evaluated; nullopt: no row can have the value, the set is empty.
std::optional<std::string> evaluate_set_key(const planner::SetExpression& set, const sql::TableDef& table,
                                            const sql::EvaluationContext& context);

/// Returns true if a value of one of the sets is NULL.
bool has_null_value(const planner::SetExpression& sets, const sql::EvaluationContext& context);
/// Returns true if a set that is taken away has a NULL value. What is left is a superset of the rows then: `b <> NULL` is true for none.
bool removes_null(const planner::SetExpression& sets, const sql::EvaluationContext& context);

/// A set expression with its values evaluated: a tree of keys. Sets that are surely empty are gone.
struct EvaluatedSets {
  planner::SetExpression::Kind kind = planner::SetExpression::Kind::kSet;
  std::string key;        // of a leaf
  std::vector<std::int16_t> columns = {};  // of a plain set: those whose values have one set each
  std::string low, high;  // of a range: its ends as ZCOUNT takes them
  sql::MemberEnds ends = {};  // of a plain set whose members are short
  std::vector<EvaluatedSets> operands;
  bool is_leaf() const { return operands.empty(); }
};
/// nullopt: the result is empty. `whole_members` false: of sets over the same columns, whose short members are combined as they are.
std::optional<EvaluatedSets> evaluate_sets(const planner::SetExpression& sets, const sql::TableDef& table,
                                           const sql::EvaluationContext& context, bool whole_members = true);
SetProgram to_program(const EvaluatedSets& sets);

}  // namespace redquel::executor
