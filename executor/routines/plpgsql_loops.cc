// Loops of PL/pgSQL that read no rows.

#include <fmt/format.h>

#include "executor/routines/immediate.h"
#include "executor/routines/plpgsql_run.h"
#include "executor/runtime/computation.h"
#include "sql/interrupts.h"
#include "sql/sqlstate.h"
#include "sql/types/array_value.h"
#include "sql/types/text_io.h"
#include "sql/types/type_oids.h"

namespace redquel::executor {

using sql::Datum;
using sql::SqlError;

void PlpgsqlRun::assign_integer(std::size_t variable, std::int32_t value) { values()[variable] = value; }

std::optional<std::int32_t> PlpgsqlRun::integer_of(const TypedValue& value) {
  const Datum number = convert(value, sql::kInt4);
  if (sql::is_null(number)) return std::nullopt;
  return std::get<std::int32_t>(number);
}

PlpgsqlRun::Range PlpgsqlRun::range_of(std::optional<std::int32_t> from, std::optional<std::int32_t> to, std::optional<std::int32_t> step) {
  if (!from) throw SqlError(sqlstate::kNullValueNotAllowed, "lower bound of FOR loop cannot be null");
  if (!to) throw SqlError(sqlstate::kNullValueNotAllowed, "upper bound of FOR loop cannot be null");
  if (!step) throw SqlError(sqlstate::kNullValueNotAllowed, "BY value of FOR loop cannot be null");
  if (*step <= 0) throw SqlError(sqlstate::kInvalidParameterValue, "BY value of FOR loop must be greater than zero");
  return {*from, *to, *step};
}

namespace {

/// The next value of an integer loop; nullopt: it is over.
std::optional<std::int32_t> next_integer(std::int32_t value, std::int32_t step, std::int32_t to, bool reverse) {
  const std::int64_t next = reverse ? std::int64_t{value} - step : std::int64_t{value} + step;
  if (reverse ? next < to : next > to) return std::nullopt;
  return static_cast<std::int32_t>(next);
}

}  // namespace

std::optional<PlpgsqlRun::Flow> PlpgsqlRun::run_now(const pl::ForInteger& loop) {
  const pl::Statement* const statement = current_;
  const auto number = [&](const pl::SqlText& text) {
    const std::optional<TypedValue> value = evaluate_now(text);
    if (!value) stopped_in_the_middle();
    return integer_of(*value);
  };
  const std::optional<std::int32_t> from = number(loop.from), to = number(loop.to);
  const Range range = range_of(from, to, loop.step ? number(*loop.step) : std::optional(1));
  bool found = false;
  std::optional<std::int32_t> value = range.from;
  if (loop.reverse ? range.from < range.to : range.from > range.to) value.reset();
  Flow flow = Flow::kNext;
  for (std::size_t round = 1; value; ++round) {
    if (round % 64 == 0) sql::check_interrupts();
    found = true;
    assign_integer(loop.variable, *value);
    const Ran ran = run_now(loop.body);
    if (ran.next < loop.body.size()) stopped_in_the_middle();
    if (const auto ends = after_round(ran.flow, loop.label)) {
      flow = *ends;
      break;
    }
    value = next_integer(*value, range.step, range.to, loop.reverse);
  }
  current_ = statement;
  set_found(found);
  return flow;
}

boost::asio::awaitable<PlpgsqlRun::Flow> PlpgsqlRun::run_loop(const pl::Loop& loop) {
  const pl::Statement* const statement = current_;
  while (true) {
    current_ = statement;
    if (is_immediate(*statement)) {
      // Computes without waiting, in turns with other sessions.
      auto work = [&] {
        const sql::InterruptScope interrupts(session_.backend_pid);
        return *run_now(*statement);
      };
      co_return co_await compute_in_turns(std::move(work));
    }
    {
      const sql::InterruptScope interrupts(session_.backend_pid);
      sql::check_interrupts();
    }
    if (++rounds_ % 64 == 0) co_await TurnQueue::wait();
    bool goes_on = true;
    if (loop.condition) goes_on = co_await is_true(*loop.condition);
    if (!goes_on) co_return Flow::kNext;
    const Flow flow = co_await run_list(loop.body);
    if (const auto ends = after_round(flow, loop.label)) co_return *ends;
  }
}

boost::asio::awaitable<PlpgsqlRun::Flow> PlpgsqlRun::run_integers(const pl::ForInteger& loop) {
  const pl::Statement* const statement = current_;
  if (is_immediate(*statement)) {
    auto work = [&] {
      const sql::InterruptScope interrupts(session_.backend_pid);
      return *run_now(*statement);
    };
    co_return co_await compute_in_turns(std::move(work));
  }
  const TypedValue from = co_await evaluate(loop.from), to = co_await evaluate(loop.to);
  TypedValue step{std::int32_t{1}, sql::kInt4};
  if (loop.step) step = co_await evaluate(*loop.step);
  const Range range = range_of(integer_of(from), integer_of(to), integer_of(step));
  std::optional<std::int32_t> value = range.from;
  if (loop.reverse ? range.from < range.to : range.from > range.to) value.reset();
  bool found = false;
  while (value) {
    found = true;
    assign_integer(loop.variable, *value);
    Flow flow = Flow::kNext;
    // Once the body is known to be immediate, the rest of the loop is.
    if (is_immediate(loop.body)) {
      auto work = [&] {
        const sql::InterruptScope interrupts(session_.backend_pid);
        const Immediate within(immediate_depth_);
        Flow now = Flow::kNext;
        while (true) {
          if (++rounds_ % 64 == 0) sql::check_interrupts();
          const Ran ran = run_now(loop.body);
          if (ran.next < loop.body.size()) stopped_in_the_middle();
          now = ran.flow;
          if (now != Flow::kNext) break;
          const auto next = next_integer(*value, range.step, range.to, loop.reverse);
          if (!next) break;
          value = next;
          assign_integer(loop.variable, *value);
        }
        return now;
      };
      flow = co_await compute_in_turns(std::move(work));
    } else {
      if (++rounds_ % 64 == 0) co_await TurnQueue::wait();
      flow = co_await run_list(loop.body);
    }
    current_ = statement;
    if (const auto ends = after_round(flow, loop.label)) {
      set_found(found);
      co_return *ends;
    }
    value = next_integer(*value, range.step, range.to, loop.reverse);
  }
  set_found(found);
  co_return Flow::kNext;
}

boost::asio::awaitable<PlpgsqlRun::Flow> PlpgsqlRun::run_foreach(const pl::Foreach& loop) {
  const pl::Statement* const statement = current_;
  const TypedValue array = co_await evaluate(loop.array);
  if (sql::is_null(array.value)) throw SqlError(sqlstate::kNullValueNotAllowed, "FOREACH expression must not be null");
  if (!sql::is_array_type(array.type.oid)) {
    throw SqlError(sqlstate::kDatatypeMismatch, fmt::format("FOREACH expression must yield an array, not type {}", sql::format_type(array.type)));
  }
  const std::string text = std::get<std::string>(array.value);
  const sql::ArrayValue value = sql::read_array(array.type.oid, text);
  const auto dimensions = static_cast<std::int32_t>(value.dimensions.size());
  if (loop.slice < 0 || (loop.slice > dimensions && dimensions > 0)) {
    throw SqlError(sqlstate::kArraySubscriptError, fmt::format("slice dimension ({}) is out of the valid range 0..{}", loop.slice, dimensions));
  }
  const bool target_is_array = !routine_.shapes[loop.into.targets[0].variable].is_row() && loop.into.targets[0].steps.empty() &&
                               sql::is_array_type(routine_.shapes[loop.into.targets[0].variable].type.oid);
  if (loop.slice > 0 && !target_is_array) throw SqlError(sqlstate::kDatatypeMismatch, "FOREACH ... SLICE loop variable must be of an array type");
  if (loop.slice == 0 && target_is_array) throw SqlError(sqlstate::kDatatypeMismatch, "FOREACH loop variable must not be of an array type");
  std::size_t length = 1;
  std::vector<sql::ArrayDimension> of_slice;
  for (std::int32_t i = dimensions - loop.slice; i < dimensions; ++i) {
    of_slice.push_back(value.dimensions[static_cast<std::size_t>(i)]);
    length *= static_cast<std::size_t>(of_slice.back().length);
  }
  const sql::Type element = sql::element_type_of(array.type);
  bool found = false;
  for (std::size_t at = 0; at < value.elements.size(); at += length) {
    current_ = statement;
    found = true;
    TypedValue one;
    if (loop.slice == 0) {
      one.type = element;
      if (value.elements[at]) one.value = sql::stored_value(element, *value.elements[at]);
    } else {
      sql::ArrayValue slice;
      slice.dimensions = of_slice;
      slice.elements.assign(value.elements.begin() + static_cast<std::ptrdiff_t>(at), value.elements.begin() + static_cast<std::ptrdiff_t>(at + length));
      one = {sql::array_text(array.type.oid, slice), array.type};
    }
    co_await assign(loop.into.targets[0], std::move(one));
    const Flow flow = co_await run_list(loop.body);
    if (const auto ends = after_round(flow, loop.label)) {
      set_found(found);
      co_return *ends;
    }
  }
  set_found(found);
  co_return Flow::kNext;
}

}  // namespace redquel::executor
