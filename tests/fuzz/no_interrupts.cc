// A fuzzed parser runs outside of a session, so nothing interrupts it. The real functions would bring the memory accounts with them.
#include "sql/interrupts.h"

namespace redquel::sql {

void check_interrupts() {}

}  // namespace redquel::sql
