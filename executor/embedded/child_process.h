#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace redquel::executor {

/// A file descriptor that closes itself.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { reset(); }

  int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  int release();
  void reset();

 private:
  int number_ = -1;
};

struct ProcessSpec {
  std::vector<std::string> command;  // program (looked up in PATH) and arguments
  std::filesystem::path working_directory;
  int output = -1;     // where stdout and stderr go
  int inherited = -1;  // one more descriptor the child keeps, without using it (a lock)
};

/// A process we started, in a session of its own (the terminal's Ctrl-C is not for it), with nothing of ours but stdin
/// (/dev/null), output and the inherited descriptor. It gets SIGTERM when the thread that started it ends.
class ChildProcess {
 public:
  /// Throws std::runtime_error when the program cannot be run.
  explicit ChildProcess(const ProcessSpec& spec);
  ChildProcess(ChildProcess&&) noexcept = default;
  /// Kills it if it still runs.
  ~ChildProcess();

  pid_t pid() const { return pid_; }
  /// Readable once it has ended.
  int exit_descriptor() const { return exit_descriptor_.get(); }
  /// Waits; false when it still runs after `timeout`. A negative one waits forever.
  bool wait(std::chrono::milliseconds timeout);
  void signal(int number) const;
  /// After wait() was true: "exited with status 1", "was killed by signal 9".
  std::string end() const;
  bool ended_well() const;

 private:
  pid_t pid_ = -1;
  Descriptor exit_descriptor_;
  std::optional<int> status_;
};

struct ProgramResult {
  bool ended_well = false;
  std::string output;
};

/// Runs a program to its end with `input` on its stdin. Throws as ChildProcess.
ProgramResult run_program(const std::vector<std::string>& command, const std::string& input);

}  // namespace redquel::executor
