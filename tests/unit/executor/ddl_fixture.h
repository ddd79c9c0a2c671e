#pragma once

#include <string>
#include <variant>
#include <vector>

#include "executor/ddl/ddl.h"
#include "executor/storage/catalog_store.h"
#include "executor/storage/index_checker.h"
#include "executor/storage/sequences.h"
#include "parser/parse.h"
#include "tests/unit/executor/storage_fixture.h"

namespace redquel::executor {

/// Runs definition statements as SQL text against a real Redis.
class DdlTest : public StorageTest {
 protected:
  DdlTest() {
    session_.notice = [this](std::string_view severity, const sql::SqlError& notice) {
      if (severity == "DEBUG") return;
      notices_.push_back(std::string(severity) + " " + notice.sqlstate() + ": " + notice.message() +
                         (notice.detail().empty() ? "" : " | " + notice.detail()));
    };
  }

  void run_sql(const std::string& text) {
    for (const parser::ParsedStatement& parsed : parser::parse(text)) {
      await(std::visit([&](const auto& node) { return start(node); }, parsed.statement->node));
    }
  }
  /// "" or "SQLSTATE message | detail | hint".
  std::string error(const std::string& text) {
    try {
      run_sql(text);
    } catch (const sql::SqlError& error) {
      std::string shown = error.sqlstate() + " " + error.message();
      if (!error.detail().empty()) shown += " | " + error.detail();
      if (!error.hint().empty()) shown += " | " + error.hint();
      return shown;
    }
    return "";
  }
  std::vector<std::string> take_notices() { return std::exchange(notices_, {}); }

  LoadedCatalog load() { return await(load_catalog(connection_)); }
  std::shared_ptr<const sql::TableDef> table(const std::string& name, const std::string& schema = "public") {
    return load().snapshot->find_table(schema, name, {});
  }
  WriteStatus insert(const std::string& name, const std::vector<std::vector<sql::Datum>>& rows) {
    WriteUnit unit;
    const auto target = table(name);
    for (const auto& row : rows) unit.insert_row(target, row);
    return await(unit.execute(connection_));
  }
  /// Returns the index checker's findings, a line each.
  std::vector<std::string> check(const std::string& name) {
    const LoadedCatalog loaded = load();
    std::vector<std::string> lines;
    for (const IndexDifference& found : await(check_indexes(connection_, loaded.snapshot, loaded.snapshot->find_table("public", name, {})))) {
      lines.push_back(found.structure + " " + found.key + " " + found.id + " stored=" + found.stored.value_or("-") +
                      " expected=" + found.expected.value_or("-"));
    }
    std::sort(lines.begin(), lines.end());
    return lines;
  }

  SessionState session_;
  DdlContext context_{connection_, connection_, session_, connection_};

 private:
  template <typename Node>
  boost::asio::awaitable<void> start(const Node& node) {
    if constexpr (requires { run(context_, node); }) {
      return run(context_, node);
    } else {
      throw std::logic_error("no definition statement");
    }
  }

  std::vector<std::string> notices_;
};

}  // namespace redquel::executor
