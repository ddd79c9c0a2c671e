#pragma once

#include <optional>

#include "sql/datum.h"
#include "sql/functions/key_comparison.h"
#include "sql/session_settings.h"
#include "sql/types/type.h"

namespace redquel::executor {

/// A column of a foreign key and the column that it refers to. Converts values of either into equal values of the
/// other. Values are not NULL. The settings are those of the session, because its time zone decides whether a timestamp
/// is equal to a timestamptz.
class KeyColumn {
 public:
  KeyColumn(sql::Type referring, sql::Type referenced);

  /// Returns nullopt if no value of the referenced type is equal. Throws errors of PostgreSQL's implicit cast.
  std::optional<sql::Datum> as_referenced(const sql::Datum& referring, const sql::SessionSettings& settings) const;
  /// Returns nullopt if no value of the referring type is equal.
  std::optional<sql::Datum> as_referring(const sql::Datum& referenced, const sql::SessionSettings& settings) const;
  /// Returns a referring or referenced value in the type in which both are compared.
  sql::Datum referring_as_compared(const sql::Datum& value, const sql::SessionSettings& settings) const;
  sql::Datum referenced_as_compared(const sql::Datum& value, const sql::SessionSettings& settings) const;
  /// Returns the value that ON UPDATE CASCADE gives the column. Throws errors of the assignment.
  sql::Datum assigned(const sql::Datum& referenced, const sql::SessionSettings& settings) const;

 private:
  sql::Type referring_, referenced_;
  sql::KeyComparison comparison_;
};

}  // namespace redquel::executor
