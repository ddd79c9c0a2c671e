#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "parser/ast.h"

namespace redquel::planner {

/// The options of one COPY, checked (manual, COPY: Parameters).
struct CopyOptions {
  enum class Format : std::uint8_t { kText, kCsv, kBinary };
  enum class Header : std::uint8_t { kNone, kSkip, kMatch };
  /// FORCE_QUOTE (a, b): names; FORCE_QUOTE *: all.
  struct ColumnList {
    bool all = false;
    std::vector<std::string> names;
  };

  Format format = Format::kText;
  char delimiter = '\t';
  std::string null_text = "\\N";
  Header header = Header::kNone;
  char quote = '"', escape = '"';
  std::optional<ColumnList> force_quote, force_not_null, force_null;
  std::string encoding;  // as it was written; empty: the client's
  std::uint32_t encoding_offset = 0;

  bool is_binary() const { return format == Format::kBinary; }
  bool is_csv() const { return format == Format::kCsv; }
};

/// Both syntaxes. Throws as PostgreSQL's ProcessCopyOptions does: 42601 for unknown and doubled options, 22023, 0A000 and 42601 for
/// values that do not go together.
CopyOptions check_copy_options(const std::vector<parser::ast::Option>& options, bool from);

}  // namespace redquel::planner
