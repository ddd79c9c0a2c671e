#pragma once

#include <cstdint>

#include "parser/ast.h"
#include "planner/tree/node_parts.h"

namespace redquel::executor {

/// How a statement is run.
enum class StatementKind : std::uint8_t {
  kPlanned,     // by a plan
  kDefinition,  // by run() of ddl/
  kComposed,    // by an execution of its own in statements/, which runs other statements or none
  kSession,     // by the session of the server
  kRefused,     // not at all: 0A000
};

/// Returns the kind of a type of statements. A type that is not listed does not compile.
template <class Statement>
consteval StatementKind statement_kind() {
  namespace ast = parser::ast;
  using planner::OneOf;
  if constexpr (OneOf<Statement, ast::Select, ast::Insert, ast::Update, ast::Delete, ast::Merge, ast::Explain, ast::Copy, ast::Call>) {
    return StatementKind::kPlanned;
  } else if constexpr (OneOf<Statement, ast::CreateTable, ast::CreateForeignTable, ast::CreateIndex, ast::AlterTable, ast::Drop, ast::Truncate,
                             ast::Rename, ast::SetSchema, ast::AlterOwner, ast::CreateDatabase, ast::CreateSchema, ast::CreateView,
                             ast::CreateSequence, ast::AlterSequence, ast::CreateEnum, ast::AlterEnum, ast::CreateDomain, ast::AlterDomain,
                             ast::CreateComposite, ast::CreateRange, ast::CreateFunction, ast::AlterFunction, ast::Comment,
                             ast::CreateForeignServer, ast::UserMapping, ast::CreateExtension, ast::AlterExtension, ast::Grant, ast::GrantRole, ast::CreateRole,
                             ast::AlterRole, ast::DropRole, ast::CreatePolicy, ast::AlterPolicy, ast::CreateTrigger, ast::CreatePublication, ast::AlterPublication, ast::Vacuum, ast::Reindex, ast::Cluster,
                             ast::Checkpoint>) {
    return StatementKind::kDefinition;
  } else if constexpr (OneOf<Statement, ast::CreateTableAs, ast::RefreshMaterializedView, ast::ImportForeignSchema, ast::LockTable, ast::Listen,
                             ast::Notify, ast::Unlisten, ast::Do>) {
    return StatementKind::kComposed;
  } else if constexpr (OneOf<Statement, ast::SetVariable, ast::ShowVariable, ast::Transaction, ast::SetConstraints, ast::Prepare, ast::Execute,
                             ast::Deallocate, ast::DeclareCursor, ast::Fetch, ast::ClosePortal, ast::Discard>) {
    return StatementKind::kSession;
  } else {
    static_assert(OneOf<Statement, ast::AlterForeignServer, ast::Unsupported>, "a statement without a kind");
    return StatementKind::kRefused;
  }
}

/// CREATE TABLE AS, SELECT INTO, CREATE MATERIALIZED VIEW: they make a table and fill it.
bool is_create_table_as(const parser::ast::Statement& statement);
/// Returns true if a part of WITH changes data.
bool writes_in_with(const parser::ast::Select& query);
/// CREATE, ALTER, DROP, LOCK TABLE, VACUUM …: the statements that are run as they are written, without a plan.
bool is_definition(const parser::ast::Statement& statement);

}  // namespace redquel::executor
