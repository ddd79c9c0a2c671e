#include "sql/expressions/evaluate.h"

#include <array>
#include <cassert>
#include <numeric>

#include "sql/error.h"
#include "sql/expressions/constant_set.h"
#include "sql/expressions/convert_column.h"
#include "sql/expressions/known_null.h"
#include "sql/expressions/row_selection.h"
#include "sql/functions/array_subscript.h"
#include "sql/functions/object_names.h"
#include "sql/functions/padded_text.h"
#include "sql/interrupts.h"
#include "sql/sqlstate.h"
#include "sql/types/array_value.h"
#include "sql/types/compare.h"
#include "sql/types/row_value.h"
#include "sql/types/text_io.h"

namespace redquel::sql {
namespace {

using Rows = std::vector<std::uint32_t>;

ColumnPtr share(Column column) { return std::make_shared<const Column>(std::move(column)); }

Rows all_rows(std::size_t size) {
  Rows rows(size);
  std::iota(rows.begin(), rows.end(), 0U);
  return rows;
}

/// Computes one expression tree over one selection of rows; branches that only some rows reach get a selection of their
/// own.
class Evaluator {
 public:
  Evaluator(RowSelection& rows, const EvaluationContext& context) : rows_(rows), context_(context) {}

  ColumnPtr evaluate(const Expression& expression) {
    if (context_.known_parameters > 0 && may_skip_arguments(expression) && is_known_null(expression, context_)) {
      check_fixed_parts(expression, context_);
      return share(Column::constant(expression.type, Datum{}, size()));
    }
    return std::visit([&](const auto& node) { return compute(node, expression.type); }, expression.node);
  }

 private:
  std::size_t size() const { return rows_.size(); }

  static bool may_skip_arguments(const Expression& expression) {
    const auto& node = expression.node;
    return std::holds_alternative<FunctionCall>(node) || std::holds_alternative<InListTest>(node) || std::holds_alternative<NullIfCall>(node);
  }

  ColumnPtr evaluate_rows(const Expression& expression, const Rows& rows) {
    if (rows.size() == size()) return evaluate(expression);
    RowSelection selection(rows_, rows);
    return Evaluator(selection, context_).evaluate(expression);
  }

  ColumnPtr compute(const Constant& constant, Type type) {
    return share(Column::constant(type, constant.value, size()));
  }
  ColumnPtr compute(const ColumnRef& column, Type) { return rows_.column(column.column); }
  ColumnPtr compute(const ParameterRef& parameter, Type type) {
    assert(parameter.slot < context_.parameters.size());
    return share(Column::constant(type, context_.parameters[parameter.slot], size()));
  }

  ColumnPtr compute(const FunctionCall& call, Type type) {
    if (is_subscript(*call.function)) return compute_subscripts(call, type);
    std::vector<ColumnPtr> arguments;
    arguments.reserve(call.arguments.size());
    for (const ExpressionPtr& argument : call.arguments) arguments.push_back(evaluate(*argument));
    return call.function->kernel(arguments, size(), type, context_);
  }

  /// Computes the subscripts for the rows whose array or jsonb is not NULL.
  ColumnPtr compute_subscripts(const FunctionCall& call, Type type) {
    std::vector<ColumnPtr> arguments = {evaluate(*call.arguments.front())};
    Piece piece{all_rows(size()), nullptr};
    if (arguments[0]->has_nulls()) {
      std::erase_if(piece.rows, [&](std::uint32_t row) { return arguments[0]->is_null(row); });
      arguments[0] = share(arguments[0]->gather(piece.rows));
    }
    if (piece.rows.empty()) return share(Column::constant(type, Datum{}, size()));
    for (std::size_t i = 1; i < call.arguments.size(); ++i) arguments.push_back(evaluate_rows(*call.arguments[i], piece.rows));
    piece.values = call.function->kernel(arguments, piece.rows.size(), type, context_);
    return piece.rows.size() == size() ? piece.values : assemble(type, size(), {&piece, 1});
  }

