#pragma once

#include <optional>
#include <string>
#include <vector>

#include "parser/ast.h"
#include "sql/catalog/catalog.h"

namespace redquel::executor {

/// The options of CREATE SEQUENCE, ALTER SEQUENCE and GENERATED AS IDENTITY beside the definition itself.
struct SequenceOptions {
  std::optional<std::int64_t> restart;              // RESTART WITH
  bool restart_at_start = false;                    // RESTART
  std::optional<parser::ast::QualifiedName> owner;  // OWNED BY; one part: none
  std::optional<std::string> name;                  // SEQUENCE NAME
};

/// Applies options to a definition (`is_new`: with all defaults for what is not said). Throws 22023 and 42601 in PostgreSQL's words.
SequenceOptions apply_sequence_options(const std::vector<parser::ast::Option>& options, bool is_new, sql::SequenceDef& sequence);

/// Gives a sequence that is there another integer type; bounds that were the old type's become the new one's. 22023.
void change_sequence_type(sql::SequenceDef&, sql::Type);

}  // namespace redquel::executor
