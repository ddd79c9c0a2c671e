#pragma once

#include <concepts>
#include <optional>
#include <ranges>
#include <tuple>
#include <type_traits>

#include "sql/expressions/expression.h"

namespace redquel::planner {

// The parts of plan nodes, listed beside their structs, so that walks reach them without knowing the names of members:
//
//     struct LogicalFilter {
//       LogicalPtr input;
//       sql::ExpressionPtr condition;
//       static constexpr std::tuple kParts{Input{&LogicalFilter::input}, Expressions{&LogicalFilter::condition}};
//     };
//
// A struct without `kParts` does not compile as a node.

/// A plan whose rows the node reads. EXPLAIN prints inputs in the order of `kParts`.
template <class Node, class Plan>
struct Input {
  Plan Node::* member;
};

/// A plan that runs instead of the node if the node cannot answer.
template <class Node, class Plan>
struct Fallback {
  Plan Node::* member;
};

/// One of the plans that the node becomes when it runs. Its inputs are the node's.
template <class Node, class Plan>
struct Form {
  Plan Node::* member;
};

/// The table that the node reads or writes: the table itself, or a read of it.
template <class Node, class Table>
struct OfTable {
  Table Node::* member;
};

/// Expressions of the node: one, several, or structs that list theirs in a `kParts` of their own.
template <class Node, class Member>
struct Expressions {
  Member Node::* member;
};

/// Expressions that are columns of the input and stay columns: rewrites of expressions leave them alone.
template <class Node, class Member>
struct ColumnKeys {
  Member Node::* member;
};

template <template <class, class> class Kind, class Part>
inline constexpr bool kIsPart = false;
template <template <class, class> class Kind, class Node, class Member>
inline constexpr bool kIsPart<Kind, Kind<Node, Member>> = true;

/// Calls `visit` with the members of the node that are parts of this kind, in order. The node may be const.
template <template <class, class> class Kind, class Node, class Visit>
constexpr void for_each_part(Node& node, const Visit& visit) {
  const auto visit_part = [&]<class Part>(const Part& part) {
    if constexpr (kIsPart<Kind, Part>) visit(node.*part.member);
  };
  std::apply([&](const auto&... part) { (visit_part(part), ...); }, std::remove_const_t<Node>::kParts);
}

template <class Part>
inline constexpr bool kIsOptional = false;
template <class Part>
inline constexpr bool kIsOptional<std::optional<Part>> = true;

/// Calls `visit` with every expression in a part of a node or in a whole node, null ones excepted. The part may be const.
template <class Part, class Visit>
void for_each_expression(Part& part, const Visit& visit) {
  using Plain = std::remove_const_t<Part>;
  if constexpr (std::same_as<Plain, sql::ExpressionPtr>) {
    if (part) visit(part);
  } else if constexpr (kIsOptional<Plain>) {
    if (part) for_each_expression(*part, visit);
  } else if constexpr (std::ranges::range<Plain>) {
    for (auto& element : part) for_each_expression(element, visit);
  } else {
    for_each_part<Expressions>(part, [&](auto& inner) { for_each_expression(inner, visit); });
  }
}

/// Node types that a visitor treats alike: `void operator()(const OneOf<LogicalSort, LogicalLimit> auto&)`.
template <class Node, class... Nodes>
concept OneOf = (std::same_as<std::remove_const_t<Node>, Nodes> || ...);

}  // namespace redquel::planner
