#include <fmt/format.h>

#include <algorithm>

#include "executor/ddl/ddl.h"
#include "executor/ddl/object_lookup.h"
#include "executor/ddl/type_lookup.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::EnumLabel;
using sql::SqlError;
using sql::UserType;

namespace {

void check_label(const std::string& label) {
  constexpr std::size_t kNameBytes = 63;
  if (label.size() <= kNameBytes) return;
  throw SqlError("42602", fmt::format("invalid enum label \"{}\"", label)).detail("Labels must be 63 bytes or less.");
}

auto find_label(UserType& type, const std::string& name) { return std::ranges::find(type.labels, name, &EnumLabel::name); }

auto require_label(UserType& type, const std::string& name) {
  const auto label = find_label(type, name);
  if (label == type.labels.end()) throw SqlError("22023", fmt::format("\"{}\" is not an existing enum label", name));
  return label;
}

/// The number of a new label between two others. Indexes hold these numbers, so those of the others stay.
double order_between(const UserType& type, std::vector<EnumLabel>::iterator next) {
  const auto begin = type.labels.begin(), end = type.labels.end();
  if (begin == end) return 1;
  if (next == end) return std::prev(next)->order + 1;
  if (next == begin) return next->order - 1;
  const double below = std::prev(next)->order, order = (below + next->order) / 2;
  if (order <= below || order >= next->order) throw SqlError("54000", "no room for another label between two of an enum");
  return order;
}

void add_value(CatalogDraft& draft, UserType& type, const ast::AlterEnum& statement) {
  check_label(statement.new_label);
  if (find_label(type, statement.new_label) != type.labels.end()) {
    const std::string message = fmt::format("enum label \"{}\" already exists", statement.new_label);
    if (!statement.if_not_exists) throw SqlError("42710", message);
    draft.notice("42710", message + ", skipping");
    return;
  }
  auto next = type.labels.end();
  if (!statement.neighbor.empty()) next = require_label(type, statement.neighbor) + (statement.after ? 1 : 0);
  const double order = order_between(type, next);
  type.labels.insert(next, EnumLabel{draft.new_oid(), statement.new_label, order});
}

/// Rows hold labels as texts.
void rename_value(const CatalogDraft& draft, UserType& type, const ast::AlterEnum& statement) {
  check_label(statement.new_label);
  const auto label = require_label(type, statement.old_label);
  if (find_label(type, statement.new_label) != type.labels.end()) {
    throw SqlError("42710", fmt::format("enum label \"{}\" already exists", statement.new_label));
  }
  for (const auto& [oid, table] : draft.catalog().tables) {
    const bool uses = std::ranges::any_of(table->columns, [&](const auto& column) { return uses_type(draft.catalog(), column, type.oid); });
    if (uses) throw sql::not_supported("RENAME VALUE of an enum that a table uses");
  }
  label->name = statement.new_label;
}

}  // namespace

asio::awaitable<void> run(DdlContext& context, const ast::CreateEnum& statement) {
  const MakeDraft make = [&](CatalogDraft& draft) {
    UserType type = new_type(draft, relation_name(statement.name));
    for (const std::string& label : statement.labels) {
      check_label(label);
      if (find_label(type, label) != type.labels.end()) {
        throw SqlError("23505", "duplicate key value violates unique constraint \"pg_enum_typid_label_index\"")
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
  const MakeDraft make = [&](CatalogDraft& draft) {
    UserType type = *require_type(draft, statement.name);
    if (type.kind != UserType::Kind::kEnum) {
      throw SqlError("42809", fmt::format("{} is not an enum", sql::format_type(sql::Type{type.oid})));
    }
    if (statement.old_label.empty()) {
      add_value(draft, type, statement);
    } else {
      rename_value(draft, type, statement);
    }
    draft.put(std::move(type));
  };
  co_await change_catalog(context, make);
}

asio::awaitable<void> run(DdlContext& context, const ast::CreateComposite& statement) {
  const MakeDraft make = [&](CatalogDraft& draft) {
    const std::string schema = creation_schema(draft, statement.name);
    if (draft.catalog().relation_exists(schema, statement.name.name)) {
      throw SqlError("42P07", fmt::format("relation \"{}\" already exists", statement.name.name));
    }
    UserType type = new_type(draft, statement.name);
    type.kind = UserType::Kind::kComposite;
    type.relation = draft.new_oid();
    for (const ast::RecordColumn& column : statement.columns) {
      if (std::ranges::find(type.fields, column.name, &sql::CompositeField::name) != type.fields.end()) {
        throw SqlError("42701", fmt::format("column \"{}\" specified more than once", column.name));
      }
      const auto [field, domain] = declared_type(draft, column.type);
      if (domain != 0) throw sql::not_supported("a domain as a type's field", column.offset);
      const sql::TypeInfo& info = sql::type_info(field.oid);
      if (info.category == sql::TypeCategory::kPseudo || info.category == sql::TypeCategory::kUnknown) {
        throw SqlError("42P16", fmt::format("column \"{}\" has pseudo-type {}", column.name, info.name));
      }
      type.fields.push_back({column.name, field});
    }
    draft.put(std::move(type));
  };
  co_await change_catalog(context, make);
}

}  // namespace redquel::executor
