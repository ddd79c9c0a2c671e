#include <fmt/format.h>

#include <algorithm>

#include "executor/catalog/dependencies.h"
#include "executor/ddl/alter_composite.h"
#include "executor/ddl/catalog_change.h"
#include "executor/ddl/ddl.h"
#include "executor/ddl/definition_rights.h"
#include "executor/ddl/dependents.h"
#include "executor/ddl/object_lookup.h"
#include "executor/ddl/type_lookup.h"
#include "executor/ddl/value_rewrite.h"
#include "parser/deparse.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"
#include "sql/value_errors.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::EnumLabel;
using sql::SqlError;
using sql::UserType;

namespace {

void check_label(const std::string& label) {
  constexpr std::size_t kNameBytes = 63;
  if (label.size() <= kNameBytes) return;
  throw SqlError(sqlstate::kInvalidName, fmt::format("invalid enum label \"{}\"", label)).detail("Labels must be 63 bytes or less.");
}

auto find_label(UserType& type, const std::string& name) { return std::ranges::find(type.labels, name, &EnumLabel::name); }

auto require_label(UserType& type, const std::string& name) {
  const auto label = find_label(type, name);
  if (label == type.labels.end()) throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("\"{}\" is not an existing enum label", name));
  return label;
}

/// The number of a new label between two others. Indexes hold these numbers, so those of the others stay.
double order_between(const UserType& type, std::vector<EnumLabel>::iterator next) {
  const auto begin = type.labels.begin(), end = type.labels.end();
  if (begin == end) return 1;
  if (next == end) return std::prev(next)->order + 1;
  if (next == begin) return next->order - 1;
  const double below = std::prev(next)->order, order = (below + next->order) / 2;
  if (order <= below || order >= next->order) throw SqlError(sqlstate::kProgramLimitExceeded, "no room for another label between two of an enum");
  return order;
}

void add_value(CatalogDraft& draft, UserType& type, const ast::AlterEnum& statement) {
  check_label(statement.new_label);
  if (find_label(type, statement.new_label) != type.labels.end()) {
    const std::string message = fmt::format("enum label \"{}\" already exists", statement.new_label);
    if (!statement.if_not_exists) throw SqlError(sqlstate::kDuplicateObject, message);
    draft.notice(sqlstate::kDuplicateObject, message + ", skipping");
    return;
  }
  auto next = type.labels.end();
  if (!statement.neighbor.empty()) next = require_label(type, statement.neighbor) + (statement.after ? 1 : 0);
  const double order = order_between(type, next);
  type.labels.insert(next, EnumLabel{draft.new_oid(), statement.new_label, order});
}

UserType require_enum(const CatalogDraft& draft, const ast::AlterEnum& statement) {
  UserType type = *require_type(draft, statement.name);
  if (type.kind == UserType::Kind::kEnum) return type;
  throw SqlError(sqlstate::kWrongObjectType, fmt::format("{} is not an enum", sql::format_type(sql::Type{type.oid})));
}

std::string as_literal(const std::string& label) {
  std::string text = "'";
  for (const char c : label) text += c == '\'' ? std::string(2, c) : std::string(1, c);
  return text + "'";
}

/// Defaults that are the label follow it. 0A000 where it stands within other stored texts.
void rename_in_texts(CatalogDraft& draft, sql::Oid type, const std::string& old_label, const std::string& new_label) {
  const std::string old_text = as_literal(old_label);
  const auto check = [&](const std::string& text) {
    if (text.find(old_text) != std::string::npos) throw sql::not_supported("another name for a label that stored expressions name");
  };
  const std::map<sql::Oid, TablePtr> tables(draft.catalog().tables.begin(), draft.catalog().tables.end());
  for (const auto& [oid, table] : tables) {
    sql::TableDef changed = *table;
    bool has_changed = false;
    for (sql::ColumnDef& column : changed.columns) {
      if (column.type.oid == type && column.default_sql.starts_with(old_text) &&
          (column.default_sql.size() == old_text.size() || column.default_sql.compare(old_text.size(), 2, "::") == 0)) {
        column.default_sql.replace(0, old_text.size(), as_literal(new_label));
        has_changed = true;
      } else if (uses_type(draft.catalog(), column, type)) {
        check(column.default_sql);
      }
      if (!column.generated_sql.empty()) check(column.generated_sql);
    }
    for (const sql::ColumnDef& column : table->computed) check(column.generated_sql);
    for (const sql::CheckDef& condition : table->checks) check(condition.expression_sql);
    if (has_changed) draft.put(std::move(changed));
  }
  for (const auto& [oid, view] : draft.catalog().views) check(view->query);
  for (const auto& [oid, other] : draft.catalog().types) {
    if (!contains_type(draft.catalog(), oid, type)) continue;
    check(other->default_sql);
    for (const sql::CheckDef& condition : other->checks) check(condition.expression_sql);
  }
}

