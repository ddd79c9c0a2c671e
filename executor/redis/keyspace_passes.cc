#include "executor/redis/keyspace_passes.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "sql/catalog/key_pattern.h"

namespace redquel::executor {

namespace {

/// Bytes of keys that wait for a walk. One that lags further behind goes on alone.
constexpr std::size_t kMostBytes = std::size_t{8} << 20;
/// The cursor of the begin, and of the end.
constexpr std::string_view kBegin = "0";

/// Returns the place of a cursor in the order in which SCAN goes through the keyspace; 0 for the begin, and for the end.
std::uint64_t position_of(std::string_view cursor) {
  constexpr int kBits = 64;
  std::uint64_t number = 0, reversed = 0;
  std::from_chars(cursor.data(), cursor.data() + cursor.size(), number);
  for (int bit = 0; bit < kBits; ++bit) reversed |= (number >> bit & 1) << (kBits - 1 - bit);
  return reversed;
}

/// Returns what all texts begin with that a pattern of SCAN matches.
std::string beginning_of(std::string_view pattern) {
  std::string beginning;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '*' || pattern[i] == '?' || pattern[i] == '[') break;
    if (pattern[i] == '\\' && i + 1 < pattern.size()) ++i;
    beginning += pattern[i];
  }
  return beginning;
}

}  // namespace

struct KeyspacePasses::Pass {
  std::string cursor{kBegin};
  bool is_stepping = false, is_typed = false;
  std::vector<Walk*> walks;
};

struct KeyspacePasses::State {
  std::mutex mutex;
  std::map<Place, std::weak_ptr<Pass>> passes;
  bool is_in_order = true;  // of the cursors that the server has given
};

KeyspacePasses::KeyspacePasses() : state_(std::make_shared<State>()) {}

std::unique_ptr<KeyspacePasses::Walk> KeyspacePasses::join(const Place& place, WantedKeys wanted) {
  const std::lock_guard lock(state_->mutex);
  std::weak_ptr<Pass>& known = state_->passes[place];
  std::shared_ptr<Pass> pass = state_->is_in_order ? known.lock() : nullptr;
  if (!pass) known = pass = std::make_shared<Pass>();
  return std::make_unique<Walk>(state_, std::move(pass), std::move(wanted));
}

std::unique_ptr<KeyspacePasses::Walk> KeyspacePasses::alone(WantedKeys wanted) {
  return std::make_unique<Walk>(std::make_shared<State>(), std::make_shared<Pass>(), std::move(wanted));
}

KeyspacePasses::Walk::Walk(std::shared_ptr<State> state, std::shared_ptr<Pass> pass, WantedKeys wanted)
    : state_(std::move(state)), pass_(std::move(pass)), wanted_(std::move(wanted)), beginning_(beginning_of(wanted_.pattern)) {
  start_ = position_of(pass_->cursor);
  awaits_step_ = pass_->is_stepping;
  pass_->walks.push_back(this);
}

KeyspacePasses::Walk::~Walk() {
  const std::lock_guard lock(state_->mutex);
  std::erase(pass_->walks, this);
  if (!makes_step_) return;
  pass_->is_stepping = false;
  for (Walk* walk : pass_->walks) walk->awaits_step_ = false;
}

bool KeyspacePasses::Walk::is_over() const {
  const std::lock_guard lock(state_->mutex);
  return has_ended_ && found_.empty();
}

std::optional<KeyspacePasses::Found> KeyspacePasses::Walk::take() {
  const std::lock_guard lock(state_->mutex);
  if (found_.empty()) return std::nullopt;
  Found found = std::move(found_.front());
  found_.pop_front();
  if (found_.empty()) bytes_ = 0;
  return found;
}

std::optional<KeyspacePasses::Step> KeyspacePasses::Walk::begin_step() {
  const std::lock_guard lock(state_->mutex);
  if (has_ended_ || pass_->is_stepping) return std::nullopt;
  pass_->is_stepping = makes_step_ = true;
  std::string_view common = beginning_;
  bool is_one_pattern = true, is_one_type = true;
  for (const Walk* walk : pass_->walks) {
    common = common.substr(0, static_cast<std::size_t>(std::ranges::mismatch(common, walk->beginning_).in1 - common.begin()));
    is_one_pattern = is_one_pattern && walk->wanted_.pattern == wanted_.pattern;
    is_one_type = is_one_type && walk->wanted_.type == wanted_.type;
  }
  std::string pattern = is_one_pattern ? wanted_.pattern : sql::glob_of_text(common) + "*";
  if (pattern == "*") pattern.clear();
  pass_->is_typed = is_one_type;
  return Step{pass_->cursor, std::move(pattern), is_one_type ? wanted_.type : ""};
}

void KeyspacePasses::Walk::end_step(std::string_view cursor, const std::vector<std::string>& keys) {
  const std::lock_guard lock(state_->mutex);
  state_->is_in_order = state_->is_in_order && (cursor == kBegin || position_of(cursor) > position_of(pass_->cursor));
  pass_->is_stepping = makes_step_ = false;
  pass_->cursor = cursor;
  const std::shared_ptr<Pass> pass = pass_;
  std::erase_if(pass->walks, [&](Walk* walk) {
    if (std::exchange(walk->awaits_step_, false)) {
      walk->start_ = position_of(cursor);
    } else {
      walk->take_in(keys, pass->is_typed);
      walk->pass_by(cursor);
    }
    if (walk->has_ended_) return true;
    if (walk->start_ != 0 && !state_->is_in_order) {
      walk->start_ = 0;
      walk->has_wrapped_ = false;
      walk->go_alone(kBegin);
      return true;
    }
    if (walk == this || walk->bytes_ <= kMostBytes) return false;
    walk->go_alone(cursor);
    return true;
  });
}

void KeyspacePasses::Walk::go_alone(std::string_view cursor) {
  pass_ = std::make_shared<Pass>();
  pass_->cursor = cursor;
  pass_->walks.push_back(this);
}

void KeyspacePasses::Walk::take_in(const std::vector<std::string>& keys, bool is_typed) {
  Found found{.keys = {}, .is_typed = is_typed || wanted_.type.empty()};
  for (const std::string& key : keys) {
    if (!key.starts_with(beginning_)) continue;
    bytes_ += sizeof(std::string) + key.size();
    found.keys.push_back(key);
  }
  if (!found.keys.empty()) found_.push_back(std::move(found));
}

void KeyspacePasses::Walk::pass_by(std::string_view cursor) {
  const bool is_at_end = cursor == kBegin;
  has_ended_ = is_at_end ? has_wrapped_ || start_ == 0 : has_wrapped_ && position_of(cursor) >= start_;
  has_wrapped_ = has_wrapped_ || is_at_end;
}

}  // namespace redquel::executor
