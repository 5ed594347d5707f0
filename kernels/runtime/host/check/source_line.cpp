// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/check/source_line.h"

#include "runtime/launch.h"

#include <algorithm>
#include <array>
#include <backtrace.h>
#include <cxxabi.h>
#include <deque>
#include <execinfo.h>
#include <fmt/format.h>
#include <link.h>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace kg::check {
namespace {

struct Interned {
  std::unordered_map<std::uintptr_t, Site> sites;
  std::vector<std::uintptr_t> addresses;
};
Interned& interned() {
  static Interned table;
  return table;
}

std::deque<Location>& places() {
  static std::deque<Location> locations; // a deque: addresses must stay valid
  return locations;
}

std::uintptr_t address_of(Site site) {
  if (site & kInterned) return interned().addresses[site & ~kInterned];
  return reinterpret_cast<std::uintptr_t>(&__executable_start) + site;
}

// The number of modules loaded so far: the program, its libraries, and kernels compiled at run
// time.
unsigned long long modules_loaded() {
  unsigned long long loaded = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* module, std::size_t, void* result) {
        *static_cast<unsigned long long*>(result) = module->dlpi_adds;
        return 1; // the same in each module
      },
      &loaded);
  return loaded;
}

// The state covers the modules loaded when it was created; libbacktrace cannot free it.
backtrace_state* state() {
  static backtrace_state* instance = nullptr;
  static unsigned long long known = 0;
  if (const unsigned long long loaded = modules_loaded(); loaded != known) {
    instance = backtrace_create_state(
        nullptr, 0, [](void*, const char*, int) {}, nullptr);
    known = loaded;
  }
  return instance;
}

bool is_test_of_ours(std::string_view file) { // whose path contains that of the tested file
  return file.find("/tests/unit/kernels/") != std::string_view::npos;
}

bool is_runtime(std::string_view file) {
  if (is_test_of_ours(file)) return false;
  return file.find("/runtime/host/") != std::string_view::npos ||
         file.find("/kernels/instructions/") != std::string_view::npos;
}

bool is_library(std::string_view file) {
  const bool is_libc = file.starts_with("../sysdeps/") || file.starts_with("../csu/");
  return is_libc || is_runtime(file) || file.starts_with("/usr/include/") ||
         file.starts_with("/usr/lib/");
}

// CUDA functions for third-party sources, and the sources of the executor itself.
bool is_runtime_api(std::string_view file) {
  if (is_test_of_ours(file)) return false;
  for (const char* folder :
       {"/kernels/cuda/", "/kernels/runtime/", "/kernelgrade/cuda/", "/kernelgrade/runtime/"})
    if (file.find(folder) != std::string_view::npos) return true;
  return false;
}

bool is_common(std::string_view file) {
  return file.find("/include/c++/") != std::string_view::npos ||
         file.find("/include/fmt/") != std::string_view::npos;
}

struct Line {
  std::string file;
  int number = 0;
};

// Modules of PTX are named without a folder (ptx/library.h). Debug information adds the folder of
// the compiler that translated them.
std::string_view without_folder_of_ptx(std::string_view file) {
  return file.ends_with(".ptx") ? file.substr(file.rfind('/') + 1) : file;
}

// The lines of an instruction: its own, and those it is inlined into, innermost first.
std::vector<Line> lines_of(std::uintptr_t instruction) {
  std::vector<Line> frames;
  backtrace_pcinfo(
      state(), instruction,
      [](void* data, std::uintptr_t, const char* file, int line, const char*) {
        if (file)
          static_cast<std::vector<Line>*>(data)->push_back(
              {std::string(without_folder_of_ptx(file)), line});
        return 0;
      },
      [](void*, const char*, int) {}, &frames);
  return frames;
}

} // namespace

Site intern(std::uintptr_t address) {
  auto& [sites, addresses] = interned();
  const auto [at, is_new] = sites.try_emplace(address, static_cast<Site>(addresses.size()));
  if (is_new) addresses.push_back(address);
  return kInterned | at->second;
}

