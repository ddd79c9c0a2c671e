#include "sql/error.h"

#include <utility>

#include "sql/sqlstate.h"

namespace redquel::sql {

SqlError::SqlError(std::string_view sqlstate, std::string message) : std::runtime_error(std::move(message)), sqlstate_(sqlstate) {}
SqlError::SqlError(std::string_view sqlstate, const char* message) : std::runtime_error(message), sqlstate_(sqlstate) {}
SqlError::SqlError(const SqlError& other) = default;
SqlError::SqlError(SqlError&& other) noexcept = default;
SqlError& SqlError::operator=(const SqlError& other) = default;
SqlError& SqlError::operator=(SqlError&& other) noexcept = default;
SqlError::~SqlError() = default;

SqlError&& SqlError::detail(std::string text) && { return detail_ = std::move(text), std::move(*this); }
SqlError&& SqlError::hint(std::string text) && { return hint_ = std::move(text), std::move(*this); }
SqlError&& SqlError::context(std::string text) && { return context_ = std::move(text), std::move(*this); }
SqlError&& SqlError::at(std::optional<std::uint32_t> byte_offset) && { return set_position(byte_offset), std::move(*this); }
SqlError&& SqlError::schema(std::string name) && { return schema_ = std::move(name), std::move(*this); }
SqlError&& SqlError::table(std::string name) && { return table_ = std::move(name), std::move(*this); }
SqlError&& SqlError::column(std::string name) && { return column_ = std::move(name), std::move(*this); }
SqlError&& SqlError::data_type(std::string name) && { return data_type_ = std::move(name), std::move(*this); }
SqlError&& SqlError::constraint(std::string name) && { return constraint_ = std::move(name), std::move(*this); }
SqlError&& SqlError::routine(std::string_view name) && { return routine_ = name, std::move(*this); }

SqlError SqlError::without_position() const {
  SqlError error = *this;
  error.position_.reset();
  return error;
}

SqlError not_supported(std::string_view construct, std::optional<std::uint32_t> position) {
  return SqlError(sqlstate::kFeatureNotSupported, std::string(construct) + " is not supported by redquel").at(position);
}

SqlError in_read_only_transaction(std::string_view command) {
  return SqlError(sqlstate::kReadOnlyTransaction, "cannot execute " + std::string(command) + " in a read-only transaction");
}

}  // namespace redquel::sql
