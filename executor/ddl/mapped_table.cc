#include "executor/ddl/new_owner.h"
#include "executor/ddl/mapped_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "executor/ddl/dependents.h"
#include "executor/ddl/foreign_options.h"
#include "executor/ddl/table_parts.h"
#include "executor/ddl/type_lookup.h"
#include "planner/bind/bind_type.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;

namespace {

/// The options of a table as they would be written now; fields and roles that came of names stay what they are when names change.
struct WrittenMapping {
  sql::MappingOptions table;
  std::vector<sql::MappingOptions> columns;  // parallel to the table's
};

bool has_option(const sql::MappingOptions& options, std::string_view name) {
  return std::any_of(options.begin(), options.end(), [&](const auto& option) { return option.first == name; });
}

std::optional<std::string> role_option(sql::Mapping::Role role) {
  using Role = sql::Mapping::Role;
  switch (role) {
    case Role::kValue: return "value";
    case Role::kMember: return "member";
    case Role::kScore: return "score";
    case Role::kPosition: return "position";
    case Role::kName: return "field";
    case Role::kId: return "id";
    case Role::kTtl: return "ttl";
    case Role::kTime: return "time";
    case Role::kSequence: return "sequence";
    case Role::kSlot:
    case Role::kField: return std::nullopt;
  }
  return std::nullopt;
}

WrittenMapping written_mapping(const sql::CatalogSnapshot& catalog, const sql::TableDef& table) {
  const sql::Mapping& mapping = table.mapping();
  WrittenMapping written;
  written.columns.resize(table.columns.size());
  for (const sql::Mapping::Option& option : mapping.options) {
    if (option.column != 0 && table.find_column(option.column) == nullptr) continue;
    const auto text = sql::option_text(catalog, table, option);
    if (text) (option.column == 0 ? written.table : written.columns[table.position(option.column)]).emplace_back(option.name, *text);
  }
  for (const sql::Mapping::Column& column : mapping.columns) {
    const sql::ColumnDef* found = table.find_column(column.number);
    if (found == nullptr) continue;
    sql::MappingOptions& options = written.columns[table.position(column.number)];
    const bool is_field = column.role == sql::Mapping::Role::kField;
    if (is_field && column.field != found->name && !has_option(options, "field")) options.emplace_back("field", column.field);
    if (const auto role = role_option(column.role); role && !has_option(options, "role")) options.emplace_back("role", *role);
  }
  return written;
}

/// ADD, SET and DROP of options.
void change_options(sql::MappingOptions& options, const std::vector<ast::Option>& changes) {
  for (const ast::Option& change : changes) {
    const auto found = std::find_if(options.begin(), options.end(), [&](const auto& option) { return option.first == change.name; });
    const bool is_there = found != options.end();
    switch (change.action) {
      case ast::OptionAction::kSet:
      case ast::OptionAction::kDrop:
        if (!is_there) throw SqlError(sqlstate::kUndefinedObject, fmt::format("option \"{}\" not found", change.name));
        if (change.action == ast::OptionAction::kDrop) options.erase(found);
        else found->second = mapping_text(change);
        break;
      default:
        if (is_there) throw SqlError(sqlstate::kDuplicateObject, fmt::format("option \"{}\" provided more than once", change.name));
        options.emplace_back(change.name, mapping_text(change));
    }
  }
}

class MappedAlteration {
 public:
  MappedAlteration(CatalogDraft& draft, const TablePtr& table) : draft_(draft), table_(*table) {
    table_.columns.resize(table_.shown_columns());  // what is hidden is made anew
    written_ = written_mapping(draft_.catalog(), table_);
  }

  void apply(const ast::Alteration& command) {
    std::visit([&](const auto& written) { run(written); }, command);
  }

  void finish() {
    put_mapping(draft_, table_, sql::make_mapping(table_, written_.table, written_.columns));
    check_overlap(draft_, table_);
    draft_.put(std::move(table_));
  }

 private:
  sql::ColumnDef& column(const std::string& name) {
    const sql::ColumnDef* found = table_.find_column(name);
    if (found == nullptr) throw sql::undefined_column(name, table_.name);
    return table_.columns[table_.position(found->number)];
  }

