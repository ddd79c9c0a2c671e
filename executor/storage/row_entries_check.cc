#include "executor/storage/row_entries_check.h"

#include <cstdlib>
#include <string_view>
#include <unordered_map>

#include "sql/error.h"

namespace redquel::executor {

using sql::Structure;

bool same_score(std::string_view a, std::string_view b) {
  return a == b || std::strtod(std::string(a).c_str(), nullptr) == std::strtod(std::string(b).c_str(), nullptr);
}

/// The questions about each key, for several rows together.
class RowEntriesCheck::Questions {
 public:
  enum class Kind { kMembers, kScores, kFields };

  /// Element of the key that the row should have, and with which score or value.
  void add(Kind kind, std::string_view key, std::string_view element, std::string_view expected, std::size_t row) {
    const auto [found, is_new] = numbers_.try_emplace(key, asked_.size());
    if (is_new) asked_.push_back({kind, key, {}, {}, {}});
    Asked& asked = asked_[found->second];
    asked.elements.push_back(element);
    asked.expected.push_back(expected);
    asked.rows.push_back(row);
  }

  CommandBatch commands() const {
    CommandBatch batch;
    for (const Asked& asked : asked_) {
      const char* command = asked.kind == Kind::kMembers ? "SMISMEMBER" : asked.kind == Kind::kScores ? "ZMSCORE" : "HMGET";
      batch.add(command, asked.key, asked.elements);
    }
    return batch;
  }

  /// Marks rows that were not answered as expected.
  void judge(const Replies& replies, std::vector<bool>& is_suspect) const {
    for (std::size_t index = 0; index < asked_.size(); ++index) {
      const Asked& asked = asked_[index];
      const std::span<const Reply> answers = replies[index].children();  // none: an error, of a key of another type
      for (std::size_t number = 0; number < asked.rows.size(); ++number) {
        const bool is_right = number < answers.size() && is_expected(asked.kind, answers[number], asked.expected[number]);
        if (!is_right) is_suspect[asked.rows[number]] = true;
      }
    }
  }

 private:
  struct Asked {
    Kind kind;
    std::string_view key;
    std::vector<std::string_view> elements, expected;
    std::vector<std::size_t> rows;
  };

  static bool is_expected(Kind kind, const Reply& answer, std::string_view expected) {
    if (kind == Kind::kMembers) return answer.kind == Reply::Kind::integer && answer.integer == 1;
    if (!answer.is_text()) return false;
    return kind == Kind::kScores ? same_score(answer.text, expected) : answer.text == expected;
  }

  std::vector<Asked> asked_;
  std::unordered_map<std::string_view, std::size_t> numbers_;
};

RowEntriesCheck::RowEntriesCheck(RedisClient& client, std::shared_ptr<const sql::TableDef> table)
    : client_(client), rows_(table), encoder_(encoder_of(table)), entries_(encoder_->structures().size()) {}

void RowEntriesCheck::ask_for(const RowImage& image, const Words& words, std::size_t row, Questions& questions) {
  using Kind = Questions::Kind;
  questions.add(Kind::kScores, encoder_->all_rows(), image.member, image.score, row);
  for (std::size_t number = 0; number < encoder_->structures().size(); ++number) {
    const RowEncoder::StructureKeys& structure = encoder_->structures()[number];
    const auto [first, second] = RowEncoder::entry(words, image, number);
    if (is_null(first)) continue;
    ++entries_[number];
    if (!structure.structure.readable) continue;  // an index that is being built
    switch (structure.structure.kind) {
      case Structure::Kind::kSets:
        questions.add(Kind::kMembers, first, RowEncoder::member_in(structure, image), {}, row);
        questions.add(Kind::kMembers, structure.key, second, {}, row);
        break;
      case Structure::Kind::kNulls:
        questions.add(Kind::kMembers, structure.key, image.member, {}, row);
        break;
      case Structure::Kind::kZset:
        questions.add(Kind::kScores, structure.key, first, second, row);
        break;
      case Structure::Kind::kUnique:
        questions.add(Kind::kFields, structure.key, first, image.member, row);
        break;
    }
  }
}

asio::awaitable<std::vector<std::string>> RowEntriesCheck::suspects(std::vector<std::string> members) {
  CommandBatch fetch;
  for (const std::string& member : members) rows_.append_fetch(fetch, member);
  const RepliesPtr fetched = co_await client_.execute(std::move(fetch));
  std::vector<bool> is_suspect(members.size());
  Words words;
  Questions questions;
  for (std::size_t row = 0; row < members.size(); ++row) {
    is_suspect[row] = true;
    if ((*fetched)[row].is_error()) continue;
    try {
      const std::optional<std::vector<sql::Datum>> values = rows_.decode(members[row], fetched->array(row));
      if (!values) continue;
      const RowImage image = encoder_->encode(*values, words);
      if (image.member != members[row]) continue;
      ask_for(image, words, row, questions);
    } catch (const sql::SqlError&) {
      continue;
    }
    ++found_rows_;
    is_suspect[row] = false;
  }
  const RepliesPtr answers = co_await client_.execute(questions.commands());
  questions.judge(*answers, is_suspect);
  std::vector<std::string> suspects;
  for (std::size_t row = 0; row < members.size(); ++row) {
    if (is_suspect[row]) suspects.push_back(std::move(members[row]));
  }
  co_return suspects;
}

}  // namespace redquel::executor
