#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "executor/memory/position_map.h"

namespace redquel::executor {

/// A set of members whose texts lie behind each other: many small insertions take little memory, and miss the processor's cache seldom.
class MemberSet {
 public:
  bool empty() const { return ends_.empty(); }
  std::size_t size() const { return ends_.size(); }
  void clear() { *this = {}; }

  void insert(std::string_view member) {
    const auto is_member = [&](std::uint32_t number) { return text(number) == member; };
    if (places_.find(member, is_member) != PositionMap::kNone) return;
    const auto number = static_cast<std::uint32_t>(ends_.size());
    if (number == room_) places_.reserve(room_ = 2 * room_ + kFirstRoom, [&](std::uint32_t of) { return text(of); });
    texts_ += member;
    ends_.push_back(texts_.size());
    places_.set(member, number, is_member, [&](std::uint32_t of) { return text(of); });
  }

  /// Takes one of the members. Not empty before.
  std::string take() {
    const auto number = static_cast<std::uint32_t>(ends_.size() - 1);
    std::string member(text(number));
    places_.erase(member, [&](std::uint32_t of) { return of == number; }, [&](std::uint32_t of) { return text(of); });
    ends_.pop_back();
    texts_.resize(texts_.size() - member.size());
    if (empty()) clear();
    return member;
  }

 private:
  static constexpr std::size_t kFirstRoom = 64;

  std::string_view text(std::uint32_t number) const {
    const std::size_t begin = number == 0 ? 0 : ends_[number - 1];
    return std::string_view(texts_).substr(begin, ends_[number] - begin);
  }

  std::string texts_;
  std::vector<std::size_t> ends_;
  PositionMap places_;  // of numbers
  std::size_t room_ = 0;
};

}  // namespace redquel::executor
