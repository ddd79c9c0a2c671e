#include "executor/ddl/like_clause.h"

#include <fmt/format.h>

#include <algorithm>

#include "executor/ddl/generated_names.h"
#include "executor/ddl/index_expressions.h"
#include "executor/ddl/object_lookup.h"
#include "executor/ddl/table_parts.h"
#include "executor/roles/access.h"
#include "sql/catalog/index_text.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;

namespace {

using Identity = sql::ColumnDef::Identity;

ColumnDraft copy_column(const CatalogDraft& draft, const ast::LikeClause& like, const sql::ColumnDef& source) {
  ColumnDraft copy;
  copy.column.name = source.name;
  copy.column.type = source.type;
  copy.column.domain = source.domain;
  copy.column.collation = source.collation;
  copy.column.not_null = source.not_null;
  copy.column.collation = source.collation;
  if (like.comments) copy.column.comment = source.comment;
  if (like.generated) copy.column.generated_sql = source.generated_sql;
  if (source.identity == Identity::kNone && like.defaults) {
    copy.column.default_sql = source.default_sql;
    copy.column.sequence = source.sequence;
  }
  if (source.identity != Identity::kNone && like.identity) {
    sql::SequenceDef sequence = draft.catalog().sequences.at(source.sequence);
    sequence.name.clear();
    sequence.comment.clear();
    copy.column.identity = source.identity;
    copy.sequence = std::move(sequence);
  }
  return copy;
}

std::vector<std::string> names_of(const sql::TableDef& table, const std::vector<std::int16_t>& numbers) {
  std::vector<std::string> names;
  for (std::int16_t number : numbers) names.push_back(table.find_column(number)->name);
  return names;
}

LikeParts read_fields(const sql::UserType& composite) {
  LikeParts parts;
  for (const sql::CompositeField& field : composite.fields) {
    ColumnDraft copy;
    copy.column.name = field.name;
    copy.column.type = field.type;
    copy.column.domain = field.domain;
    parts.columns.push_back(std::move(copy));
  }
  return parts;
}

}  // namespace

LikeParts read_like(const CatalogDraft& draft, const ast::LikeClause& like) {
  LikeParts parts;
  const RelationKind kind = relation_kind(draft, like.source);
  if (kind == RelationKind::kNone) {
    const sql::UserTypePtr type = draft.catalog().find_user_type(like.source.schema, like.source.name, draft.session().search_path);
    if (!type || type->kind != sql::UserType::Kind::kComposite) throw SqlError(missing_relation(draft, like.source)).at(like.source.offset);
    return read_fields(*type);
  }
  if (kind == RelationKind::kView) {
    const auto view = draft.catalog().find_view(like.source.schema, like.source.name, draft.session().search_path);
    require_rights(draft.session(), draft.catalog(), sql::AclKind::kTable, view->oid, sql::right::kSelect);
    for (const sql::ViewDef::Column& column : view->columns) {
      ColumnDraft copy;
      copy.column.name = column.name;
      copy.column.type = column.type;
      if (like.comments) copy.column.comment = column.comment;
      parts.columns.push_back(std::move(copy));
    }
    return parts;
  }
  if (kind == RelationKind::kIndex || kind == RelationKind::kSequence) {
    throw SqlError(sqlstate::kWrongObjectType, fmt::format("relation \"{}\" is invalid in LIKE clause", like.source.name))
        .detail(fmt::format("This operation is not supported for {}.", kind == RelationKind::kIndex ? "indexes" : "sequences"))
        .at(like.source.offset);
  }
  if (kind == RelationKind::kSystemTable) throw sql::not_supported("LIKE of a system table", like.source.offset);
  parts.source = require_table(draft, like.source);
  const sql::TableDef& source = *parts.source;
  require_rights(draft.session(), draft.catalog(), sql::AclKind::kTable, source.oid, sql::right::kSelect);
  for (const sql::ColumnDef& column : source.columns) {
    if (!column.hidden) parts.columns.push_back(copy_column(draft, like, column));
  }
  if (like.constraints) parts.checks = source.checks;
  if (!like.indexes) return parts;
  parts.comments = like.comments;
  if (!source.primary_key.empty()) {
    parts.keys.push_back({.primary = true,
                          .columns = names_of(source, source.primary_key),
                          .included = names_of(source, source.primary_key_index.included)});
  }
  for (const sql::IndexDef& index : source.indexes) {
    if (index.is_hidden()) continue;
    if (!index.constraint || index.is_exclusion()) {
      parts.indexes.push_back(index);
      continue;
    }
    std::vector<std::int16_t> numbers;
    for (const sql::IndexDef::Part& part : index.parts) numbers.push_back(part.column);
    parts.keys.push_back({.primary = index.is_primary_key(),
                          .nulls_not_distinct = index.nulls_not_distinct,
                          .deferrable = index.is_deferrable(),
                          .initially_deferred = index.is_initially_deferred(),
                          .columns = names_of(source, numbers),
                          .included = names_of(source, index.included)});
  }
  return parts;
}

void add_like_parts(CatalogDraft& draft, const LikeParts& parts, sql::TableDef& table) {
  for (const sql::CheckDef& check : parts.checks) {
    if (constraint_exists(table, check.name)) {
      throw SqlError(sqlstate::kDuplicateObject, fmt::format("check constraint \"{}\" already exists", check.name));
    }
    table.checks.push_back(check);
  }
  for (const sql::IndexDef& source : parts.indexes) {
    sql::IndexDef index = source;
    if (std::holds_alternative<sql::MappedIndex>(index.storage)) index.storage = sql::ManagedIndex();  // redquel's own from now on
    std::vector<std::string> columns;
    for (sql::IndexDef::Part& part : index.parts) {
      columns.push_back(parts.source->find_column(part.column)->name);
      if (part.column > 0) part.column = table.find_column(columns.back())->number;
      if (part.shown_column != 0) part.shown_column = table.find_column(parts.source->find_column(part.shown_column)->name)->number;
    }
    for (std::int16_t& number : index.included) {
      columns.push_back(parts.source->find_column(number)->name);
      number = table.find_column(columns.back())->number;
    }
    columns = sql::distinct_column_names(columns);
    index.oid = draft.new_oid();
    index.state = sql::IndexState::kReady;
    if (!parts.comments) index.comment.clear();
    if (index.constraint) index.constraint->comment.clear();
    index.name = choose_name(table.name, joined_column_names(columns), index.is_exclusion() ? "excl" : "idx", [&](std::string_view name) {
      return draft.catalog().relation_exists(table.schema, name) || table.find_index(name) != nullptr;
    });
    add_computed_columns(table, index, columns);
    table.indexes.push_back(std::move(index));
  }
}

}  // namespace redquel::executor
