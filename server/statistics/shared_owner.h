#pragma once

#include <memory>

namespace redquel::server {

/// Remembers which shared pointer was seen last, without keeping its object. Two pointers are the same one if they share their ownership.
class SharedOwner {
 public:
  template <class Object>
  SharedOwner& operator=(const std::shared_ptr<Object>& owner) {
    owner_ = owner;
    return *this;
  }
  /// Returns false for null.
  template <class Object>
  bool is(const std::shared_ptr<Object>& owner) const {
    return owner && !owner_.owner_before(owner) && !owner.owner_before(owner_);
  }

 private:
  std::weak_ptr<const void> owner_;  // its control block is not used again
};

}  // namespace redquel::server
