#pragma once

#include <pg_query.h>
#include <pg_query/pg_query.pb-c.h>

#include <cstddef>
#include <span>
#include <string>

/// The door to libpg_query, and the only file that includes it: its calls (parse.cc makes them) and PostgreSQL's parse
/// tree as protobuf, which only the conversion to our own tree sees. Absent strings are empty there, absent messages
/// null, unknown locations -1.
namespace redquel::parser {

using Node = PgQuery__Node;
using Nodes = std::span<Node* const>;

inline Nodes nodes(Node* const* items, std::size_t count) { return Nodes(items, count); }

/// The elements of a List node; none if it is null.
inline Nodes list_items(const Node* node) {
  if (node == nullptr || node->node_case != PG_QUERY__NODE__NODE_LIST) return {};
  return nodes(node->list->items, node->list->n_items);
}

inline bool is_string(const Node* node) { return node != nullptr && node->node_case == PG_QUERY__NODE__NODE_STRING; }

}  // namespace redquel::parser
