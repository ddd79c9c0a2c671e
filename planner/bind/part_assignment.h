#pragma once

#include <span>

#include "planner/bind/expression_binder.h"
#include "sql/functions/geometric_subscript.h"

namespace redquel::planner {

/// `SET column[i] = value`, `SET column.field = value`: the whole value with that part replaced. `current` is the column's value, or what an earlier assignment of
/// the statement makes of it; `name` stands in messages. 42804 where the part is of another type or has no parts.
class PartAssignment {
 public:
  PartAssignment(BindState& state, ExpressionBinder& binder, std::string name, std::optional<std::uint32_t> offset)
      : state_(state), binder_(binder), name_(std::move(name)), offset_(offset) {}

  sql::ExpressionPtr assign(const sql::ExpressionPtr& current, std::span<const parser::ast::IndirectionStep> steps,
                            const sql::ExpressionPtr& value);

 private:
  sql::ExpressionPtr assign_jsonb(const sql::ExpressionPtr& current, std::span<const parser::ast::IndirectionStep> steps,
                                  const sql::ExpressionPtr& value);
  sql::ExpressionPtr assign_geometric(const sql::GeometricParts& parts, const sql::ExpressionPtr& current,
                                      std::span<const parser::ast::IndirectionStep> steps, std::size_t count,
                                      const sql::ExpressionPtr& value);
  /// 42804: the part is of another type than the value.
  sql::SqlError needs_type(sql::Type part, sql::Type given) const;
  sql::ExpressionPtr assign_field(const sql::ExpressionPtr& current, const parser::ast::FieldStep& step,
                                  std::span<const parser::ast::IndirectionStep> steps, const sql::ExpressionPtr& value);

  BindState& state_;
  ExpressionBinder& binder_;
  std::string name_;
  std::optional<std::uint32_t> offset_;
};

}  // namespace redquel::planner
