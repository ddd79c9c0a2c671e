#pragma once

#include <cstddef>

#include "sql/error.h"

namespace redquel::executor {

/// While it lives, the statements that run are known not to wait.
class Immediate {
 public:
  explicit Immediate(std::size_t& depth) : depth_(depth) { ++depth_; }
  ~Immediate() { --depth_; }
  Immediate(const Immediate&) = delete;
  Immediate& operator=(const Immediate&) = delete;

 private:
  std::size_t& depth_;
};

/// Immediate statements cannot stop in the middle: expressions keep their meaning while a routine holds, unless a record gets other fields.
[[noreturn]] inline void stopped_in_the_middle() {
  throw sql::not_supported("an expression in PL/pgSQL that first is simple, and then is none because a record has other fields");
}

}  // namespace redquel::executor
