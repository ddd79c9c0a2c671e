#include "executor/ddl/partition.h"

#include <fmt/format.h>

#include <algorithm>

#include "executor/runtime/session_context.h"
#include "executor/ddl/object_lookup.h"
#include "executor/ddl/object_privileges.h"
#include "executor/ddl/table_parts.h"
#include "executor/roles/access.h"
#include "executor/storage/stored_text.h"
#include "planner/bind/bind_expression.h"
#include "planner/bind/computed_columns.h"
#include "sql/catalog/partitions.h"
#include "sql/expressions/evaluate.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"
#include "sql/types/type_operations.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;
using Strategy = sql::PartitionKeyDef::Strategy;

namespace {

SqlError invalid_definition(std::string message) { return SqlError(sqlstate::kInvalidTableDefinition, std::move(message)); }
SqlError invalid_object(std::string message) { return SqlError(sqlstate::kInvalidObjectDefinition, std::move(message)); }

Strategy strategy_of(const ast::PartitionSpec& written) {
  if (written.strategy == "list") return Strategy::kList;
  if (written.strategy == "range") return Strategy::kRange;
  if (written.strategy == "hash") return Strategy::kHash;
  throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("unrecognized partitioning strategy \"{}\"", written.strategy));
}

/// A value of a bound, evaluated.
sql::PartitionBoundDef::Value value_of(const CatalogDraft& draft, const sql::TableDef& parent, const sql::ColumnDef& column, const ast::Expression& written) {
  // As a default: over no columns, in the column's type.
  sql::ColumnDef plain = column;
  plain.domain = 0;
  sql::ExpressionPtr bound;
  try {
    bound = planner::bind_default(written, parent, plain, draft.catalog(), bind_settings(draft.session()));
  } catch (const SqlError& error) {
    constexpr std::string_view kDefault = "DEFAULT expression";
    std::string message = error.message();
    if (const auto place = message.find(kDefault); place != std::string::npos) message.replace(place, kDefault.size(), "partition bound expression");
    if (error.sqlstate() == sqlstate::kDatatypeMismatch) {
      throw SqlError(sqlstate::kDatatypeMismatch, fmt::format("specified value cannot be cast to type {} for column \"{}\"", sql::format_type(column.type), column.name))
          .at(written.start);
    }
    if (message == error.message()) throw;
    throw SqlError(error.sqlstate(), message).at(error.position());
  }
  const sql::Datum value = sql::evaluate_scalar(*bound, definition_context(draft.session(), draft.catalog()));
  sql::PartitionBoundDef::Value made;
  if (sql::is_null(value)) made.kind = sql::PartitionBoundDef::Value::Kind::kNull;
  else append_stored_text(column.type, value, made.text);
  return made;
}

/// MINVALUE and MAXVALUE are read as columns of these names.
std::optional<sql::PartitionBoundDef::Value::Kind> end_of_range(const ast::Expression& written) {
  const auto* column = std::get_if<ast::ColumnRef>(&written.node);
  if (column == nullptr || column->star || column->names.size() != 1) return std::nullopt;
  if (column->names[0] == "minvalue") return sql::PartitionBoundDef::Value::Kind::kMinimum;
  if (column->names[0] == "maxvalue") return sql::PartitionBoundDef::Value::Kind::kMaximum;
  return std::nullopt;
}

std::vector<sql::PartitionBoundDef::Value> ends_of_range(const CatalogDraft& draft, const sql::TableDef& parent, const ast::Expressions& written,
                                                         std::string_view word) {
  using Kind = sql::PartitionBoundDef::Value::Kind;
  if (written.size() != parent.partition_key->parts.size()) {
    throw invalid_definition(fmt::format("{} must specify exactly one value per partitioning column", word));
  }
  std::vector<sql::PartitionBoundDef::Value> ends;
  for (std::size_t i = 0; i < written.size(); ++i) {
    sql::PartitionBoundDef::Value value;
    if (const auto end = end_of_range(*written[i])) value.kind = *end;
    else value = value_of(draft, parent, *parent.find_column(parent.partition_key->parts[i].column), *written[i]);
    if (value.kind == Kind::kNull) throw invalid_object("cannot specify NULL in range bound");
    const bool follows_end = !ends.empty() && ends.back().kind != Kind::kValue;
    if (follows_end && value.kind != ends.back().kind) {
      const std::string_view end = ends.back().kind == Kind::kMaximum ? "MAXVALUE" : "MINVALUE";
      throw SqlError(sqlstate::kDatatypeMismatch, fmt::format("every bound following {} must also be {}", end, end)).at(written[i]->start);
    }
    ends.push_back(std::move(value));
  }
  return ends;
}

