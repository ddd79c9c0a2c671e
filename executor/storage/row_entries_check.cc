#include "executor/storage/row_entries_check.h"

#include <cstdlib>
#include <string_view>
#include <unordered_map>

#include "sql/error.h"

namespace redquel::executor {

bool same_score(std::string_view a, std::string_view b) {
  return a == b || std::strtod(std::string(a).c_str(), nullptr) == std::strtod(std::string(b).c_str(), nullptr);
}

/// The questions about each key, for several rows together.
class RowEntriesCheck::Questions {
 public:
  /// An element that the row should have.
  void add(const sql::StructureElement& element, std::size_t row) {
    const auto [found, is_new] = numbers_.try_emplace(element.key, asked_.size());
    if (is_new) asked_.push_back({element.form, element.key, {}, {}, {}});
    Asked& asked = asked_[found->second];
    asked.elements.push_back(element.name);
    asked.expected.push_back(element.value);
    asked.rows.push_back(row);
  }

  CommandBatch commands() const {
    CommandBatch batch;
    for (const Asked& asked : asked_) batch.add(asked.form->look_many, asked.key, asked.elements);
    return batch;
  }

  /// Marks rows that were not answered as expected.
  void judge(const Replies& replies, std::vector<bool>& is_suspect) const {
    for (std::size_t index = 0; index < asked_.size(); ++index) {
      const Asked& asked = asked_[index];
      const std::span<const Reply> answers = replies[index].children();  // none: an error, of a key of another type
      for (std::size_t number = 0; number < asked.rows.size(); ++number) {
        const bool is_right = number < answers.size() && is_expected(*asked.form, answers[number], asked.expected[number]);
        if (!is_right) is_suspect[asked.rows[number]] = true;
      }
    }
  }

 private:
  struct Asked {
    const sql::ElementForm* form;
    std::string_view key;
    std::vector<std::string_view> elements, expected;
    std::vector<std::size_t> rows;
  };

  static bool is_expected(const sql::ElementForm& form, const Reply& answer, std::string_view expected) {
    if (&form == &sql::kSetForm) return answer.kind == Reply::Kind::integer && answer.integer == 1;
    if (!answer.is_text()) return false;
    return &form == &sql::kZsetForm ? same_score(answer.text, expected) : answer.text == expected;
  }

  std::vector<Asked> asked_;
  std::unordered_map<std::string_view, std::size_t> numbers_;
};

RowEntriesCheck::RowEntriesCheck(RedisClient& client, std::shared_ptr<const sql::TableDef> table)
    : client_(client), rows_(table), encoder_(encoder_of(table)), entries_(encoder_->structures().size()) {}

void RowEntriesCheck::ask_for(const RowImage& image, const Words& words, std::size_t row, Questions& questions) {
  questions.add({&sql::kZsetForm, encoder_->all_rows(), image.member, image.score}, row);
  for (std::size_t number = 0; number < encoder_->structures().size(); ++number) {
    const RowEncoder::StructureKeys& structure = encoder_->structures()[number];
    const auto entry = RowEncoder::entry(words, image, number);
    if (is_null(entry.first)) continue;
    for (const sql::StructureElement& element : RowEncoder::elements(structure, image, entry)) {
      if (!element.lists_value) ++entries_[number];
      if (structure.structure.readable) questions.add(element, row);  // else an index that is being built
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
