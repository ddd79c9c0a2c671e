#pragma once

#include <cstddef>
#include <iterator>
#include <type_traits>

namespace redquel::executor {

/// Positions of values for the constructor of a vector, which makes each value in its place.
template <class Make>
class MadeValues {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = std::invoke_result_t<Make, std::size_t>;
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  using reference = value_type;

  MadeValues(std::size_t at, const Make& make) : at_(at), make_(&make) {}
  reference operator*() const { return (*make_)(at_); }
  MadeValues& operator++() {
    ++at_;
    return *this;
  }
  friend bool operator==(const MadeValues& a, const MadeValues& b) { return a.at_ == b.at_; }
  friend difference_type operator-(const MadeValues& a, const MadeValues& b) { return static_cast<difference_type>(a.at_ - b.at_); }

 private:
  std::size_t at_;
  const Make* make_;
};

}  // namespace redquel::executor