void check_hash(const ast::PartitionBound& written) {
  if (written.modulus <= 0) throw invalid_definition("modulus for hash partition must be an integer value greater than zero");
  if (written.remainder < 0) throw invalid_definition("remainder for hash partition must be an integer value greater than or equal to zero");
  if (written.remainder >= written.modulus) throw invalid_definition("remainder for hash partition must be less than modulus");
}

SqlError would_overlap(const std::string& name, const sql::PartitionRouter::Child& other) {
  return invalid_object(fmt::format("partition \"{}\" would overlap partition \"{}\"", name, other.table->name));
}

/// Each modulus is a factor of the next larger one.
void check_moduli(const sql::PartitionRouter& router, int modulus) {
  const sql::PartitionRouter::Child *smaller = nullptr, *larger = nullptr;
  for (const sql::PartitionRouter::Child& child : router.children()) {
    const int other = child.table->partition->bound.modulus;
    if (other <= modulus) smaller = &child;
    else if (larger == nullptr) larger = &child;
  }
  std::string detail;
  if (smaller != nullptr && modulus % smaller->table->partition->bound.modulus != 0) {
    detail = fmt::format("The new modulus {} is not divisible by {}, the modulus of existing partition \"{}\".", modulus,
                         smaller->table->partition->bound.modulus, smaller->table->name);
  } else if (larger != nullptr && larger->table->partition->bound.modulus % modulus != 0) {
    detail = fmt::format("The new modulus {} is not a factor of {}, the modulus of existing partition \"{}\".", modulus,
                         larger->table->partition->bound.modulus, larger->table->name);
  }
  if (!detail.empty()) throw invalid_object("every hash partition modulus must be a factor of the next larger modulus").detail(std::move(detail));
}

}  // namespace

void set_partition_key(sql::TableDef& table, const ast::PartitionSpec& written) {
  sql::PartitionKeyDef key{.strategy = strategy_of(written), .parts = {}};
  if (key.strategy == Strategy::kList && written.elements.size() > 1) {
    throw invalid_object("cannot use \"list\" partition strategy with more than one column");
  }
  if (written.elements.size() > 32) throw SqlError(sqlstate::kTooManyColumns, "cannot partition using more than 32 columns");
  for (const ast::PartitionSpec::Element& element : written.elements) {
    if (element.column.empty()) throw sql::not_supported("an expression in a partition key", element.offset);
    const sql::ColumnDef* column = table.find_column(element.column);
    if (column == nullptr) {
      if (is_system_column(element.column)) throw invalid_object(fmt::format("cannot use system column \"{}\" in partition key", element.column)).at(element.offset);
      throw SqlError(sqlstate::kUndefinedColumn, fmt::format("column \"{}\" named in partition key does not exist", element.column)).at(element.offset);
    }
    if (!column->generated_sql.empty()) {
      throw invalid_object("cannot use generated column in partition key").detail(fmt::format("Column \"{}\" is a generated column.", column->name)).at(element.offset);
    }
    if (!element.collation.empty()) check_collation(element.collation, column->type, element.offset);
    sql::PartitionKeyDef::Part part{.column = column->number, .operator_class = {}};
    if (!element.operator_class.empty()) part.operator_class = element.operator_class.back();
    const sql::TypeOperations& operations = sql::operations_of(column->type.oid);
    const bool is_hash = key.strategy == Strategy::kHash;
    if (is_hash ? operations.postgres_hash == nullptr : operations.compare == nullptr) {
      const std::string_view method = is_hash ? "hash" : "btree";
      throw SqlError(sqlstate::kUndefinedObject, fmt::format("data type {} has no default operator class for access method \"{}\"", sql::format_type(column->type), method))
          .hint(fmt::format("You must specify a {} operator class or define a default {} operator class for the data type.", method, method));
    }
    key.parts.push_back(std::move(part));
  }
  table.partition_key = std::move(key);
  if (!table.primary_key.empty()) check_key_of_partitioned(table, table.primary_key, "PRIMARY KEY");
  for (const sql::IndexDef& index : table.indexes) {
    if (!index.unique) continue;
    if (index.is_exclusion()) throw SqlError(sqlstate::kFeatureNotSupported, "exclusion constraints are not supported on partitioned tables");
    std::vector<std::int16_t> columns;
    for (const sql::IndexDef::Part& indexed : index.parts) columns.push_back(indexed.column);
    check_key_of_partitioned(table, columns, index.is_primary_key() ? "PRIMARY KEY" : "UNIQUE");
    if (index.is_deferrable()) throw sql::not_supported("a deferrable constraint of a partitioned table");
  }
}

