#pragma once

#include <boost/asio/awaitable.hpp>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "executor/engine/engine.h"
#include "sql/memory_account.h"

namespace redquel::server {

namespace asio = boost::asio;

/// The place of a statement's text in the client's message, so that positions count from the beginning of the message.
struct SourceText {
  std::shared_ptr<const std::string> text;  // the whole of it, UTF-8; may be null
  std::uint32_t base = 0;                   // byte offset of the statement
};

/// A statement between Parse and Execute, or PREPARE and EXECUTE. Immutable and shared by its portals.
struct PreparedStatement {
  SourceText source;
  /// Null: the text had no statement.
  std::shared_ptr<const parser::ast::Statement> statement;
  /// Null for what the server itself runs (and for the empty statement).
  executor::PreparedPtr plan;
  std::vector<sql::Type> parameter_types;
  std::vector<executor::OutputColumn> columns;
  bool returns_rows = false;
  bool binary = false;  // FETCH from a BINARY cursor
  bool from_sql = false;          // PREPARE
  std::int64_t prepared_at = 0;   // µs since 2000-01-01 UTC
  mutable std::int64_t runs = 0;  // by EXECUTE
  /// RowDescription of all columns in text and in binary form; empty: not made yet.
  mutable std::array<std::string, 2> description;
  mutable std::shared_ptr<const sql::HeldBytes> memory;  // of the session; null where it is not kept
};

/// Returns the part of the session's memory that a kept statement takes: its text and about as much for each of tree and plan.
inline std::shared_ptr<const sql::HeldBytes> statement_memory(sql::SessionMemory& memory, std::size_t text_bytes) {
  constexpr std::size_t kLeast = 1024;
  return std::make_shared<const sql::HeldBytes>(memory, kLeast + 3 * text_bytes);
}

using PreparedStatementPtr = std::shared_ptr<const PreparedStatement>;
/// By name; the unnamed one is "".
using PreparedStatements = std::unordered_map<std::string, PreparedStatementPtr>;

/// Lets the engine plan a statement. `text`: the statement's own, its tree's offsets count from there. Returns `before` if that has the
/// same plan; then there must be no source. Throws what Engine::prepare throws.
asio::awaitable<PreparedStatementPtr> plan_statement(executor::Engine& engine, SourceText source, std::string text,
                                                     std::shared_ptr<const parser::ast::Statement> statement,
                                                     executor::DeclaredParameters parameters,
                                                     executor::SessionState& state, PreparedStatementPtr before = nullptr);

}  // namespace redquel::server
