#pragma once

#include <memory>

#include "executor/engine/engine.h"

namespace redquel::executor {

/// LISTEN, UNLISTEN, NOTIFY.
std::unique_ptr<Execution> make_notification_statement(PreparedPtr prepared, SessionState& session);

}  // namespace redquel::executor
