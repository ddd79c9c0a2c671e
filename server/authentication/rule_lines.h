#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace redquel::server {

/// A word of pg_hba.conf or pg_ident.conf.
struct RuleWord {
  std::string text;
  bool is_quoted = false;  // its first character is a quote: never a keyword

  bool is_keyword(std::string_view keyword) const { return !is_quoted && text == keyword; }
};

/// Words with commas between them.
using RuleField = std::vector<RuleWord>;

/// A line with at least one field, or with an error. Lines that a backslash continues are one line.
struct RuleLine {
  std::size_t number = 0;
  std::vector<RuleField> fields;
  std::string text;
  std::string error;  // empty: none
};

/// Returns the content of a file. Throws std::system_error.
using RuleFileReader = std::function<std::string(const std::filesystem::path& file)>;
/// Reads a file of the machine, up to 1 MiB of it.
std::string read_rule_file(const std::filesystem::path& file);

/// Cuts a text into lines, fields and words as PostgreSQL 15 does (hba.c, tokenize_auth_file). The words of a file replace `@file`; its
/// name is relative to the folder of `file`.
std::vector<RuleLine> split_rule_lines(std::string_view text, const std::filesystem::path& file, const RuleFileReader& read);

}  // namespace redquel::server