/// Rows hold labels as texts: they are written anew.
TypeChange rename_value(CatalogDraft& draft, const ast::AlterEnum& statement) {
  UserType type = require_enum(draft, statement);
  check_label(statement.new_label);
  const auto label = require_label(type, statement.old_label);
  if (find_label(type, statement.new_label) != type.labels.end()) {
    throw SqlError(sqlstate::kDuplicateObject, fmt::format("enum label \"{}\" already exists", statement.new_label));
  }
  UserType both = type;
  EnumLabel renamed = *label;
  renamed.name = statement.new_label;
  both.labels.insert(both.labels.begin() + (label - type.labels.begin()) + 1, renamed);
  label->name = statement.new_label;
  rename_in_texts(draft, type.oid, statement.old_label, statement.new_label);
  TypeChange change{type.oid, statement.old_label, statement.new_label, std::make_shared<const UserType>(std::move(both))};
  draft.put(std::move(type));
  return change;
}

/// 0A000 for a field that would go with a temporary table while its type stays.
void check_lives_as_long(const CatalogDraft& draft, const UserType& whole, sql::Oid field) {
  if (sql::is_temporary_schema(whole.schema)) return;
  const sql::CatalogSnapshot& catalog = draft.catalog();
  const auto is_made_of = [&](const auto& entry, sql::Oid type) {
    return sql::is_temporary_schema(entry.second->schema) && contains_type(catalog, field, type);
  };
  if (std::ranges::any_of(catalog.tables, [&](const auto& entry) { return is_made_of(entry, entry.second->row_type); }) ||
      std::ranges::any_of(catalog.types, [&](const auto& entry) { return is_made_of(entry, entry.first); })) {
    throw sql::not_supported("a field of a temporary type in a composite type that is not temporary");
  }
}

/// 42P16 for pseudo-types, and where values of the field would hold values of `whole`.
sql::CompositeField new_field(const CatalogDraft& draft, const UserType& whole, const std::string& name, const ast::TypeName& written) {
  const auto [type, domain] = declared_type(draft, written);
  const sql::TypeInfo& info = sql::type_info(type.oid);
  if (info.category == sql::TypeCategory::kPseudo || info.category == sql::TypeCategory::kUnknown) {
    throw sql::has_pseudo_type(name, info.name);
  }
  const sql::Oid declared = domain != 0 ? domain : type.oid;
  if (contains_type(draft.catalog(), declared, whole.oid)) {
    throw SqlError(sqlstate::kInvalidTableDefinition, fmt::format("composite type {} cannot be made a member of itself", whole.name));
  }
  check_lives_as_long(draft, whole, declared);
  require_type_usage(draft, {type, domain});
  return {name, type, domain};
}

}  // namespace

asio::awaitable<void> run(DdlContext& context, const ast::CreateEnum& statement) {
  const MakeDraft make = [&](CatalogDraft& draft) {
    UserType type = new_type(draft, relation_name(statement.name));
    for (const std::string& label : statement.labels) {
      check_label(label);
      if (find_label(type, label) != type.labels.end()) {
        throw SqlError(sqlstate::kUniqueViolation, "duplicate key value violates unique constraint \"pg_enum_typid_label_index\"")
            .detail(fmt::format("Key (enumtypid, enumlabel)=({}, {}) already exists.", type.oid, label))
            .schema("pg_catalog")
            .table("pg_enum")
            .constraint("pg_enum_typid_label_index");
      }
      type.labels.push_back({draft.new_oid(), label, static_cast<double>(type.labels.size() + 1)});
    }
    draft.put(std::move(type));
  };
  co_await change_catalog(context, make);
}

asio::awaitable<void> run(DdlContext& context, const ast::AlterEnum& statement) {
  if (!statement.old_label.empty()) {
    const std::function<TypeChange(CatalogDraft&)> rename = [&](CatalogDraft& draft) { return rename_value(draft, statement); };
    co_return co_await change_type(context, rename);
  }
  const MakeDraft make = [&](CatalogDraft& draft) {
    UserType type = require_enum(draft, statement);
    add_value(draft, type, statement);
    draft.put(std::move(type));
  };
  co_await change_catalog(context, make);
}

asio::awaitable<void> run(DdlContext& context, const ast::CreateComposite& statement) {
  const MakeDraft make = [&](CatalogDraft& draft) {
    const std::string schema = creation_schema(draft, statement.name);
    if (draft.catalog().relation_exists(schema, statement.name.name)) {
      throw sql::duplicate_relation(statement.name.name);
    }
    UserType type = new_type(draft, statement.name);
    type.kind = UserType::Kind::kComposite;
    type.relation = draft.new_oid();
    if (statement.columns.size() > 1600) throw sql::too_many_table_columns();
    for (const ast::RecordColumn& column : statement.columns) {
      if (std::ranges::find(type.fields, column.name, &sql::CompositeField::name) != type.fields.end()) {
        throw sql::column_listed_twice(column.name);
      }
      type.fields.push_back(new_field(draft, type, column.name, column.type));
    }
    draft.put(std::move(type));
  };
  co_await change_catalog(context, make);
}

// ---- ALTER TYPE … ATTRIBUTE. Rows of a type lie in columns as its fields were: those that tables have are written anew.