  ColumnPtr compute(const CastCall& cast, Type type) {
    const ColumnPtr operand = evaluate(*cast.operand);
    switch (cast.method) {
      case CastCall::Method::kFunction:
        return cast.function->kernel({&operand, 1}, size(), type, context_);
      case CastCall::Method::kRelabel:
        // A char(n) that loses its length takes its blanks along.
        if (operand->type().oid == oid::kBpchar) return share(with_padding(operand)->retyped(type));
        return share(operand->retyped(type));
      case CastCall::Method::kInputOutput:
        return convert_through_text(operand, type, context_);
      case CastCall::Method::kModifier:
        return apply_modifier(operand, type, cast.is_explicit);
    }
    return nullptr;
  }

  ColumnPtr compute(const Logical& logical, Type type) {
    if (logical.kind == Logical::Kind::kNot) return negate(evaluate(*logical.operands.front()));
    const std::uint8_t deciding = logical.kind == Logical::Kind::kOr ? 1 : 0;
    std::vector<std::uint8_t> values(size(), deciding == 0 ? 1 : 0);
    std::vector<std::uint8_t> nulls;
    Rows undecided = all_rows(size());
    for (const ExpressionPtr& operand : logical.operands) {
      if (undecided.empty()) break;
      const ColumnPtr column = evaluate_rows(*operand, undecided);
      const std::vector<std::uint8_t>& operand_values = column->values<std::uint8_t>();
      const std::size_t stride = column->is_constant() ? 0 : 1;
      std::size_t left = 0;
      for (std::size_t i = 0; i < undecided.size(); ++i) {
        const std::uint32_t row = undecided[i];
        if (column->is_null(i)) {
          if (nulls.empty()) nulls.resize(size());
          nulls[row] = 1;
        } else if (operand_values[i * stride] == deciding) {
          values[row] = deciding;
          if (!nulls.empty()) nulls[row] = 0;
          continue;
        }
        undecided[left++] = row;
      }
      undecided.resize(left);
    }
    return share(Column::from_values(type, std::move(values), std::move(nulls)));
  }

  ColumnPtr negate(const ColumnPtr& operand) {
    if (operand->is_constant()) {
      Datum value = size() == 0 ? Datum{} : operand->datum(0);
      if (!is_null(value)) value = !std::get<bool>(value);
      return share(Column::constant(kBool, value, size()));
    }
    std::vector<std::uint8_t> values = operand->values<std::uint8_t>();
    for (std::uint8_t& value : values) value = value == 0 ? 1 : 0;
    return share(Column::from_values(kBool, std::move(values), operand->null_mask()));
  }

  ColumnPtr compute(const NullTest& test, Type type) {
    const ColumnPtr operand = evaluate(*test.operand);
    std::vector<std::uint8_t> values(size());
    for (std::size_t row = 0; row < size(); ++row) values[row] = operand->is_null(row) != test.negated ? 1 : 0;
    return share(Column::from_values(type, std::move(values)));
  }

  ColumnPtr compute(const BooleanTest& test, Type type) {
    const ColumnPtr operand = evaluate(*test.operand);
    std::vector<std::uint8_t> values(size());
    for (std::size_t row = 0; row < size(); ++row) {
      const bool unknown = operand->is_null(row);
      bool holds = unknown;
      if (test.kind != BooleanTest::Kind::kUnknown) {
        holds = !unknown && operand->get<bool>(row) == (test.kind == BooleanTest::Kind::kTrue);
      }
      values[row] = holds != test.negated ? 1 : 0;
    }
    return share(Column::from_values(type, std::move(values)));
  }

  ColumnPtr compute(const CaseCall& call, Type type) {
    std::vector<Piece> pieces;
    Rows remaining = all_rows(size());
    for (const CaseCall::Branch& branch : call.branches) {
      if (remaining.empty()) break;
      const ColumnPtr condition = evaluate_rows(*branch.condition, remaining);
      Rows taken, left;
      for (std::size_t i = 0; i < remaining.size(); ++i) {
        const bool holds = !condition->is_null(i) && condition->get<bool>(i);
        (holds ? taken : left).push_back(remaining[i]);
      }
      add_piece(pieces, *branch.result, std::move(taken));
      remaining = std::move(left);
    }
    add_piece(pieces, *call.otherwise, std::move(remaining));
    return assemble(type, size(), pieces);
  }

