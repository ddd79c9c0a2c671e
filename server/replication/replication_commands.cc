#include "server/replication/replication_commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "server/ascii.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::server {

namespace {

struct Word {
  enum class Kind { kName, kQuotedName, kText, kSign, kEnd } kind = Kind::kEnd;
  std::string text;
};

sql::SqlError syntax_error() { return sql::SqlError(sqlstate::kSyntaxError, "syntax error in a replication command"); }

/// Splits a command into words.
class CommandReader {
 public:
  explicit CommandReader(std::string_view text) : text_(text) { advance(); }

  const Word& word() const { return word_; }
  bool is_end() const { return word_.kind == Word::Kind::kEnd || (word_.kind == Word::Kind::kSign && word_.text == ";"); }
  /// Takes the keyword if it is next.
  bool take(std::string_view keyword) {
    if (word_.kind != Word::Kind::kName || lower_case(word_.text) != keyword) return false;
    advance();
    return true;
  }
  bool take_sign(std::string_view sign) {
    if (word_.kind != Word::Kind::kSign || word_.text != sign) return false;
    advance();
    return true;
  }
  void require(std::string_view keyword) {
    if (!take(keyword)) throw syntax_error();
  }
  void require_sign(std::string_view sign) {
    if (!take_sign(sign)) throw syntax_error();
  }
  void require_end() const {
    if (!is_end()) throw syntax_error();
  }
  std::string name() {
    if (word_.kind != Word::Kind::kName && word_.kind != Word::Kind::kQuotedName) throw syntax_error();
    std::string name = word_.kind == Word::Kind::kName ? lower_case(word_.text) : word_.text;
    advance();
    return name;
  }
  /// A name, number or text.
  std::string value() {
    if (word_.kind == Word::Kind::kSign || word_.kind == Word::Kind::kEnd) throw syntax_error();
    std::string value = word_.text;
    advance();
    return value;
  }

 private:
  static bool is_part_of_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' || c == '/' || (c & 0x80) != 0;
  }
  std::string quoted(char quote) {
    std::string text;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] != quote) {
        text.push_back(text_[at_]);
      } else if (at_ + 1 < text_.size() && text_[at_ + 1] == quote) {
        text.push_back(text_[at_++]);
      } else {
        ++at_;
        return text;
      }
    }
    throw syntax_error();
  }
  void advance() {
    while (at_ < text_.size() && sql::is_blank(text_[at_])) ++at_;
    if (at_ == text_.size()) {
      word_ = {};
    } else if (text_[at_] == '"') {
      word_ = {Word::Kind::kQuotedName, quoted('"')};
    } else if (text_[at_] == '\'') {
      word_ = {Word::Kind::kText, quoted('\'')};
    } else if (is_part_of_name(text_[at_])) {
      const std::size_t begin = at_;
      while (at_ < text_.size() && is_part_of_name(text_[at_])) ++at_;
      word_ = {Word::Kind::kName, std::string(text_.substr(begin, at_ - begin))};
    } else {
      word_ = {Word::Kind::kSign, std::string(1, text_[at_++])};
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Word word_;
};

executor::Lsn parse_lsn(const std::string& text) {
  const std::size_t slash = text.find('/');
  std::uint32_t high = 0, low = 0;
  const auto parse = [](std::string_view digits, std::uint32_t& number) {
    const auto [stop, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
    return !digits.empty() && failure == std::errc() && stop == digits.data() + digits.size();
  };
  const bool is_lsn = slash != std::string::npos && parse(std::string_view(text).substr(0, slash), high) && parse(std::string_view(text).substr(slash + 1), low);
  if (!is_lsn) throw syntax_error();
  return static_cast<executor::Lsn>(high) << 32 | low;
}

/// ( name [value], … )
std::vector<std::pair<std::string, std::string>> read_options(CommandReader& reader) {
  std::vector<std::pair<std::string, std::string>> options;
  if (!reader.take_sign("(")) return options;
  while (!reader.take_sign(")")) {
    std::string name = reader.name();
    const bool has_value = reader.word().kind != Word::Kind::kSign;
    std::string value = has_value ? reader.value() : "true";
    options.emplace_back(std::move(name), std::move(value));
    if (!reader.take_sign(",") && !(reader.word().kind == Word::Kind::kSign && reader.word().text == ")")) throw syntax_error();
  }
  return options;
}

CreateReplicationSlot read_create(CommandReader& reader) {
  using Snapshot = CreateReplicationSlot::Snapshot;
  CreateReplicationSlot create;
  create.slot = reader.name();
  if (reader.take("temporary")) throw sql::not_supported("a temporary replication slot");
  if (reader.take("physical")) throw sql::not_supported("physical replication");
  reader.require("logical");
  const std::string plugin = reader.name();
  if (plugin != "pgoutput") throw sql::not_supported(fmt::format("the output plugin \"{}\"", plugin));
  for (const auto& [name, value] : read_options(reader)) {
    if (name == "snapshot") {
      if (value == "export") create.snapshot = Snapshot::kExport;
      else if (value == "use") create.snapshot = Snapshot::kUse;
      else if (value == "nothing") create.snapshot = Snapshot::kNothing;
      else throw sql::SqlError(sqlstate::kSyntaxError, fmt::format("unrecognized value for CREATE_REPLICATION_SLOT option \"snapshot\": \"{}\"", value));
    } else if (name == "two_phase") {
      if (value != "false" && value != "off" && value != "0") throw sql::not_supported("two_phase of a replication slot");
    } else {
      throw sql::SqlError(sqlstate::kSyntaxError, fmt::format("unrecognized option: {}", name));
    }
  }
  // The syntax of older clients.
  while (!reader.is_end()) {
    if (reader.take("export_snapshot")) create.snapshot = Snapshot::kExport;
    else if (reader.take("noexport_snapshot")) create.snapshot = Snapshot::kNothing;
    else if (reader.take("use_snapshot")) create.snapshot = Snapshot::kUse;
    else if (reader.take("two_phase")) throw sql::not_supported("two_phase of a replication slot");
    else throw syntax_error();
  }
  return create;
}

StartReplication read_start(CommandReader& reader) {
  StartReplication start;
  if (!reader.take("slot")) throw sql::not_supported("physical replication");
  start.slot = reader.name();
  if (!reader.take("logical")) throw sql::not_supported("physical replication");
  start.from = parse_lsn(reader.value());
  start.options = read_options(reader);
  return start;
}

}  // namespace

std::optional<ReplicationCommand> parse_replication_command(std::string_view text) {
  CommandReader reader(text);
  std::optional<ReplicationCommand> command;
  if (reader.take("identify_system")) {
    command = IdentifySystem{};
  } else if (reader.take("create_replication_slot")) {
    command = read_create(reader);
  } else if (reader.take("drop_replication_slot")) {
    DropReplicationSlot drop{.slot = reader.name()};
    drop.waits = reader.take("wait");
    command = std::move(drop);
  } else if (reader.take("start_replication")) {
    command = read_start(reader);
  } else if (reader.take("base_backup") || reader.take("timeline_history") || reader.take("read_replication_slot")) {
    throw sql::not_supported("physical replication");
  }
  if (command) reader.require_end();
  return command;
}

}  // namespace redquel::server
