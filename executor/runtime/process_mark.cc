#include "executor/runtime/process_mark.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <vector>

namespace redquel::executor {

namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::string text(std::istreambuf_iterator<char>(file), {});
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

/// The state and the start of a process, in ticks since the boot.
struct ProcessFacts {
  char state = '?';
  std::string start;
};

/// Returns the facts of proc(5), /proc/<pid>/stat. nullopt: the kernel does not show the process.
std::optional<ProcessFacts> facts_of(pid_t pid) {
  constexpr std::size_t kState = 0, kStart = 19;  // behind the name of the program, which is in parentheses
  const std::string text = text_of(fmt::format("/proc/{}/stat", pid));
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream rest(text.substr(name_end + 1));
  const std::vector<std::string> words{std::istream_iterator<std::string>(rest), {}};
  if (words.size() <= kStart) return std::nullopt;
  return ProcessFacts{words[kState].front(), words[kStart]};
}

/// Returns what tells this machine, and this namespace of process ids, from others. Empty: unknown.
std::string this_machine() {
  std::array<char, 256> host{}, ids{};
  const std::string boot = text_of("/proc/sys/kernel/random/boot_id");
  if (boot.empty() || ::gethostname(host.data(), host.size() - 1) != 0) return {};
  if (::readlink("/proc/self/ns/pid", ids.data(), ids.size() - 1) < 0) return {};
  return fmt::format("{}/{}/{}", host.data(), boot, ids.data());
}

}  // namespace

const std::string& own_process_mark() {
  static const std::string mark = [] {
    const std::string machine = this_machine();
    const std::optional<ProcessFacts> facts = facts_of(::getpid());
    if (machine.empty() || !facts) return std::string();
    return fmt::format("{}/{}/{}", machine, ::getpid(), facts->start);
  }();
  return mark;
}

bool has_ended(std::string_view mark) {
  static const std::string machine = this_machine();
  if (machine.empty() || mark.size() <= machine.size() || !mark.starts_with(machine) || mark[machine.size()] != '/') return false;
  const std::string_view rest = mark.substr(machine.size() + 1);
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), pid);
  if (error != std::errc() || pid <= 0 || end == rest.data() + rest.size() || *end != '/') return false;
  if (::kill(pid, 0) != 0) return errno == ESRCH;
  // Another process may have got the number since. A killed process is shown until its parent has asked for its end.
  const std::optional<ProcessFacts> facts = facts_of(pid);
  if (!facts) return false;
  constexpr std::string_view kEnded = "ZX";
  return facts->start != std::string_view(end + 1, rest.data() + rest.size()) || kEnded.find(facts->state) != std::string_view::npos;
}

}  // namespace redquel::executor
