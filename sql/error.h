#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace redquel::sql {

/// An error that a user caused or must hear of; it ends the statement and becomes an ErrorResponse.
/// `what()` is the primary message in PostgreSQL's words. Bugs are assertions, never SqlErrors.
class SqlError : public std::runtime_error {
 public:
  SqlError(std::string_view sqlstate, std::string message) : std::runtime_error(std::move(message)), sqlstate_(sqlstate) {}

  SqlError&& detail(std::string text) && { return detail_ = std::move(text), std::move(*this); }
  SqlError&& hint(std::string text) && { return hint_ = std::move(text), std::move(*this); }
  /// Where in the data it was: "JSON data, line 1: …".
  SqlError&& context(std::string text) && { return context_ = std::move(text), std::move(*this); }
  /// Byte offset into the statement's text (0-based); the server turns it into a character position (1-based).
  SqlError&& at(std::optional<std::uint32_t> byte_offset) && { return set_position(byte_offset), std::move(*this); }
  SqlError&& schema(std::string name) && { return schema_ = std::move(name), std::move(*this); }
  SqlError&& table(std::string name) && { return table_ = std::move(name), std::move(*this); }
  SqlError&& column(std::string name) && { return column_ = std::move(name), std::move(*this); }
  SqlError&& data_type(std::string name) && { return data_type_ = std::move(name), std::move(*this); }
  SqlError&& constraint(std::string name) && { return constraint_ = std::move(name), std::move(*this); }

  /// Keeps a position that is already set: the innermost one is the most exact.
  void set_position(std::optional<std::uint32_t> byte_offset) {
    if (!position_) position_ = byte_offset;
  }

  /// The same error of a text that is not the client's, or where PostgreSQL tells no place.
  SqlError without_position() const {
    SqlError error = *this;
    error.position_.reset();
    return error;
  }

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

 private:
  std::string sqlstate_, detail_, hint_, context_, schema_, table_, column_, data_type_, constraint_;
  std::optional<std::uint32_t> position_;
};

/// 0A000 with the construct's name: what redquel does not build (yet), never silently accepted.
inline SqlError not_supported(std::string_view construct, std::optional<std::uint32_t> position = {}) {
  return SqlError("0A000", std::string(construct) + " is not supported by redquel").at(position);
}

/// 25006: a command that writes in a transaction that only reads.
inline SqlError in_read_only_transaction(std::string_view command) {
  return SqlError("25006", "cannot execute " + std::string(command) + " in a read-only transaction");
}

}  // namespace redquel::sql
