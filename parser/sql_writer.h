#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "parser/ast.h"

namespace redquel::parser {

/// Appends trees as SQL to a string. Private to the parser; deparse.h is what others use.
class SqlWriter {
 public:
  std::string take() { return std::move(out_); }

  // deparse_expression.cc
  void expression(const ast::Expression& expression);
  /// In parentheses unless it is a constant, a name, a call or the like.
  void operand(const ast::Expression& expression);
  void operator_call(const ast::OperatorCall& call);
  void function_call(const ast::FunctionCall& call);
  void sub_link(const ast::SubLink& link);
  void indirection(const std::vector<ast::IndirectionStep>& steps);
  void sort_keys(const std::vector<ast::SortKey>& keys);
  void window(const ast::WindowDefinition& window);
  void frame(const ast::WindowFrame& frame);
  void expressions(const ast::Expressions& expressions);

  // deparse_type.cc
  void type(const ast::TypeName& type);

  // deparse_query.cc
  void select(const ast::Select& select);
  void with(const ast::WithClause& with);
  void common_table_expression(const ast::CommonTableExpression& expression);
  void statement(const ast::Statement& statement);
  void select_core(const ast::Select& select);
  void set_operand(const ast::Select& select);
  void from_item(const ast::FromItem& item);
  void join(const ast::Join& join);
  void function_ref(const ast::FunctionRef& range);
  void alias(const ast::Alias& alias);
  void record_columns(const std::vector<ast::RecordColumn>& columns);
  void group_elements(const std::vector<ast::GroupElement>& elements);
  void targets(const std::vector<ast::Target>& targets);
  void relation(const ast::RelationName& relation);
  void locking(const ast::LockingClause& locking);

  // deparse_write.cc: the statements that a WITH clause can hold besides SELECT
  void insert(const ast::Insert& insert);
  void update(const ast::Update& update);
  void delete_rows(const ast::Delete& statement);
  void on_conflict(const ast::OnConflict& conflict);
  void assignments(const std::vector<ast::Assignment>& assignments);
  void assignment_target(const ast::AssignmentTarget& target);
  void returning(const std::vector<ast::Target>& targets);

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
  std::string out_;
};

}  // namespace redquel::parser
