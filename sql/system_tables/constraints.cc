#include "sql/system_tables/constraints.h"

#include <algorithm>
#include <array>

#include "sql/catalog/index_text.h"
#include "sql/catalog/mapping.h"
#include "sql/definition_words.h"
#include "sql/extensions/extension.h"
#include "sql/functions/characters.h"
#include "sql/functions/quote.h"
#include "sql/session_hooks.h"
#include "sql/system_tables/relations.h"

namespace redquel::sql {
namespace {

/// The table's columns that a deparsed expression names, in the table's order.
std::vector<std::int16_t> columns_in(std::string_view expression, const TableDef& table) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < expression.size();) {
    const char c = expression[i];
    std::string word;
    if (c == '\'' || c == '"') {
      for (++i; i < expression.size(); ++i) {
        if (expression[i] == c) {
          if (i + 1 >= expression.size() || expression[i + 1] != c) break;
          ++i;
        }
        word += expression[i];
      }
      ++i;
      if (c == '"') words.push_back(word);
    } else if (is_alphanumeric(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80) {
      while (i < expression.size() && (is_alphanumeric(expression[i]) || expression[i] == '_' || expression[i] == '$' ||
                                       static_cast<unsigned char>(expression[i]) >= 0x80)) {
        word += expression[i++];
      }
      words.push_back(word);
    } else {
      ++i;
    }
  }
  std::vector<std::int16_t> numbers;
  for (const ColumnDef& column : table.columns) {
    if (std::ranges::find(words, column.name) != words.end()) numbers.push_back(column.number);
  }
  return numbers;
}

std::string column_list(const TableDef& table, const std::vector<std::int16_t>& numbers) {
  std::string text;
  for (std::int16_t number : numbers) {
    const ColumnDef* column = table.find_column(number);
    if (column == nullptr) continue;
    if (!text.empty()) text += ", ";
    append_quoted_identifier(column->name, text);
  }
  return text;
}

/// " INCLUDE (a, b)"; empty: there are none.
std::string included_text(const TableDef& table, const std::vector<std::int16_t>& numbers) {
  return numbers.empty() ? std::string() : " INCLUDE (" + column_list(table, numbers) + ")";
}

}  // namespace

std::vector<Constraint> constraints_of(const TableDef& table) {
  std::vector<Constraint> constraints;
  for (const IndexDef& index : all_indexes(table)) {
    if (!index.constraint) continue;
    Constraint made{.oid = index.oid, .name = index.name, .type = index.is_primary_key() ? 'p' : index.is_exclusion() ? 'x' : 'u', .table = &table, .index = index.oid};
    made.included = index.included;
    made.comment = index.constraint->comment;
    for (const IndexDef::Part& part : index.parts) made.columns.push_back(part.shown_column != 0 ? part.shown_column : std::max(part.column, std::int16_t{0}));
    made.nulls_not_distinct = index.nulls_not_distinct;
    made.deferrable = index.constraint->deferrable;
    made.initially_deferred = index.constraint->initially_deferred;
    constraints.push_back(std::move(made));
  }
  for (std::size_t i = 0; i < table.checks.size(); ++i) {
    const CheckDef& check = table.checks[i];
    constraints.push_back({.oid = check_oid(table, i), .name = check.name, .type = 'c', .table = &table,
                           .columns = columns_in(check.expression_sql, table), .expression = check.expression_sql,
                           .check = &check, .comment = check.comment});
  }
  for (const ForeignKeyDef& key : table.foreign_keys) {
    constraints.push_back({.oid = key.oid, .name = key.name, .type = 'f', .table = &table, .index = key.referenced_index,
                           .columns = key.columns, .deferrable = key.deferrable, .initially_deferred = key.initially_deferred,
                           .foreign_key = &key, .comment = key.comment});
  }
  return constraints;
}

std::vector<Constraint> all_constraints(const CatalogSnapshot& catalog) {
  std::vector<Constraint> constraints;
  for (const auto& [oid, table] : catalog.tables) {
    for (Constraint& constraint : constraints_of(*table)) constraints.push_back(std::move(constraint));
  }
  return constraints;
}

std::vector<Constraint> domain_constraints(const CatalogSnapshot& catalog) {
  std::vector<Constraint> constraints;
  for (const auto& [oid, type] : catalog.types) {
    // Oids of types are spread over half of the range; these are in the other half.
    Oid next = oid | (Oid{1} << 31);
    for (const CheckDef& check : type->checks) {
      constraints.push_back({.oid = next++, .name = check.name, .type = 'c', .domain = type.get(), .expression = check.expression_sql,
                             .check = &check, .comment = check.comment});
    }
  }
  return constraints;
}