namespace {

UserType require_composite(const CatalogDraft& draft, const ast::RelationName& name) {
  const auto& path = draft.session().search_path;
  const sql::UserTypePtr type = draft.catalog().find_user_type(name.schema, name.name, path);
  if (type && type->kind == UserType::Kind::kComposite) return *type;
  if (relation_kind(draft, name) != RelationKind::kNone) throw sql::wrong_object_kind(name.name, "a composite type");
  throw missing_relation(draft, name);
}

auto find_field(UserType& type, const std::string& name) { return std::ranges::find(type.fields, name, &sql::CompositeField::name); }

auto require_field(UserType& type, const std::string& name) {
  const auto field = find_field(type, name);
  if (field == type.fields.end()) {
    throw sql::undefined_column(name, type.name);
  }
  return field;
}

void check_new_field(UserType& type, const std::string& name) {
  if (find_field(type, name) == type.fields.end()) return;
  throw sql::duplicate_column(name, type.name);
}

/// 0A000 where values of the type lie in tables: their fields stay what they are.
void check_no_values(const CatalogDraft& draft, const UserType& type) {
  for (const auto& [oid, table] : draft.catalog().tables) {
    for (const sql::ColumnDef& column : table->columns) {
      if (!uses_type(draft.catalog(), column, type.oid)) continue;
      throw SqlError(sqlstate::kFeatureNotSupported,
                     fmt::format("cannot alter type \"{}\" because column \"{}.{}\" uses it", type.name, table->name, column.name));
    }
  }
  if (const std::string view = view_of_type(draft, type.oid); !view.empty()) {
    throw SqlError(sqlstate::kFeatureNotSupported, fmt::format("cannot alter type \"{}\" because {} uses it", type.name, view));
  }
}

/// The sources of a type's fields while it changes: places of the old ones, nullopt for a new one.
using Places = std::vector<std::optional<std::size_t>>;

void apply_command(CatalogDraft& draft, UserType& type, const ast::Alteration& command, Places& places) {
  if (const auto* add = std::get_if<ast::AddColumn>(&command)) {
    check_new_field(type, add->column.name);
    if (type.fields.size() >= 1600) throw sql::too_many_table_columns();
    if (!add->column.type) throw sql::not_supported("an attribute without a type");
    type.fields.push_back(new_field(draft, type, add->column.name, *add->column.type));
    places.push_back(std::nullopt);
  } else if (const auto* removal = std::get_if<ast::DropColumn>(&command)) {
    if (removal->if_exists && find_field(type, removal->column) == type.fields.end()) {
      draft.notice(sqlstate::kSuccessfulCompletion,
                   fmt::format("column \"{}\" of relation \"{}\" does not exist, skipping", removal->column, type.name));
      return;
    }
    const auto field = require_field(type, removal->column);
    check_field_not_named(draft, removal->column);
    places.erase(places.begin() + (field - type.fields.begin()));
    type.fields.erase(field);
  } else if (const auto* change = std::get_if<ast::AlterColumnType>(&command)) {
    const auto field = require_field(type, change->column);
    *field = new_field(draft, type, change->column, change->type);
  } else {
    throw sql::not_supported("this form of ALTER TYPE");
  }
}

}  // namespace

/// Texts follow renames of columns, but not of fields.
void check_field_not_named(const CatalogDraft& draft, const std::string& field) {
  const std::string step = ")." + parser::quote_identifier(field);
  const auto names = [&](const std::string& text) { return text.find(step) != std::string::npos; };
  const auto refuse = [] { return sql::not_supported("another name for an attribute that stored texts name, or its end"); };
  for (const auto& [oid, view] : draft.catalog().views) {
    if (names(view->query)) throw refuse();
  }
  for (const auto& [oid, table] : draft.catalog().tables) {
    if (table->materialized && names(table->materialized->query)) throw refuse();
    for (const sql::ColumnDef& column : table->columns) {
      if (names(column.default_sql) || names(column.generated_sql)) throw refuse();
    }
    for (const sql::CheckDef& check : table->checks) {
      if (names(check.expression_sql)) throw refuse();
    }
  }
}

TypeChange alter_composite(CatalogDraft& draft, const ast::AlterTable& statement) {
  UserType type = require_composite(draft, statement.relation);
  const bool alters_field =
      std::ranges::any_of(statement.commands, [](const auto& command) { return std::holds_alternative<ast::AlterColumnType>(command); });
  if (alters_field) check_no_values(draft, type);
  Places places;
  for (std::size_t i = 0; i < type.fields.size(); ++i) places.emplace_back(i);
  for (const ast::Alteration& command : statement.commands) apply_command(draft, type, command, places);
  TypeChange change{type.oid, "", places_text(places), nullptr};
  draft.put(std::move(type));
  return change;
}

void rename_attribute(CatalogDraft& draft, const ast::Rename& statement) {
  UserType type = require_composite(draft, *statement.relation);
  const auto field = find_field(type, statement.old_name);
  if (field == type.fields.end()) throw sql::undefined_column(statement.old_name);
  check_new_field(type, statement.new_name);
  check_field_not_named(draft, statement.old_name);
  field->name = statement.new_name;
  draft.put(std::move(type));
}

}  // namespace redquel::executor
