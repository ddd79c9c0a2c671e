#include <fmt/format.h>

#include <algorithm>

#include "sql/discovery/proposal.h"
#include "sql/functions/quote.h"
#include "sql/types/shown_text.h"

namespace redquel::sql {
namespace {

using Options = std::vector<std::pair<std::string, std::string>>;

/// Returns the text as an SQL literal. Characters that a terminal cannot show are escapes.
std::string quote_literal(std::string_view text) {
  std::string quoted;
  bool has_escapes = false;
  while (!text.empty()) {
    const std::size_t size = shown_character(text);
    if (size == 0) {
      quoted += fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
    } else {
      if (text.front() == '\'' || text.front() == '\\') quoted += text.front();
      quoted += text.substr(0, size);
    }
    has_escapes = has_escapes || size == 0 || text.front() == '\\';
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return (has_escapes ? "E'" : "'") + quoted + "'";
}

std::string options_text(const Options& options) {
  std::string text;
  for (const auto& [name, value] : options) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, quote_literal(value));
  return "OPTIONS (" + text + ")";
}

std::string qualified(const std::string& schema, const std::string& name) {
  return (schema.empty() ? "" : quote_identifier(schema) + ".") + quote_identifier(name);
}

std::string comment_text(std::string_view text) { return shown_text(text, 200); }

std::string create_table(const ProposedTable& table, const std::string& schema) {
  std::string text = fmt::format("CREATE FOREIGN TABLE {} (", qualified(schema, table.name));
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const ProposedColumn& column = table.columns[i];
    text += fmt::format("{}\n  {} {}", i == 0 ? "" : ",", quote_identifier(column.name), column.type);
    Options options = column.options;
    if (!column.parent.empty()) options.emplace_back("parent", quote_identifier(column.parent));
    if (!options.empty()) text += " " + options_text(options);
    if (column.not_null) text += " NOT NULL";
  }
  Options options = {{"layout", table.layout}, {"key", table.key}};
  if (!table.parts.empty()) options.emplace_back("format", table.parts);
  if (!table.database.empty()) options.emplace_back("database", table.database);
  if (!table.counter.empty()) options.emplace_back("counter", table.counter);
  return text + "\n) SERVER redis " + options_text(options) + ";";
}

std::string create_index(const ProposedTable& table, const ProposedIndex& index, const std::string& schema) {
  std::string columns;
  for (const std::string& column : index.columns) columns += (columns.empty() ? "" : ", ") + quote_identifier(column);
  std::string options = "key = " + quote_literal(index.key);
  if (!index.member.empty()) options += ", member = " + quote_literal(index.member);
  // Ohm takes back what it has noted of a row, so every writer must keep it.
  if (table.maintained != "redquel" && table.layout != "ohm") options += ", maintained = " + quote_literal(table.maintained);
  return fmt::format("CREATE INDEX ON {} USING {} ({}) WITH ({});", qualified(schema, table.name), index.method, columns, options);
}

/// Puts the names of tables into the query of a view.
std::string view_query(const ProposedFramework& framework, const ProposedView& view, const std::string& schema) {
  std::string text;
  std::string_view rest = view.query;
  for (std::size_t open; (open = rest.find('{')) != std::string_view::npos;) {
    const std::size_t close = rest.find('}', open);
    const std::string table(rest.substr(open + 1, close - open - 1));
    text += rest.substr(0, open);
    text += qualified(schema.empty() ? framework.schema : schema, framework_object_name(framework, table, schema));
    rest.remove_prefix(close + 1);
  }
  return text.append(rest);
}

}  // namespace

std::string framework_object_name(const ProposedFramework& framework, const std::string& name, const std::string& schema) {
  return schema.empty() ? name : framework.schema + "_" + name;
}

std::string left_out_text(const LeftOut& keys) {
  const std::string type = keys.type.empty() ? "" : keys.type + ", ";
  return fmt::format("{}: {}{} key{}, for example {} ({})", shown_text(keys.pattern, 100), type, keys.keys, keys.keys == 1 ? "" : "s",
                     shown_text(keys.example, 100), keys.reason);
}

