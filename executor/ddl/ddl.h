#pragma once

#include <boost/asio/awaitable.hpp>

#include "executor/catalog/ddl_context.h"
#include "parser/ast.h"

namespace redquel::executor {

namespace asio = boost::asio;

class CatalogDraft;

// One function per statement, in a file of its name. The statement is done when the coroutine ends: definitions committed, index
// entries built, dropped keys deleted. Each is atomic: it happens as a whole, or throws SqlError in PostgreSQL's words and leaves
// nothing. (A unique index that cannot be built takes the other changes of its ALTER TABLE back; other sessions may have
// seen them meanwhile.) NOTICEs go to the session. Command tags: parser::command_tag.

asio::awaitable<void> run(DdlContext& context, const parser::ast::CreateTable& statement);
/// CREATE FOREIGN TABLE … SERVER redis: a table over keys that are there. HV00D, HV00J, HV024, 22023, 42P16, 42P17.
asio::awaitable<void> run(DdlContext& context, const parser::ast::CreateForeignTable& statement);
/// 42710: server redis always exists; 0A000 for others.
asio::awaitable<void> run(DdlContext& context, const parser::ast::CreateForeignServer& statement);
/// The Redis user as whom a role's statements read and write foreign tables. 42501, 42704, 42710, HV00D, HV00J.
asio::awaitable<void> run(DdlContext& context, const parser::ast::UserMapping& statement);
asio::awaitable<void> run(DdlContext& context, const parser::ast::CreateIndex& statement);
asio::awaitable<void> run(DdlContext& context, const parser::ast::CreateDatabase& statement);
asio::awaitable<void> run(DdlContext& context, const parser::ast::CreateSchema& statement);
/// 42710: redquel's own is always there, and so is plpgsql, which every script of a PostgreSQL database may ask for; 0A000 for others.
asio::awaitable<void> run(DdlContext& context, const parser::ast::CreateExtension& statement);
asio::awaitable<void> run(DdlContext& context, const parser::ast::AlterExtension& statement);
asio::awaitable<void> run(DdlContext& context, const parser::ast::CreatePublication& statement);
asio::awaitable<void> run(DdlContext& context, const parser::ast::AlterPublication& statement);
asio::awaitable<void> run(DdlContext& context, const parser::ast::CreateSequence& statement);
asio::awaitable<void> run(DdlContext& context, const parser::ast::CreateView& statement);
asio::awaitable<void> run(DdlContext& context, const parser::ast::CreateEnum& statement);
asio::awaitable<void> run(DdlContext& context, const parser::ast::AlterEnum& statement);
asio::awaitable<void> run(DdlContext& context, const parser::ast::CreateDomain& statement);
asio::awaitable<void> run(DdlContext& context, const parser::ast::AlterDomain& statement);
asio::awaitable<void> run(DdlContext& context, const parser::ast::CreateComposite& statement);
asio::awaitable<void> run(DdlContext& context, const parser::ast::CreateRange& statement);
asio::awaitable<void> run(DdlContext& context, const parser::ast::CreateFunction& statement);
asio::awaitable<void> run(DdlContext& context, const parser::ast::AlterFunction& statement);
/// Drops objects of any kind: tables, indexes, schemas, sequences, views, types, domains, functions, databases.
asio::awaitable<void> run(DdlContext& context, const parser::ast::Drop& statement);
asio::awaitable<void> run(DdlContext& context, const parser::ast::Truncate& statement);
asio::awaitable<void> run(DdlContext& context, const parser::ast::AlterTable& statement);
asio::awaitable<void> run(DdlContext& context, const parser::ast::Rename& statement);
asio::awaitable<void> run(DdlContext& context, const parser::ast::SetSchema& statement);
asio::awaitable<void> run(DdlContext& context, const parser::ast::AlterSequence& statement);
asio::awaitable<void> run(DdlContext& context, const parser::ast::Comment& statement);
asio::awaitable<void> run(DdlContext& context, const parser::ast::CreatePolicy& statement);
asio::awaitable<void> run(DdlContext& context, const parser::ast::AlterPolicy& statement);
asio::awaitable<void> run(DdlContext& context, const parser::ast::CreateTrigger& statement);
asio::awaitable<void> run(DdlContext& context, const parser::ast::Grant& statement);
asio::awaitable<void> run(DdlContext& context, const parser::ast::AlterOwner& statement);
/// Index entries become what the rows say. Of the whole table, also for REINDEX INDEX.
asio::awaitable<void> run(DdlContext& context, const parser::ast::Reindex& statement);
/// VACUUM and ANALYZE: there are no statistics to gather, but half-done removals to finish.
asio::awaitable<void> run(DdlContext& context, const parser::ast::Vacuum& statement);
/// CLUSTER: rows have no order of their own to change, so only the names are looked at.
asio::awaitable<void> run(DdlContext& context, const parser::ast::Cluster& statement);
/// CHECKPOINT does nothing: Redis writes its file itself.
asio::awaitable<void> run(DdlContext& context, const parser::ast::Checkpoint& statement);

// DROP DATABASE and ALTER DATABASE RENAME: the databases of a Redis are in no catalog.
asio::awaitable<void> drop_database(DdlContext& context, const parser::ast::Drop& statement);
/// DROP FUNCTION. 42883; 42725 where the name alone means several.
void drop_functions(CatalogDraft& draft, const parser::ast::Drop& statement);
asio::awaitable<void> rename_database(DdlContext& context, const parser::ast::Rename& statement);

/// Ends what killed processes left half done: index builds without a living builder, keys of dropped tables and indexes. At start
/// and by VACUUM.
asio::awaitable<void> finish_removals(RedisClient& redis);

}  // namespace redquel::executor
