#include "planner/bind/named_arguments.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql/error.h"
#include "sql/functions/parameter_names.h"
#include "sql/sqlstate.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::ExpressionPtr;
using sql::SqlError;

namespace {

using Arguments = std::vector<ast::Argument>;

void check_names(const BindState& state, const Arguments& written) {
  for (std::size_t i = 0; i < written.size(); ++i) {
    const auto first = written.begin(), here = first + static_cast<std::ptrdiff_t>(i);
    if (written[i].name.empty()) {
      if (i == 0 || written[i - 1].name.empty()) continue;
      throw SqlError(sqlstate::kSyntaxError, "positional argument cannot follow named argument").at(state.position(written[i].value->start));
    }
    if (std::any_of(first, here, [&](const ast::Argument& other) { return other.name == written[i].name; })) {
      throw SqlError(sqlstate::kSyntaxError, fmt::format("argument name \"{}\" used more than once", written[i].name))
          .at(state.position(written[i].offset));
    }
  }
}

/// Empty where the parameters are others.
std::vector<ExpressionPtr> arrange(const sql::ParameterNames& parameters, const Arguments& written,
                                   const std::vector<ExpressionPtr>& bound) {
  std::vector<ExpressionPtr> arranged(parameters.names.size());
  for (std::size_t i = 0; i < written.size(); ++i) {
    const auto found = std::ranges::find(parameters.names, std::string_view(written[i].name));
    const std::size_t at = written[i].name.empty() ? i : static_cast<std::size_t>(found - parameters.names.begin());
    if (at >= arranged.size() || arranged[at] != nullptr) return {};
    arranged[at] = bound[i];
  }
  const std::size_t required = parameters.names.size() - parameters.defaults.size();
  for (std::size_t at = 0; at < arranged.size(); ++at) {
    if (arranged[at] != nullptr) continue;
    if (at < required) return {};
    arranged[at] = sql::make_constant(sql::kUnknown, std::string(parameters.defaults[at - required]));
  }
  return arranged;
}

}  // namespace

std::vector<ExpressionPtr> arrange_arguments(const BindState& state, std::string_view function, const Arguments& written,
                                             std::vector<ExpressionPtr> bound, std::optional<std::uint32_t> offset) {
  if (std::ranges::all_of(written, [](const ast::Argument& argument) { return argument.name.empty(); })) return bound;
  check_names(state, written);
  for (const sql::ParameterNames& parameters : sql::parameter_names(function)) {
    std::vector<ExpressionPtr> arranged = arrange(parameters, written, bound);
    if (!arranged.empty()) return arranged;
  }
  std::string call;
  for (std::size_t i = 0; i < written.size(); ++i) {
    if (i > 0) call += ", ";
    if (!written[i].name.empty()) call += written[i].name + " => ";
    call += sql::format_type(sql::Type{bound[i]->type.oid});
  }
  throw SqlError(sqlstate::kUndefinedFunction, fmt::format("function {}({}) does not exist", function, call))
      .hint("No function matches the given name and argument types. You might need to add explicit type casts.")
      .at(offset);
}

void check_argument_names(const BindState& state, const std::vector<ast::Argument>& written) {
  if (std::ranges::any_of(written, [](const ast::Argument& argument) { return !argument.name.empty(); })) check_names(state, written);
}

bool is_output_parameter(const sql::Expression& argument) {
  return argument.type.oid == sql::oid::kVoid && std::holds_alternative<sql::ParameterRef>(argument.node);
}

void drop_output_parameters(std::vector<sql::ExpressionPtr>& arguments) {
  std::erase_if(arguments, [](const sql::ExpressionPtr& argument) { return is_output_parameter(*argument); });
}

}  // namespace redquel::planner