std::vector<std::string> definition_statements(const ProposedFramework& framework, const std::string& schema) {
  const std::string& place = schema.empty() ? framework.schema : schema;
  std::vector<std::string> statements;
  if (schema.empty()) statements.push_back(fmt::format("CREATE SCHEMA IF NOT EXISTS {};", quote_identifier(place)));
  for (ProposedTable table : framework.tables) {
    table.name = framework_object_name(framework, table.name, schema);
    for (std::string& statement : definition_statements(table, place)) statements.push_back(std::move(statement));
  }
  for (const ProposedView& view : framework.views) {
    const std::string name = qualified(place, framework_object_name(framework, view.name, schema));
    statements.push_back(fmt::format("CREATE VIEW {} AS\n{};", name, view_query(framework, view, schema)));
    statements.push_back(fmt::format("COMMENT ON VIEW {} IS {};", name, quote_literal(view.comment)));
  }
  return statements;
}

std::vector<std::string> definition_statements(const ProposedTable& table, const std::string& schema) {
  std::vector<std::string> statements = {create_table(table, schema)};
  for (const ProposedIndex& index : table.indexes) statements.push_back(create_index(table, index, schema));
  if (!table.comment.empty()) statements.push_back(fmt::format("COMMENT ON FOREIGN TABLE {} IS {};", qualified(schema, table.name), quote_literal(table.comment)));
  if (!table.plain_name.empty()) {
    statements.push_back(fmt::format("CREATE VIEW {} AS SELECT * FROM {};", qualified(schema, table.plain_name), qualified(schema, table.name)));
  }
  return statements;
}

std::vector<std::string> drop_statements(const ProposedTable& table, const std::string& schema) {
  std::vector<std::string> statements;
  if (!table.plain_name.empty()) statements.push_back(fmt::format("DROP VIEW {};", qualified(schema, table.plain_name)));
  statements.push_back(fmt::format("DROP FOREIGN TABLE {};", qualified(schema, table.name)));
  return statements;
}

std::vector<std::string> drop_statements(const ProposedFramework& framework, const std::string& schema) {
  const std::string& place = schema.empty() ? framework.schema : schema;
  const auto name = [&](const std::string& object) { return qualified(place, framework_object_name(framework, object, schema)); };
  std::vector<std::string> statements;
  for (const ProposedView& view : framework.views) statements.insert(statements.begin(), fmt::format("DROP VIEW {};", name(view.name)));
  for (const ProposedTable& table : framework.tables) statements.insert(statements.end(), fmt::format("DROP FOREIGN TABLE {};", name(table.name)));
  return statements;
}

std::string proposal_text(const Proposal& proposal, const std::string& schema) {
  const auto listed = [](const std::vector<std::string>& keys) {
    std::string examples;
    for (const std::string& example : keys) examples += (examples.empty() ? "" : ", ") + comment_text(example);
    return examples;
  };
  std::string text;
  for (const ProposedFramework& framework : proposal.frameworks) {
    text += fmt::format("-- {}, for example {}\n", comment_text(framework.comment), listed(framework.examples));
    for (const std::string& statement : definition_statements(framework, schema)) text += statement + "\n";
    text += "\n";
  }
  for (const ProposedTable& table : proposal.tables) {
    const std::string examples = listed(table.examples);
    text += fmt::format("-- {}: {} keys, for example {}\n", comment_text(table.name), table.keys, examples);
    if (table.expires) text += "-- some of its keys expire\n";
    for (const std::string& doubt : table.doubts) text += "-- note: " + comment_text(doubt) + "\n";
    for (const ProposedColumn& column : table.columns) {
      if (!column.doubt.empty()) text += fmt::format("-- unsure: {}: {}\n", comment_text(column.name), comment_text(column.doubt));
    }
    for (const ProposedIndex& index : table.indexes) {
      if (!index.doubt.empty()) text += fmt::format("-- unsure: {}: {}\n", comment_text(index.key), comment_text(index.doubt));
    }
    for (const std::string& statement : definition_statements(table, schema)) text += statement + "\n";
    text += "\n";
  }
  constexpr std::size_t kShown = 30;
  for (const std::string& note : proposal.notes) text += "-- note: " + comment_text(note) + "\n";
  if (!proposal.left_out.empty()) text += "-- left out:\n";
  for (std::size_t i = 0; i < std::min(proposal.left_out.size(), kShown); ++i) text += "--   " + comment_text(left_out_text(proposal.left_out[i])) + "\n";
  if (proposal.left_out.size() > kShown) text += fmt::format("--   and {} more\n", proposal.left_out.size() - kShown);
  return text;
}

}  // namespace redquel::sql
