#include <gtest/gtest.h>

#include <set>

#include "sql/catalog/role_set.h"
#include "sql/error.h"
#include "sql/privileges/acl_text.h"
#include "sql/privileges/role_rights.h"
#include "sql/system_tables.h"
#include "sql/types/text_io.h"
#include "tests/unit/sql/table_builder.h"

namespace redquel::sql {
namespace {

constexpr Oid kTableOwner = 16384, kReader = 16385, kGroup = 16386, kTable = 16400, kView = 16410, kFunction = 16420;

RoleDef role(Oid oid, std::string name) {
  RoleDef made;
  made.oid = oid;
  made.name = std::move(name);
  return made;
}

/// owner has the table t with columns a and b, a view and a function; alice is a member of "the group".
class ShownPrivileges : public testing::Test {
 protected:
  ShownPrivileges() {
    auto roles = std::make_shared<RoleSet>();
    for (RoleDef each : {role(kTableOwner, "owner"), role(kReader, "alice"), role(kGroup, "the group")}) roles->put(std::move(each));
    roles->put(RoleMembership{kGroup, kReader, kPostgresRole, true});
    set_known_roles(roles);
    table = make_table("t", {{"a", kInt4}, {"b", kText}}, {"a"});
    table.oid = kTable;
    table.owner = owner_reference(kTableOwner);
    view.oid = kView;
    view.name = "v";
    view.columns = {{.name = "c", .type = kInt4}};
    view.owner = owner_reference(kTableOwner);
    function.oid = kFunction;
    function.name = "f";
    function.result = kInt4;
    function.owner = owner_reference(kTableOwner);
    context.settings = &settings;
    context.catalog = &catalog;
    context.user = "alice";
  }
  ~ShownPrivileges() override { set_known_roles(built_in_roles()); }

  /// The rows of a system table whose column `where` is `equals`: the wanted columns with blanks between.
  std::multiset<std::string> rows(std::string_view schema, std::string_view name, const std::vector<std::string>& wanted,
                                  const std::string& where, const std::string& equals) {
    catalog.tables[kTable] = std::make_shared<TableDef>(table);
    catalog.views[kView] = std::make_shared<ViewDef>(view);
    catalog.functions[kFunction] = std::make_shared<FunctionDef>(function);
    const SystemTable& system = *find_system_table(schema, name);
    const Batch batch = system.rows(catalog, context);
    const auto text = [&](const std::string& column, std::size_t row) {
      const auto found = std::ranges::find(system.columns, column, &SystemTable::SystemColumn::name);
      const Column& values = *batch.columns[static_cast<std::size_t>(found - system.columns.begin())];
      if (values.is_null(row)) return std::string("~");
      std::string out;
      format_value(values, row, settings, out);
      return out;
    };
    std::multiset<std::string> found;
    for (std::size_t row = 0; row < batch.rows; ++row) {
      if (text(where, row) != equals) continue;
      std::string line;
      for (const std::string& column : wanted) line += (line.empty() ? "" : " ") + text(column, row);
      found.insert(line);
    }
    return found;
  }
  using Rows = std::multiset<std::string>;

