#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace redquel::executor {

/// Member → position of its row: open addressing over 4-byte positions. The members themselves lie in the chunks.
class PositionMap {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  void clear() { *this = {}; }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return places_.capacity() * sizeof(std::uint32_t); }

  /// Returns the place of the member's position; the place holds kNone if the member is new. `is_member(position)` compares.
  template <class IsMember>
  std::uint32_t find(std::string_view member, IsMember is_member) const {
    if (places_.empty()) return kNone;
    for (std::size_t place = first_place(member);; place = next(place)) {
      if (places_[place] == kNone || is_member(places_[place])) return places_[place];
    }
  }

  /// Gives the member this position and returns the one that it had. `member_at(position)` is the text of a member that is here.
  template <class IsMember, class MemberAt>
  std::uint32_t set(std::string_view member, std::uint32_t position, IsMember is_member, MemberAt member_at) {
    if (size_ + size_ / 8 >= places_.size()) grow(member_at);
    for (std::size_t place = first_place(member);; place = next(place)) {
      const std::uint32_t found = places_[place];
      if (found != kNone && !is_member(found)) continue;
      places_[place] = position;
      if (found == kNone) ++size_;
      return found;
    }
  }

  /// Makes room for so many members in all.
  template <class MemberAt>
  void reserve(std::size_t members, MemberAt member_at) {
    const std::size_t places = members + members / kSpareShare + 64;
    if (places > places_.size()) resize(places, member_at);
  }

  /// Forgets a member.
  template <class IsMember, class MemberAt>
  void erase(std::string_view member, IsMember is_member, MemberAt member_at) {
    if (places_.empty()) return;
    std::size_t hole = first_place(member);
    while (places_[hole] != kNone && !is_member(places_[hole])) hole = next(hole);
    if (places_[hole] == kNone) return;
    --size_;
    // Later positions of the same run move up where they may.
    for (std::size_t place = next(hole); places_[place] != kNone; place = next(place)) {
      const std::size_t first = first_place(member_at(places_[place]));
      const bool stays = hole <= place ? hole < first && first <= place : hole < first || first <= place;
      if (stays) continue;
      places_[hole] = places_[place];
      hole = place;
    }
    places_[hole] = kNone;
  }

 private:
  /// One free place for so many members: more of them cost memory, fewer of them comparisons.
  static constexpr std::size_t kSpareShare = 3;

  std::size_t next(std::size_t place) const { return place + 1 == places_.size() ? 0 : place + 1; }

  std::size_t first_place(std::string_view member) const {
    // The upper bits of a product: the table's size need not be a power of two.
    const auto hash = static_cast<std::uint64_t>(std::hash<std::string_view>{}(member));
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::size_t>(static_cast<Wide>(hash) * places_.size() >> 64);
  }

  template <class MemberAt>
  void grow(MemberAt member_at) {
    resize(places_.size() + places_.size() / 4 + 64, member_at);
  }

  template <class MemberAt>
  void resize(std::size_t places, MemberAt member_at) {
    std::vector<std::uint32_t> old(places, kNone);
    old.swap(places_);
    for (const std::uint32_t position : old) {
      if (position == kNone) continue;
      std::size_t place = first_place(member_at(position));
      while (places_[place] != kNone) place = next(place);
      places_[place] = position;
    }
  }

  std::vector<std::uint32_t> places_;
  std::size_t size_ = 0;
};

}  // namespace redquel::executor
