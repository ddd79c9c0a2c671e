#include "executor/ddl/column_definition.h"

#include <fmt/format.h>

#include <algorithm>

#include "executor/ddl/definition_rights.h"
#include "executor/ddl/sequence_options.h"
#include "executor/ddl/storage_parameters.h"
#include "executor/ddl/type_lookup.h"
#include "parser/deparse.h"
#include "planner/bind/bind_type.h"
#include "sql/error.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"
#include "sql/types/array_value.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;

namespace {

/// smallserial, serial, bigserial are no types but a way to say integer, NOT NULL and a sequence.
std::optional<sql::Type> serial_type(const ast::TypeName& name) {
  if (name.names.size() != 1 || !name.array_bounds.empty()) return std::nullopt;
  const std::string& word = name.names[0];
  if (word == "smallserial" || word == "serial2") return sql::kInt2;
  if (word == "serial" || word == "serial4") return sql::kInt4;
  if (word == "bigserial" || word == "serial8") return sql::kInt8;
  return std::nullopt;
}

planner::DeclaredType column_type(const CatalogDraft& draft, const ast::ColumnDefinition& definition) {
  check_type_schema(draft, *definition.type);
  const planner::DeclaredType declared =
      planner::bind_declared_type(*definition.type, draft.catalog(), draft.session().search_path);
  const sql::Type type = declared.type;
  const sql::TypeInfo& info = sql::type_info(type.oid);
  if (info.category == sql::TypeCategory::kPseudo || info.category == sql::TypeCategory::kUnknown) {
    throw sql::has_pseudo_type(definition.name, info.name);
  }
  require_type_usage(draft, declared);
  return declared;
}

/// Reads the constraints that stand at one column.
class ColumnReader {
 public:
  ColumnReader(const CatalogDraft& catalog, const ast::ColumnDefinition& definition, const std::string& table_name)
      : catalog_(catalog), definition_(definition), table_name_(table_name) {}

  ColumnDraft read() {
    draft_.column.name = definition_.name;
    if (!definition_.type) throw sql::not_supported("a column without a type", definition_.offset);
    if (const auto serial = serial_type(*definition_.type)) {
      draft_.column.type = *serial;
      draft_.column.not_null = true;
      not_null_ = true;
      is_serial_ = true;
      make_sequence({});
    } else {
      const planner::DeclaredType declared = column_type(catalog_, definition_);
      draft_.column.type = declared.type;
      draft_.column.domain = declared.domain;
    }
    check_collation(definition_.collation, draft_.column.type, definition_.collation_offset);
    draft_.column.collation = definition_.collation.empty() ? domain_collation(catalog_, draft_.column.domain) : remembered_collation(definition_.collation);
    for (const ast::Constraint& constraint : definition_.constraints) {
      std::visit([&](const auto& node) { take(node, constraint); }, constraint.node);
    }
    return std::move(draft_);
  }

 private:
  void take(const ast::NullConstraint&, const ast::Constraint& constraint) { set_not_null(false, constraint); }
  void take(const ast::NotNullConstraint&, const ast::Constraint& constraint) { set_not_null(true, constraint); }

  void set_not_null(bool not_null, const ast::Constraint& constraint) {
    if (not_null_ && *not_null_ != not_null) {
      throw SqlError(sqlstate::kSyntaxError,
                     fmt::format("conflicting NULL/NOT NULL declarations for column \"{}\" of table \"{}\"", definition_.name, table_name_))
          .at(constraint.offset);
    }
    not_null_ = not_null;
    draft_.column.not_null = not_null;
  }

  void take(const ast::DefaultConstraint& value, const ast::Constraint& constraint) {
    if (draft_.default_value != nullptr || is_serial_) {
      throw SqlError(sqlstate::kSyntaxError,
                     fmt::format("multiple default values specified for column \"{}\" of table \"{}\"", definition_.name, table_name_))
          .at(constraint.offset);
    }
    draft_.default_value = value.value.get();
    check_one_source(constraint);
  }

