#pragma once

#include <deque>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "planner/tree/requirement.h"

namespace redquel::planner {

struct Relation;
struct RelationColumn;

/// The requirements of one statement while it is bound. Those that it has given stay where they are.
class RequirementList {
 public:
  /// The role as which the part that is being bound is checked; none: the role that runs the statement.
  std::optional<sql::Oid> bound_as;
  /// Inside a view of the system, which shows to everybody what it reads.
  bool is_exempt = false;
  std::size_t depth = 0;

  /// A requirement of the part that is being bound; nullptr if that is exempt.
  Requirement* add(sql::AclKind kind, sql::Oid object, sql::Rights rights);
  /// EXECUTE on a function, which is a right of the role that runs the statement.
  void add_function(sql::Oid function);
  /// Writes to `view` go to `base`: the same rights, on these columns of it (by the view's columns; 0: none).
  void pass_on(const Requirement* view, Requirement* base, std::vector<std::int16_t> columns);
  /// All of them, in the order in which they are checked.
  std::vector<Requirement> finish();

 private:
  struct Passed {
    const Requirement* view;
    Requirement* base;
    std::vector<std::int16_t> columns;
  };

  std::deque<Requirement> all_;
  std::vector<Passed> passed_;
};

/// The statement reads the column.
void mark_read(const RelationColumn& column);
/// The statement reads a column, which names find in the relation; "tableoid" and its like are columns, too.
void mark_read(const Relation& relation, std::string_view column);
/// The statement reads all columns of the relation.
void mark_all_read(const Relation& relation);
/// The statement reads the relation's rows as values.
void mark_row_read(const Relation& relation);

}  // namespace redquel::planner
