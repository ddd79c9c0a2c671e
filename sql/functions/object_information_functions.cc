// The other catalog functions of the manual's chapter 9.26: descriptions of objects, parameters of sequences, and questions about parts of
// a server that redquel does not have.

#include "sql/catalog/publications.h"
#include "sql/error.h"
#include "sql/functions/families.h"
#include "sql/functions/lift.h"
#include "sql/functions/object_description.h"
#include "sql/functions/object_names.h"
#include "sql/functions/quote.h"
#include "sql/sqlstate.h"
#include "sql/system_tables/relations.h"
#include "sql/types/array_value.h"
#include "sql/types/server_numbers.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

ObjectAddress address_of(Int catalog, Int object, Int column) { return {static_cast<Oid>(catalog), static_cast<Oid>(object), column}; }

std::optional<std::string> description(Context context, Int catalog, Int object, Int column) {
  return describe_object(address_of(catalog, object, column), context);
}

class OneRow final : public RowSource {
 public:
  explicit OneRow(Batch row) : row_(std::move(row)) {}
  Batch next(std::size_t) override { return std::exchange(row_, Batch{}); }

 private:
  Batch row_;
};

std::unique_ptr<RowSource> one_row(const std::vector<std::pair<Type, Datum>>& values) {
  Batch row{.rows = 1, .columns = {}};
  for (const auto& [type, value] : values) {
    Column column(type);
    column.append_datum(value);
    row.columns.push_back(std::make_shared<const Column>(std::move(column)));
  }
  return std::make_unique<OneRow>(std::move(row));
}

bool any_null(std::span<const Datum> arguments) {
  return std::ranges::any_of(arguments, [](const Datum& value) { return is_null(value); });
}

std::unique_ptr<RowSource> open_identity(std::span<const Datum> arguments, Context context) {
  std::optional<ObjectIdentity> found;
  if (!any_null(arguments)) {
    found = identify_object(address_of(std::get<Int>(arguments[0]), std::get<Int>(arguments[1]), std::get<Int>(arguments[2])), context);
  }
  const auto value = [&](const std::string& text) { return text.empty() ? Datum{} : Datum{text}; };
  ObjectIdentity row = found.value_or(ObjectIdentity{});
  constexpr Int kRelations = 1259;
  if (!found && !any_null(arguments) && std::get<Int>(arguments[0]) == kRelations) row.type = "relation";
  return one_row({{kText, value(row.type)}, {kText, value(row.schema)}, {kText, value(row.name)}, {kText, value(row.identity)}});
}

std::vector<std::string> names_in(const Datum& array) {
  std::vector<std::string> names;
  const std::string& text = std::get<std::string>(array);
  const ArrayValue value = read_array(oid::kTextArray, text);
  for (const auto& element : value.elements) {
    if (!element) throw SqlError(sqlstate::kInvalidParameterValue, "name or argument lists may not contain nulls");
    names.emplace_back(*element);
  }
  return names;
}

std::unique_ptr<RowSource> open_address(std::span<const Datum> arguments, Context context) {
  if (any_null(arguments)) return one_row({{kOidType, {}}, {kOidType, {}}, {kInt4, {}}});
  const ObjectAddress found =
      address_of_object(std::get<std::string>(arguments[0]), names_in(arguments[1]), names_in(arguments[2]), context);
  return one_row({{kOidType, static_cast<Int>(found.catalog)}, {kOidType, static_cast<Int>(found.object)}, {kInt4, found.column}});
}

std::unique_ptr<RowSource> open_sequence_parameters(std::span<const Datum> arguments, Context context) {
  const auto found = any_null(arguments) ? catalog_of(context).sequences.end()
                                         : catalog_of(context).sequences.find(static_cast<Oid>(std::get<Int>(arguments[0])));
  if (found == catalog_of(context).sequences.end()) {
    if (!any_null(arguments)) {
      throw SqlError(sqlstate::kUndefinedTable, "could not open relation with OID " + std::to_string(std::get<Int>(arguments[0])));
    }
    return one_row({{kInt8, {}}, {kInt8, {}}, {kInt8, {}}, {kInt8, {}}, {kBool, {}}, {kInt8, {}}, {kOidType, {}}});
  }
  const SequenceDef& sequence = found->second;
  return one_row({{kInt8, sequence.start},
                  {kInt8, sequence.minimum},
                  {kInt8, sequence.maximum},
                  {kInt8, sequence.increment},
                  {kBool, sequence.cycle},
                  {kInt8, sequence.cache},
                  {kOidType, static_cast<Int>(sequence.type.oid)}});
}

std::unique_ptr<RowSource> open_publication_tables(std::span<const Datum> arguments, Context context) {
  const CatalogSnapshot& catalog = catalog_of(context);
  Column tables(kOidType), columns(Type{oid::kInt2Vector}), filters(Type{oid::kNodeTree});
  if (!any_null(arguments)) {
    const std::string& name = std::get<std::string>(arguments[0]);
    const PublicationDef* publication = catalog.find_publication(name);
    if (publication == nullptr) throw SqlError(sqlstate::kUndefinedObject, "publication \"" + name + "\" does not exist");
    for (const CatalogSnapshot::TablePtr& table : published_tables(catalog, *publication)) {
      tables.append_datum(static_cast<Int>(table->oid));
      columns.append_null();  // there are no column lists
      filters.append_null();
    }
  }
  Batch rows{.rows = tables.size(), .columns = {}};
  for (Column* column : {&tables, &columns, &filters}) rows.columns.push_back(std::make_shared<const Column>(std::move(*column)));
  return std::make_unique<OneRow>(std::move(rows));
}

