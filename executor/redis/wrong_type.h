#pragma once

#include "executor/redis/reply.h"
#include "sql/error.h"

namespace redquel::executor {

/// XX001: a command or script has met a key of another Redis type than it needs.
class WrongTypeError : public sql::SqlError {
 public:
  explicit WrongTypeError(sql::SqlError error) : SqlError(std::move(error)) {}
};

inline bool is_wrong_type(const Reply& reply) { return reply.is_error() && reply.text.starts_with("WRONGTYPE"); }

}  // namespace redquel::executor
