#include "planner/rules/rule.h"

#include "planner/rules/array_membership.h"
#include "planner/rules/keep_sources.h"
#include "planner/rules/lateral_joins.h"
#include "planner/rules/order_conditions.h"
#include "planner/rules/pull_up_projections.h"
#include "planner/rules/self_joins.h"

namespace redquel::planner {

std::span<const Rule> rewrite_rules() {
  static constexpr Rule kRules[] = {
      {"keep sources", keep_sources},
      {"fold constants", fold_constants},
      {"flatten laterals", flatten_laterals},
      {"pull up projections", pull_up_projections},
      {"push down filters", push_down_filters},
      {"fold pushed filters", fold_constants},
      {"join array elements", join_array_elements},
      {"order joins", order_joins},
      {"merge self-joins", merge_self_joins},
      {"order conditions", order_conditions},
      {"prune columns", prune_columns},
  };
  return kRules;
}

LogicalPtr rewrite(LogicalPtr plan) {
  for (const Rule& rule : rewrite_rules()) plan = rule.rewrite(plan);
  return plan;
}

}  // namespace redquel::planner