std::unique_ptr<RowSource> open_last_commit(std::span<const Datum>, Context) {
  throw SqlError(sqlstate::kObjectNotInPrerequisiteState, "could not get commit timestamp data")
      .hint("Make sure the configuration parameter \"track_commit_timestamp\" is set.");
}
std::optional<std::int64_t> commit_time(Int) {
  throw SqlError(sqlstate::kObjectNotInPrerequisiteState, "could not get commit timestamp data")
      .hint("Make sure the configuration parameter \"track_commit_timestamp\" is set.");
}

/// CREATE RULE "_RETURN" …: the only rules are those of views.
bool rule_text(Context context, Int rule, bool pretty, std::string& out) {
  const CatalogSnapshot& catalog = catalog_of(context);
  for (const auto& [oid, view] : catalog.views) {
    if (view->rule != static_cast<Oid>(rule)) continue;
    const std::optional<Relation> relation = find_relation(catalog, oid);
    const bool bare = pretty && is_visible(catalog, *relation, context.search_path);
    out = "CREATE RULE \"_RETURN\" AS\n    ON SELECT TO " + (bare ? quote_identifier(view->name) : qualified_name(*relation)) + " DO INSTEAD " +
          view_definition(catalog, *view, pretty, context.search_path);
    return true;
  }
  return false;
}
bool plain_rule_text(Context context, Int rule, std::string& out) { return rule_text(context, rule, false, out); }

std::optional<Int> replica_identity(Context context, Int relation) {
  const auto table = catalog_of(context).find_table(static_cast<Oid>(relation));
  return table && table->primary_key_index.oid != 0 && has_replica_identity(*table) ? std::optional(static_cast<Int>(table->primary_key_index.oid)) : std::nullopt;
}

std::optional<Int> partition_root(Context context, Int relation) {
  CatalogSnapshot::TablePtr table = catalog_of(context).find_table(static_cast<Oid>(relation));
  if (!table || (!table->partition && !table->partition_key)) return std::nullopt;
  while (table->partition) {
    const CatalogSnapshot::TablePtr above = catalog_of(context).find_table(table->partition->parent);
    if (!above) break;
    table = above;
  }
  return static_cast<Int>(table->oid);
}

ColumnPtr no_compression(std::span<const ColumnPtr>, std::size_t rows, Type result, Context) {
  return std::make_shared<const Column>(Column::constant(result, Datum{}, rows));
}

}  // namespace

std::vector<ScalarFunction> object_information_functions() {
  return {
      scalar<description>("pg_describe_object", {kOidType, kOidType, kInt4}, kText, kStable),
      scalar<plain_rule_text>("pg_get_ruledef", {kOidType}, kText, kStable),
      scalar<rule_text>("pg_get_ruledef", {kOidType, kBool}, kText, kStable),
      scalar<replica_identity>("pg_get_replica_identity_index", {kRegclass}, kRegclass, kStable),
      scalar<partition_root>("pg_partition_root", {kRegclass}, kRegclass, kStable),
      scalar<[](Int, std::string&) { return false; }>("pg_collation_actual_version", {kOidType}, kText, Volatility::kVolatile),
      scalar<[](Int, std::string&) { return false; }>("pg_database_collation_actual_version", {kOidType}, kText, Volatility::kVolatile),
      scalar<[](std::string&) { return false; }>("pg_current_logfile", {}, kText, Volatility::kVolatile),
      scalar<[](Text, std::string&) { return false; }>("pg_current_logfile", {kText}, kText, Volatility::kVolatile),
      scalar<commit_time>("pg_xact_commit_timestamp", {kXid}, kTimestamptz, Volatility::kVolatile),
      column_function("pg_column_compression", {kAny}, kText, no_compression, kStable, true),
  };
}

std::vector<TableFunction> object_information_rows() {
  constexpr Oid text = oid::kText, number = oid::kInt8;
  return {
      {"pg_identify_object",
       {oid::kOid, oid::kOid, oid::kInt4},
       {{"type", text}, {"schema", text}, {"name", text}, {"identity", text}},
       open_identity},
      {"pg_get_object_address",
       {text, oid::kTextArray, oid::kTextArray},
       {{"classid", oid::kOid}, {"objid", oid::kOid}, {"objsubid", oid::kInt4}},
       open_address},
      {"pg_sequence_parameters",
       {oid::kOid},
       {{"start_value", number},
        {"minimum_value", number},
        {"maximum_value", number},
        {"increment", number},
        {"cycle_option", oid::kBool},
        {"cache_size", number},
        {"data_type", oid::kOid}},
       open_sequence_parameters},
      {"pg_get_publication_tables",
       {text},
       {{"relid", oid::kOid}, {"attrs", oid::kInt2Vector}, {"qual", oid::kNodeTree}},
       open_publication_tables},
      {"pg_last_committed_xact", {}, {{"xid", oid::kXid}, {"timestamp", oid::kTimestamptz}, {"roident", oid::kOid}}, open_last_commit},
  };
}

}  // namespace redquel::sql