  void add_piece(std::vector<Piece>& pieces, const Expression& expression, Rows rows) {
    if (rows.empty()) return;
    ColumnPtr values = evaluate_rows(expression, rows);
    pieces.push_back({std::move(rows), std::move(values)});
  }

  ColumnPtr compute(const CoalesceCall& call, Type type) {
    std::vector<Piece> pieces;
    Rows remaining = all_rows(size());
    for (const ExpressionPtr& argument : call.arguments) {
      if (remaining.empty()) break;
      ColumnPtr values = evaluate_rows(*argument, remaining);
      Rows left;
      if (values->has_nulls()) {
        for (std::size_t i = 0; i < remaining.size(); ++i) {
          if (values->is_null(i)) left.push_back(remaining[i]);
        }
      }
      pieces.push_back({std::move(remaining), std::move(values)});
      remaining = std::move(left);
    }
    return assemble(type, size(), pieces);
  }

  ColumnPtr compute(const GreatestLeast& call, Type type) {
    std::vector<Piece> pieces;
    for (const ExpressionPtr& argument : call.arguments) pieces.push_back({{}, evaluate(*argument), true});
    for (std::uint32_t row = 0; row < size(); ++row) {
      Piece* best = nullptr;
      for (Piece& piece : pieces) {
        if (piece.values->is_null(row)) continue;
        if (best != nullptr) {
          const int order = compare(*piece.values, row, *best->values, row);
          if (call.greatest ? order <= 0 : order >= 0) continue;
        }
        best = &piece;
      }
      if (best != nullptr) best->rows.push_back(row);
    }
    return assemble(type, size(), pieces);
  }

  ColumnPtr compute(const DistinctTest& test, Type type) {
    const std::array<ColumnPtr, 2> operands = {evaluate(*test.left), evaluate(*test.right)};
    const ColumnPtr same = test.equal->kernel(operands, size(), kBool, context_);
    std::vector<std::uint8_t> values(size());
    for (std::size_t row = 0; row < size(); ++row) {
      const bool left_null = operands[0]->is_null(row), right_null = operands[1]->is_null(row);
      const bool distinct = left_null || right_null ? left_null != right_null : !same->get<bool>(row);
      values[row] = distinct != test.negated ? 1 : 0;
    }
    return share(Column::from_values(type, std::move(values)));
  }

  ColumnPtr compute(const NullIfCall& call, Type type) {
    const std::array<ColumnPtr, 2> operands = {evaluate(*call.left), evaluate(*call.right)};
    const ColumnPtr same = call.equal->kernel(operands, size(), kBool, context_);
    Piece kept{{}, operands[0], true};
    for (std::uint32_t row = 0; row < size(); ++row) {
      if (same->is_null(row) || !same->get<bool>(row)) kept.rows.push_back(row);
    }
    return assemble(type, size(), {&kept, 1});
  }

  ColumnPtr compute(const InListTest& test, Type type) {
    const ColumnPtr operand = evaluate(*test.operand);
    std::vector<std::uint8_t> values(size()), nulls(size());
    if (test.constants) {
      for (std::size_t row = 0; row < size(); ++row) {
        if (operand->is_null(row)) {
          nulls[row] = 1;
        } else if (test.constants->contains(*operand, row)) {
          values[row] = 1;
        } else {
          nulls[row] = test.constants->has_null() ? 1 : 0;
        }
      }
    } else {
      Rows undecided = all_rows(size());
      for (const ExpressionPtr& element : test.list) {
        if (undecided.empty()) break;
        compare_element(test, operand, *element, undecided, values, nulls);
      }
    }
    if (test.negated) {
      for (std::uint8_t& value : values) value = value == 0 ? 1 : 0;
    }
    return share(Column::from_values(type, std::move(values), std::move(nulls)));
  }

