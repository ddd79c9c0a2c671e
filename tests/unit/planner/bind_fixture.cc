#include "tests/unit/planner/bind_fixture.h"

#include <fmt/format.h>

#include "parser/parse.h"
#include "planner/rules/rule.h"
#include "planner/tree/table_sizes.h"

namespace redquel::planner {

using sql::ColumnDef;
using sql::TableDef;
using sql::Type;

namespace {

ColumnDef column(std::int16_t number, std::string name, Type type, bool not_null = false) {
  ColumnDef result;
  result.number = number;
  result.name = name;
  result.field = name;
  result.type = type;
  result.not_null = not_null;
  return result;
}

std::shared_ptr<TableDef> table(sql::Oid oid, std::string name, std::vector<ColumnDef> columns,
                                std::vector<std::int16_t> key) {
  auto result = std::make_shared<TableDef>();
  result->oid = oid;
  result->name = name;
  result->prefix = name;
  result->columns = std::move(columns);
  result->primary_key = std::move(key);
  if (!result->primary_key.empty()) result->primary_key_index.name = name + "_pkey";
  return result;
}

}  // namespace

sql::CatalogSnapshot test_catalog() {
  sql::CatalogSnapshot catalog;
  catalog.schemas["public"] = {2200, "public"};
  const auto add = [&](const std::shared_ptr<TableDef>& definition) { catalog.tables[definition->oid] = definition; };
  add(table(20001, "t",
            {column(1, "a", sql::kInt4, true), column(2, "b", sql::kText, true),
             column(3, "c", {sql::oid::kNumeric, 655366}), column(4, "d", sql::kDate)},
            {1}));
  add(table(20002, "u",
            {column(1, "id", sql::kInt8), column(2, "a", sql::kInt4), column(3, "name", {sql::oid::kVarchar, 24}),
             column(4, "flag", sql::kBool)},
            {}));
  add(table(20003, "k",
            {column(1, "x", sql::kInt4, true), column(2, "y", sql::kInt4, true), column(3, "z", sql::kInt4)}, {1, 2}));
  auto s = table(20004, "s",
                 {column(1, "id", sql::kInt4, true), column(2, "v", sql::kText), column(3, "n", sql::kInt4)}, {1});
  s->columns[0].sequence = 20100;
  s->columns[1].default_sql = "'dflt'";
  s->checks.push_back({"s_n_check", "n > 0", ""});
  add(s);
  auto ida = table(
      20005, "ida",
      {column(1, "id", sql::kInt4, true), column(2, "v", sql::kInt4), column(3, "e", {sql::oid::kVarchar, 14})}, {1});
  ida->columns[0].sequence = 20101;
  ida->columns[0].identity = ColumnDef::Identity::kAlways;
  sql::IndexDef unique;
  unique.oid = 20200;
  unique.name = "ida_e_key";
  unique.unique = true;
  unique.constraint.emplace();
  unique.parts.push_back({3});
  ida->indexes.push_back(unique);
  add(ida);
  return catalog;
}

namespace {

template <class Use>
std::string with_bound(const std::string& statement, std::vector<Type> types, const Use& use) {
  static const sql::CatalogSnapshot catalog = test_catalog();
  try {
    const auto parsed = parser::parse(statement);
    return use(planner::bind(*parsed.at(0).statement, catalog, std::move(types)));
  } catch (const sql::SqlError& error) {
    std::string text = error.sqlstate();
    if (error.position()) text += fmt::format("@{}", *error.position());
    text += " " + error.message();
    if (!error.detail().empty()) text += " | " + error.detail();
    if (!error.hint().empty()) text += " | " + error.hint();
    return text;
  }
}

}  // namespace

std::string bound(const std::string& statement, std::vector<Type> parameter_types) {
  return with_bound(statement, std::move(parameter_types),
                    [](const BoundStatement& result) { return "\n" + to_string(result.plan); });
}

std::string rewritten(const std::string& rule, const std::string& statement, const std::map<std::string, double>& rows) {
  return with_bound(statement, {}, [&](const BoundStatement& result) {
    TableSizes sizes;
    for (const auto& [oid, table] : test_catalog().tables) {
      if (const auto found = rows.find(table->name); found != rows.end()) sizes[oid].rows = found->second;
    }
    LogicalPtr plan = with_sizes(result.plan, sizes);
    for (const Rule& one : rewrite_rules()) {
      if (one.name == rule) {
        const std::string before = to_string(plan), after = to_string(one.rewrite(plan));
        return "\n" + before + (after == before ? "=> unchanged\n" : "=>\n" + after);
      }
      plan = one.rewrite(plan);
    }
    return "no rule " + rule;
  });
}

std::string described(const std::string& statement, std::vector<Type> parameter_types) {
  return with_bound(statement, std::move(parameter_types), [](const BoundStatement& result) {
    std::string text = "ok:", types;
    for (const LogicalColumn& column : result.plan->columns) {
      text += fmt::format(" {} {},", column.name, sql::format_type(column.type));
    }
    for (Type type : result.parameter_types) types += (types.empty() ? "" : ", ") + sql::format_type(type);
    return types.empty() ? text : fmt::format("{} ({})", text, types);
  });
}

}  // namespace redquel::planner