namespace {

constexpr std::array<std::string_view, 10> kIndexMethods{"btree", "hash", "zset", "set", "lookup", "list", "gin", "gist", "spgist", "brin"};

/// EXCLUDE USING btree (a WITH =) WHERE ((a > 0)).
std::string exclusion_definition(const TableDef& table, Oid oid, bool pretty, const EvaluationContext& context) {
  const auto index = std::ranges::find(table.indexes, oid, &IndexDef::oid);
  if (index == table.indexes.end()) return {};
  std::string text = "EXCLUDE USING " + std::string(kIndexMethods[static_cast<std::size_t>(index->method)]) + " (";
  for (const IndexDef::Part& part : index->parts) {
    if (&part != &index->parts.front()) text += ", ";
    text += index_part_text(table, part, pretty, context);
    if (!part.operator_class.empty()) text += " " + part.operator_class;
    if (part.descending) text += " DESC";
    if (part.nulls_first != part.descending) text += part.nulls_first ? " NULLS FIRST" : " NULLS LAST";
    text += " WITH =";
  }
  text += ")" + included_text(table, index->included);
  if (!index->definition_suffix.empty()) text += " " + index->definition_suffix;
  if (!index->predicate_sql.empty()) text += " WHERE (" + written_expression(table, index->predicate_sql, pretty, context) + ")";
  return text;
}

std::string foreign_key_definition(const CatalogSnapshot& catalog, const Constraint& constraint,
                                   const std::vector<std::string>& search_path) {
  const ForeignKeyDef& key = *constraint.foreign_key;
  const CatalogSnapshot::TablePtr referenced = catalog.find_table(key.referenced);
  if (!referenced) return {};
  const std::optional<Relation> relation = find_relation(catalog, referenced->oid);
  std::string text = "FOREIGN KEY (" + column_list(*constraint.table, key.columns) + ") REFERENCES ";
  text += is_visible(catalog, *relation, search_path) ? quote_identifier(relation->name) : qualified_name(*relation);
  text += "(" + column_list(*referenced, key.referenced_columns) + ")";
  if (key.match_full) text += " MATCH FULL";
  const auto add_action = [&](std::string_view event, ForeignKeyDef::Action action) {
    constexpr std::string_view kWords[] = {"", "RESTRICT", "CASCADE", "SET NULL", "SET DEFAULT"};
    if (action == ForeignKeyDef::Action::kNoAction) return;
    text += event;
    text += kWords[static_cast<std::size_t>(action)];
  };
  add_action(" ON UPDATE ", key.on_update);
  add_action(" ON DELETE ", key.on_delete);
  if (!key.set_columns.empty()) text += " (" + column_list(*constraint.table, key.set_columns) + ")";
  if (key.deferrable) text += " DEFERRABLE";
  if (key.initially_deferred) text += " INITIALLY DEFERRED";
  if (key.not_valid) text += " NOT VALID";
  return text;
}

}  // namespace

std::string written_expression(const TableDef& table, const std::string& text, bool pretty, const EvaluationContext& context) {
  const bool is_known = session_hooks().written_expression != nullptr && context.session != nullptr && context.catalog != nullptr;
  return is_known ? session_hooks().written_expression(context, table, text, pretty) : text;
}

std::string constraint_definition(const CatalogSnapshot& catalog, const Constraint& constraint, bool pretty,
                                  const EvaluationContext& context) {
  if (constraint.type == 'f') return foreign_key_definition(catalog, constraint, context.search_path);
  if (constraint.domain != nullptr) return "CHECK (" + written_domain_check(context, constraint.expression, *constraint.domain, pretty) + ")";
  if (constraint.type == 'c') {
    const CheckDef& check = *constraint.check;
    const std::string text = "CHECK (" + written_expression(*constraint.table, constraint.expression, pretty, context) + ")";
    return text + (check.no_inherit ? " NO INHERIT" : "") + (check.not_valid ? " NOT VALID" : "");
  }
  const std::string columns = column_list(*constraint.table, constraint.columns);
  std::string deferrable = constraint.deferrable ? " DEFERRABLE" : "";
  if (constraint.initially_deferred) deferrable += " INITIALLY DEFERRED";
  if (constraint.type == 'x') return exclusion_definition(*constraint.table, constraint.index, pretty, context) + deferrable;
  const std::string listed = "(" + columns + ")" + included_text(*constraint.table, constraint.included) + deferrable;
  if (constraint.type == 'p') return "PRIMARY KEY " + listed;
  return std::string("UNIQUE ") + (constraint.nulls_not_distinct ? "NULLS NOT DISTINCT " : "") + listed;
}

std::string index_part_text(const TableDef& table, const IndexDef::Part& part, bool pretty, const EvaluationContext& context) {
  std::string text;
  if (part.expression_sql.empty()) {
    const ColumnDef* column = table.find_column(part.shown_column != 0 ? part.shown_column : part.column);
    if (column != nullptr) append_quoted_identifier(column->name, text);
    return text;
  }
  return index_expression_text(written_expression(table, part.expression_sql, pretty, context));
}

