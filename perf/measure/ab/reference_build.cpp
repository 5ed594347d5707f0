// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/ab/reference_build.h"

#include "perf/measure/ab/git.h"
#include "perf/measure/child_process.h"
#include "perf/measure/device_lock.h"
#include "runtime/atomic_file.h"
#include "runtime/error.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

namespace kg::ab {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTarget = "kernelgrade";
constexpr const char* kBuilt = "perf/kernelgrade"; // within the build tree

// The build tree's configuration as arguments for cmake. Contains only options that a user may have
// set: CMake finds the others again, perhaps with different results in another commit.
std::vector<std::string> configuration(const fs::path& build) {
  constexpr std::array<std::string_view, 14> kChosen = {
      "CMAKE_BUILD_TYPE",         "CMAKE_CXX_COMPILER",      "CMAKE_CXX_FLAGS",
      "CMAKE_CXX_FLAGS_RELEASE",  "CMAKE_CUDA_COMPILER",     "CMAKE_CUDA_FLAGS",
      "CMAKE_CUDA_ARCHITECTURES", "CMAKE_EXE_LINKER_FLAGS",  "CMAKE_PREFIX_PATH",
      "CMAKE_TOOLCHAIN_FILE",     "CUDAToolkit_ROOT",        "KERNELGRADE_BACKEND",
      "KERNELGRADE_HOST_ARCH",    "KERNELGRADE_FIBER_BOOST",
  };
  const std::optional<std::string> cache = read_file(build / "CMakeCache.txt");
  require(cache.has_value(),
          fmt::format("{}: there is no CMakeCache.txt, so the compiler and flags "
                      "of this build are unknown; configure it again",
                      build.string()));
  std::vector<std::string> arguments;
  std::istringstream lines(*cache);
  for (std::string line; std::getline(lines, line);) { // <key>:<type>=<value>
    const std::string_view text = line, key = text.substr(0, text.find(':'));
    const std::string_view value = text.substr(std::min(text.find('=') + 1, text.size()));
    if (key == "CMAKE_GENERATOR") arguments.push_back(fmt::format("-G{}", value));
    if (std::find(kChosen.begin(), kChosen.end(), key) != kChosen.end())
      arguments.push_back("-D" + line);
  }
  return arguments;
}

std::string ops_argument(std::vector<std::string> ops) {
  std::sort(ops.begin(), ops.end());
  return fmt::format("-DKERNELGRADE_OPS={}", fmt::join(ops, ";"));
}

// <commit>-<hash of the configuration and of the compilers' versions>
std::string entry_name(const std::string& commit, const std::vector<std::string>& arguments) {
  constexpr std::size_t kCommitDigits = 12;
  std::string text;
  for (const std::string& argument : arguments) {
    text += argument + "\n";
    if (argument.find("_COMPILER:") == std::string::npos) continue;
    const std::string compiler = argument.substr(argument.find('=') + 1);
    text += perf::run_process({compiler, "--version"}, perf::Output::capture).output;
  }
  return fmt::format("{}-{:016x}", commit.substr(0, kCommitDigits), std::hash<std::string>()(text));
}

ReferenceBuild entry(const std::string& commit, const fs::path& folder) {
  return {commit, folder / kTarget, folder / "control" / kTarget};
}

void say(const BuildPlan& plan, const std::string& line) {
  if (plan.progress) plan.progress(line);
}

std::string last_lines(const std::string& text, std::size_t count) {
  std::size_t begin = text.size();
  while (count-- > 0 && begin > 0) {
    begin = text.rfind('\n', begin - 1);
    if (begin == std::string::npos) return text;
  }
  return text.substr(begin);
}

// Runs one step of the build, with its output in `log`.
void run_step(const std::string& commit, const fs::path& log, std::vector<std::string> command) {
  constexpr std::size_t kShownLines = 30;
  std::vector<std::string> logged = {"sh", "-c", "log=$1; shift; exec \"$@\" >\"$log\" 2>&1", "sh",
                                     log.string()};
  logged.insert(logged.end(), command.begin(), command.end());
  if (perf::run_process(logged, perf::Output::to_stderr).exit_code == 0) return;
  fail(fmt::format(
      "commit {} cannot be built with this build's compiler and flags; compare with one "
      "that can. Its log, {}, ends:{}",
      commit, log.string(), last_lines(read_file(log).value_or(""), kShownLines)));
}

// Removes a folder now, since an interrupted build may have left one, and at the end of the scope.
class ScratchFolder {
 public:
  explicit ScratchFolder(const fs::path& path) : path_(path) { fs::remove_all(path_); }
  ~ScratchFolder() {
    std::error_code ignored; // the next build tries again and reports errors
    fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

 private:
  fs::path path_;
};

void build(const BuildPlan& plan, const std::string& commit, const fs::path& kept,
           const std::vector<std::string>& arguments) {
  // One path for all commits, so that a compiler cache hits for unchanged files.
  const fs::path work = plan.cache / "work";
  const ScratchFolder scratch(work);
  const fs::path source = work / "source", tree = work / "build", done = work / "done";
  fs::create_directories(source);
  fs::create_directories(done / "control");
  say(plan, fmt::format("building commit {} to compare with; it is kept in {}",
                        commit.substr(0, 12), kept.string()));
  export_commit(plan.source, commit, source);
  const fs::path log = plan.cache / (kept.filename().string() + ".log");
  std::vector<std::string> configure = {"cmake", "-S", source.string(), "-B", tree.string()};
  configure.insert(configure.end(), arguments.begin(), arguments.end());
  run_step(commit, log, configure);
  run_step(commit, log,
           {"cmake", "--build", tree.string(), "--target", kTarget, "--parallel",
            std::to_string(std::max(1u, std::thread::hardware_concurrency()))});
  require(fs::exists(tree / kBuilt),
          fmt::format("commit {} builds no {}; compare with a later one", commit, kBuilt));
  const ReferenceBuild result = entry(commit, done);
  fs::copy_file(tree / kBuilt, result.executable);
  fs::copy_file(tree / kBuilt, result.control);
  fs::remove(log);
  fs::rename(done, kept); // atomic
}

} // namespace

ReferenceBuild reference_build(const BuildPlan& plan, const std::string& ref) {
  const std::string commit = commit_of(plan.source, ref);
  std::vector<std::string> arguments = configuration(plan.build);
  if (!plan.ops.empty()) arguments.push_back(ops_argument(plan.ops));
  const fs::path kept = plan.cache / entry_name(commit, arguments);
  if (!fs::exists(kept)) {
    fs::create_directories(plan.cache);
    const perf::DeviceLock lock(plan.cache / "lock",
                                [&] { say(plan, "waiting for another process's build"); });
    if (!fs::exists(kept)) build(plan, commit, kept, arguments);
  }
  return entry(commit, kept);
}

} // namespace kg::ab
