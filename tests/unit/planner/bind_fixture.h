#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "planner/bind/bind.h"
#include "sql/catalog/catalog.h"
#include "sql/error.h"

namespace redquel::planner {

/// The catalog of the binder's tests, as these statements would make it:
///   CREATE TABLE t(a int PRIMARY KEY, b text NOT NULL, c numeric(10,2), d date);
///   CREATE TABLE u(id bigint, a int, name varchar(20), flag boolean);                   -- hidden key
///   CREATE TABLE k(x int, y int, z int, PRIMARY KEY (x, y));
///   CREATE TABLE s(id serial PRIMARY KEY, v text DEFAULT 'dflt', n int CHECK (n > 0));
///   CREATE TABLE ida(id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, v int, e varchar(10) UNIQUE);
sql::CatalogSnapshot test_catalog();

/// The plan of a statement as text, behind an empty line. A SqlError as "SQLSTATE@offset message | detail | hint".
std::string bound(const std::string& statement, std::vector<sql::Type> parameter_types = {});
/// The statement's logical plan as the rules before `rule` leave it, a line "=>", and what this rule makes of it. A plan that the rule leaves
/// alone has "=> unchanged". `rows`: sizes of tables by name.
std::string rewritten(const std::string& rule, const std::string& statement, const std::map<std::string, double>& rows = {});
/// The result's columns, and the parameters' types where there are any: "ok: a integer, b text, (bigint)"; errors as
/// above.
std::string described(const std::string& statement, std::vector<sql::Type> parameter_types = {});

}  // namespace redquel::planner