  void run(const ast::AddColumn& written) {
    const std::string& name = written.column.name;
    if (table_.find_column(name) != nullptr && written.if_not_exists) {
      draft_.notice(sqlstate::kDuplicateColumn, fmt::format("column \"{}\" of relation \"{}\" already exists, skipping", name, table_.name));
      return;
    }
    check_new_column_name(table_, name);
    const ColumnDraft read = read_column(draft_, written.column, table_.name);
    if (!read.keys.empty() || !read.checks.empty() || !read.foreign_keys.empty()) {
      throw sql::not_supported("a constraint of an added column of a foreign table");
    }
    if (read.generated != nullptr || read.sequence) throw sql::not_supported("a generated or serial column of a foreign table");
    add_column(draft_, table_, read, false);
    written_.columns.push_back(read_options(written.column.foreign_options));
  }

  void run(const ast::DropColumn& written) {
    if (table_.find_column(written.column) == nullptr && written.if_exists) {
      draft_.notice(sqlstate::kSuccessfulCompletion,
                    fmt::format("column \"{}\" of relation \"{}\" does not exist, skipping", written.column, table_.name));
      return;
    }
    const std::int16_t number = column(written.column).number;
    if (table_.in_primary_key(number)) {
      throw SqlError(sqlstate::kInvalidTableDefinition,
                     fmt::format("column \"{}\" cannot be dropped: it identifies the rows of foreign table \"{}\"", written.column, table_.name));
    }
    for (const sql::IndexDef& index : table_.indexes) {
      const bool uses = std::any_of(index.parts.begin(), index.parts.end(), [&](const auto& part) { return part.column == number; });
      if (uses) {
        throw SqlError(
            sqlstate::kDependentObjectsStillExist,
            fmt::format("cannot drop column {} of foreign table {} because index {} depends on it", written.column, table_.name, index.name));
      }
    }
    drop_dependents(draft_, {{DropObject::Kind::kColumn, table_.oid, number}}, written.cascade);
    const std::size_t position = table_.position(number);
    table_.columns.erase(table_.columns.begin() + static_cast<std::ptrdiff_t>(position));
    written_.columns.erase(written_.columns.begin() + static_cast<std::ptrdiff_t>(position));
  }

  void run(const ast::AlterColumnDefault& written) {
    sql::ColumnDef& changed = column(written.column);
    if (written.value) {
      set_default(draft_, table_, changed, *written.value);
    } else {
      changed.default_sql.clear();
    }
  }
  void run(const ast::AlterColumnNotNull& written) { column(written.column).not_null = written.not_null; }
  void run(const ast::AlterColumnType& written) {
    if (written.using_value) throw sql::not_supported("USING for a column of a foreign table");
    sql::ColumnDef& changed = column(written.column);
    for (const sql::IndexDef& index : table_.indexes) {
      const bool uses = std::any_of(index.parts.begin(), index.parts.end(), [&](const auto& part) { return part.column == changed.number; });
      if (uses) throw sql::not_supported("another type for a column of a declared index");
    }
    check_type_schema(draft_, written.type);
    const auto [type, domain] = planner::bind_declared_type(written.type, draft_.catalog(), draft_.session().search_path);
    changed.type = type;
    changed.domain = domain;
  }
  void run(const ast::ChangeOwner& written) {
    give_to(draft_, table_, new_owner_in_schema(draft_, written.role, table_.owner, table_.schema));
  }
  void run(const ast::AlterForeignOptions& written) {
    for (sql::IndexDef& index : table_.indexes) index.state = sql::IndexState::kBuilding;  // rows may be others now
    if (written.column.empty()) {
      change_options(written_.table, written.options);
    } else {
      change_options(written_.columns[table_.position(column(written.column).number)], written.options);
    }
  }
  template <class Other>
  void run(const Other&) {
    throw sql::not_supported("this form of ALTER FOREIGN TABLE");
  }