void check_key_of_partitioned(const sql::TableDef& table, const std::vector<std::int16_t>& columns, std::string_view kind) {
  if (!table.partition_key) return;
  for (const sql::PartitionKeyDef::Part& part : table.partition_key->parts) {
    if (std::ranges::find(columns, part.column) != columns.end()) continue;
    throw SqlError(sqlstate::kFeatureNotSupported, "unique constraint on partitioned table must include all partitioning columns")
        .detail(fmt::format("{} constraint on table \"{}\" lacks column \"{}\" which is part of the partition key.", kind, table.name,
                            table.find_column(part.column)->name));
  }
}

sql::PartitionBoundDef read_bound(const CatalogDraft& draft, const sql::TableDef& parent, const ast::PartitionBound& written) {
  using Written = ast::PartitionBound::Strategy;
  const Strategy strategy = parent.partition_key->strategy;
  sql::PartitionBoundDef bound;
  if (written.strategy == Written::kDefault) {
    if (strategy == Strategy::kHash) throw invalid_definition("a hash-partitioned table may not have a default partition");
    bound.is_default = true;
    return bound;
  }
  constexpr Written kExpected[] = {Written::kList, Written::kRange, Written::kHash};
  constexpr std::string_view kNames[] = {"list", "range", "hash"};
  if (written.strategy != kExpected[static_cast<std::size_t>(strategy)]) {
    throw invalid_definition(fmt::format("invalid bound specification for a {} partition", kNames[static_cast<std::size_t>(strategy)])).at(written.offset);
  }
  switch (strategy) {
    case Strategy::kHash:
      check_hash(written);
      bound.modulus = written.modulus;
      bound.remainder = written.remainder;
      break;
    case Strategy::kRange:
      bound.from = ends_of_range(draft, parent, written.lower, "FROM");
      bound.to = ends_of_range(draft, parent, written.upper, "TO");
      break;
    case Strategy::kList: {
      const sql::ColumnDef& column = *parent.find_column(parent.partition_key->parts.front().column);
      for (const ast::ExpressionPtr& value : written.values) {
        sql::PartitionBoundDef::Value made = value_of(draft, parent, column, *value);
        const auto is_same = [&](const sql::PartitionBoundDef::Value& other) { return other.kind == made.kind && other.text == made.text; };
        if (std::ranges::none_of(bound.values, is_same)) bound.values.push_back(std::move(made));
      }
      break;
    }
  }
  return bound;
}