  SessionSettings settings;
  CatalogSnapshot catalog;
  EvaluationContext context;
  TableDef table;
  ViewDef view;
  FunctionDef function;
};

TEST_F(ShownPrivileges, OfObjectsAreTextsWithNames) {
  table.acl = Acl{{kTableOwner, kTableOwner, right::kSelect | right::kInsert, 0}, {kGroup, kTableOwner, right::kSelect, right::kSelect}, {kPublic, kGroup, right::kSelect, 0}};
  table.columns[1].acl = Acl{{999, kTableOwner, right::kUpdate, 0}};
  EXPECT_EQ(rows("pg_catalog", "pg_class", {"relacl"}, "relname", "t"),
            (Rows{R"({owner=ar/owner,"\"the group\"=r*/owner","=r/\"the group\""})"}));
  EXPECT_EQ(rows("pg_catalog", "pg_attribute", {"attname", "attacl"}, "attrelid", std::to_string(kTable)).count("b {999=w/owner}"), 1U);
  EXPECT_EQ(rows("pg_catalog", "pg_class", {"relacl"}, "relname", "v"), Rows{"~"});
  EXPECT_EQ(rows("pg_catalog", "pg_class", {"relacl"}, "relname", "pg_authid"), Rows{"{postgres=arwdDxt/postgres}"});
  EXPECT_EQ(rows("pg_catalog", "pg_class", {"relacl"}, "relname", "pg_class"), Rows{"{postgres=arwdDxt/postgres,=r/postgres}"});
}

TEST_F(ShownPrivileges, OfSystemObjectsAreThoseOfTheGrantsOfThisDatabase) {
  catalog.system_acls[{catalog_class::kRelations, 1260}] = Acl{{kReader, kPostgresRole, right::kSelect, 0}};
  catalog.system_acls[{catalog_class::kFunctions, 1317}] = Acl{{kPostgresRole, kPostgresRole, right::kExecute, 0}};
  EXPECT_EQ(rows("pg_catalog", "pg_class", {"relacl"}, "relname", "pg_authid"), Rows{"{alice=r/postgres}"});
  EXPECT_EQ(rows("pg_catalog", "pg_proc", {"proacl"}, "oid", "1317"), Rows{"{postgres=X/postgres}"});
  EXPECT_EQ(rows("pg_catalog", "pg_init_privs", {"initprivs", "privtype"}, "objoid", "1260"), Rows{"{postgres=arwdDxt/postgres} i"});
}

TEST_F(ShownPrivileges, FilterInformationSchema) {
  const std::string t = "t";
  EXPECT_EQ(rows("information_schema", "tables", {"table_type"}, "table_name", t), Rows{});
  EXPECT_EQ(rows("information_schema", "table_constraints", {"constraint_type"}, "table_name", t), Rows{});
  table.columns[1].acl = Acl{{kGroup, kTableOwner, right::kSelect, 0}};
  EXPECT_EQ(rows("information_schema", "tables", {"table_type"}, "table_name", t), Rows{"BASE TABLE"});
  EXPECT_EQ(rows("information_schema", "columns", {"column_name"}, "table_name", t), Rows{"b"});
  EXPECT_EQ(rows("information_schema", "table_constraints", {"constraint_type"}, "table_name", t), Rows{});
  table.acl = Acl{{kReader, kTableOwner, right::kReferences, 0}};
  EXPECT_EQ(rows("information_schema", "columns", {"column_name"}, "table_name", t), (Rows{"a", "b"}));
  EXPECT_EQ(rows("information_schema", "table_constraints", {"constraint_type"}, "table_name", t), (Rows{"CHECK", "PRIMARY KEY"}));
  context.user = "owner";
  EXPECT_EQ(rows("information_schema", "columns", {"column_name"}, "table_name", t), (Rows{"a", "b"}));
}

TEST_F(ShownPrivileges, HideDefinitionsFromAllButTheOwner) {
  view.acl = Acl{{kPublic, kTableOwner, right::kSelect, 0}};
  view.definition = "SELECT 1;";
  function.body = "SELECT 1";
  EXPECT_EQ(rows("information_schema", "views", {"view_definition"}, "table_name", "v"), Rows{"~"});
  EXPECT_EQ(rows("information_schema", "routines", {"routine_definition"}, "routine_name", "f"), Rows{"~"});
  context.user = "owner";
  EXPECT_EQ(rows("information_schema", "views", {"view_definition"}, "table_name", "v"), Rows{"SELECT 1;"});
  EXPECT_EQ(rows("information_schema", "routines", {"routine_definition"}, "routine_name", "f"), Rows{"SELECT 1"});
  function.acl = Acl{};
  context.user = "alice";
  EXPECT_EQ(rows("information_schema", "routines", {"routine_definition"}, "routine_name", "f"), Rows{});
}

TEST_F(ShownPrivileges, AreListedToGrantorsAndGrantees) {
  table.acl = Acl{{kTableOwner, kTableOwner, right::kSelect, 0}, {kGroup, kTableOwner, right::kSelect, right::kSelect}, {kPublic, kTableOwner, right::kInsert, 0}};
  const std::vector<std::string> columns = {"grantor", "grantee", "privilege_type", "is_grantable"};
  EXPECT_EQ(rows("information_schema", "table_privileges", columns, "table_name", "t"),
            (Rows{"owner the group SELECT YES", "owner PUBLIC INSERT NO"}));
  EXPECT_EQ(rows("information_schema", "role_table_grants", columns, "table_name", "t"), Rows{"owner the group SELECT YES"});
  context.user = "owner";
  EXPECT_EQ(rows("information_schema", "role_table_grants", columns, "table_name", "t"),
            (Rows{"owner owner SELECT YES", "owner the group SELECT YES", "owner PUBLIC INSERT NO"}));
  table.columns[1].acl = Acl{{kGroup, kTableOwner, right::kSelect, 0}, {kReader, kTableOwner, right::kUpdate, 0}};
  EXPECT_EQ(rows("information_schema", "column_privileges", {"grantee", "privilege_type", "is_grantable"}, "column_name", "b"),
            (Rows{"owner SELECT YES", "the group SELECT YES", "the group SELECT NO", "alice UPDATE NO", "PUBLIC INSERT NO"}));
  EXPECT_EQ(rows("information_schema", "enabled_roles", {"role_name"}, "role_name", "alice"), Rows{});
  context.user = "alice";
  EXPECT_EQ(rows("information_schema", "applicable_roles", {"role_name", "is_grantable"}, "grantee", "alice"), Rows{"the group YES"});
}

TEST_F(ShownPrivileges, HideTemporaryTablesOfOtherSessions) {
  table.schema = "pg_temp_x";
  context.user = "owner";
  EXPECT_EQ(rows("information_schema", "tables", {"table_type"}, "table_name", "t"), Rows{});
  context.search_path = {"pg_temp_x", "public"};
  EXPECT_EQ(rows("information_schema", "tables", {"table_type"}, "table_name", "t"), Rows{"LOCAL TEMPORARY"});
}

TEST_F(ShownPrivileges, OfOwnersFromBeforeRolesFollowARenamedRole) {
  auto roles = std::make_shared<RoleSet>();
  RoleDef renamed = role(kTableOwner, "now");
  renamed.owner_name = "anna";
  roles->put(std::move(renamed));
  roles->put(role(kReader, "anna"));
  set_known_roles(roles);
  catalog.schemas["app"] = {.oid = 16500, .name = "app", .owner = "anna", .comment = ""};
  function.owner = "anna";
  EXPECT_EQ(rows("pg_catalog", "pg_namespace", {"nspowner"}, "nspname", "app"), Rows{std::to_string(kTableOwner)});
  EXPECT_EQ(rows("pg_catalog", "pg_proc", {"proowner"}, "proname", "f"), Rows{std::to_string(kTableOwner)});
}

TEST_F(ShownPrivileges, AreAskedForByRole) {
  table.acl = Acl{{kGroup, kTableOwner, right::kSelect, right::kSelect}};
  table.columns[0].acl = Acl{{kPublic, kTableOwner, right::kInsert, 0}};
  rows("pg_catalog", "pg_class", {"oid"}, "relname", "t");  // puts the definitions into the catalog
  const RoleRights alice(catalog, context), everyone(catalog, kPublic, "shop"), owner(catalog, kTableOwner, "shop"), super(catalog, kPostgresRole, "shop");
  const auto on_table = [](const RoleRights& role, WantedRights wanted) { return role.has_any(catalog_class::kRelations, kTable, wanted); };
  EXPECT_TRUE(on_table(alice, {right::kSelect | right::kDelete}));
  EXPECT_TRUE(on_table(alice, {0, right::kSelect}));
  EXPECT_FALSE(on_table(alice, {right::kInsert, right::kInsert}));
  EXPECT_FALSE(on_table(everyone, {right::kSelect}));
  EXPECT_TRUE(everyone.has_any_on_column(kTable, 1, {right::kInsert}));
  EXPECT_FALSE(everyone.has_any_on_column(kTable, 2, {right::kInsert}));
  EXPECT_TRUE(alice.has_any_on_some_column(kTable, {right::kInsert}));
  EXPECT_FALSE(on_table(owner, {right::kSelect}));  // it has none by its list
  EXPECT_TRUE(on_table(owner, {0, right::kSelect}));
  EXPECT_TRUE(owner.has_any_on_column(kTable, 1, {0, right::kUpdate}));
  EXPECT_TRUE(on_table(super, {right::kUsage}));
  EXPECT_FALSE(on_table(super, {}));
}

TEST_F(ShownPrivileges, AreReadFromTheirTexts) {
  const auto spelled = [](std::string_view text) { return acl_item_text(read_acl_item(text)); };
  EXPECT_EQ(spelled(" alice=wr*r/owner "), "alice=r*w/owner");
  EXPECT_EQ(spelled("group \"the group\"=U"), "\"the group\"=U/postgres");
  EXPECT_EQ(spelled("=C/\"alice\""), "=C/alice");
  const auto error = [&](std::string_view text) {
    try {
      spelled(text);
      return std::string();
    } catch (const SqlError& problem) {
      return problem.sqlstate() + " " + problem.what();
    }
  };
  EXPECT_EQ(error("bob=r/owner"), "42704 role \"bob\" does not exist");
  EXPECT_EQ(error("999=r/owner"), "42704 role \"999\" does not exist");
  EXPECT_EQ(error("role alice=r/owner"), "22P02 unrecognized key word: \"role\"");
  EXPECT_EQ(error("alice=q/owner"), "22P02 invalid mode character: must be one of \"arwdDxtXUCTcsA\"");
  EXPECT_EQ(error("alice=r/"), "22P02 a name must follow the \"/\" sign");
  EXPECT_EQ(error("alice=r/owner r"), "22P02 extra garbage at the end of the ACL specification");
  EXPECT_EQ(error(std::string(64, 'a') + "=r/owner"), "42622 identifier too long");
  EXPECT_EQ(decode_acl_item_text("999=r/owner"), (AclItem{999, kTableOwner, right::kSelect, 0}));
}

}  // namespace
}  // namespace redquel::sql