  void take(const ast::IdentityConstraint& identity, const ast::Constraint& constraint) {
    if (draft_.column.identity != sql::ColumnDef::Identity::kNone) {
      throw SqlError(sqlstate::kSyntaxError,
                     fmt::format("multiple identity specifications for column \"{}\" of table \"{}\"", definition_.name, table_name_))
          .at(constraint.offset);
    }
    if (!sql::is_integer_type(draft_.column.type.oid)) {
      throw SqlError(sqlstate::kInvalidParameterValue, "identity column type must be smallint, integer, or bigint");
    }
    draft_.column.identity = identity.always ? sql::ColumnDef::Identity::kAlways : sql::ColumnDef::Identity::kByDefault;
    check_one_source(constraint);
    set_not_null(true, constraint);
    make_sequence(identity.sequence_options);
  }

  void take(const ast::GeneratedConstraint& written, const ast::Constraint& constraint) {
    if (draft_.generated != nullptr) {
      throw SqlError(sqlstate::kSyntaxError,
                     fmt::format("multiple generation clauses specified for column \"{}\" of table \"{}\"", definition_.name, table_name_))
          .at(constraint.offset);
    }
    draft_.generated = written.value.get();
    check_one_source(constraint);
  }

  void check_one_source(const ast::Constraint& constraint) {
    const bool is_identity = draft_.column.identity != sql::ColumnDef::Identity::kNone;
    if (draft_.generated != nullptr && (is_identity || draft_.default_value != nullptr || is_serial_)) {
      throw SqlError(sqlstate::kSyntaxError, fmt::format("both {} and generation expression specified for column \"{}\" of table \"{}\"",
                                                         is_identity ? "identity" : "default", definition_.name, table_name_))
          .at(constraint.offset);
    }
    if (is_identity && (draft_.default_value != nullptr || is_serial_)) {
      throw SqlError(sqlstate::kSyntaxError,
                     fmt::format("both default and identity specified for column \"{}\" of table \"{}\"", definition_.name, table_name_))
          .at(is_serial_ ? std::nullopt : std::optional(constraint.offset));  // a serial's default is written nowhere
    }
  }

  void make_sequence(const std::vector<ast::Option>& options) {
    sql::SequenceDef sequence;
    sequence.type = draft_.column.type;
    const SequenceOptions said = apply_sequence_options(options, true, sequence);
    if (said.name) sequence.name = *said.name;
    draft_.sequence = std::move(sequence);
  }

  void take(const ast::CheckConstraint&, const ast::Constraint& constraint) { draft_.checks.push_back(read_check(constraint)); }

  void take(const ast::KeyConstraint&, const ast::Constraint& constraint) {
    KeyDraft key = read_key(constraint);
    if (key.columns.empty()) key.columns.push_back(definition_.name);
    draft_.keys.push_back(std::move(key));
  }

  void take(const ast::ForeignKeyConstraint&, const ast::Constraint& constraint) {
    ForeignKeyDraft key = read_foreign_key(constraint);
    key.columns.push_back(definition_.name);
    draft_.foreign_keys.push_back(std::move(key));
  }

  template <typename Other>
  void take(const Other&, const ast::Constraint& constraint) {
    refuse_other_constraints(constraint);
  }

  const CatalogDraft& catalog_;
  const ast::ColumnDefinition& definition_;
  const std::string& table_name_;
  ColumnDraft draft_;
  std::optional<bool> not_null_;
  bool is_serial_ = false;
};

}  // namespace

ColumnDraft read_column(const CatalogDraft& draft, const ast::ColumnDefinition& definition, const std::string& table_name) {
  return ColumnReader(draft, definition, table_name).read();
}

namespace {

/// The common part of keys and exclusion constraints.
template <typename Written>
KeyDraft begin_key(const ast::Constraint& constraint, const Written& written) {
  check_storage_parameters("btree", written.options);
  check_tablespace(written.tablespace);
  KeyDraft key;
  key.deferrable = constraint.deferrable;
  key.initially_deferred = constraint.initially_deferred;
  key.name = constraint.name;
  key.offset = constraint.offset;
  return key;
}

}  // namespace

