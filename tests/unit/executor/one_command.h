#pragma once

#include <initializer_list>
#include <string_view>

#include "executor/redis/command_batch.h"

namespace redquel::executor {

/// A batch of one command.
inline CommandBatch one(std::initializer_list<std::string_view> words) {
  CommandBatch batch;
  batch.append(words);
  return batch;
}

}  // namespace redquel::executor
