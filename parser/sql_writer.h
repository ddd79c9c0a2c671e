#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parser/ast.h"
#include "parser/deparse.h"

namespace redquel::parser {

/// Appends trees as SQL to a string. Private to the parser; deparse.h is what others use.
class SqlWriter {
 public:
  SqlWriter() = default;
  /// `names` outlives the writer.
  SqlWriter(const QueryNames& names, QueryLayout layout, int indentation = 0) : names_(&names), layout_(layout), indentation_(indentation) {}
  std::string take() { return std::move(out_); }

  // deparse_expression.cc
  void expression(const ast::Expression& expression);
  /// In parentheses unless it is a constant, a name, a call or the like.
  void operand(const ast::Expression& expression);
  void operator_call(const ast::OperatorCall& call);
  void function_call(const ast::FunctionCall& call);
  void sub_link(const ast::SubLink& link);
  void indirection(const std::vector<ast::IndirectionStep>& steps);
  /// An expression of ORDER BY or GROUP BY; laid out: what an output column's number or name stands for.
  void sort_value(const ast::Expression& value);
  void sort_keys(const std::vector<ast::SortKey>& keys);
  void window(const ast::WindowDefinition& window);
  void frame(const ast::WindowFrame& frame);
  void expressions(const ast::Expressions& expressions);

  void column(const ast::ColumnRef& column);
  /// A column's name behind that of its item of FROM.
  void owned_name(const ast::QualifiedName& names, const ast::FromItem* owner);
  void parameter(const ast::ParameterRef& parameter);

  // deparse_view.cc: as pg_get_viewdef() writes
  bool lays_out() const { return layout_ != QueryLayout::kCompact; }
  bool is_plain() const { return layout_ == QueryLayout::kPlain || layout_ == QueryLayout::kLine; }
  /// Gives the items of a query's FROM names that no query around it uses, as PostgreSQL does.
  void name_sources(const std::vector<ast::FromItem>& items);
  void name_source(const ast::FromItem& item);
  /// The name, and those of the columns, that an item is shown with; nullopt: those that it has.
  std::optional<ast::Alias> shown_alias(const ast::FromItem& item, const std::optional<ast::Alias>& written) const;
  void locked_source(const ast::LockingClause& locking, const ast::FromItem& item);
  /// An operand of a function that the SQL standard writes in words: what it is converted to is not shown.
  void unconverted(const ast::Expression& expression);
  void written_expression(const ast::Expression& expression);
  void laid_out_expression(const ast::Expression& expression);
  bool needs_parentheses(const ast::Expression& operand) const;
  /// The type that an operand or argument is converted to without being told; null: none.
  const std::string* implicit_cast(const ast::Expression& expression) const;
  /// A new line for a clause: the indentation changes by `before`, is written with `plus` blanks more, then changes by `after`.
  void line(int before, int after, int plus);

  // deparse_words.cc
  /// Writes a call in the words of the SQL standard: EXTRACT(year FROM d). Returns false if the function has none.
  bool call_in_words(std::string_view function, const std::vector<ast::Argument>& arguments);

  // deparse_type.cc
  void type(const ast::TypeName& type);

  // deparse_query.cc
  void select(const ast::Select& select);
  void with(const ast::WithClause& with);
  void common_table_expression(const ast::CommonTableExpression& expression);
  void statement(const ast::Statement& statement);
  void clause(std::string_view keyword, int plus);
  void select_core(const ast::Select& select, bool names_nothing);
  void set_operand(const ast::Select& select);
  void set_operands(const ast::Select& select, bool names_nothing);
  void from_item(const ast::FromItem& item);
  void from_items(std::string_view keyword, const std::vector<ast::FromItem>& items);
  void join(const ast::Join& join);
  void function_ref(const ast::FunctionRef& range, const ast::FromItem& item);
  void function_item(const ast::FunctionItem&);
  void laid_out_functions(const std::vector<ast::FunctionItem>&);
  void alias(const ast::Alias& alias);
  /// `shown`: names in place of the first columns\' own.
  void record_columns(const std::vector<ast::RecordColumn>& columns, std::span<const std::string> shown = {});
  void group_elements(const std::vector<ast::GroupElement>& elements, bool in_sets = false);
  void targets(const std::vector<ast::Target>& targets, bool names_nothing = false);
  void relation(const ast::RelationName& relation);
  void locking(const ast::LockingClause& locking);
  void lock_strength(ast::LockStrength strength);
  void lock_wait(ast::LockWait wait);

  // deparse_write.cc: the statements that a WITH clause can hold besides SELECT
  void insert(const ast::Insert& insert);
  void update(const ast::Update& update);
  void delete_rows(const ast::Delete& statement);
  void on_conflict(const ast::OnConflict& conflict);
  void assignments(const std::vector<ast::Assignment>& assignments);
  void assignment_target(const ast::AssignmentTarget& target);
  void returning(const std::vector<ast::Target>& targets);
  void begin_write(std::string_view words);
  void end_write();
  void target(const ast::TableRef& table);

  // identifier.cc
  void name(std::string_view name);
  void qualified(const ast::QualifiedName& names);
  void names(const std::vector<std::string>& names);
  void operator_name(const ast::QualifiedName& names);
  void literal(std::string_view text);

  SqlWriter& operator<<(std::string_view text) {
    out_ += text;
    return *this;
  }

  /// `write` for each item, with ", " in between.
  template <typename Items, typename Write>
  void list(const Items& items, Write write) {
    bool first = true;
    for (const auto& item : items) {
      if (!first) out_ += ", ";
      first = false;
      write(item);
    }
  }

 private:
  struct LaidOut;

  std::string out_;
  const QueryNames* names_ = nullptr;
  QueryLayout layout_ = QueryLayout::kCompact;
  int indentation_ = 0;
  const ast::Select* sorted_ = nullptr;  // whose ORDER BY or GROUP BY is written
  const ast::Expression* parent_ = nullptr;  // of the operand that is written
  const ast::Expression* unconverted_ = nullptr;  // whose implicit cast is not shown
  std::map<const ast::FromItem*, std::string> source_names_;  // of the queries around what is written
  std::vector<std::string> used_names_;                       // by them
  bool is_only_row_ = false;  // of INSERT … VALUES
  bool names_nothing_ = false;  // the columns of the next query are not visible by name: aliases that add nothing are left out
};

}  // namespace redquel::parser
