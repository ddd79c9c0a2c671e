#pragma once

#include <bitset>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "executor/redis/slot_map.h"

namespace redquel::executor {

/// One SCAN over all masters of a cluster, master after master. A key that is there from the first page to the last is given at least once, though
/// slots move and masters are replaced meanwhile: slots that moved are visited again, first where they came from, then where they went to. Sans
/// I/O.
class ClusterScan {
 public:
  /// `placement`: of all masters, from before the first page.
  explicit ClusterScan(const std::vector<NodeSlots>& placement);

  /// Returns where the next page is to be read; nullopt: all visits are over, and `finish` decides.
  struct Page {
    TcpPlace place;
    std::string cursor;
  };
  std::optional<Page> next() const;
  /// Takes the cursor that came with the page.
  void advance(std::string_view cursor);
  /// Returns true if a key of the page belongs to the result of the visit.
  bool wants(std::string_view key) const;
  /// The master of the current visit was replaced: its slots are visited at their masters of now.
  void replace(const SlotMap& now);
  /// Takes the placement from after the last page. Returns true if the scan is over; false: there are more visits, or a slot is between two
  /// masters, so that the placement must be taken again. Throws 57P03 if slots do not cease to move.
  bool finish(const std::vector<NodeSlots>& placement);

 private:
  using Slots = std::bitset<kSlotCount>;
  struct Visit {
    TcpPlace place;
    std::string cursor = "0";
    Slots slots;           // the keys of these are wanted
    bool is_all = false;  // of all slots that the node has
  };

  std::deque<Visit> visits_;
  std::vector<NodeSlots> last_;  // the placement before the visits
  Slots moving_;                 // slots of which no complete visit has been made
  int rounds_ = 0;
};

}  // namespace redquel::executor