  /// One element of an IN list against the rows that equalled none before.
  void compare_element(const InListTest& test, const ColumnPtr& operand, const Expression& element, Rows& undecided,
                       std::vector<std::uint8_t>& values, std::vector<std::uint8_t>& nulls) {
    std::array<ColumnPtr, 2> operands = {operand, evaluate_rows(element, undecided)};
    if (undecided.size() != size()) operands[0] = share(operand->gather(undecided));
    const ColumnPtr same = test.equal->kernel(operands, undecided.size(), kBool, context_);
    std::size_t left = 0;
    for (std::size_t i = 0; i < undecided.size(); ++i) {
      const std::uint32_t row = undecided[i];
      if (same->is_null(i)) {
        nulls[row] = 1;
      } else if (same->get<bool>(i)) {
        values[row] = 1;
        nulls[row] = 0;
        continue;
      }
      undecided[left++] = row;
    }
    undecided.resize(left);
  }

  ColumnPtr compute(const ArrayTest& test, Type type) {
    const ColumnPtr operand = evaluate(*test.operand), array = evaluate(*test.array);
    const std::uint8_t undecided = test.all ? 1 : 0;
    std::vector<std::uint8_t> values(size(), undecided), nulls(size());
    // One comparison of all rows per element where all rows have the same array, else one of all elements per row.
    const bool constant = array->is_constant() && size() > 0;
    if (constant && !array->is_null(0)) {
      const Column elements = read_elements(test, *array, 0);
      for (std::size_t i = 0; i < elements.size(); ++i) {
        const std::array<ColumnPtr, 2> operands = {operand, share(Column::constant(test.element, elements.datum(i), size()))};
        const ColumnPtr result = test.comparison->kernel(operands, size(), kBool, context_);
        for (std::size_t row = 0; row < size(); ++row) combine(test, *result, row, values[row], nulls[row]);
      }
    } else {
      for (std::size_t row = 0; row < size(); ++row) {
        if (array->is_null(row)) {
          nulls[row] = 1;
          continue;
        }
        const ColumnPtr elements = share(read_elements(test, *array, row));
        const std::size_t count = elements->size();
        const std::array<ColumnPtr, 2> operands = {share(Column::constant(operand->type(), operand->datum(row), count)), elements};
        const ColumnPtr result = test.comparison->kernel(operands, count, kBool, context_);
        for (std::size_t i = 0; i < count; ++i) combine(test, *result, i, values[row], nulls[row]);
      }
    }
    for (std::size_t row = 0; row < size(); ++row) {
      if (values[row] != undecided) nulls[row] = 0;
    }
    return share(Column::from_values(type, std::move(values), std::move(nulls)));
  }

  ColumnPtr compute(const DomainTest& test, Type) {
    ColumnPtr operand = evaluate(*test.operand);
    if (size() > 0) check_domain(test, operand);
    return operand;
  }

  void check_domain(const DomainTest& test, const ColumnPtr& operand) {
    for (std::size_t row = 0; test.not_null && row < size(); ++row) {
      if (!operand->is_null(row)) continue;
      throw SqlError(sqlstate::kNotNullViolation, "domain " + test.domain + " does not allow null values")
          .schema(test.schema)
          .data_type(split_name(test.domain).back());
    }
    for (const DomainTest::Part& part : test.parts) check_part(part, *operand);
    Batch values;
    values.rows = size();
    values.columns.push_back(operand);
    for (const DomainTest::Check& check : test.checks) {
      const ColumnPtr holds = sql::evaluate(*check.condition, values, context_);
      for (std::size_t row = 0; row < size(); ++row) {
        if (holds->is_null(row) || holds->get<bool>(row)) continue;
        throw SqlError(sqlstate::kCheckViolation, "value for domain " + test.domain + " violates check constraint \"" + check.name + "\"")
            .schema(test.schema)
            .data_type(split_name(test.domain).back())
            .constraint(check.name);
      }
    }
  }

  /// The elements of all arrays, or one field of all rows, tested together.
  void check_part(const DomainTest::Part& part, const Column& whole) {
    const Oid type = whole.type().oid;
    Column parts(part.test->type);
    for (std::size_t row = 0; row < size(); ++row) {
      if (whole.is_null(row)) continue;
      const auto text = whole.get<std::string_view>(row);
      if (is_array_type(type)) {
        for (const auto& element : read_array(type, text).elements) append_element(parts, element);
      } else {
        append_element(parts, read_row(type, text).fields[part.field]);
      }
    }
    Batch values;
    values.rows = parts.size();
    if (values.rows == 0) return;
    values.columns.push_back(share(std::move(parts)));
    sql::evaluate(*part.test, values, context_);
  }

