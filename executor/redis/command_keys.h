#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace redquel::executor {

/// The words of a command that are keys: `count` words from `first` on, each `step` behind the one before.
struct CommandKeys {
  /// How the command is run if its keys lie in several slots of a cluster.
  enum class Over : std::uint8_t {
    kNothing,  // it cannot be
    kSum,      // slot by slot; the integers are added (EXISTS, DEL, UNLINK, TOUCH)
    kElements, // slot by slot; each key has an element of the array (MGET)
    kAlgebra,  // from its members (SINTER, SINTERCARD, SUNION, SDIFF)
  };

  std::size_t first = 0, count = 0, step = 1;
  Over over = Over::kNothing;
  bool is_script = false;  // EVAL, EVALSHA, FCALL and their reading forms
};

/// Returns the keys of a command (Redis's COMMAND GETKEYS, for the commands that redquel sends). A command that is not known has its key in its
/// first argument.
CommandKeys keys_of(std::span<const std::string_view> words);

}  // namespace redquel::executor
