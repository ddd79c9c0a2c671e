#pragma once

#include <string>
#include <string_view>

#include "sql/error.h"

namespace redquel::executor {

/// An error in the body of a routine, whose position counts from the body's begin.
class BodyError : public sql::SqlError {
 public:
  BodyError(const sql::SqlError& error, std::string_view body) : SqlError(error), body_(body) {}

  /// Returns the error with its place in the statement, where the body stands once as a literal. Otherwise it has no position.
  sql::SqlError in_statement(std::string_view statement) const;

 private:
  std::string body_;
};

}  // namespace redquel::executor
