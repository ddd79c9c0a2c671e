#include "sql/system_tables.h"

#include <gtest/gtest.h>

#include <set>

#include "sql/catalog/role_set.h"
#include "sql/error.h"
#include "sql/functions/function.h"
#include "sql/functions/object_names.h"
#include "sql/types/text_io.h"

namespace redquel::sql {
namespace {

ColumnDef column(std::int16_t number, std::string name, Type type, bool not_null = false) {
  ColumnDef made;
  made.number = number;
  made.name = made.field = std::move(name);
  made.type = type;
  made.not_null = not_null;
  return made;
}

/// CREATE TABLE emp (id serial PRIMARY KEY, name varchar(20) NOT NULL DEFAULT 'x' UNIQUE, dept int, salary numeric(10,2) CHECK (…)),
/// an index, and app."Mixed Case".
CatalogSnapshot company() {
  CatalogSnapshot catalog;
  catalog.schemas["public"] = {.oid = 2200, .name = "public", .owner = "postgres", .comment = "standard public schema"};
  catalog.schemas["app"] = {.oid = 16500, .name = "app", .owner = "anna", .comment = ""};

  auto emp = std::make_shared<TableDef>();
  emp->oid = 16400;
  emp->row_type = 16401;
  emp->name = "emp";
  emp->comment = "people";
  emp->columns = {column(1, "id", kInt4, true), column(2, "name", {oid::kVarchar, 24}, true), column(3, "dept", kInt4),
                  column(5, "salary", {oid::kNumeric, (10 << 16 | 2) + 4})};
  emp->columns[0].sequence = 16402;
  emp->columns[1].default_sql = "'it''s'";
  emp->columns[1].comment = "the name";
  emp->primary_key = {1};
  emp->primary_key_index.name = "emp_pkey";
  emp->primary_key_index.oid = 16403;
  IndexDef unique{.oid = 16404, .name = "emp_name_key", .unique = true, .constraint = IndexConstraint()};
  unique.parts = {{2, false, false}};
  IndexDef by_salary{.oid = 16405, .name = "emp_salary_idx"};
  by_salary.parts = {{5, true, false}, {3, false, true}};
  emp->indexes = {unique, by_salary};
  emp->checks = {{.name = "emp_salary_check", .expression_sql = "salary > 0", .comment = ""}};
  catalog.tables[emp->oid] = emp;

  auto mixed = std::make_shared<TableDef>();
  mixed->oid = 16510;
  mixed->row_type = 16511;
  mixed->schema = "app";
  mixed->name = "Mixed Case";
  mixed->columns = {column(1, "Id", kInt8, true)};
  mixed->columns[0].identity = ColumnDef::Identity::kAlways;
  mixed->columns[0].sequence = 16512;
  catalog.tables[mixed->oid] = mixed;

  catalog.sequences[16402] = {.oid = 16402, .name = "emp_id_seq", .type = kInt4, .maximum = INT32_MAX, .owner_table = 16400,
                              .owner_column = 1};
  catalog.sequences[16512] = {.oid = 16512, .schema = "app", .name = "Mixed Case_Id_seq", .owner_table = 16510, .owner_column = 1};
  return catalog;
}

class SystemTables : public testing::Test {
 protected:
  SystemTables() {
    context.settings = &settings;
    context.catalog = &catalog;
  }

  /// Rows whose column `where` prints as `equals`: the wanted columns joined by " | ", NULL as ~.
  std::vector<std::string> select(std::string_view table_name, const std::vector<std::string>& wanted, const std::string& where = "",
                                  const std::string& equals = "", std::string_view schema = "pg_catalog") {
    const SystemTable* table = find_system_table(schema, table_name);
    if (table == nullptr) throw std::runtime_error("no system table " + std::string(table_name));
    const Batch batch = table->rows(catalog, context);
    const auto text = [&](const std::string& name, std::size_t row) {
      for (std::size_t i = 0; i < table->columns.size(); ++i) {
        if (table->columns[i].name != name) continue;
        const ColumnPtr shown = with_object_names(batch.columns[i], context);
        if (shown->is_null(row)) return std::string("~");
        std::string out;
        format_value(*shown, row, settings, out);
        return out;
      }
      throw std::runtime_error("no column " + name);
    };
    std::vector<std::string> lines;
    for (std::size_t row = 0; row < batch.rows; ++row) {
      if (!where.empty() && text(where, row) != equals) continue;
      std::string line;
      for (const std::string& name : wanted) line += (line.empty() ? "" : " | ") + text(name, row);
      lines.push_back(line);
    }
    return lines;
  }

