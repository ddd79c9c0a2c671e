#pragma once

namespace redquel::executor {

/// While it lives, a draft changes objects that depend on those of the statement (views that follow a new name, what CASCADE drops) or that
/// the statement has checked itself, so their owners are not checked.
class DependentChanges {
 public:
  DependentChanges() { ++depth(); }
  ~DependentChanges() { --depth(); }
  DependentChanges(const DependentChanges&) = delete;
  DependentChanges& operator=(const DependentChanges&) = delete;

  static bool are_made() { return depth() > 0; }

 private:
  static int& depth() {
    thread_local int depth = 0;
    return depth;
  }
};

}  // namespace redquel::executor
