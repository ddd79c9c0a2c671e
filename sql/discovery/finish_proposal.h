#pragma once

#include <string>
#include <vector>

#include "sql/discovery/keyspace_entry.h"
#include "sql/discovery/proposal.h"

namespace redquel::sql {

/// Facts about the tables of a proposal, which are numbered by their place in it.
struct KnownOfTables {
  std::vector<std::vector<std::string>> names;  // of each table, the best first
  /// A table of sets with one slot.
  struct Relation {
    const KeyspaceEntry* entry;
    std::size_t table;
  };
  std::vector<Relation> relations;
  /// A column whose values are keys of another table's rows.
  struct Parent {
    std::size_t table, column, parent;
  };
  std::vector<Parent> parents;
};

/// Names the tables and the parents of their columns, declares sets of one relation as indexes of each other's members, and sorts the
/// tables by name, parents first.
void finish_proposal(Proposal& proposal, const KnownOfTables& known);

}  // namespace redquel::sql
