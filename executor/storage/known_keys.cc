#include "executor/storage/known_keys.h"

#include <cstring>
#include <functional>

#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

constexpr std::size_t kKeysPerBlock = 128;
constexpr std::size_t kRecentKeyBytes = 8 << 20;

std::uint64_t hash_of_key(std::string_view key) { return std::hash<std::string_view>()(key); }

}  // namespace

std::optional<bool> KnownKeys::find(std::string_view key) const {
  const std::optional<PositionIndex::Position> place = place_of(key);
  if (!place) return std::nullopt;
  return marks_[*place];
}

bool KnownKeys::set(std::string_view key, bool mark) {
  if (const std::optional<PositionIndex::Position> place = place_of(key)) {
    marks_[*place] = mark;
    return false;
  }
  const std::size_t position = marks_.size();
  if (position >= 0xFFFFFFFE) throw sql::SqlError(sqlstate::kProgramLimitExceeded, "too many keys in one statement");
  if (position > 0 && position % kKeysPerBlock == 0) {
    recent_bytes_ += open_.size();
    recent_.push_back(std::make_shared<const std::string>(std::exchange(open_, {})));
    if (recent_bytes_ > kRecentKeyBytes) spill();
  }
  const auto length = static_cast<std::uint32_t>(key.size());
  open_.append(reinterpret_cast<const char*>(&length), sizeof(length));
  open_ += key;
  marks_.push_back(mark);
  places_.insert(hash_of_key(key), static_cast<PositionIndex::Position>(position));
  return true;
}

std::optional<PositionIndex::Position> KnownKeys::place_of(std::string_view key) const {
  return places_.find(hash_of_key(key), [&](PositionIndex::Position position) { return is_at(position, key); });
}

bool KnownKeys::is_at(PositionIndex::Position position, std::string_view key) const {
  const std::size_t block = position / kKeysPerBlock;
  const bool is_open = block == filed_.size() + recent_.size();
  const Bytes kept = is_open ? nullptr : read(block);
  const char* at = is_open ? open_.data() : kept->data();
  std::uint32_t length = 0;
  for (std::size_t before = position % kKeysPerBlock;; --before) {
    std::memcpy(&length, at, sizeof(length));
    at += sizeof(length);
    if (before == 0) return std::string_view(at, length) == key;
    at += length;
  }
}

KnownKeys::Bytes KnownKeys::read(std::size_t block) const {
  if (block >= filed_.size()) return recent_[block - filed_.size()];
  for (const auto& [cached, bytes] : cache_) {
    if (bytes && cached == block) return bytes;
  }
  auto& oldest = cache_[next_cached_++ % cache_.size()];
  oldest = {block, file_->read(filed_[block])};
  return oldest.second;
}

/// The older half of what is in memory goes to the file.
void KnownKeys::spill() {
  if (!file_) file_ = std::make_shared<SpillFile>();
  while (recent_bytes_ > kRecentKeyBytes / 2) {
    filed_.push_back(file_->write(*recent_.front()));
    recent_bytes_ -= recent_.front()->size();
    recent_.pop_front();
  }
}

}  // namespace redquel::executor
