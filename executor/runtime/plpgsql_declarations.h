#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "executor/runtime/session_state.h"
#include "parser/plpgsql_tree.h"
#include "sql/catalog/catalog.h"

namespace redquel::executor {

namespace pl = parser::plpgsql;

/// The type of a variable.
struct VariableShape {
  enum class Kind : std::uint8_t {
    kScalar,
    kRow,     // of a composite type or a table: its fields are known
    kRecord,  // takes the fields of the row that is assigned
  };
  Kind kind = Kind::kScalar;
  sql::Type type;
  sql::Oid domain = 0;
  std::vector<sql::ResultColumn> fields;  // kRow
  std::vector<sql::Oid> field_domains;    // parallel to `fields`

  bool is_row() const { return kind != Kind::kScalar; }
};

/// Returns true for the types that functions of triggers return: trigger and event_trigger.
inline bool is_trigger_type(sql::Type type) { return type.oid == 2279 || type.oid == 3838; }

/// The variables of a function that a trigger calls, in the order of their numbers as arguments.
enum class TriggerVariable : std::uint8_t { kNew, kOld, kName, kWhen, kLevel, kOp, kRelid, kRelname, kTableName, kTableSchema, kNargs, kArgv };
inline constexpr std::size_t kTriggerVariables = 12;

/// The shape of variables of a type.
VariableShape shape_of(sql::Type type, sql::Oid domain, const sql::CatalogSnapshot& catalog);

/// The body of a routine in PL/pgSQL with the types of its variables.
struct PlpgsqlDeclarations {
  pl::Body body;
  std::vector<VariableShape> shapes;  // of the body's variables
  bool has_outputs = false;           // OUT, INOUT, TABLE
  std::vector<std::size_t> outputs;   // the variables of them, parallel to the columns
};

/// Parses the body of a definition that has the types of a call. `has_outputs`: its columns are OUT parameters, not the fields of its result's
/// type. 42601 in the body; for declarations 42704 and what else types throw.
PlpgsqlDeclarations declare_plpgsql(const sql::FunctionDef& definition, bool has_outputs, const sql::CatalogSnapshot& catalog,
                                    const SessionState& session);
/// Like declare_plpgsql(), for a function that triggers of the table call; null: of any table.
PlpgsqlDeclarations declare_trigger_function(const sql::FunctionDef& definition, const sql::TableDef* table, const sql::CatalogSnapshot& catalog,
                                             const SessionState& session);
/// Like declare_plpgsql(), for the code of DO.
PlpgsqlDeclarations declare_plpgsql_code(const sql::FunctionDef& definition, const sql::CatalogSnapshot& catalog, const SessionState& session);

}  // namespace redquel::executor