void check_new_bound(const CatalogDraft& draft, const sql::TableDef& parent, const std::string& name, const sql::PartitionBoundDef& bound, const ast::PartitionBound& written) {
  const Strategy strategy = parent.partition_key->strategy;
  const sql::PartitionRouter& router = *parent.router;
  if (bound.is_default) {
    if (const auto* other = router.default_child()) {
      throw invalid_object(fmt::format("partition \"{}\" conflicts with existing default partition \"{}\"", name, other->table->name)).at(written.offset);
    }
    return;
  }
  std::uint32_t offset = written.offset;
  if (strategy == Strategy::kHash) check_moduli(router, bound.modulus);
  if (strategy == Strategy::kRange) offset = written.lower.front()->start;
  for (std::size_t i = 0; strategy == Strategy::kList && i < written.values.size(); ++i) {
    sql::PartitionBoundDef alone;
    alone.values = {value_of(draft, parent, *parent.find_column(parent.partition_key->parts.front().column), *written.values[i])};
    if (const auto* other = router.overlapping(alone)) throw would_overlap(name, *other).at(written.values[i]->start);
  }
  if (strategy == Strategy::kRange && router.is_empty_range(bound)) {
    sql::TableDef shown;
    shown.partition = sql::PartitionDef{.parent = parent.oid, .bound = bound};
    const std::string text = sql::partition_bound_text(parent, shown, draft.session().settings);
    const std::size_t middle = text.find(") TO (") + 1, begin = text.find('(');
    throw invalid_object(fmt::format("empty range bound specified for partition \"{}\"", name))
        .detail(fmt::format("Specified lower bound {} is greater than or equal to upper bound {}.", text.substr(begin, middle - begin), text.substr(middle + 4)))
        .at(offset);
  }
  if (const auto* other = router.overlapping(bound)) throw would_overlap(name, *other).at(offset);
}

TablePtr require_partitioned(const CatalogDraft& draft, const ast::RelationName& name, std::string_view kind) {
  TablePtr parent = require_table(draft, name);
  require_owner(draft.session(), parent->owner, "table", parent->name);
  if (!parent->partition_key) throw invalid_object(fmt::format("{}\"{}\" is not partitioned", kind, parent->name));
  return parent;
}

std::vector<TablePtr> tree_of(const sql::CatalogSnapshot& catalog, const TablePtr& root) {
  std::vector<TablePtr> tree{root};
  for (std::size_t i = 0; i < tree.size(); ++i) {
    const sql::Oid parent = tree[i]->oid;
    std::ranges::copy(catalog.partitions_of(parent), std::back_inserter(tree));
  }
  return tree;
}

void take_definition(CatalogDraft& draft, const sql::TableDef& parent, sql::TableDef& table) {
  table.columns = parent.columns;
  for (sql::ColumnDef& column : table.columns) {
    column.comment.clear();
    column.acl.reset();
    if (column.identity == sql::ColumnDef::Identity::kNone) continue;
    column.identity = sql::ColumnDef::Identity::kNone;
    column.sequence = 0;
  }
  table.next_column = parent.next_column;
  table.used_fields = parent.used_fields;
  table.computed = parent.computed;
  table.next_computed = parent.next_computed;
  table.checks = parent.checks;
  for (sql::CheckDef& check : table.checks) check.comment.clear();
  table.primary_key = parent.primary_key;
  table.storage = parent.storage;
  draft.put(table);
  const auto names_of = [&](const std::vector<sql::IndexDef::Part>& parts) {
    std::vector<std::string> names;
    for (const sql::IndexDef::Part& part : parts) {
      const sql::ColumnDef* column = table.find_column(part.shown_column != 0 ? part.shown_column : part.column);
      names.push_back(part.column < 0 || column == nullptr ? "expr" : column->name);
    }
    return names;
  };
  if (parent.primary_key_index.oid != 0) {
    table.primary_key_index = {.oid = draft.new_oid(), .name = index_name(draft, table, "", {}, "pkey"), .included = parent.primary_key_index.included, .comment = {}, .constraint_comment = {}};
    draft.put(table);
  }
  table.foreign_keys = parent.foreign_keys;
  for (sql::ForeignKeyDef& key : table.foreign_keys) {
    key.oid = draft.new_oid();
    key.comment.clear();
  }
  for (sql::IndexDef index : parent.indexes) {
    const auto of_key = std::ranges::find(table.foreign_keys, index.oid, &sql::ForeignKeyDef::index);
    index.oid = draft.new_oid();
    if (of_key != table.foreign_keys.end()) of_key->index = index.oid;
    if (!index.is_hidden()) index.name = index_name(draft, table, "", names_of(index.parts), index.constraint ? "key" : "idx");
    index.comment.clear();
    index.state = sql::IndexState::kReady;
    if (index.constraint) index.constraint->comment.clear();
    table.indexes.push_back(std::move(index));
    draft.put(table);
  }
}

}  // namespace redquel::executor