namespace {

/// Returns the name of an operator class, with its schema where that is not in the search path.
std::string operator_class_text(const std::string& name, const EvaluationContext& context) {
  if (context.catalog == nullptr) return name;
  for (const auto& [oid, definition] : context.catalog->extensions) {
    const Extension* extension = find_extension(definition.name);
    const bool is_own = extension != nullptr && std::ranges::find(extension->text_classes, name) != extension->text_classes.end();
    const bool is_visible = std::ranges::find(context.search_path, definition.schema) != context.search_path.end();
    if (is_own && !is_visible) return quote_identifier(definition.schema) + "." + name;
  }
  return name;
}

}  // namespace

std::string index_definition(const TableDef& table, const IndexDef& index, const std::string& table_name, bool pretty,
                             const EvaluationContext& context) {
  std::string text = index.unique && !index.is_exclusion() ? "CREATE UNIQUE INDEX " : "CREATE INDEX ";
  append_quoted_identifier(index.name, text);
  text += (table.partition_key ? " ON ONLY " : " ON ") + table_name + " USING ";
  constexpr std::array<std::string_view, 10> kIndexMethods{"btree", "hash", "zset", "set", "lookup", "list", "gin", "gist", "spgist", "brin"};
  text += kIndexMethods[static_cast<std::size_t>(index.method)];
  text += " (";
  bool first = true;
  for (const IndexDef::Part& part : index.parts) {
    if (!first) text += ", ";
    first = false;
    text += index_part_text(table, part, pretty, context);
    if (!part.operator_class.empty()) text += " " + operator_class_text(part.operator_class, context);
    if (part.descending) text += " DESC";
    if (part.nulls_first != part.descending) text += part.nulls_first ? " NULLS FIRST" : " NULLS LAST";
  }
  text += ")" + included_text(table, index.included);
  if (index.nulls_not_distinct) text += " NULLS NOT DISTINCT";
  if (!index.definition_suffix.empty()) text += " " + index.definition_suffix;
  if (!index.predicate_sql.empty()) text += " WHERE " + written_expression(table, index.predicate_sql, pretty, context);
  if (const auto* structure = std::get_if<MappedIndex>(&index.storage)) {
    text += " WITH (key=";
    append_quoted_literal(template_text(index_key(index), table), text);
    text += structure->maintained ? ", maintained=redquel" : ", maintained=application";
    if (structure->length > 0) text += ", length=" + std::to_string(structure->length);
    for (const auto& [option, stored] : {std::pair(", member=", structure->member), std::pair(", field=", structure->field)}) {
      if (stored.empty()) continue;
      text += option;
      append_quoted_literal(template_text(KeyTemplate::parse_stored(stored), table), text);
    }
    text += ")";
  }
  return text;
}

bool has_default(const ColumnDef& column) {
  // A bare NULL says nothing, unless it stands before a domain's default.
  const bool is_null = column.domain == 0 && column.type.modifier < 0 && (column.default_sql == "NULL" || column.default_sql.starts_with("NULL::"));
  if ((!column.default_sql.empty() && !is_null) || !column.generated_sql.empty()) return true;
  return column.sequence != 0 && column.identity == ColumnDef::Identity::kNone;
}

bool has_shown_default(const CatalogSnapshot& catalog, const ColumnDef& column) {
  const auto sequence = catalog.sequences.find(column.sequence);
  return has_default(column) && (sequence == catalog.sequences.end() || !sequence->second.foreign);
}

std::string default_expression(const CatalogSnapshot& catalog, const TableDef& table, const ColumnDef& column,
                               const EvaluationContext& context) {
  if (!has_default(column)) return {};
  if (!column.generated_sql.empty()) return written_expression(table, column.generated_sql, false, context);
  const auto sequence = catalog.sequences.find(column.sequence);
  const bool is_serial = column.identity == ColumnDef::Identity::kNone && sequence != catalog.sequences.end();
  if (is_serial && (column.default_sql.empty() || column.default_sql.starts_with("nextval("))) {
    const std::optional<Relation> relation = find_relation(catalog, sequence->first);
    std::string text = "nextval(";
    append_quoted_literal(is_visible(catalog, *relation, context.search_path) ? quote_identifier(relation->name) : qualified_name(*relation),
                          text);
    return text + "::regclass)";
  }
  return written_default(context, column.default_sql, column.type, table.schema);
}

std::string default_expression(const ViewDef& view, const ViewDef::Column& column, const EvaluationContext& context) {
  return column.default_sql.empty() ? std::string() : written_default(context, column.default_sql, column.type, view.schema);
}

}  // namespace redquel::sql
