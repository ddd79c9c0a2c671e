#pragma once

namespace redquel::executor {

/// A value that a writing statement had read was changed before its writes arrived; nothing was written. The engine runs it again.
struct WriteConflict {};

}  // namespace redquel::executor