  /// Calls the overload with these argument types.
  std::string call(std::string_view name, const std::vector<std::pair<Type, Datum>>& arguments) {
    for (const ScalarFunction* function : find_functions(name)) {
      std::vector<Oid> types;
      std::vector<ColumnPtr> columns;
      for (const auto& [type, value] : arguments) {
        types.push_back(type.oid);
        columns.push_back(std::make_shared<const Column>(Column::constant(type, value, 1)));
      }
      if (function->arguments != types) continue;
      const ColumnPtr result = with_object_names(function->kernel(columns, 1, Type{function->result}, context), context);
      if (result->is_null(0)) return "~";
      std::string out;
      format_value(*result, 0, settings, out);
      return out;
    }
    return "no such overload";
  }

  using Lines = std::vector<std::string>;
  CatalogSnapshot catalog = company();
  SessionSettings settings;
  EvaluationContext context;
};

Datum number(std::int32_t value) { return value; }

TEST_F(SystemTables, EveryTableGivesOneColumnForEachItDeclares) {
  std::set<Oid> oids;
  for (const SystemTable& table : all_system_tables()) {
    EXPECT_TRUE(oids.insert(table.oid).second) << table.name;
    EXPECT_EQ(find_system_table(table.schema, table.name), &table);
    EXPECT_EQ(find_system_table(table.oid), &table);
    const Batch batch = table.rows(catalog, context);
    ASSERT_EQ(batch.columns.size(), table.columns.size()) << table.name;
    for (std::size_t i = 0; i < batch.columns.size(); ++i) {
      EXPECT_EQ(batch.columns[i]->size(), batch.rows) << table.name << "." << table.columns[i].name;
      EXPECT_EQ(batch.columns[i]->type(), table.columns[i].type) << table.name << "." << table.columns[i].name;
    }
  }
  EXPECT_EQ(find_system_table("pg_catalog", "nosuch"), nullptr);
  EXPECT_EQ(find_system_table("public", "pg_class"), nullptr);
}

TEST_F(SystemTables, NotNullColumnsHoldNoNull) {
  for (const SystemTable& table : all_system_tables()) {
    const Batch batch = table.rows(catalog, context);
    for (std::size_t i = 0; i < batch.columns.size(); ++i) {
      if (!table.columns[i].not_null) continue;
      for (std::size_t row = 0; row < batch.rows; ++row) {
        ASSERT_FALSE(batch.columns[i]->is_null(row)) << table.name << "." << table.columns[i].name;
      }
    }
  }
}

TEST_F(SystemTables, ClassesAreTablesIndexesSequencesAndTheSystemTables) {
  EXPECT_EQ(select("pg_class", {"relname", "relkind", "relnatts", "relchecks", "relhasindex", "relam"}, "relnamespace", "2200"),
            (Lines{"emp | r | 4 | 1 | t | 2", "emp_pkey | i | 1 | 0 | f | 403", "emp_name_key | i | 1 | 0 | f | 403",
                   "emp_salary_idx | i | 2 | 0 | f | 403", "emp_id_seq | S | 3 | 0 | f | 0"}));
  EXPECT_EQ(select("pg_class", {"oid", "relkind", "relnamespace"}, "relname", "pg_attribute"), (Lines{"1249 | r | 11"}));
  EXPECT_EQ(select("pg_class", {"relkind"}, "relname", "pg_roles"), (Lines{"v"}));
}

TEST_F(SystemTables, AttributesKeepTheirNumbers) {
  EXPECT_EQ(select("pg_attribute", {"attnum", "attname", "atttypid", "atttypmod", "attnotnull", "atthasdef"}, "attrelid", "16400"),
            (Lines{"1 | id | 23 | -1 | t | t", "2 | name | 1043 | 24 | t | t", "3 | dept | 23 | -1 | f | f",
                   "5 | salary | 1700 | 655366 | f | f", "-6 | tableoid | 26 | -1 | t | f", "-5 | cmax | 29 | -1 | t | f",
                   "-4 | xmax | 28 | -1 | t | f", "-3 | cmin | 29 | -1 | t | f", "-2 | xmin | 28 | -1 | t | f", "-1 | ctid | 27 | -1 | t | f"}));
  EXPECT_EQ(select("pg_attribute", {"attnum", "attname"}, "attrelid", "16405"), (Lines{"1 | salary", "2 | dept"}));
  EXPECT_EQ(select("pg_attribute", {"attname", "attidentity", "atthasdef"}, "attrelid", "16510"),
            (Lines{"Id | a | f", "tableoid |  | f", "cmax |  | f", "xmax |  | f", "cmin |  | f", "xmin |  | f", "ctid |  | f"}));
}

// The planner gives the casts of literals: here none is asked (tests/sql/clients/definitions_of_types.test).
TEST_F(SystemTables, DefaultsNameTheirSequences) {
  EXPECT_EQ(select("pg_attrdef", {"adnum", "adbin"}, "adrelid", "16400"),
            (Lines{"1 | nextval('emp_id_seq'::regclass)", "2 | 'it''s'"}));
  context.search_path = {"app"};
  EXPECT_EQ(select("pg_attrdef", {"adbin"}, "adnum", "1"), (Lines{"nextval('public.emp_id_seq'::regclass)"}));
}

TEST_F(SystemTables, IndexesHaveTheirKeysAndOptions) {
  EXPECT_EQ(select("pg_index", {"indexrelid", "indisprimary", "indisunique", "indkey", "indcollation", "indclass", "indoption"},
                   "indrelid", "16400"),
            (Lines{"16403 | t | t | 1 | 0 | 1978 | 0", "16404 | f | t | 2 | 100 | 3126 | 0", "16405 | f | f | 5 3 | 0 0 | 3125 1978 | 1 2"}));
  EXPECT_EQ(select("pg_indexes", {"indexdef"}, "tablename", "emp"),
            (Lines{"CREATE UNIQUE INDEX emp_pkey ON public.emp USING btree (id)",
                   "CREATE UNIQUE INDEX emp_name_key ON public.emp USING btree (name)",
                   "CREATE INDEX emp_salary_idx ON public.emp USING btree (salary DESC NULLS LAST, dept NULLS FIRST)"}));
}

TEST_F(SystemTables, ConstraintsOfATable) {
  EXPECT_EQ(select("pg_constraint", {"conname", "contype", "conindid", "conkey"}, "conrelid", "16400"),
            (Lines{"emp_pkey | p | 16403 | {1}", "emp_name_key | u | 16404 | {2}", "emp_salary_check | c | 0 | {5}"}));
  EXPECT_EQ(select("table_constraints", {"constraint_name", "constraint_type"}, "table_name", "emp", "information_schema"),
            (Lines{"emp_pkey | PRIMARY KEY", "emp_name_key | UNIQUE", "emp_salary_check | CHECK", "2200_16400_1_not_null | CHECK",
                   "2200_16400_2_not_null | CHECK"}));
}

TEST_F(SystemTables, SequencesDependOnTheirColumns) {
  EXPECT_EQ(select("pg_depend", {"refobjid", "refobjsubid", "deptype"}, "objid", "16402"), (Lines{"2200 | 0 | n", "16400 | 1 | a"}));
  EXPECT_EQ(select("pg_depend", {"refobjid", "refobjsubid", "deptype"}, "objid", "16512"), (Lines{"16500 | 0 | n", "16510 | 1 | i"}));
}

TEST_F(SystemTables, TypesNameTheirFunctions) {
  EXPECT_EQ(select("pg_type", {"oid", "typinput", "typsend", "typmodin", "typarray", "typbyval"}, "typname", "int4"),
            (Lines{"23 | int4in | int4send | - | 1007 | t"}));
  EXPECT_EQ(select("pg_type", {"typinput", "typelem", "typcategory", "typstorage"}, "typname", "_int4"), (Lines{"array_in | 23 | A | x"}));
  EXPECT_EQ(select("pg_type", {"typtype", "typrelid"}, "typname", "emp"), (Lines{"c | 16400"}));
}

TEST_F(SystemTables, InformationSchemaColumns) {
  EXPECT_EQ(select("columns", {"column_name", "column_default", "is_nullable", "data_type", "character_maximum_length",
                               "numeric_precision", "numeric_scale", "udt_name"},
                   "table_name", "emp", "information_schema"),
            (Lines{"id | nextval('emp_id_seq'::regclass) | NO | integer | ~ | 32 | 0 | int4",
                   "name | 'it''s' | NO | character varying | 20 | ~ | ~ | varchar",
                   "dept | ~ | YES | integer | ~ | 32 | 0 | int4", "salary | ~ | YES | numeric | ~ | 10 | 2 | numeric"}));
  EXPECT_EQ(select("columns", {"is_identity", "identity_generation", "identity_start"}, "table_name", "Mixed Case", "information_schema"),
            (Lines{"YES | ALWAYS | 1"}));
  EXPECT_EQ(select("sequences", {"sequence_name"}, "sequence_schema", "app", "information_schema"), (Lines{}));
}

/// The schema's owner is a name of the time before roles: it means the role that has this name now.
TEST_F(SystemTables, RolesOwnDefinitionsThatNameThem) {
  RoleDef anna;
  anna.oid = 16500;
  anna.name = anna.owner_name = "anna";
  anna.can_login = true;
  auto roles = std::make_shared<RoleSet>(*built_in_roles());
  roles->put(anna);
  set_known_roles(roles);
  EXPECT_EQ(select("pg_user", {"usename"}), (Lines{"postgres", "anna"}));
  EXPECT_EQ(select("pg_roles", {"oid", "rolsuper"}, "rolname", "postgres"), (Lines{"10 | t"}));
  EXPECT_EQ(select("pg_roles", {"oid"}, "rolname", "anna"), (Lines{"16500"}));
  EXPECT_EQ(select("pg_namespace", {"nspowner"}, "nspname", "app"), (Lines{"16500"}));
  set_known_roles(built_in_roles());
}

TEST_F(SystemTables, Definitions) {
  EXPECT_EQ(call("pg_get_indexdef", {{kOidType, number(16405)}}),
            "CREATE INDEX emp_salary_idx ON public.emp USING btree (salary DESC NULLS LAST, dept NULLS FIRST)");
  EXPECT_EQ(call("pg_get_indexdef", {{kOidType, number(16403)}, {kInt4, number(0)}, {kBool, true}}),
            "CREATE UNIQUE INDEX emp_pkey ON emp USING btree (id)");
  EXPECT_EQ(call("pg_get_indexdef", {{kOidType, number(16405)}, {kInt4, number(2)}, {kBool, true}}), "dept");
  EXPECT_EQ(call("pg_get_indexdef", {{kOidType, number(16400)}}), "~");
  EXPECT_EQ(call("pg_get_constraintdef", {{kOidType, number(16404)}}), "UNIQUE (name)");
  EXPECT_EQ(call("pg_get_constraintdef", {{kOidType, number(16403)}, {kBool, true}}), "PRIMARY KEY (id)");
  const std::int32_t check = static_cast<std::int32_t>(std::stoul(select("pg_constraint", {"oid"}, "conname", "emp_salary_check")[0]));
  EXPECT_EQ(call("pg_get_constraintdef", {{kOidType, number(check)}}), "CHECK (salary > 0)");
  EXPECT_EQ(call("pg_get_userbyid", {{kOidType, number(10)}}), "postgres");
  EXPECT_EQ(call("pg_get_userbyid", {{kOidType, number(77)}}), "unknown (OID=77)");
  EXPECT_EQ(call("obj_description", {{kOidType, number(16400)}, {kName, "pg_class"}}), "people");
  EXPECT_EQ(call("col_description", {{kOidType, number(16400)}, {kInt4, number(2)}}), "the name");
  EXPECT_EQ(call("format_type", {{kOidType, number(16511)}, {kInt4, number(-1)}}), "app.\"Mixed Case\"");
  EXPECT_EQ(call("current_schemas", {{kBool, true}}), "{pg_catalog,public}");
}

TEST_F(SystemTables, ObjectNames) {
  const Type regclass{oid::kRegclass}, regtype{oid::kRegtype}, regproc{oid::kRegproc}, procedure{oid::kRegprocedure},
      regnamespace{oid::kRegnamespace}, regrole{oid::kRegrole};
  const auto round_trip = [&](Type type, std::string_view text) {
    return object_name(type, parse_object_name(type, text, context), context);
  };
  EXPECT_EQ(parse_object_name(regclass, "emp", context), 16400U);
  EXPECT_EQ(parse_object_name(regclass, "pg_catalog.pg_class", context), 1259U);
  EXPECT_EQ(parse_object_name(regclass, "16400", context), 16400U);
  EXPECT_EQ(round_trip(regclass, "PUBLIC.emp"), "emp");
  EXPECT_EQ(round_trip(regclass, "app.\"Mixed Case\""), "app.\"Mixed Case\"");
  EXPECT_EQ(round_trip(regclass, "information_schema.tables"), "information_schema.tables");
  EXPECT_EQ(round_trip(regclass, "99"), "99");
  EXPECT_EQ(round_trip(regclass, "-"), "-");
  EXPECT_EQ(round_trip(regtype, "varchar(20)"), "character varying");
  EXPECT_EQ(round_trip(regtype, "int4[]"), "integer[]");
  EXPECT_EQ(round_trip(regtype, "emp"), "emp");
  EXPECT_EQ(round_trip(regproc, "array_in"), "array_in");
  EXPECT_EQ(round_trip(procedure, "upper(text)"), "upper(text)");
  EXPECT_EQ(round_trip(regnamespace, "app"), "app");
  EXPECT_EQ(round_trip(regrole, "anna"), "anna");
}

TEST_F(SystemTables, UnknownNamesHaveNoOids) {
  const auto state = [&](Oid type, std::string_view text) {
    try {
      parse_object_name(Type{type}, text, context);
    } catch (const SqlError& error) {
      return error.sqlstate() + " " + error.what();
    }
    return std::string();
  };
  EXPECT_EQ(state(oid::kRegclass, "nosuch"), "42P01 relation \"nosuch\" does not exist");
  EXPECT_EQ(state(oid::kRegclass, "app.nosuch"), "42P01 relation \"app.nosuch\" does not exist");
  EXPECT_EQ(state(oid::kRegclass, "a.b.c"), "0A000 cross-database references are not implemented: \"a.b.c\"");
  EXPECT_EQ(state(oid::kRegclass, "a.b.c.d"), "42601 improper relation name (too many dotted names): a.b.c.d");
  EXPECT_EQ(state(oid::kRegclass, "a."), "42602 invalid name syntax");
  EXPECT_EQ(state(oid::kRegtype, "nosuch"), "42704 type \"nosuch\" does not exist");
  EXPECT_EQ(state(oid::kRegproc, "nosuch"), "42883 function \"nosuch\" does not exist");
  EXPECT_EQ(state(oid::kRegproc, "substring"), "42725 more than one function named \"substring\"");
  EXPECT_EQ(state(oid::kRegnamespace, "nosuch"), "3F000 schema \"nosuch\" does not exist");
  EXPECT_EQ(state(oid::kRegrole, "nosuch"), "42704 role \"nosuch\" does not exist");
  EXPECT_EQ(call("to_regclass", {{kText, "nosuch"}}), "~");
  EXPECT_EQ(call("to_regnamespace", {{kText, "app"}}), "app");
}

}  // namespace
}  // namespace redquel::sql
