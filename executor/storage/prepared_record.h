#pragma once

#include <span>
#include <string>
#include <string_view>

namespace redquel::executor {

/// Returns words as a MessagePack array of texts: the effects of a program, as the record of a prepared commit has them.
std::string packed_words(std::span<const std::string_view> words);

}  // namespace redquel::executor
