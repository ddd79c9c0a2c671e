#include "executor/embedded/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace redquel::executor {

namespace {

constexpr int kInheritedDescriptor = 3;  // where the child finds spec.inherited
constexpr int kReportDescriptor = 4;     // closed by a successful exec, else errno is written to it

/// The child's work between fork and exec: only calls that are safe there.
struct ChildStart {
  char* const* arguments;
  const char* working_directory;
  int input;
  int output;
  int inherited;
  int report;
  pid_t parent;

  [[noreturn]] void run() const {
    ::setsid();
    ::umask(077);
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(127);  // it died before prctl

    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);

    // Out of the way of the numbers that they are copied to.
    const int high_input = ::fcntl(input, F_DUPFD, 64);
    const int high_output = ::fcntl(output, F_DUPFD, 64);
    const int high_report = ::fcntl(report, F_DUPFD, 64);
    const int high_inherited = inherited < 0 ? -1 : ::fcntl(inherited, F_DUPFD, 64);
    ::dup2(high_input, STDIN_FILENO);
    ::dup2(high_output, STDOUT_FILENO);
    ::dup2(high_output, STDERR_FILENO);
    ::dup2(high_report, kReportDescriptor);
    ::fcntl(kReportDescriptor, F_SETFD, FD_CLOEXEC);
    if (high_inherited >= 0) {
      ::dup2(high_inherited, kInheritedDescriptor);
    } else {
      ::close(kInheritedDescriptor);
    }
    // Clients' sockets must not stay open in the child: they would never see our close.
    if (::syscall(SYS_close_range, kReportDescriptor + 1, ~0U, 0U) != 0) {
      const long limit = ::sysconf(_SC_OPEN_MAX);
      for (int number = kReportDescriptor + 1; number < limit; ++number) ::close(number);
    }

    if (working_directory[0] == '\0' || ::chdir(working_directory) == 0) ::execvp(arguments[0], arguments);
    const int error = errno;
    [[maybe_unused]] const ssize_t written = ::write(kReportDescriptor, &error, sizeof error);
    ::_exit(127);
  }
};

std::pair<Descriptor, Descriptor> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    throw std::runtime_error(std::string("could not make a pipe: ") + std::strerror(errno));
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

pid_t start(const ProcessSpec& spec, int input) {
  std::vector<char*> arguments;
  for (const std::string& argument : spec.command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  auto [report_read, report_write] = make_pipe();
  const std::string directory = spec.working_directory.string();
  const ChildStart child{arguments.data(), directory.c_str(),  input,     spec.output,
                         spec.inherited,   report_write.get(), ::getpid()};

  const pid_t pid = ::fork();
  if (pid == 0) child.run();
  if (pid < 0) throw std::runtime_error("could not start " + spec.command.front() + ": " + std::strerror(errno));
  report_write.reset();
  int error = 0;
  ssize_t count = 0;
  do {
    count = ::read(report_read.get(), &error, sizeof error);
  } while (count < 0 && errno == EINTR);
  if (count == static_cast<ssize_t>(sizeof error)) {
    ::waitpid(pid, nullptr, 0);
    const std::string reason = error == ENOENT ? "program not found" : std::strerror(error);
    throw std::runtime_error("could not start " + spec.command.front() + ": " + reason);
  }
  return pid;
}

bool is_success(int status) { return WIFEXITED(status) && WEXITSTATUS(status) == 0; }

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    reset();
    number_ = other.release();
  }
  return *this;
}

int Descriptor::release() { return std::exchange(number_, -1); }

void Descriptor::reset() {
  if (number_ >= 0) ::close(std::exchange(number_, -1));
}

ChildProcess::ChildProcess(const ProcessSpec& spec) {
  const Descriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  pid_ = start(spec, nothing.get());
  exit_descriptor_ = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  if (!exit_descriptor_) {
    const int error = errno;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    throw std::runtime_error(std::string("could not watch a child process: ") + std::strerror(error));
  }
}

ChildProcess::~ChildProcess() {
  if (!exit_descriptor_ || status_) return;  // moved from, or ended
  signal(SIGKILL);
  wait(std::chrono::milliseconds(-1));
}

bool ChildProcess::wait(std::chrono::milliseconds timeout) {
  if (status_) return true;
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  pollfd watched{exit_descriptor_.get(), POLLIN, 0};
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    const int milliseconds = timeout.count() < 0 ? -1 : static_cast<int>(std::max<std::int64_t>(left.count(), 0));
    const int ready = ::poll(&watched, 1, milliseconds);
    if (ready > 0) break;
    if (ready == 0) return false;
    if (errno != EINTR)
      throw std::runtime_error(std::string("could not wait for a child process: ") + std::strerror(errno));
  }
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  status_ = status;
  return true;
}

void ChildProcess::signal(int number) const {
  // By descriptor: the number of a process that has ended may belong to another one.
  if (!status_) ::syscall(SYS_pidfd_send_signal, exit_descriptor_.get(), number, nullptr, 0);
}

std::string ChildProcess::end() const {
  const int status = status_.value_or(0);
  if (WIFSIGNALED(status)) return "was killed by signal " + std::to_string(WTERMSIG(status));
  return "exited with status " + std::to_string(WEXITSTATUS(status));
}

bool ChildProcess::ended_well() const { return status_ && is_success(*status_); }

ProgramResult run_program(const std::vector<std::string>& command, const std::string& input) {
  auto [input_read, input_write] = make_pipe();
  auto [output_read, output_write] = make_pipe();
  ProcessSpec spec;
  spec.command = command;
  spec.output = output_write.get();
  // A few bytes: they fit into the pipe, so writing cannot block. A program that ends without reading them must not end this process by SIGPIPE.
  [[maybe_unused]] const ssize_t written = ::write(input_write.get(), input.data(), input.size());
  input_write.reset();
  const pid_t pid = start(spec, input_read.get());
  input_read.reset();
  output_write.reset();

  ProgramResult result;
  char buffer[4096];
  while (true) {
    const ssize_t count = ::read(output_read.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    constexpr std::size_t kKeptOutput = 64 * 1024;
    result.output.append(buffer, static_cast<std::size_t>(count));
    if (result.output.size() > 2 * kKeptOutput) result.output.erase(0, result.output.size() - kKeptOutput);
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  result.ended_well = is_success(status);
  return result;
}

}  // namespace redquel::executor
