#include <fmt/format.h>

#include <optional>

#include "executor/catalog/catalog_draft.h"
#include "executor/ddl/catalog_change.h"
#include "executor/ddl/ddl.h"
#include "executor/ddl/object_lookup.h"
#include "executor/ddl/sequence_options.h"
#include "executor/ddl/sequence_restart.h"
#include "executor/roles/access.h"
#include "executor/storage/sequences.h"
#include "executor/transaction/transaction_catalog.h"
#include "sql/catalog/buckets.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"
#include "sql/system_tables/relations.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;

namespace {

/// OWNED BY table.column, or OWNED BY NONE.
void set_owner(const CatalogDraft& draft, const ast::QualifiedName& owner, sql::SequenceDef& sequence) {
  if (owner.size() == 1) {
    if (owner[0] != "none") {
      throw SqlError(sqlstate::kSyntaxError, "invalid OWNED BY option").hint("Specify OWNED BY table.column or OWNED BY NONE.");
    }
    sequence.owner = sql::owner_of(draft.catalog(), sequence);
    sequence.owner_table = 0;
    sequence.owner_column = 0;
    return;
  }
  const TablePtr table = require_table(draft, relation_name({owner.begin(), owner.end() - 1}));
  const std::string own = sequence.owner.empty() && sequence.owner_table == 0 && !draft.catalog().sequences.contains(sequence.oid)
                              ? sql::owner_reference(current_role(*sql::known_roles(), draft.session()))
                              : sql::owner_of(draft.catalog(), sequence);
  if (sql::owner_role(own) != sql::owner_role(table->owner)) {
    throw SqlError(sqlstate::kObjectNotInPrerequisiteState, "sequence must have same owner as table it is linked to");
  }
  if (table->schema != sequence.schema) {
    throw SqlError(sqlstate::kObjectNotInPrerequisiteState, "sequence must be in same schema as table it is linked to");
  }
  const sql::ColumnDef* column = table->find_column(owner.back());
  if (column == nullptr) {
    throw sql::undefined_column(owner.back(), table->name);
  }
  sequence.owner.clear();
  sequence.owner_table = table->oid;
  sequence.owner_column = column->number;
}

/// 0A000 for the sequence of an identity column. 0A000 for a counter of an application: the table that has it says as whom it is written.
void check_owner_may_change(const CatalogDraft& draft, const sql::SequenceDef& sequence) {
  if (sequence.foreign) throw sql::not_supported("changing the ownership of a foreign table's counter");
  const TablePtr table = draft.catalog().find_table(sequence.owner_table);
  const sql::ColumnDef* column = table ? table->find_column(sequence.owner_column) : nullptr;
  if (column == nullptr || column->sequence != sequence.oid || column->identity == sql::ColumnDef::Identity::kNone) return;
  throw SqlError(sqlstate::kFeatureNotSupported, "cannot change ownership of identity sequence")
      .detail(fmt::format("Sequence \"{}\" is linked to table \"{}\".", sequence.name, table->name));
}

}  // namespace

asio::awaitable<void> run(DdlContext& context, const ast::CreateSequence& statement) {
  std::optional<std::pair<sql::SequenceDef, std::int64_t>> restarted;
  const MakeDraft make = [&](CatalogDraft& draft) {
    restarted.reset();
    const std::string schema = creation_schema(draft, statement.relation, statement.persistence);
    const std::string& name = statement.relation.name;
    if (is_there_already(draft, schema, name, statement.if_not_exists)) return;
    sql::SequenceDef sequence;
    sequence.oid = draft.new_oid();
    sequence.schema = schema;
    sequence.name = name;
    const SequenceOptions options = apply_sequence_options(statement.options, true, sequence);
    if (options.owner) set_owner(draft, *options.owner, sequence);
    sequence.key = draft.reserve_prefix(schema, name, fmt::format("sequence {}", sequence.oid), sql::home_tag()) + ":id";
    if (options.restart) restarted.emplace(sequence, *options.restart);
    draft.put(std::move(sequence));
  };
  co_await change_catalog(context, make);
  if (restarted) co_await set_sequence(context.redis, restarted->first, restarted->second, false);
}

asio::awaitable<void> run(DdlContext& context, const ast::AlterSequence& statement) {
  const LoadedCatalog loaded = co_await load_definitions(context);
  const sql::SequenceDef* before =
      loaded.snapshot->find_sequence(statement.relation.schema, statement.relation.name, context.session.search_path);
  if (before != nullptr) co_await lock_sequence(context, *before);
  SequenceRestarts restarts;
  const MakeDraft make = [&](CatalogDraft& draft) {
    restarts.clear();
    const RelationKind kind = relation_kind(draft, statement.relation);
    if (kind == RelationKind::kNone) {
      if (!statement.if_exists) throw missing_relation(draft, statement.relation);
      draft.notice(sqlstate::kSuccessfulCompletion, fmt::format("relation \"{}\" does not exist, skipping", statement.relation.name));
      return;
    }
    if (kind != RelationKind::kSequence) throw sql::wrong_object_kind(statement.relation.name, "a sequence");
    sql::SequenceDef sequence =
        *draft.catalog().find_sequence(statement.relation.schema, statement.relation.name, draft.session().search_path);
    const SequenceOptions options = apply_sequence_options(statement.options, false, sequence);
    if (options.owner) {
      check_owner_may_change(draft, sequence);
      set_owner(draft, *options.owner, sequence);
    }
    if (options.restart) restarts.emplace_back(sequence.oid, *options.restart);
    draft.put(std::move(sequence));
  };
  co_await change_catalog(context, make);
  co_await restart_sequences(context, std::move(restarts));
}

}  // namespace redquel::executor