  static Column read_elements(const ArrayTest& test, const Column& array, std::size_t row) {
    Column elements(test.element);
    for (const auto& element : read_array(array.type().oid, array.get<std::string_view>(row)).elements) append_element(elements, element);
    return elements;
  }

  /// ANY becomes true at the first true element, ALL false at the first false one; NULLs leave the rest open.
  static void combine(const ArrayTest& test, const Column& result, std::size_t at, std::uint8_t& value, std::uint8_t& null) {
    if (result.is_null(at)) {
      null = 1;
    } else if (result.get<bool>(at) != test.all) {
      value = test.all ? 0 : 1;
    }
  }

  RowSelection& rows_;
  const EvaluationContext& context_;
};

/// Leaves only those of `rows` for which the condition is true.
void filter(const Column& condition, Rows& rows) {
  const std::size_t stride = condition.is_constant() ? 0 : 1;
  const std::uint8_t* const values = condition.values<std::uint8_t>().data();
  const std::uint8_t* const nulls = condition.has_nulls() ? condition.null_mask().data() : nullptr;
  std::size_t left = 0;
  const auto keep = [&](auto holds) {  // without a branch, because nothing predicts which rows pass
    for (std::size_t i = 0; i < rows.size(); ++i) {
      rows[left] = rows[i];
      left += static_cast<std::size_t>(holds(i * stride));
    }
  };
  if (nulls == nullptr) keep([&](std::size_t at) { return values[at] != 0; });
  else keep([&](std::size_t at) { return (static_cast<unsigned>(values[at] != 0) & static_cast<unsigned>(nulls[at] == 0)) != 0; });
  rows.resize(left);
}

}  // namespace

ColumnPtr evaluate(const Expression& expression, const Batch& batch, const EvaluationContext& context) {
  const InterruptScope scope(context.backend_pid);
  // Rows of a wide table are many columns that are copied.
  const auto* column = std::get_if<ColumnRef>(&expression.node);
  if (column != nullptr && !batch.columns[column->column]->is_encoded()) return batch.columns[column->column];
  RowSelection rows(batch);
  return Evaluator(rows, context).evaluate(expression);
}

ColumnPtr evaluate_for_output(const Expression& expression, const Batch& batch, const EvaluationContext& context) {
  const InterruptScope scope(context.backend_pid);
  if (const auto* column = std::get_if<ColumnRef>(&expression.node)) return batch.columns[column->column];
  return evaluate(expression, batch, context);
}

Datum evaluate_scalar(const Expression& expression, const EvaluationContext& context) {
  const InterruptScope scope(context.backend_pid);
  if (const auto* constant = std::get_if<Constant>(&expression.node)) return constant->value;
  if (const auto* parameter = std::get_if<ParameterRef>(&expression.node)) return context.parameters.at(parameter->slot);
  Batch batch;
  batch.rows = 1;
  return evaluate(expression, batch, context)->datum(0);
}

std::vector<std::uint32_t> select_rows(const Expression& condition, const Batch& batch,
                                       const EvaluationContext& context) {
  const InterruptScope scope(context.backend_pid);
  RowSelection all(batch);
  Rows rows = all_rows(batch.rows);
  const auto* logical = std::get_if<Logical>(&condition.node);
  if (logical == nullptr || logical->kind != Logical::Kind::kAnd) {
    filter(*Evaluator(all, context).evaluate(condition), rows);
    return rows;
  }
  // Unlike the operator AND, a filter is through with a row at the first operand that is not true.
  for (const ExpressionPtr& operand : logical->operands) {
    if (rows.empty()) break;
    if (rows.size() == batch.rows) {
      filter(*Evaluator(all, context).evaluate(*operand), rows);
    } else {
      const Rows selected = rows;
      RowSelection selection(all, selected);
      filter(*Evaluator(selection, context).evaluate(*operand), rows);
    }
  }
  return rows;
}

}  // namespace redquel::sql
