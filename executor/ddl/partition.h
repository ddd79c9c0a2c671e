#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "executor/catalog/catalog_draft.h"
#include "executor/ddl/column_definition.h"
#include "parser/ast.h"
#include "sql/catalog/catalog.h"

namespace redquel::executor {

// Partitioned tables and their partitions, as CREATE TABLE and ALTER TABLE make them.

/// PARTITION BY: gives the table, whose columns are there, its partition key. 22023, 42P16, 42P17, 42703; 0A000 for an expression.
void set_partition_key(sql::TableDef& table, const parser::ast::PartitionSpec& written);

/// Returns the bound of a partition. 42P16 for a bound of another kind than the table's, 42804.
sql::PartitionBoundDef read_bound(const CatalogDraft& draft, const sql::TableDef& parent, const parser::ast::PartitionBound& written);
/// Throws 42P17 if the bound takes nothing, or overlaps that of another partition. `name`: what the new one is called.
void check_new_bound(const CatalogDraft& draft, const sql::TableDef& parent, const std::string& name, const sql::PartitionBoundDef& bound,
                     const parser::ast::PartitionBound& written);

/// Returns the partitioned table of that name. 42P01, 42501; 42P17, in which `kind` stands before the name.
std::shared_ptr<const sql::TableDef> require_partitioned(const CatalogDraft& draft, const parser::ast::RelationName& name, std::string_view kind = "");

/// Returns the table and all tables below it, each behind its parent.
std::vector<std::shared_ptr<const sql::TableDef>> tree_of(const sql::CatalogSnapshot& catalog, const std::shared_ptr<const sql::TableDef>& root);

/// Gives a new table, which has its oid, types, name and place, the columns, keys, indexes and conditions of the table that it is a partition of.
void take_definition(CatalogDraft& draft, const sql::TableDef& parent, sql::TableDef& table);

/// Throws 0A000 if a unique key of a partitioned table lacks a column of the partition key. `columns`: those of the key.
void check_key_of_partitioned(const sql::TableDef& table, const std::vector<std::int16_t>& columns, std::string_view kind);

}  // namespace redquel::executor
