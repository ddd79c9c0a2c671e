#include "parser/parse.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <memory>
#include <memory_resource>
#include <string>
#include <utility>

#include "parser/convert.h"
#include "parser/deep_stack.h"
#include "parser/grammar_error.h"
#include "parser/scanner_characters.h"
#include "parser/text_shape.h"
#include "sql/error.h"
#include "sql/interrupts.h"
#include "sql/sqlstate.h"
#include "sql/value_errors.h"

/// The one file that calls libpg_query.
namespace redquel::parser {
namespace {

/// Trees up to this depth are parsed on the caller's stack: a level costs libpg_query and protobuf 1 to 3 kB of it.
constexpr std::uint32_t kDepthOnCallersStack = 150;
/// The most memory of a token while its tree is made, see TextShape::tokens.
constexpr std::size_t kTokenBytes = 350;
/// The bytes to which `SET (a, b, …) = source` may expand the tree.
constexpr std::size_t kRowSetBytes = std::size_t{128} << 20;

// --- memory of the protobuf tree: one arena, freed at once ----------------------------------------------------------

struct TreeMemory {
  std::pmr::monotonic_buffer_resource arena;
  std::exception_ptr failure = nullptr;  // no exception passes through C code
};

void* allocate(void* memory, std::size_t size) {
  auto& tree = *static_cast<TreeMemory*>(memory);
  if (tree.failure) return nullptr;
  try {
    sql::note_analysis();
    return tree.arena.allocate(size, alignof(std::max_align_t));
  } catch (...) {
    tree.failure = std::current_exception();
    return nullptr;
  }
}
void release(void*, void*) {}

struct ProtobufResult {
  PgQueryProtobufParseResult result;

