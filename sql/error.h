#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace redquel::sql {

/// An error that a user caused or must hear of; it ends the statement and becomes an ErrorResponse.
/// `what()` is the primary message in PostgreSQL's words. Bugs are assertions, never SqlErrors. sqlstate.h names the SQLSTATEs,
/// name_errors.h and value_errors.h make the frequent errors.
///
/// Bodies are in error.cc: a thousand places throw one, and none of them is in a hurry.
class SqlError : public std::runtime_error {
 public:
  SqlError(std::string_view sqlstate, std::string message);
  SqlError(std::string_view sqlstate, const char* message);
  SqlError(const SqlError& other);
  SqlError(SqlError&& other) noexcept;
  SqlError& operator=(const SqlError& other);
  SqlError& operator=(SqlError&& other) noexcept;
  ~SqlError() override;

  SqlError&& detail(std::string text) &&;
  SqlError&& hint(std::string text) &&;
  /// Adds the place in the data: "JSON data, line 1: …".
  SqlError&& context(std::string text) &&;
  /// Byte offset into the statement's text (0-based); the server turns it into a character position (1-based).
  SqlError&& at(std::optional<std::uint32_t> byte_offset) &&;
  SqlError&& schema(std::string name) &&;
  SqlError&& table(std::string name) &&;
  SqlError&& column(std::string name) &&;
  SqlError&& data_type(std::string name) &&;
  SqlError&& constraint(std::string name) &&;
  /// The function of PostgreSQL's source that raises the error, where drivers decide by it. A literal: it is not copied.
  SqlError&& routine(std::string_view name) &&;

  /// Keeps a position that is already set: the innermost one is the most exact.
  void set_position(std::optional<std::uint32_t> byte_offset) {
    if (!position_) position_ = byte_offset;
  }

  /// Returns the error without a position: for a text that is not the client's, or an error that has no position in PostgreSQL.
  SqlError without_position() const;

  const std::string& sqlstate() const { return sqlstate_; }
  std::string message() const { return what(); }
  const std::string& detail() const { return detail_; }
  const std::string& hint() const { return hint_; }
  const std::string& context() const { return context_; }
  std::optional<std::uint32_t> position() const { return position_; }
  const std::string& schema() const { return schema_; }
  const std::string& table() const { return table_; }
  const std::string& column() const { return column_; }
  const std::string& data_type() const { return data_type_; }
  const std::string& constraint() const { return constraint_; }
  std::string_view routine() const { return routine_; }

 private:
  std::string sqlstate_, detail_, hint_, context_, schema_, table_, column_, data_type_, constraint_;
  std::string_view routine_;
  std::optional<std::uint32_t> position_;
};

/// 0A000 with the construct's name: what redquel does not build (yet), never silently accepted.
SqlError not_supported(std::string_view construct, std::optional<std::uint32_t> position = {});

/// 25006: a command that writes in a transaction that only reads.
SqlError in_read_only_transaction(std::string_view command);

}  // namespace redquel::sql
