#pragma once

#include <span>
#include <string>
#include <vector>

#include "planner/bind/query_level.h"
#include "planner/bind/relation_lookup.h"
#include "sql/functions/resolve.h"

namespace redquel::planner {

struct SqlFunctionCall;

struct BoundQuery;

/// A FROM item while it is bound: its rows, its names, and the values of items to its left that it needs (LATERAL).
struct FromPart {
  LogicalPtr plan;
  Namespace names;
  CorrelationFrame lateral;
};

/// Binds a FROM clause into one plan and leaves its names in the level. Tables, subqueries and functions in
/// from_binder.cc, joins in join_binder.cc, samples in sample_binder.cc.
class FromBinder {
 public:
  FromBinder(BindState& state, QueryLevel& level) : state_(state), level_(level) {}

  /// No items: one row without columns.
  LogicalPtr bind(const std::vector<parser::ast::FromItem>& items);
  /// `target` joined with the items; the level has the target's names already (UPDATE … FROM, DELETE … USING).
  LogicalPtr bind_beside(LogicalPtr target, const std::vector<parser::ast::FromItem>& items);
  /// MERGE: the source's rows, each with those of `target` that ON says; kLeft: also those without one. The level has the target's
  /// names already.
  LogicalPtr bind_merge(LogicalPtr target, const parser::ast::FromItem& source, const parser::ast::Expression& on, JoinKind kind);

 private:
  FromPart bind_item(const parser::ast::FromItem&);
  FromPart item(const parser::ast::TableRef&, std::uint32_t offset);
  FromPart item(const parser::ast::SubqueryRef&, std::uint32_t offset);
  FromPart item(const parser::ast::FunctionRef&, std::uint32_t offset);
  FromPart item(const parser::ast::Join&, std::uint32_t offset);
  FromPart item(const parser::ast::TableSample&, std::uint32_t offset);
  /// One call in FROM, its arguments converted.
  struct BoundCall {
    std::optional<sql::ResolvedTableFunction> function;  // none: the one argument is the value
    std::vector<sql::ExpressionPtr> arguments;
    std::string column_name;
    std::vector<sql::ResultColumn> columns = {};  // of a function that gives records
    std::vector<sql::Oid> domains = {};           // that these columns are declared as; 0: none
    sql::ExpressionPtr row = nullptr;             // of a composite type, which says what the records are
    std::shared_ptr<const SqlFunctionCall> own = nullptr;  // of a function in LANGUAGE sql, whose body is run
  };
  /// A function in LANGUAGE sql among several of ROWS FROM; nullopt: it is none.
  std::optional<BoundCall> bind_own_call(const parser::ast::FunctionItem&);
  BoundCall bind_call(const parser::ast::FunctionItem&);
  /// The columns of a function that gives records: those of its column definition list, or of the row it is given. 42601.
  void define_record(BoundCall& call, const std::vector<parser::ast::RecordColumn>& written, std::optional<std::uint32_t> offset);
  /// The rows of that function, tested where domains say so.
  LogicalPtr test_records(LogicalPtr rows, const BoundCall& call);
  /// One call, or one for each array of unnest(a, b).
  std::vector<BoundCall> bind_calls(const parser::ast::FunctionItem&);
  /// Subqueries among the values are answered below the item: what they need of the items to the left arrives through slots.
  void pass_outer_columns(std::vector<sql::ExpressionPtr> waiting, CorrelationFrame& lateral);
  /// Values that an item's rows are computed from: columns of items to the left, and subqueries, arrive through slots. Returns the rows of these
  /// subqueries, whose columns are in `subqueries`.
  LogicalPtr pass_values(std::span<sql::ExpressionPtr* const> values, CorrelationFrame& lateral, CorrelationFrame& subqueries);
  /// All calls of one FROM item.
  std::vector<BoundCall> bind_all_calls(const parser::ast::FunctionRef&);
  /// The names of the item's columns. `expands_row`: the fields of its first column stand in its place.
  std::shared_ptr<Relation> name_columns(const parser::ast::FunctionRef&, const std::vector<LogicalColumn>& columns, const std::string& column_name,
                                         bool expands_row);
  LogicalPtr scan_calls(std::vector<BoundCall>, const std::string& alias, bool with_ordinality);
  /// A function in LANGUAGE sql that gives rows; nullopt: it is none.
  std::optional<FromPart> sql_function(const parser::ast::FunctionRef&, std::uint32_t offset);
  FromPart run_sql_function(const parser::ast::FunctionRef&, const SqlFunctionCall&);
  void refuse_call(const parser::ast::FunctionItem&);
  void define_columns(SqlFunctionCall&, const std::vector<parser::ast::RecordColumn>& written, std::optional<std::uint32_t> offset);
  void take_marks(BoundQuery&);
  FoundTable find_from_table(const parser::ast::RelationName&);
  /// A function of one value per row, or of none, as a table of one row.
  LogicalPtr scalar_function(const sql::ExpressionPtr& value, const std::string& name, bool with_ordinality);

  /// The names that USING or NATURAL merges, and the join's own relation with them in front.
  struct Merged {
    std::shared_ptr<Relation> relation;
    std::size_t merged = 0;  // so many leading columns are merged ones
    std::vector<sql::ExpressionPtr> conditions;
  };
  Merged merge_columns(const parser::ast::Join&, JoinKind, const FromPart& left, const FromPart& right);
  FromPart join(JoinKind kind, FromPart left, FromPart right, const sql::ExpressionPtr& condition);
  LogicalPtr plain_join(JoinKind kind, LogicalPtr left, LogicalPtr right, const sql::ExpressionPtr& condition);
  LogicalPtr lateral_join(JoinKind kind, LogicalPtr left, LogicalPtr right, const CorrelationFrame& frame,
                          const sql::ExpressionPtr& condition);

  BindState& state_;
  QueryLevel& level_;
  std::string output_name_;  // how the one OUT parameter of the function is called that is being bound; empty: it has none
};

}  // namespace redquel::planner
