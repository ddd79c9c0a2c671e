#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace redquel::executor {

/// Places in a list, found by the hash of their contents. It keeps 32 bits of each hash and not the contents, so that a million of them
/// need 16 MB; the caller checks each place. Several places may have one hash.
class PositionIndex {
 public:
  using Position = std::uint32_t;

  std::size_t size() const { return size_; }

  void insert(std::uint64_t hash, Position position) {
    if (4 * (size_ + 1) > 3 * slots_.size()) grow();
    put({tag_of(hash), position});
    ++size_;
  }

  /// It must be there.
  void erase(std::uint64_t hash, Position position) {
    std::size_t hole = *slot_of(hash, position);
    // Entries behind the hole that would be looked for before it move up.
    for (std::size_t at = next(hole); slots_[at].position != kFree; at = next(at)) {
      if (distance(home(slots_[at].tag), at) < distance(hole, at)) continue;
      slots_[hole] = slots_[at];
      hole = at;
    }
    slots_[hole].position = kFree;
    --size_;
  }

  /// It must be there.
  void replace(std::uint64_t hash, Position before, Position now) { slots_[*slot_of(hash, before)].position = now; }

  /// The first place with this hash that `is_it` accepts.
  template <class Predicate>
  std::optional<Position> find(std::uint64_t hash, Predicate is_it) const {
    if (slots_.empty()) return std::nullopt;
    const std::uint32_t tag = tag_of(hash);
    for (std::size_t at = home(tag); slots_[at].position != kFree; at = next(at)) {
      if (slots_[at].tag == tag && is_it(slots_[at].position)) return slots_[at].position;
    }
    return std::nullopt;
  }

 private:
  static constexpr Position kFree = 0xFFFFFFFF;
  static constexpr unsigned kLeastBits = 4;
  struct Slot {
    std::uint32_t tag = 0;
    Position position = kFree;
  };

  static std::uint32_t tag_of(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32); }
  /// The first slot of a tag: by its upper bits, so that a larger table needs nothing but the tags.
  std::size_t home(std::uint32_t tag) const { return tag >> (32 - bits_); }
  std::size_t next(std::size_t at) const { return (at + 1) & (slots_.size() - 1); }
  std::size_t distance(std::size_t from, std::size_t to) const { return (to - from) & (slots_.size() - 1); }

  std::optional<std::size_t> slot_of(std::uint64_t hash, Position position) const {
    const std::uint32_t tag = tag_of(hash);
    for (std::size_t at = home(tag); slots_[at].position != kFree; at = next(at)) {
      if (slots_[at].tag == tag && slots_[at].position == position) return at;
    }
    return std::nullopt;
  }

  void put(Slot slot) {
    std::size_t at = home(slot.tag);
    while (slots_[at].position != kFree) at = next(at);
    slots_[at] = slot;
  }

  void grow() {
    bits_ = slots_.empty() ? kLeastBits : bits_ + 1;
    std::vector<Slot> old(std::size_t{1} << bits_);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.position != kFree) put(slot);
    }
  }

  std::vector<Slot> slots_;  // none, or a power of two
  unsigned bits_ = 0;
  std::size_t size_ = 0;
};

}  // namespace redquel::executor
