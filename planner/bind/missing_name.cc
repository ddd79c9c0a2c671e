#include "planner/bind/missing_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "planner/bind/name_lookup.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::planner {

using sql::SqlError;

namespace {

/// More differences than this are never taken for a slip of the pen.
constexpr std::size_t kFarthestGuess = 3;

/// Insertions, deletions and replacements of characters between two identifiers.
std::size_t edit_distance(std::string_view left, std::string_view right) {
  std::vector<std::size_t> row(right.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < left.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < right.size(); ++j) {
      const std::size_t replaced = diagonal + (left[i] == right[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, diagonal + 1, replaced});
    }
  }
  return row.back();
}

struct Guess {
  const Relation* relation = nullptr;
  std::string_view column;  // empty: the very name exists, out of sight
};

/// PostgreSQL's search for the column that was meant: the closest name of any relation of any level; two equally close
/// ones are both given, three are none.
class ColumnGuess {
 public:
  ColumnGuess(const QueryLevel& innermost, std::string_view relation_name, std::string_view column_name) {
    for (const QueryLevel* level = &innermost; level != nullptr; level = level->outer) {
      for (const RelationPtr& relation : level->range_table) {
        if (relation->is_join) continue;
        const std::size_t penalty =
            relation_name.empty() ? 0 : std::min(edit_distance(relation_name, relation->name), kFarthestGuess + 1);
        for (const RelationColumn& column : relation->columns) {
          if (column.name == column_name && penalty == 0) {
            first = {relation.get(), {}};
            second = {};
            return;
          }
          consider(*relation, column.name, column_name, penalty);
        }
      }
    }
  }

  Guess first, second;

 private:
  void consider(const Relation& relation, std::string_view actual, std::string_view wanted, std::size_t penalty) {
    if (penalty > best_) return;
    std::size_t distance = edit_distance(actual, wanted);
    if (distance > wanted.size() / 2) return;
    distance += penalty;
    if (distance < best_) {
      best_ = distance;
      first = {&relation, actual};
      second = {};
    } else if (distance == best_) {
      if (second.relation != nullptr) {  // too many: only something closer counts from here on
        first = second = {};
        best_ = distance == 0 ? 0 : distance - 1;
      } else if (first.relation != nullptr) {
        second = {&relation, actual};
      } else if (best_ <= kFarthestGuess) {
        first = {&relation, actual};
      }
    }
  }

  std::size_t best_ = kFarthestGuess + 1;
};

/// A relation of any level that could be the one that was named: by table, or by alias.
const Relation* search_relation(BindState& state, const QueryLevel& innermost, std::string_view schema,
                                std::string_view name) {
  const sql::Oid named = named_relation(state, schema, name);
  for (const QueryLevel* level = &innermost; level != nullptr; level = level->outer) {
    for (const RelationPtr& relation : level->range_table) {
      if (named != 0 && catalog_oid(*relation) == named) return relation.get();
      if (relation->name == name) return relation.get();
    }
  }
  return nullptr;
}

}  // namespace

void throw_missing_column(const QueryLevel& level, std::string_view relation, std::string_view column,
                          std::optional<std::uint32_t> offset) {
  const ColumnGuess guess(level, relation, column);
  SqlError error(sqlstate::kUndefinedColumn, relation.empty() ? fmt::format("column \"{}\" does not exist", column)
                                           : fmt::format("column {}.{} does not exist", relation, column));
  error.set_position(offset);
  if (guess.first.relation == nullptr) throw error;
  const auto quoted = [](const Guess& g) { return fmt::format("the column \"{}.{}\"", g.relation->name, g.column); };
  if (guess.second.relation != nullptr) {
    throw std::move(error).hint(
        fmt::format("Perhaps you meant to reference {} or {}.", quoted(guess.first), quoted(guess.second)));
  }
  if (guess.first.column.empty()) {
    throw std::move(error).hint(fmt::format(
        "There is a column named \"{}\" in table \"{}\", but it cannot be referenced from this part of the query.",
        column, guess.first.relation->name));
  }
  throw std::move(error).hint(fmt::format("Perhaps you meant to reference {}.", quoted(guess.first)));
}

void throw_missing_relation(BindState& state, QueryLevel& level, std::string_view schema, std::string_view name,
                            std::optional<std::uint32_t> offset) {
  const Relation* relation = search_relation(state, level, schema, name);
  if (relation == nullptr) {
    throw SqlError(sqlstate::kUndefinedTable, fmt::format("missing FROM-clause entry for table \"{}\"", name)).at(offset);
  }
  SqlError error(sqlstate::kUndefinedTable, fmt::format("invalid reference to FROM-clause entry for table \"{}\"", name));
  error.set_position(offset);
  if (relation->aliased && relation->name != name) {
    const auto visible = find_relation(state, level, {}, relation->name, offset);
    if (visible && visible->relation.get() == relation) {
      throw std::move(error).hint(
          fmt::format("Perhaps you meant to reference the table alias \"{}\".", relation->name));
    }
  }
  throw std::move(error).hint(fmt::format(
      "There is an entry for table \"{}\", but it cannot be referenced from this part of the query.", relation->name));
}

}  // namespace redquel::planner
