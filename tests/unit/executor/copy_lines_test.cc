#include <gtest/gtest.h>

#include "executor/copy/copy_line_reader.h"
#include "sql/error.h"

namespace redquel::executor {
namespace {

using Lines = std::vector<std::string>;
using planner::CopyOptions;

CopyOptions csv() {
  CopyOptions options;
  options.format = CopyOptions::Format::kCsv;
  options.delimiter = ',';
  options.null_text = "";
  return options;
}

/// The lines of data that come in these pieces.
Lines lines_of(const CopyOptions& options, const std::vector<std::string>& pieces) {
  CopyLineReader reader(options);
  Lines lines;
  const auto take = [&] {
    while (const auto line = reader.next()) lines.emplace_back(*line);
  };
  for (const std::string& piece : pieces) {
    reader.append(piece);
    take();
  }
  reader.end();
  take();
  EXPECT_TRUE(reader.at_end());
  return lines;
}

std::string error_of(const CopyOptions& options, const std::string& data) {
  try {
    lines_of(options, {data});
  } catch (const sql::SqlError& error) {
    return error.sqlstate() + " " + error.message();
  }
  return "";
}

/// The values of one line, NULL in brackets.
std::vector<std::string> values_of(const CopyOptions& options, std::string_view line) {
  std::string scratch;
  std::vector<CopyField> fields;
  if (options.is_csv()) split_csv_line(line, options, scratch, fields);
  else split_text_line(line, options, scratch, fields);
  std::vector<std::string> values;
  for (const CopyField& field : fields) values.push_back(field.is_null ? "[NULL]" : std::string(field.text));
  return values;
}

TEST(CopyLines, EndAtNewlinesWhereverTheDataAreCut) {
  const CopyOptions text;
  EXPECT_EQ(lines_of(text, {"a\tb\nc\td\n"}), (Lines{"a\tb", "c\td"}));
  EXPECT_EQ(lines_of(text, {"a\t", "b", "\nc\td", "\n"}), (Lines{"a\tb", "c\td"}));
  EXPECT_EQ(lines_of(text, {"a\nlast without an end"}), (Lines{"a", "last without an end"}));
  EXPECT_EQ(lines_of(text, {"a\r\nb\r", "\n"}), (Lines{"a", "b"}));
  EXPECT_EQ(lines_of(text, {"a\rb\r"}), (Lines{"a", "b"}));
  EXPECT_EQ(lines_of(text, {}), Lines{});
}

TEST(CopyLines, EndAtTheMarkerOfTheTextFormat) {
  EXPECT_EQ(lines_of(CopyOptions{}, {"a\n\\.\nb\n"}), Lines{"a"});
  EXPECT_EQ(lines_of(CopyOptions{}, {"a\n\\", ".", "\n"}), Lines{"a"});
}

TEST(CopyLines, RefuseEndsOfLinesThatDiffer) {
  EXPECT_EQ(error_of(CopyOptions{}, "a\nb\r\n"), "22P04 literal carriage return found in data");
  EXPECT_EQ(error_of(CopyOptions{}, "a\r\nb\n"), "22P04 literal newline found in data");
  EXPECT_EQ(error_of(csv(), "a\nb\rc\n"), "22P04 unquoted carriage return found in data");
}

TEST(CopyLines, GoOnInsideQuotesOfCsv) {
  EXPECT_EQ(lines_of(csv(), {"1,\"two\nlines\"\n2,x\n"}), (Lines{"1,\"two\nlines\"", "2,x"}));
  EXPECT_EQ(lines_of(csv(), {"1,\"two\n", "lines\"\n"}), Lines{"1,\"two\nlines\""});
}

TEST(CopyFields, ResolveEscapesOfTheTextFormat) {
  const CopyOptions text;
  EXPECT_EQ(values_of(text, "1\t\\N\t"), (std::vector<std::string>{"1", "[NULL]", ""}));
  EXPECT_EQ(values_of(text, "a\\tb\t\\\\\t\\x41\\101"), (std::vector<std::string>{"a\tb", "\\", "AA"}));
}

TEST(CopyFields, ResolveQuotesOfCsv) {
  EXPECT_EQ(values_of(csv(), "1,,\"\",\"a \"\"b\"\"\""), (std::vector<std::string>{"1", "[NULL]", "", "a \"b\""}));
  EXPECT_THROW(values_of(csv(), "1,\"never ends"), sql::SqlError);
}

}  // namespace
}  // namespace redquel::executor
