// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/environment.h"

#include "libraries/library.h"
#include "perf/measure/child_process.h"
#include "runtime/backend.h"
#include "runtime/device.h"
#include "runtime/error.h"

#include <array>
#include <ctime>
#include <exception>
#include <fmt/format.h>
#include <fstream>
#include <sys/utsname.h>
#include <thread>

#if KG_BACKEND_CUDA
#include "runtime/cuda/status.h"
#endif

namespace kg::perf {
namespace {

#if KG_BACKEND_CUDA
// "13.0" from CUDA's 13000.
std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

// An attribute of the current device; 0 if unavailable, as for a MIG instance.
int attribute(cudaDeviceAttr which) {
  int device = 0, value = 0;
  KG_CHECK(cudaGetDevice(&device));
  KG_CHECK(cudaDeviceGetAttribute(&value, which, device));
  return value;
}
#endif

void add_cuda([[maybe_unused]] Environment& result) {
#if KG_BACKEND_CUDA
  int driver = 0, runtime = 0;
  KG_CHECK(cudaDriverGetVersion(&driver));
  KG_CHECK(cudaRuntimeGetVersion(&runtime));
  result["cuda_driver"] = version_text(driver);
  result["cuda_runtime"] = version_text(runtime);
  constexpr int kKhzPerMhz = 1000;
  result["sm_max_mhz"] = std::to_string(attribute(cudaDevAttrClockRate) / kKhzPerMhz);
  result["memory_max_mhz"] = std::to_string(attribute(cudaDevAttrMemoryClockRate) / kKhzPerMhz);
  result["memory_bus_bits"] = std::to_string(attribute(cudaDevAttrGlobalMemoryBusWidth));
  std::ifstream module("/proc/driver/nvidia/version"); // absent in some containers
  if (std::string line; std::getline(module, line)) result["nvidia_module"] = line;
#endif
}

// The value after `key` in a file of lines "key<separators>value", such as /proc/cpuinfo and
// os-release.
std::string lookup(const char* file, std::string_view key, std::string_view separators) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (line.compare(0, key.size(), key) != 0) continue;
    const std::size_t begin = line.find_first_not_of(separators, key.size());
    if (begin == std::string::npos || begin == key.size()) continue;
    const std::size_t end = line.find_last_not_of("\" \t");
    return line.substr(begin, end + 1 - begin);
  }
  return "unknown";
}

std::string compiler() {
#if defined(__clang__)
  return fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  return fmt::format("g++ {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

// The output without its line end; empty if the command failed or could not be run.
std::string output_of(const std::vector<std::string>& command) {
  try {
    Finished finished = run_process(command, Output::capture);
    if (finished.exit_code != 0) return "";
    while (!finished.output.empty() && finished.output.back() == '\n') finished.output.pop_back();
    return finished.output;
  } catch (const Error&) {
    return "";
  }
}

} // namespace

Environment environment(const std::string& source) {
  const DeviceProperties& device = device_properties();
  utsname system{};
  uname(&system);
  Environment result = {
      {"backend", std::string(name(backend))},
      {"device", device_slug(device.name)},
      {"device_name", device.name},
      {"compute_capability", fmt::format("{}.{}", device.compute_major, device.compute_minor)},
      {"sm_count", std::to_string(device.sm_count)},
      {"l2_bytes", std::to_string(device.l2_bytes)},
      {"memory_bytes", std::to_string(device.global_bytes)},
      {"cpu", lookup("/proc/cpuinfo", "model name", "\t :")},
      {"cores", std::to_string(std::thread::hardware_concurrency())},
      {"os", lookup("/etc/os-release", "PRETTY_NAME", "=\"")},
      {"kernel", system.release},
      {"machine", system.machine},
      {"compiler", compiler()},
      {"source", source},
  };
  add_cuda(result);
  for (const vendor::Library& library : vendor::libraries())
    result["library_" + library.name] = library.version;
  return result;
}

Environment fingerprint(const Environment& environment) {
  constexpr std::array kHostKeys = {"backend", "device", "cpu", "cores", "machine", "compiler"};
  constexpr std::array kGpuKeys = {"backend",     "device",   "device_name",  "compute_capability",
                                   "sm_count",    "l2_bytes", "memory_bytes", "cuda_driver",
                                   "cuda_runtime"};
  Environment result;
  const auto take = [&](const char* key) {
    if (const auto found = environment.find(key); found != environment.end()) result.insert(*found);
  };
  // The machine that measured may differ from this one (bless --from).
  if (const auto at = environment.find("backend"); at != environment.end() && at->second == "host")
    for (const char* key : kHostKeys) take(key);
  else
    for (const char* key : kGpuKeys) take(key);
  return result;
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text.data();
}

constexpr const char* kDirty = "-dirty";

std::string source_id(const std::filesystem::path& folder) {
  const auto git = [&](std::vector<std::string> arguments) {
    std::vector<std::string> command = {"git", "--no-optional-locks", "-C", folder.string()};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return output_of(command);
  };
  const std::string commit = git({"rev-parse", "--short=12", "HEAD"});
  if (commit.empty()) return "unknown";
  // Baselines are results, not source: blessing one operation must not prevent blessing the next.
  const bool dirty =
      !git({"status", "--porcelain", "--untracked-files=no", "--", ".", ":(exclude)baselines"})
           .empty();
  return dirty ? commit + kDirty : commit;
}

bool is_dirty(const std::string& source) { return source.ends_with(kDirty); }

void require_clean(const std::string& source) {
  require(!is_dirty(source), "the source tree has uncommitted changes, so what is blessed would "
                             "belong to no commit; commit or stash them, or name the source by "
                             "--source-id");
}

} // namespace kg::perf
