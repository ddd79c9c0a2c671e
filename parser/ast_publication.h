#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "parser/ast_query.h"

namespace redquel::parser::ast {

/// A table, or all tables of a schema, in a list of a publication.
struct PublicationObject {
  enum class Kind : std::uint8_t { kTable, kSchema, kCurrentSchema } kind = Kind::kTable;
  RelationName table;
  std::string schema;
  bool has_columns = false, has_condition = false;  // t (a, b), WHERE (…)
};

struct CreatePublication {
  std::string name;
  bool all_tables = false;
  std::vector<PublicationObject> objects;
  std::vector<Option> options;
};

struct AlterPublication {
  enum class Action : std::uint8_t { kAdd, kDrop, kSet, kSetOptions };
  std::string name;
  Action action = Action::kAdd;
  std::vector<PublicationObject> objects;
  std::vector<Option> options;
};

}  // namespace redquel::parser::ast
