#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sql/discovery/proposal.h"

namespace redquel::sql {

/// The key of a table of rows, and what leads to these rows.
struct ProposedRelation {
  std::size_t table = 0;  // in the proposal
  std::string slot;       // name of the key's column
  struct Side {
    std::size_t table, column;
  };
  std::vector<Side> references;
  std::string field;  // fields of this name lead to the rows, too: theme_id; empty: none
};

/// Gives both sides of each relation one type: text where the values of one side are no numbers.
void agree_on_types(std::vector<ProposedTable>& tables, const std::vector<ProposedRelation>& relations);

}  // namespace redquel::sql
