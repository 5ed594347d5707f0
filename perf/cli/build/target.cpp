// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/build/target.h"

#include "perf/measure/child_process.h"
#include "runtime/error.h"
#include "runtime/temporary_folder.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <deque>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <ostream>
#include <regex>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

namespace kg::build {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr const char* kLock = ".kernelgrade-build.lock";

// Ninja does not keep two of itself out of one tree.
class Lock {
 public:
  explicit Lock(const fs::path& file)
      : file_(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    require(file_ >= 0, file.string() + ": cannot be made; may you write to this build tree?");
    flock(file_, LOCK_EX);
  }
  ~Lock() { close(file_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  int file_;
};

std::string duration(Clock::duration time) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time).count();
  return seconds < 60 ? fmt::format("{} s", seconds)
                      : fmt::format("{} min {:02} s", seconds / 60, seconds % 60);
}

// The lines of ninja, as "[12/340] Building CXX object ...".
class Progress {
 public:
  Progress(std::string target, std::ostream& console)
      : target_(std::move(target)), console_(console), terminal_(isatty(STDERR_FILENO) != 0) {}
  ~Progress() {
    if (terminal_ && shown_any_) console_ << "\r\033[K" << std::flush;
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void line(const std::string& text) {
    static const std::regex kStep(R"(\[([0-9]+)/([0-9]+)\] .*)");
    std::smatch step;
    if (!std::regex_match(text, step, kStep)) return;
    const Clock::time_point now = Clock::now();
    const std::string words = fmt::format("building {}: {} of {}, {}", target_, step[1].str(),
                                          step[2].str(), duration(now - begin_));
    if (terminal_) {
      console_ << "\r\033[K" << words << std::flush;
    } else if (!shown_any_ || now - shown_ >= std::chrono::minutes(1)) {
      console_ << words << "\n" << std::flush;
      shown_ = now;
    }
    shown_any_ = true;
  }

 private:
  std::string target_;
  std::ostream& console_;
  bool terminal_, shown_any_ = false;
  Clock::time_point begin_ = Clock::now(), shown_;
};

// Of the steps that the tree has logged: .ninja_log has a line each, begin and end first, in ms.
double mean_step_seconds(const fs::path& folder) {
  std::ifstream log(folder / ".ninja_log");
  double total = 0, steps = 0;
  std::string line;
  std::getline(log, line); // "# ninja log v5"
  while (std::getline(log, line)) {
    double begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%lf %lf", &begin, &end) != 2) continue;
    total += (end - begin) / 1000;
    ++steps;
  }
  return steps > 0 ? total / steps : 0;
}

} // namespace

bool is_in_build_tree(const fs::path& program, const fs::path& folder) {
  if (folder.empty() || !fs::exists(folder / "CMakeCache.txt")) return false;
  const fs::path relative =
      fs::weakly_canonical(program).lexically_relative(fs::weakly_canonical(folder));
  return !relative.empty() && *relative.begin() != "..";
}

std::string cached(const fs::path& folder, const std::string& name) {
  std::ifstream cache(folder / "CMakeCache.txt");
  for (std::string line; std::getline(cache, line);)
    if (line.starts_with(name + ":")) return line.substr(line.find('=') + 1);
  return "";
}

void configure(const fs::path& folder, const std::string& name, const std::string& value) {
  const Lock lock(folder / kLock);
  const std::vector<std::string> command = {"cmake", fmt::format("-D{}={}", name, value),
                                            folder.string()};
  std::string said;
  const perf::Finished finished =
      perf::run_lines(command, [&](const std::string& line) { said += line + "\n"; });
  if (finished.exit_code != 0)
    throw Error(fmt::format("{}{} was not configured; again: {}", said, folder.string(),
                            fmt::join(command, " ")));
}

Outstanding outstanding(const fs::path& folder, const std::string& target) {
  // Ninja's dry run ends where CMake might have to run again; a file that includes the build's is
  // no product of CMake.
  const TemporaryFolder own;
  const fs::path file = own.path() / "build.ninja";
  std::ofstream(file) << "include build.ninja\n";
  const std::string ninja = cached(folder, "CMAKE_MAKE_PROGRAM");
  const std::vector<std::string> command = {
      ninja.empty() ? "ninja" : ninja, "-n", "-C", folder.string(), "-f", file.string(), target};
  Outstanding result;
  std::string said;
  const perf::Finished finished = perf::run_lines(command, [&](const std::string& line) {
    said += line + "\n";
    int step = 0, steps = 0;
    if (std::sscanf(line.c_str(), "[%d/%d]", &step, &steps) == 2)
      result.steps = std::max(result.steps, steps);
  });
  if (finished.exit_code != 0)
    throw Error(fmt::format("{}{} failed", said, fmt::join(command, " ")));
  result.seconds =
      result.steps * mean_step_seconds(folder) / std::max(1u, std::thread::hardware_concurrency());
  return result;
}

bool is_up_to_date(const fs::path& folder, const std::string& target) {
  return fs::exists(folder / "build.ninja") && outstanding(folder, target).steps == 0;
}

void make(const fs::path& folder, const std::string& target, std::ostream& console) {
  constexpr std::size_t kShown = 30;
  const Lock lock(folder / kLock);
  const std::vector<std::string> command = {"cmake", "--build", folder.string(), "--target",
                                            target};
  std::deque<std::string> last;
  perf::Finished finished;
  {
    Progress progress(target, console);
    finished = perf::run_lines(command, [&](const std::string& line) {
      progress.line(line);
      last.push_back(line);
      if (last.size() > kShown) last.pop_front();
    });
  }
  if (finished.exit_code != 0)
    throw Error(fmt::format("{}\nthe target {} was not built; again: {}", fmt::join(last, "\n"),
                            target, fmt::join(command, " ")));
}

} // namespace kg::build