const Location& remembered(Location where) {
  for (const Location& place : places())
    if (place.line == where.line && place.file == where.file) return place;
  return places().emplace_back(where);
}

std::string source_line(Site site) {
  for (const Location& place : places()) {
    if (reinterpret_cast<std::uintptr_t>(&place) == address_of(site))
      return fmt::format("{}:{}", place.file, place.line);
  }
  const std::uintptr_t call = address_of(site) - 1; // a return address follows the call
  const std::vector<Line> frames = lines_of(call);
  for (const Line& frame : frames)
    if (!is_runtime(frame.file) && !is_runtime_api(frame.file))
      return fmt::format("{}:{}", frame.file, frame.number);
  if (!frames.empty()) return fmt::format("{}:{}", frames.back().file, frames.back().number);
  return fmt::format("instruction 0x{:x} (compile with -g for its line)", call);
}

Site calling_site() {
  std::array<void*, 64> calls{};
  const int count = ::backtrace(calls.data(), static_cast<int>(calls.size()));
  for (int i = 0; i < count; ++i) {
    const Site site = site_of(calls[static_cast<std::size_t>(i)]);
    const std::vector<Line> lines = lines_of(address_of(site) - 1);
    if (std::any_of(lines.begin(), lines.end(), [](const Line& line) {
          return !is_library(line.file) && !is_runtime_api(line.file);
        }))
      return site;
  }
  return 0;
}

bool runs_in_thrust() {
  std::array<void*, 64> calls{};
  const int count = ::backtrace(calls.data(), static_cast<int>(calls.size()));
  return std::any_of(calls.begin(), calls.begin() + count, [](void* call) {
    const std::vector<Line> lines = lines_of(reinterpret_cast<std::uintptr_t>(call) - 1);
    return std::any_of(lines.begin(), lines.end(), [](const Line& line) {
      return line.file.find("/thrust/") != std::string::npos;
    });
  });
}

namespace {
bool stands_in(Site site, bool (*is_one)(std::string_view file)) {
  const std::vector<Line> frames = lines_of(address_of(site) - 1);
  return !frames.empty() && std::all_of(frames.begin(), frames.end(),
                                        [is_one](const Line& frame) { return is_one(frame.file); });
}
} // namespace

bool is_library_code(Site site) { return stands_in(site, is_library); }
bool is_common_code(Site site) { return stands_in(site, is_common); }

bool is_cuda_library_code(Site site) {
  const std::vector<Line> frames = lines_of(address_of(site) - 1);
  return !frames.empty() && frames.front().file.find("/cuda/std/") != std::string::npos;
}

bool is_executor_code(Site site) {
  const std::vector<Line> frames = lines_of(address_of(site) - 1);
  if (frames.empty()) return false;
  const std::string_view file = frames.front().file;
  for (const char* name : {"/block.h", "/block_group.h", "/cooperative_groups.h", "/warp.h",
                           "/synchronize.h", "/async_copy.h", "/mbarrier.h"})
    if (is_runtime(file) && file.ends_with(name)) return true;
  return false;
}

std::string demangled(const char* symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(symbol, nullptr, nullptr, &status), &std::free);
  return name ? name.get() : symbol;
}

namespace {
std::string symbol(std::uintptr_t address) {
  std::string name;
  backtrace_syminfo(
      state(), address,
      [](void* data, std::uintptr_t, const char* symbol, std::uintptr_t, std::uintptr_t) {
        if (symbol) *static_cast<std::string*>(data) = symbol;
      },
      [](void*, const char*, int) {}, &name);
  return name;
}

} // namespace

std::string kernel_name(const void* kernel) {
  if (const char* given = detail::given_kernel_name(kernel)) return given;
  return detail::readable_kernel_name(symbol(reinterpret_cast<std::uintptr_t>(kernel)).c_str());
}

std::string data_symbol(std::uintptr_t address) { return demangled(symbol(address).c_str()); }

} // namespace kg::check