  CatalogDraft& draft_;
  sql::TableDef table_;
  WrittenMapping written_;
};

std::int64_t read_length(const std::string& text) {
  std::int64_t length = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  if (error != std::errc() || end != text.data() + text.size() || length < 1) {
    throw SqlError(sqlstate::kFdwInvalidAttributeValue, fmt::format("invalid value for option \"length\": \"{}\"", text))
        .hint("It is a positive number.");
  }
  return length;
}

bool is_number(sql::Type type) {
  using namespace sql::oid;
  return type.oid == kInt2 || type.oid == kInt4 || type.oid == kInt8 || type.oid == kFloat4 || type.oid == kFloat8 || type.oid == kNumeric;
}

bool has_same_columns(const std::vector<std::int16_t>& a, const std::vector<std::int16_t>& b) {
  return std::is_permutation(a.begin(), a.end(), b.begin(), b.end());
}

/// Checks which columns are slots of the structure's key, and which its content has.
void check_slots(const sql::IndexDef& index, const sql::KeyTemplate& key, const std::string& method, const std::string& text) {
  for (const std::int16_t slot : key.slots()) {
    const bool is_part = std::any_of(index.parts.begin(), index.parts.end(), [&](const auto& part) { return part.column == slot; });
    if (!is_part) throw SqlError(sqlstate::kInvalidTableDefinition, fmt::format("a slot of key \"{}\" is not a column of the index", text));
  }
  const std::vector<std::int16_t> beside = sql::columns_beside_key(index);
  if (index.method == sql::IndexMethod::kSet && key.has_slots() && !beside.empty()) {
    throw SqlError(sqlstate::kInvalidTableDefinition, "the columns of a set are the slots of its key");
  }
  const bool is_ordered = index.method == sql::IndexMethod::kZset || index.method == sql::IndexMethod::kList;
  if (is_ordered && beside.size() != 1) {
    throw SqlError(sqlstate::kInvalidTableDefinition, fmt::format("a {} has one column that is no slot of its key", method));
  }
}

void check_score(const sql::TableDef& table, const sql::IndexDef& index) {
  const sql::ColumnDef& column = *table.find_column(sql::ordered_column(index));
  const sql::Mapping::Format format = table.mapping().column(column.number).format;
  const bool is_timed = format == sql::Mapping::Format::kUnix || format == sql::Mapping::Format::kUnixMs;
  const bool is_read_only = table.in_primary_key(column.number) && !index.mapped().maintained;  // scores may be the application's own
  if (!is_number(column.type) && !is_timed && !is_read_only) {
    throw SqlError(sqlstate::kInvalidTableDefinition,
                   fmt::format("column \"{}\" cannot be a score: its type is no number, and it has no format unix or unix_ms", column.name));
  }
}

sql::IndexMethod structure_method(const std::string& name) {
  if (name == "set") return sql::IndexMethod::kSet;
  if (name == "zset") return sql::IndexMethod::kZset;
  if (name == "lookup") return sql::IndexMethod::kLookup;
  if (name == "list") return sql::IndexMethod::kList;
  throw SqlError(sqlstate::kFeatureNotSupported, fmt::format("access method \"{}\" is not supported on foreign tables", name))
      .hint("Say USING set, zset, lookup or list.");
}

void refuse_structure(const ast::CreateIndex& statement, sql::Mapping::Layout layout) {
  using Layout = sql::Mapping::Layout;
  if (statement.where) throw sql::not_supported("a partial index on a foreign table", statement.where->start);
  if (!statement.including.empty()) throw sql::not_supported("INCLUDE in an index on a foreign table");
  if (layout != Layout::kList && layout != Layout::kStream) return;
  const std::string_view why = layout == Layout::kList ? "positions of a list change" : "Redis makes the ids of a stream";
  throw SqlError(sqlstate::kFeatureNotSupported,
                 fmt::format("an index on a foreign table with layout {} is not supported", sql::layout_name(layout)))
      .detail(fmt::format("The members of a structure identify rows, and {}.", why));
}

/// WITH (…): what stands in templates, as it is written.
struct StructureTexts {
  std::optional<std::string> key, member, field;
};

}  // namespace

std::string read_maintainer(std::string text) {
  if (text == "redquel" || text == "application") return text;
  throw SqlError(sqlstate::kFdwInvalidAttributeValue, fmt::format("invalid value for option \"maintained\": \"{}\"", text))
      .hint("It is one of redquel, application.");
}

namespace {

/// `maintained` and `length` go to the index.
StructureTexts read_structure_options(const std::vector<ast::Option>& options, sql::IndexDef& index) {
  StructureTexts texts;
  sql::MappedIndex& structure = index.storage.emplace<sql::MappedIndex>();
  structure.maintained = true;
  for (const ast::Option& option : options) {
    const std::string text = mapping_text(option);
    if (option.name == "key") {
      texts.key = text;
    } else if (option.name == "maintained") {
      structure.maintained = read_maintainer(text) == "redquel";
    } else if (option.name == "length" && index.method == sql::IndexMethod::kList) {
      structure.length = read_length(text);
    } else if (option.name == "member") {
      texts.member = text;
    } else if (option.name == "field" && index.method == sql::IndexMethod::kLookup) {
      texts.field = text;
    } else {
      throw SqlError(sqlstate::kFdwInvalidOptionName, fmt::format("invalid option \"{}\"", option.name))
          .hint("Valid options in this context are: key, maintained, member, field, length");
    }
  }
  return texts;
}

}  // namespace

