#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sql/discovery/key_shapes.h"

namespace redquel::sql {

/// The sample of one key.
struct KeySample {
  std::string key;
  std::string type;         // as TYPE names it: hash, string, set, zset, list, stream
  bool is_whole = true;     // all parts are here
  bool expires = false;
  std::size_t bytes = 0;    // as MEMORY USAGE estimates them; 0: unknown
  /// hash, and entries of a stream: field and value; zset: member and score; set, list: element and nothing; string: nothing and the
  /// value.
  std::vector<std::pair<std::string, std::string>> parts;
};

struct SampledShape {
  KeyShape shape;
  std::vector<KeySample> keys;
};

struct ProposedColumn {
  std::string name, type;
  std::vector<std::pair<std::string, std::string>> options;  // field, format, role, absent
  bool not_null = false;
  std::string doubt;
  std::string parent = {};  // the table of rows with whose deletion these rows go; empty: none
};

struct ProposedIndex {
  std::string method;  // set, zset, lookup, list
  std::vector<std::string> columns;
  std::string key;
  std::string doubt;
  std::string member = {};  // what stands in it for a row, where that is not the row's key as it is
};

/// A foreign table in the words of CREATE FOREIGN TABLE … SERVER redis (docs/discovery.md).
struct ProposedTable {
  std::string name, layout, key, counter;
  std::string plain_name = {};  // of a view of the same rows, if the name needs quotes; empty: there is none
  std::string database;  // the logical one, where it is not the session's
  std::string parts = {};  // option format of layout string with several columns: json; empty: none
  std::string comment = {};  // COMMENT ON FOREIGN TABLE: the framework that wrote the keys; empty: none
  std::string maintained = "redquel";  // who keeps the indexes when SQL writes: redquel or application
  std::vector<ProposedColumn> columns;
  std::vector<ProposedIndex> indexes;
  std::size_t keys = 0;
  bool expires = false;
  std::vector<std::string> examples, doubts;
  std::string pattern = {}, type = {};  // of the keys: a pattern of SCAN MATCH, as TYPE names it
};

/// A view over the tables of a framework. In its query `{job}` stands for the table `job`.
struct ProposedView {
  std::string name, query, comment;
};

/// The tables of a framework whose keys were recognised, and views that give them meaning.
struct ProposedFramework {
  std::string name;     // BullMQ
  std::string schema;   // bullmq: the schema of its tables, or what their names begin with in another schema
  std::string comment;  // a sentence for people
  std::vector<ProposedTable> tables;
  std::vector<ProposedView> views;
  std::vector<std::string> examples;  // keys
};

/// Keys that became no table.
struct LeftOut {
  std::string pattern;  // of SCAN MATCH: what reads them
  std::string type;     // as TYPE names it; empty: unknown
  std::size_t keys = 0;
  std::string example, reason;
};
/// Returns a line for people.
std::string left_out_text(const LeftOut& keys);

struct Proposal {
  std::vector<ProposedFramework> frameworks;
  std::vector<ProposedTable> tables;
  std::vector<LeftOut> left_out;
  std::vector<std::string> notes;  // about keys of several tables
};

/// Tables and indexes that hold the keys of these shapes, by name. Pure: what it says depends on the samples alone.
Proposal propose_tables(std::vector<SampledShape> shapes);

/// The statements that make one table and its indexes, each ending in ";". `schema`: not empty, the tables' schema.
std::vector<std::string> definition_statements(const ProposedTable& table, const std::string& schema);
/// The statements that make the tables and views of a framework, each ending in ";", with its name as comment of the views. `schema` empty:
/// they are `bullmq.job` in a schema that the first statement makes; else `bullmq_job` in that schema.
std::vector<std::string> definition_statements(const ProposedFramework& framework, const std::string& schema);
/// The statements that drop what these have made, each ending in ";". Schemas stay.
std::vector<std::string> drop_statements(const ProposedTable& table, const std::string& schema);
std::vector<std::string> drop_statements(const ProposedFramework& framework, const std::string& schema);
/// The name that a table or view of a framework gets in a given schema.
std::string framework_object_name(const ProposedFramework& framework, const std::string& name, const std::string& schema);
/// Everything for a person to review: statements, counts, examples and doubts as comments.
std::string proposal_text(const Proposal& proposal, const std::string& schema);

}  // namespace redquel::sql
