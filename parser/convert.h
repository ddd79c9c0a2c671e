#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parser/ast.h"
#include "parser/protobuf_tree.h"

/// PostgreSQL's parse tree → ours. Private to the parser; one file per part of the language. A null node gives a null
/// pointer. All throw SqlError 0A000 for what redquel has no tree for (XML), 54001 for too deep a tree, and the errors
/// that PostgreSQL finds in single constructs after its grammar (misplaced constraint attributes).
namespace redquel::parser {

// convert_name.cc
std::vector<std::string> convert_names(Nodes items);  // a list of strings
ast::RelationName convert_relation(const PgQuery__RangeVar& relation);
ast::TableRef convert_table_ref(const PgQuery__RangeVar& relation);
std::optional<ast::Alias> convert_alias(const PgQuery__Alias* alias);
ast::Persistence convert_persistence(const PgQuery__RangeVar& relation);
std::string convert_role(const PgQuery__RoleSpec* role);
std::vector<std::string> convert_roles(Nodes items);
ast::TypeName convert_type(const PgQuery__TypeName& type);
ast::ObjectType convert_object_type(PgQuery__ObjectType type);
ast::ObjectName convert_object_name(const Node* node);
std::uint32_t convert_location(std::int32_t location, std::uint32_t otherwise = 0);

// convert_option.cc
ast::Option convert_option(const PgQuery__DefElem& option);
std::vector<ast::Option> convert_options(Nodes items);
/// WITH (…), where the grammar takes words for types: they become strings.
std::vector<ast::Option> convert_storage_options(Nodes items);

// convert_expression.cc
ast::ExpressionPtr convert_expression(const Node* node);
ast::Expressions convert_expressions(Nodes items);
std::vector<ast::IndirectionStep> convert_indirection(Nodes items);
ast::SortKey convert_sort_key(const Node* node);
std::vector<ast::SortKey> convert_sort_keys(Nodes items);
ast::WindowDefinition convert_window(const PgQuery__WindowDef& window);

// convert_query.cc
ast::Select convert_select(const PgQuery__SelectStmt& select);
ast::QueryPtr convert_query(const Node* node);
std::optional<ast::WithClause> convert_with(const PgQuery__WithClause* with);
std::vector<ast::Target> convert_targets(Nodes items);
ast::IntoClause convert_into(const PgQuery__IntoClause& into);

// convert_from.cc
ast::FromItem convert_from_item(const Node* node);
std::vector<ast::FromItem> convert_from(Nodes items);
ast::RecordColumn convert_record_column(const PgQuery__ColumnDef& column);
std::vector<ast::RecordColumn> convert_record_columns(Nodes items);

// convert_write.cc
ast::Insert convert_insert(const PgQuery__InsertStmt& insert);
ast::Update convert_update(const PgQuery__UpdateStmt& update);
ast::Delete convert_delete(const PgQuery__DeleteStmt& statement);
ast::Merge convert_merge(const PgQuery__MergeStmt& merge);
ast::PartitionBound convert_partition_bound(const PgQuery__PartitionBoundSpec& bound);
ast::IndexElement convert_index_element(const PgQuery__IndexElem& element);
std::vector<ast::IndexElement> convert_index_elements(Nodes items);

// convert_table.cc
ast::CreateTable convert_create_table(const PgQuery__CreateStmt& create);
ast::Constraint convert_constraint(const PgQuery__Constraint& constraint);
ast::ColumnDefinition convert_column(const PgQuery__ColumnDef& column);
ast::CreateIndex convert_create_index(const PgQuery__IndexStmt& create);

// convert_alter_table.cc
ast::AlterTable convert_alter_table(const PgQuery__AlterTableStmt& alter);

// convert_policy.cc
ast::CreatePolicy convert_create_policy(const PgQuery__CreatePolicyStmt& create);
ast::AlterPolicy convert_alter_policy(const PgQuery__AlterPolicyStmt& alter);

// convert_publication.cc
ast::CreatePublication convert_create_publication(const PgQuery__CreatePublicationStmt& create);
ast::AlterPublication convert_alter_publication(const PgQuery__AlterPublicationStmt& alter);

// convert_trigger.cc
ast::CreateTrigger convert_create_trigger(const PgQuery__CreateTrigStmt& create);

// convert_definition.cc: null if the node is no definition
std::optional<ast::Statement> convert_definition(const Node& node);

// convert_session.cc: null if the node is no statement of session, transaction or maintenance
std::optional<ast::Statement> convert_session_statement(const Node& node);
ast::SetVariable convert_set_variable(const PgQuery__VariableSetStmt& set);

// convert_statement.cc
ast::Statement convert_statement(const Node* node, std::uint32_t offset);
std::unique_ptr<const ast::Statement> convert_nested_statement(const Node* node);

}  // namespace redquel::parser