  explicit ProtobufResult(const std::string& text) : result(pg_query_parse_protobuf(text.c_str())) {}
  ~ProtobufResult() { pg_query_free_protobuf_parse_result(result); }
  ProtobufResult(const ProtobufResult&) = delete;
  ProtobufResult& operator=(const ProtobufResult&) = delete;
};

// --- the statements' places in the text -----------------------------------------------------------------------------

bool is_white_space(char c) { return is_space(c) || c == '\v'; }

/// Past white space and comments.
std::size_t skip_blank(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    if (is_white_space(text[at])) {
      ++at;
    } else if (text.substr(at, 2) == "--") {
      at = std::min(text.find_first_of("\r\n", at), text.size());
    } else if (text.substr(at, 2) == "/*") {
      std::size_t open = 1;
      at += 2;
      while (at < text.size() && open > 0) {
        const std::string_view two = text.substr(at, 2);
        if (two == "/*") ++open;
        if (two == "*/") --open;
        at += two == "/*" || two == "*/" ? 2 : 1;
      }
    } else {
      break;
    }
  }
  return at;
}

ParsedStatement convert_raw(const PgQuery__RawStmt& raw, std::string_view text) {
  const std::size_t begin = convert_location(raw.stmt_location);
  std::size_t end = raw.stmt_len > 0 ? begin + static_cast<std::size_t>(raw.stmt_len) : text.size();
  const std::size_t first = skip_blank(text, begin);
  while (end > first && is_white_space(text[end - 1])) --end;
  const auto offset = static_cast<std::uint32_t>(first);
  return {std::make_shared<ast::Statement>(convert_statement(raw.stmt, offset)), offset, static_cast<std::uint32_t>(end - first)};
}

std::vector<ParsedStatement> parse_text(const std::string& text) {
  const ProtobufResult parsed(text);
  if (const PgQueryError* error = parsed.result.error; error != nullptr) {
    const std::string_view function = error->funcname != nullptr ? error->funcname : "";
    throw grammar_error(text, error->message, function, error->cursorpos);
  }
  std::array<std::byte, 8192> first_block;
  TreeMemory memory{.arena = std::pmr::monotonic_buffer_resource(first_block.data(), first_block.size())};
  ProtobufCAllocator allocator{allocate, release, &memory};
  const PgQuery__ParseResult* tree = pg_query__parse_result__unpack(
      &allocator, parsed.result.parse_tree.len, reinterpret_cast<const std::uint8_t*>(parsed.result.parse_tree.data));
  if (memory.failure) std::rethrow_exception(memory.failure);
  if (tree == nullptr) throw sql::SqlError(sqlstate::kInternalError, "could not read the parse tree");
  std::vector<ParsedStatement> statements;
  statements.reserve(tree->n_stmts);
  for (std::size_t i = 0; i < tree->n_stmts; ++i) statements.push_back(convert_raw(*tree->stmts[i], text));
  return statements;
}

/// The depth that the text can have, once it is found to be bearable.
std::uint32_t check_limits(std::string_view text, const ParseLimits& limits) {
  const auto too_long = [](std::size_t count, std::string_view unit, std::size_t most) {
    return sql::SqlError(sqlstate::kProgramLimitExceeded, "statement is too long")
        .detail("It has " + std::to_string(count) + " " + std::string(unit) + ", at most " + std::to_string(most) +
                " are allowed.");
  };
  if (text.size() > limits.text_bytes) throw too_long(text.size(), "bytes", limits.text_bytes);
  if (text.find('\0') != std::string_view::npos) {
    throw sql::SqlError(sqlstate::kCharacterNotInRepertoire, "invalid byte sequence for encoding \"UTF8\": 0x00");
  }
  const TextShape shape = measure_shape(text);
  if (shape.tokens > limits.tokens) throw too_long(shape.tokens, "tokens", limits.tokens);
  if (shape.depth > limits.depth) {
    throw sql::stack_depth_exceeded()
        .hint(
            "Increase the configuration parameter \"max_stack_depth\" (currently 2048kB), after ensuring the "
            "platform's stack depth limit is adequate.");
  }
  if (shape.widest_row_set > 1 && shape.widest_row_set * text.size() > kRowSetBytes) {
    throw sql::SqlError(sqlstate::kProgramLimitExceeded, "statement is too long")
        .detail("It assigns " + std::to_string(shape.widest_row_set) + " columns from one source.");
  }
  return shape.depth;
}

/// The select list of a text that is nothing but one `SELECT` of one unnamed target.
ast::ExpressionPtr parse_single_target(const std::string& text) {
  std::vector<ParsedStatement> statements = parse(text);
  ast::Select* select = statements.size() == 1 ? std::get_if<ast::Select>(&statements[0].statement->node) : nullptr;
  const bool single = select != nullptr && select->targets.size() == 1 && select->targets[0].name.empty() &&
                      select->from.empty() && !select->where && select->set_operator == ast::SetOperator::kNone &&
                      select->order_by.empty() && select->group_by.empty() && !select->limit_count && !select->into;
  if (!single) throw sql::SqlError(sqlstate::kSyntaxError, "syntax error");
  return std::move(select->targets[0].value);
}

}  // namespace

std::vector<ParsedStatement> parse(std::string_view text, const ParseLimits& limits) {
  const std::uint32_t depth = check_limits(text, limits);
  const std::string terminated(text);
  if (depth <= kDepthOnCallersStack) return parse_text(terminated);
  std::vector<ParsedStatement> statements;
  run_on_deep_stack([&] { statements = parse_text(terminated); });
  return statements;
}

std::size_t parse_memory(std::string_view text) { return measure_shape(text).tokens * kTokenBytes + 3 * text.size(); }

std::shared_ptr<const ast::Statement> parse_statement(std::string_view text) { return std::move(parse(text).at(0).statement); }

ast::ExpressionPtr parse_expression(std::string_view text) {
  return parse_single_target("SELECT " + std::string(text));
}

ast::TypeName parse_type_name(std::string_view text) {
  std::vector<ParsedStatement> statements = parse("ALTER TABLE t ALTER COLUMN c TYPE " + std::string(text));
  auto* alter = statements.size() == 1 ? std::get_if<ast::AlterTable>(&statements[0].statement->node) : nullptr;
  auto* change = alter != nullptr && alter->commands.size() == 1
                     ? std::get_if<ast::AlterColumnType>(&alter->commands[0])
                     : nullptr;
  if (change == nullptr || !change->collation.empty() || change->using_value) {
    throw sql::SqlError(sqlstate::kSyntaxError, "syntax error");
  }
  return std::move(change->type);
}

}  // namespace redquel::parser
