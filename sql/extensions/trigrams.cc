#include "sql/extensions/trigrams.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "sql/ascii.h"
#include "sql/interrupts.h"

namespace redquel::sql {
namespace {

/// A trigram at its place in a text.
struct PlacedTrigram {
  std::string trigram;
  bool begins_word = false, ends_word = false;
};

std::vector<PlacedTrigram> placed_trigrams(std::string_view text) {
  constexpr std::size_t kSize = 3;
  std::vector<PlacedTrigram> placed;
  for (std::size_t at = 0; at < text.size();) {
    if (!is_alphanumeric(text[at])) {
      ++at;
      continue;
    }
    const std::size_t begin = at;
    while (at < text.size() && is_alphanumeric(text[at])) ++at;
    const std::string word = "  " + lower_case(text.substr(begin, at - begin)) + " ";
    const std::size_t first = placed.size();
    for (std::size_t i = 0; i + kSize <= word.size(); ++i) placed.push_back({word.substr(i, kSize)});
    placed[first].begins_word = true;
    placed.back().ends_word = true;
  }
  return placed;
}

float share(std::size_t common, std::size_t of_a, std::size_t of_b) {
  return static_cast<float>(common) / static_cast<float>(of_a + of_b - common);
}

/// The search for the part of a text that is most similar to the wanted trigrams. The part grows to the right; at each place where it may
/// end, its left end moves to where the similarity is greatest.
class ExtentSearch {
 public:
  ExtentSearch(const std::vector<std::string>& wanted, std::vector<PlacedTrigram> text, TrigramExtent extent)
      : text_(std::move(text)), wanted_count_(wanted.size()), whole_words_(extent == TrigramExtent::kWholeWords) {
    std::map<std::string_view, std::size_t> numbers;
    for (const PlacedTrigram& placed : text_) {
      const auto [entry, is_new] = numbers.try_emplace(placed.trigram, numbers.size());
      if (is_new) is_wanted_.push_back(std::ranges::binary_search(wanted, placed.trigram));
      numbers_.push_back(entry->second);
    }
    last_place_.assign(is_wanted_.size(), kNowhere);
  }

  float greatest() {
    if (whole_words_) begin_ = 0;
    float greatest = 0;
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
      check_interrupts();
      const std::size_t number = numbers_[i];
      if (begin_ != kNowhere || is_wanted_[number]) {
        if (last_place_[number] == kNowhere) ++distinct_, common_ += is_wanted_[number] ? 1 : 0;
        last_place_[number] = i;
      }
      const bool may_end = whole_words_ ? text_[i].ends_word : static_cast<bool>(is_wanted_[number]);
      if (may_end) greatest = std::max(greatest, end_at(i));
    }
    return greatest;
  }

 private:
  static constexpr std::size_t kNowhere = std::string::npos;

  /// Returns the greatest similarity of a part that ends here, and begins the part there.
  float end_at(std::size_t end) {
    if (begin_ == kNowhere) begin_ = end, distinct_ = 1;
    const std::size_t old_begin = begin_;
    float best = share(common_, wanted_count_, distinct_);
    std::size_t common = common_, distinct = distinct_;
    for (std::size_t begin = old_begin; begin <= end; ++begin) {
      const bool may_begin = !whole_words_ || text_[begin].begins_word;
      const float similarity = may_begin ? share(common, wanted_count_, distinct) : 0;
      if (similarity > best) {
        best = similarity;
        begin_ = begin;
        common_ = common;
        distinct_ = distinct;
      }
      // Without the trigram at `begin`, unless the part has it further right, too.
      const std::size_t number = numbers_[begin];
      if (last_place_[number] == begin) --distinct, common -= is_wanted_[number] ? 1 : 0;
    }
    for (std::size_t begin = old_begin; begin < begin_; ++begin) {
      if (last_place_[numbers_[begin]] == begin) last_place_[numbers_[begin]] = kNowhere;
    }
    return best;
  }

  std::vector<PlacedTrigram> text_;
  std::size_t wanted_count_;
  bool whole_words_;
  std::vector<bool> is_wanted_;            // by the number of a trigram
  std::vector<std::size_t> numbers_;       // of the trigrams of the text
  std::vector<std::size_t> last_place_;    // of a trigram in the part
  std::size_t begin_ = kNowhere;           // of the part
  std::size_t common_ = 0, distinct_ = 0;  // trigrams of the part
};

}  // namespace

std::vector<std::string> trigrams_of(std::string_view text) {
  std::vector<std::string> trigrams;
  for (PlacedTrigram& placed : placed_trigrams(text)) trigrams.push_back(std::move(placed.trigram));
  std::ranges::sort(trigrams);
  const auto repeated = std::ranges::unique(trigrams);
  trigrams.erase(repeated.begin(), repeated.end());
  return trigrams;
}

float trigram_similarity(std::string_view a, std::string_view b) {
  const std::vector<std::string> of_a = trigrams_of(a), of_b = trigrams_of(b);
  if (of_a.empty() || of_b.empty()) return 0;
  std::vector<std::string> common;
  std::ranges::set_intersection(of_a, of_b, std::back_inserter(common));
  return share(common.size(), of_a.size(), of_b.size());
}

float trigram_word_similarity(std::string_view a, std::string_view b, TrigramExtent extent) {
  return ExtentSearch(trigrams_of(a), placed_trigrams(b), extent).greatest();
}

}  // namespace redquel::sql
