// string_agg, bool_and, bool_or, every.

#include "sql/functions/characters.h"
#include "sql/functions/families.h"
#include "sql/functions/group_states.h"
#include "sql/growing_text.h"
#include "sql/interrupts.h"

namespace redquel::sql {
namespace {

template <bool conjunction>
struct Truth {
  bool value = conjunction;
  bool seen = false;
  void add(bool operand) {
    value = conjunction ? value && operand : value || operand;
    seen = true;
  }
  std::optional<bool> result() const { return seen ? std::optional(value) : std::nullopt; }
};

/// string_agg(value, delimiter): NULL values are left out, the delimiter of the first one is not used.
class Joiner final : public Aggregator {
 public:
  explicit Joiner(Type result) : result_(result) {}

  void update(std::span<const ColumnPtr> arguments, std::span<const std::uint32_t> groups, std::size_t group_count,
              const EvaluationContext&) override {
    texts_.resize(group_count);
    const lift::Reader<std::string_view> values(arguments, 0), delimiters(arguments, 1);
    for (std::size_t row = 0; row < groups.size(); ++row) {
      if (arguments[0]->is_null(row)) continue;
      std::optional<std::string>& text = texts_[groups[row]];
      if (!text) {
        text.emplace();
      } else if (!arguments[1]->is_null(row)) {
        append(*text, delimiters.get(row));
      }
      append(*text, values.get(row));
    }
  }

  ColumnPtr finish(std::size_t group_count, const EvaluationContext&) override {
    texts_.resize(group_count);
    Column column(result_);
    column.reserve(group_count);
    for (const std::optional<std::string>& text : texts_) {
      if (text) {
        column.append(*text);
      } else {
        column.append_null();
      }
    }
    return std::make_shared<const Column>(std::move(column));
  }

  std::size_t memory() const override { return texts_.capacity() * sizeof(texts_[0]) + bytes_; }

 private:
  void append(std::string& text, std::string_view part) {
    check_text_size(text.size() + part.size());
    make_room(text, part.size());
    text += part;
    bytes_ += part.size();
    meter_.add(part.size());
  }

  Type result_;
  WorkMeter meter_;
  std::vector<std::optional<std::string>> texts_;
  std::size_t bytes_ = 0;
};

std::unique_ptr<Aggregator> make_joiner(std::span<const Type>, Type result) { return std::make_unique<Joiner>(result); }

}  // namespace

std::vector<AggregateFunction> text_and_boolean_aggregates() {
  return {
      {"string_agg", {oid::kText, oid::kText}, oid::kText, make_joiner},
      {"string_agg", {oid::kBytea, oid::kBytea}, oid::kBytea, make_joiner},
      aggregate<bool, Truth<true>>("bool_and", kBool, kBool),
      aggregate<bool, Truth<false>>("bool_or", kBool, kBool),
      aggregate<bool, Truth<true>>("every", kBool, kBool),
  };
}

}  // namespace redquel::sql
