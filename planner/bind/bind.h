#pragma once

#include <string>
#include <vector>

#include "parser/ast.h"
#include "planner/tree/access_rules.h"
#include "planner/tree/logical_plan.h"
#include "sql/catalog/catalog.h"
#include "sql/catalog/role_set.h"
#include "sql/session_settings.h"
#include "sql/types/datetime.h"
#include "sql/types/type.h"

namespace redquel::planner {

struct NameUses;
struct VariableScope;
struct StatementRights;

/// The session's settings that affect the meaning of names and literals.
struct BindSettings {
  std::vector<std::string> search_path = {"public"};
  std::string user = "postgres";
  sql::Oid role = sql::kPostgresRole;  // of `user`
  std::string database = "postgres";
  bool row_security = true;  // the parameter: false refuses queries that policies restrict
  sql::SessionSettings session;
  bool reads_memory = false;  // whole tables may be read out of copies in memory
  LeftOutRules left_out = {};
  sql::Now now = {};  // what the literals 'now' and 'today' mean
  /// Parameters $1… may appear. Otherwise: 42P02 "there is no parameter $1", as in the simple protocol.
  bool parameters = true;
  /// The outermost query may say INTO: its caller makes the table.
  bool into = false;
  /// The statement stands in the body of this function: its parameters are $1…, also by their names. Types as they are in the call.
  std::shared_ptr<const sql::FunctionDef> function = nullptr;
  /// The variables of a procedural language that the statement may name; null: none.
  std::shared_ptr<const VariableScope> variables = nullptr;
  /// CALL: names of functions in FROM are those of procedures.
  bool calls_procedure = false;
  /// Receives the meaning of the names (name_uses.h); null: not collected.
  NameUses* names = nullptr;
  /// Receives the rights that the statement needs (tree/requirement.h); null: not collected.
  StatementRights* rights = nullptr;
};

/// Binds SELECT, VALUES, INSERT, UPDATE, DELETE, MERGE (others: 0A000). `declared_parameter_types` are those that Parse gave; unknown or
/// missing ones are inferred from their context, as in PostgreSQL.
///
/// Throws SqlError with PostgreSQL's SQLSTATE, words and position: 42P01, 42703, 42702, 42803, 42804, 42883, 42P18, …; 0A000 for
/// constructs that are not built; 54001 if the statement nests too deeply.
BoundStatement bind(const parser::ast::Statement& statement, const sql::CatalogSnapshot& catalog,
                    std::vector<sql::Type> declared_parameter_types = {}, const BindSettings& settings = {});
/// Binds a bare query: of a cursor or of CREATE TABLE AS.
BoundStatement bind(const parser::ast::Select& query, const sql::CatalogSnapshot& catalog,
                    std::vector<sql::Type> declared_parameter_types = {}, const BindSettings& settings = {});

}  // namespace redquel::planner
