#pragma once

#include <array>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace redquel::executor {

/// The names of a batch's commands, run-length encoded: a pipeline of a thousand HMGETs costs one entry.
/// They travel on with the replies, so that an error can say which command failed.
class CommandNames {
 public:
  void append(std::string_view name);
  void append_all(const CommandNames& others);
  /// Returns the name of the command with this index; "?" past the end.
  std::string_view operator[](std::size_t index) const;

 private:
  struct Run {
    std::array<char, 20> name;
    std::uint8_t length;
    std::size_t count;
  };
  std::vector<Run> runs_;
};

/// The types of arguments of `CommandBatch::add`: text, an integer, or a range of either (one argument per element).
template <typename T>
concept CommandText = std::convertible_to<const T&, std::string_view>;
template <typename T>
concept CommandInteger = std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char>;
template <typename T>
concept CommandArguments =
    !CommandText<T> && std::ranges::sized_range<const T> &&
    (CommandText<std::ranges::range_value_t<const T>> || CommandInteger<std::ranges::range_value_t<const T>>);

/// Redis commands of one round trip, encoded (RESP) as they are added into one contiguous buffer.
///
///   CommandBatch batch;
///   batch.add("HMGET", key, "ename", "city");      // text, integers and ranges of them mix freely
///   batch.begin(2 + n).arg("SINTER").arg(key)…      // when the number of arguments is only known at run time
///
/// A batch must be complete (every begun command has all its arguments) when it is executed.
class CommandBatch {
 public:
  /// One command: its name and arguments. Arguments are binary-safe.
  CommandBatch& append(std::initializer_list<std::string_view> words);

  template <typename... Arguments>
  CommandBatch& add(std::string_view name, const Arguments&... arguments) {
    begin(1 + (std::size_t{0} + ... + argument_count(arguments)));
    arg(name);
    (add_argument(arguments), ...);
    return *this;
  }

  /// One command of which all words but one are encoded already.
  struct Encoded {
    std::string name, before, after;  // `before` holds the name and the command's length
    std::size_t bytes() const { return before.size() + after.size(); }
  };
  CommandBatch& add(const Encoded& command, std::string_view word);
  /// The words of a command before the one that is not known yet, and those behind it.
  static Encoded encoded(std::initializer_list<std::string_view> before, const std::vector<std::string>& after);

  /// Starts a command of `word_count` words, its name included; that many `arg` calls must follow.
  CommandBatch& begin(std::size_t word_count);
  CommandBatch& arg(std::string_view word);
  template <CommandInteger Integer>
  CommandBatch& arg(Integer number) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    return arg(std::string_view(digits, static_cast<std::size_t>(end - digits)));
  }

  /// All commands of another (complete) batch behind those of this one.
  CommandBatch& append_batch(const CommandBatch& other);
  /// Those commands of another (complete) batch that have these indexes (ascending).
  CommandBatch& append_commands(const CommandBatch& other, std::span<const std::size_t> indexes);

  std::size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  /// The encoded commands, as they go over the wire.
  std::string_view bytes() const { return bytes_; }
  const CommandNames& names() const { return names_; }

  /// The commands as a person types them into redis-cli, words that need it quoted: for tests and EXPLAIN ANALYZE.
  std::vector<std::string> texts() const;

  /// The replies are given once replicas have confirmed what the batch wrote, if the connection waits for replicas.
  void await_replicas() { awaits_replicas_ = true; }
  bool awaits_replicas() const { return awaits_replicas_; }

  void reserve(std::size_t bytes) { bytes_.reserve(bytes); }

 private:
  template <CommandText T>
  static std::size_t argument_count(const T&) {
    return 1;
  }
  template <CommandInteger T>
  static std::size_t argument_count(const T&) {
    return 1;
  }
  template <CommandArguments T>
  static std::size_t argument_count(const T& list) {
    return static_cast<std::size_t>(std::ranges::size(list));
  }
  template <CommandText T>
  void add_argument(const T& text) {
    arg(std::string_view(text));
  }
  template <CommandInteger T>
  void add_argument(const T& number) {
    arg(number);
  }
  template <CommandArguments T>
  void add_argument(const T& list) {
    for (const auto& element : list) add_argument(element);
  }

  void append_header(char type, std::size_t number);

  std::string bytes_;
  std::size_t count_ = 0;
  std::size_t missing_words_ = 0;
  bool name_is_next_ = false;
  bool awaits_replicas_ = false;
  CommandNames names_;
};

}  // namespace redquel::executor