KeyDraft read_key(const ast::Constraint& constraint) {
  if (const auto* exclusion = std::get_if<ast::ExclusionConstraint>(&constraint.node)) {
    KeyDraft key = begin_key(constraint, *exclusion);
    key.exclusion = exclusion;
    return key;
  }
  const auto& written = std::get<ast::KeyConstraint>(constraint.node);
  KeyDraft key = begin_key(constraint, written);
  key.primary = written.primary;
  key.nulls_not_distinct = written.nulls_not_distinct;
  key.columns = written.columns;
  key.using_index = written.using_index;
  key.included = written.including;
  return key;
}

CheckDraft read_check(const ast::Constraint& constraint) {
  const auto& written = std::get<ast::CheckConstraint>(constraint.node);
  return {constraint.name, written.condition.get(), written.no_inherit, constraint.not_valid};
}

ForeignKeyDraft read_foreign_key(const ast::Constraint& constraint) {
  const auto& written = std::get<ast::ForeignKeyConstraint>(constraint.node);
  ForeignKeyDraft key;
  key.name = constraint.name;
  key.columns = written.columns;
  key.node = &written;
  key.deferrable = constraint.deferrable;
  key.initially_deferred = constraint.initially_deferred;
  key.not_valid = constraint.not_valid;
  return key;
}

void refuse_other_constraints(const ast::Constraint& constraint) {
  struct Namer {
    std::string_view operator()(const ast::GeneratedConstraint&) const { return "GENERATED as a table constraint"; }
    std::string_view operator()(const ast::ForeignKeyConstraint&) const { return ""; }
    std::string_view operator()(const ast::ExclusionConstraint&) const { return ""; }
    std::string_view operator()(const ast::KeyConstraint&) const { return ""; }
    std::string_view operator()(const ast::CheckConstraint&) const { return ""; }
    std::string_view operator()(const ast::NullConstraint&) const { return "NULL as a table constraint"; }
    std::string_view operator()(const ast::NotNullConstraint&) const { return "NOT NULL as a table constraint"; }
    std::string_view operator()(const ast::DefaultConstraint&) const { return "DEFAULT as a table constraint"; }
    std::string_view operator()(const ast::IdentityConstraint&) const { return "IDENTITY as a table constraint"; }
  };
  const std::string_view name = std::visit(Namer{}, constraint.node);
  if (!name.empty()) throw sql::not_supported(name, constraint.offset);
}

void check_tablespace(const std::string& tablespace) {
  if (tablespace.empty() || tablespace == "pg_default") return;
  throw SqlError(sqlstate::kUndefinedObject, fmt::format("tablespace \"{}\" does not exist", tablespace));
}

void check_collation(const ast::QualifiedName& collation, sql::Type type, std::optional<std::uint32_t> offset) {
  if (collation.empty()) return;
  const sql::Oid value = sql::is_array_type(type.oid) ? sql::type_info(type.oid).element : type.oid;
  if (sql::type_info(value).category != sql::TypeCategory::kString) {
    throw SqlError(sqlstate::kDatatypeMismatch, fmt::format("collations are not supported by type {}", sql::format_type(sql::Type{type.oid})))
        .at(offset);
  }
  const std::string& name = collation.back();
  if (name == "C" || name == "POSIX" || name == "default" || name == "ucs_basic") return;
  throw SqlError(sqlstate::kUndefinedObject, fmt::format("collation \"{}\" for encoding \"UTF8\" does not exist", name)).at(offset);
}

std::string domain_collation(const CatalogDraft& draft, sql::Oid domain) {
  const auto found = draft.catalog().types.find(domain);
  return found == draft.catalog().types.end() ? std::string() : found->second->range.collation;
}

std::string remembered_collation(const ast::QualifiedName& collation) {
  return collation.empty() || collation.back() == "default" ? std::string() : collation.back();
}

}  // namespace redquel::executor
