#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql/column.h"
#include "sql/types/type.h"

namespace redquel::sql {

// Rows lie in columns, and those of composite types in Redis, as PostgreSQL's text form of them, (1,"a b",), with fields in the
// storage form of their types. A value of type record says in front of it what its fields are: 23,25:name(1,"a b"); a field without a
// name is called f1, f2, … by its place.

/// A row taken apart. Fields are views into `memory`.
struct RowValue {
  std::vector<Type> types;
  std::vector<std::string> names;                       // empty: f1, f2, …
  std::vector<std::optional<std::string_view>> fields;  // in storage form; nullopt: NULL
  std::shared_ptr<Arena> memory;

  /// Appends a field that `memory` keeps.
  void add(Type type, std::optional<std::string_view> field, std::string name = {});
  std::string name_of(std::size_t field) const;
};

bool is_composite_type(Oid type);
/// record or a composite type.
bool is_row_type(Oid type);
bool is_enum_type(Oid type);

/// A value that lies in a column of that type. XX001 where it is none.
RowValue read_row(Oid type, std::string_view text);
/// Appends the row in the form that read_row() reads.
void append_row(Oid type, const RowValue& row, std::string& out);
std::string row_text(Oid type, const RowValue& row);
/// Without the types in front, as clients see it; fields are appended as they are.
void append_plain_row(const RowValue& row, std::string& out);

/// Takes a literal of so many fields apart as record_in does. 22P02 "malformed record literal" with its detail.
std::vector<std::optional<std::string>> split_row_literal(std::string_view text, std::size_t fields);

}  // namespace redquel::sql
