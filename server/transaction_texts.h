#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>

#include "parser/ast.h"

namespace redquel::server {

/// BEGIN, COMMIT and their kin by the texts that they came in: programs send the same few again and again, and to parse one takes
/// longer than to run it. Of one thread.
class TransactionTexts {
 public:
  /// Null: not known.
  std::shared_ptr<const parser::ast::Statement> find(std::string_view text) const {
    const auto found = statements_.find(text);
    return found == statements_.end() ? nullptr : found->second;
  }

  /// Takes the statement that is the whole text, if it is of this kind.
  void remember(const std::string& text, const std::shared_ptr<const parser::ast::Statement>& statement) {
    if (text.size() > kMostBytes || !std::holds_alternative<parser::ast::Transaction>(statement->node)) return;
    if (statements_.size() >= kMostTexts) statements_.clear();
    statements_.emplace(text, statement);
  }

 private:
  static constexpr std::size_t kMostBytes = 80, kMostTexts = 200;
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_map<std::string, std::shared_ptr<const parser::ast::Statement>, Hash, std::equal_to<>> statements_;
};

}  // namespace redquel::server
