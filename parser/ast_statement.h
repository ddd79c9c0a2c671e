#pragma once

#include "parser/ast_definition.h"
#include "parser/ast_policy.h"
#include "parser/ast_publication.h"
#include "parser/ast_query.h"
#include "parser/ast_session.h"
#include "parser/ast_table.h"
#include "parser/ast_trigger.h"
#include "parser/ast_user_mapping.h"
#include "parser/ast_write.h"

namespace redquel::parser::ast {

/// A statement that parses but has no struct: `name` is the construct in the words of PostgreSQL's command tag, "CREATE RULE".
struct Unsupported {
  std::string name;
};

struct Statement {
  std::variant<Select, Insert, Update, Delete, Merge, CreateTable, CreateForeignTable, CreateTableAs, CreateIndex,
               AlterTable, Drop, Truncate, Rename, SetSchema, AlterOwner, CreateDatabase, CreateSchema, CreateView,
               RefreshMaterializedView, CreateSequence, AlterSequence, CreateEnum, AlterEnum, CreateDomain, AlterDomain,
               CreateComposite, CreateRange, CreateFunction, AlterFunction, Comment, CreateForeignServer, AlterForeignServer, ImportForeignSchema,
               UserMapping, CreateExtension, AlterExtension, Grant, GrantRole, CreateRole, AlterRole, DropRole, CreatePolicy, AlterPolicy, CreateTrigger, CreatePublication, AlterPublication, Explain, SetVariable,
               ShowVariable,
               Transaction, SetConstraints, Prepare, Execute, Deallocate, DeclareCursor, Fetch, ClosePortal, Copy,
               Vacuum, Reindex, Cluster, LockTable, Discard, Listen, Notify, Unlisten, Do, Call, Checkpoint,
               Unsupported>
      node;
  std::uint32_t offset = 0;  // of its first token
};

}  // namespace redquel::parser::ast
