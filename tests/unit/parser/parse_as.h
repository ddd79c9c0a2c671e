#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "parser/parse.h"

namespace redquel::parser {

/// The one statement of a text.
template <typename Kind>
Kind parse_as(const std::string& text) {
  std::vector<ParsedStatement> statements = parse(text);
  EXPECT_EQ(statements.size(), 1U) << text;
  return std::move(std::get<Kind>(statements.at(0).statement->node));
}

}  // namespace redquel::parser
