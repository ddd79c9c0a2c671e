#include "executor/embedded/append_only_file.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "executor/embedded/child_process.h"

namespace redquel::executor {

namespace {

/// "file appendonly.aof.3.incr.aof seq 3 type i": the last such line names the file that was being written.
std::filesystem::path last_increment(const std::filesystem::path& manifest) {
  std::ifstream lines(manifest);
  std::string line;
  std::string last;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string key, name, sequence_key, sequence, type_key, type;
    if (words >> key >> name >> sequence_key >> sequence >> type_key >> type && key == "file" && type == "i")
      last = name;
  }
  return last.empty() ? std::filesystem::path() : manifest.parent_path() / std::filesystem::path(last).filename();
}

std::string last_lines(const std::string& output) {
  constexpr std::size_t kShownBytes = 500;
  return output.size() <= kShownBytes ? output : output.substr(output.size() - kShownBytes);
}

}  // namespace

std::string repair_append_only_file(const std::filesystem::path& data_directory, const std::string& check_program) {
  const std::filesystem::path manifest = data_directory / "appendonlydir" / "appendonly.aof.manifest";
  if (!std::filesystem::exists(manifest)) return {};
  const ProgramResult check = run_program({check_program, manifest.string()}, "");
  if (check.ended_well) return {};

  const std::filesystem::path torn = last_increment(manifest);
  if (torn.empty() || !std::filesystem::exists(torn))
    throw std::runtime_error("the append-only file in " + manifest.parent_path().string() +
                             " is damaged: " + last_lines(check.output));
  const auto size_before = std::filesystem::file_size(torn);
  const std::filesystem::path kept = torn.string() + ".torn";
  std::filesystem::copy_file(torn, kept, std::filesystem::copy_options::overwrite_existing);

  const ProgramResult repair = run_program({check_program, "--fix", manifest.string()}, "y\n");
  if (!repair.ended_well) {
    throw std::runtime_error("the append-only file " + torn.string() +
                             " is damaged and could not be repaired (it is kept as " + kept.string() +
                             "): " + last_lines(repair.output));
  }
  return "append-only file " + torn.string() + " was torn: cut from " + std::to_string(size_before) + " to " +
         std::to_string(std::filesystem::file_size(torn)) + " bytes, the old file is kept as " + kept.string();
}

}  // namespace redquel::executor