void alter_structure(const sql::TableDef& table, sql::IndexDef& index, const ast::SetTableOptions& written) {
  for (const ast::Option& option : written.options) {
    if (option.name != "maintained") {
      throw SqlError(sqlstate::kFdwInvalidOptionName, fmt::format("invalid option \"{}\"", option.name))
          .hint("Valid options in this context are: maintained");
    }
    bool& is_maintained = index.mapped().maintained;
    const bool was_maintained = std::exchange(is_maintained, written.reset || read_maintainer(mapping_text(option)) == "redquel");
    if (is_maintained && !was_maintained) index.state = sql::IndexState::kBuilding;  // until it is compared with the rows
  }
  if (index.method == sql::IndexMethod::kZset) check_score(table, index);
}

void alter_mapped_table(CatalogDraft& draft, const TablePtr& table, const ast::AlterTable& statement) {
  MappedAlteration alteration(draft, table);
  for (const ast::Alteration& command : statement.commands) alteration.apply(command);
  alteration.finish();
}

sql::IndexDef declare_structure(const ast::CreateIndex& statement, const sql::TableDef& table) {
  sql::IndexDef index;
  index.method = structure_method(statement.access_method);
  refuse_structure(statement, table.mapping().layout);
  for (const ast::IndexElement& element : statement.elements) {
    if (element.expression) throw sql::not_supported("an index on an expression", element.expression->start);
    const sql::ColumnDef* column = table.find_column(element.column);
    if (column == nullptr) throw sql::undefined_column(element.column);
    index.parts.push_back({column->number, element.direction == ast::SortDirection::kDescending, false});
  }
  auto [key, member, field] = read_structure_options(statement.options, index);
  const bool is_ohm_form = index.method == sql::IndexMethod::kSet || index.method == sql::IndexMethod::kLookup;
  if (!key && table.mapping().ohm && is_ohm_form && index.parts.size() == 1) {
    key = sql::ohm_index_key(table, index.parts.front().column, index.method == sql::IndexMethod::kLookup);
  }
  if (!key) {
    throw SqlError(sqlstate::kFdwOptionNameNotFound, "option \"key\" is required")
        .hint("It is the template of the structure's keys: WITH (key = 'theme:owner:{owner}').");
  }
  const auto number_of = [&](std::string_view name) -> std::int16_t {
    const sql::ColumnDef* column = table.find_column(name);
    return column == nullptr ? std::int16_t{0} : column->number;
  };
  const sql::KeyTemplate parsed = sql::KeyTemplate::parse(*key, number_of);
  index.mapped().key = parsed.stored_text();
  check_slots(index, parsed, statement.access_method, *key);
  const std::vector<std::int16_t> beside = sql::columns_beside_key(index);
  if (field) {
    const sql::KeyTemplate written = sql::KeyTemplate::parse(*field, number_of);
    if (beside.empty() || !has_same_columns(written.slots(), beside)) {
      throw SqlError(sqlstate::kInvalidTableDefinition,
                     fmt::format("the slots of field \"{}\" are not the columns of the index beside its key", *field));
    }
    index.mapped().field = written.stored_text();
  }
  if (member) {
    const sql::KeyTemplate written = sql::KeyTemplate::parse(*member, number_of);
    std::vector<std::int16_t> rest;
    for (const std::int16_t column : table.primary_key) {
      if (!parsed.has_slot(column)) rest.push_back(column);
    }
    if (!has_same_columns(written.slots(), rest)) {
      throw SqlError(sqlstate::kInvalidTableDefinition,
                     fmt::format("the slots of member \"{}\" are not the columns that identify the rows of one key \"{}\"", *member, *key));
    }
    index.mapped().member = written.stored_text();
  } else if (sql::natural_member(table, parsed).empty()) {
    throw SqlError(sqlstate::kInvalidTableDefinition,
                   fmt::format("key \"{}\" of the structure already identifies rows: no column is left for its members", *key));
  }
  if (index.method == sql::IndexMethod::kZset) check_score(table, index);
  return index;
}

}  // namespace redquel::executor
