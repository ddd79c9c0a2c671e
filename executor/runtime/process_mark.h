#pragma once

#include <string>
#include <string_view>

namespace redquel::executor {

/// Returns the mark of this process: its machine (name, boot and namespace of process ids), its id and its start. Empty: the kernel does not
/// report them.
const std::string& own_process_mark();

/// Returns true if the mark names a process of this machine that has ended. False for processes of other machines, and without certainty.
bool has_ended(std::string_view mark);

}  // namespace redquel::executor
