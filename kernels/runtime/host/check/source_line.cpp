// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/check/source_line.h"

#include <backtrace.h>
#include <cxxabi.h>
#include <deque>
#include <dlfcn.h>
#include <fmt/format.h>
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
  static std::deque<Location> locations; // whose elements stay where they are
  return locations;
}

std::uintptr_t address_of(Site site) {
  if (site & kInterned) return interned().addresses[site & ~kInterned];
  return reinterpret_cast<std::uintptr_t>(&__executable_start) + site;
}

backtrace_state* state() {
  static backtrace_state* const instance = backtrace_create_state(
      nullptr, 0, [](void*, const char*, int) {}, nullptr);
  return instance;
}

bool is_runtime(std::string_view file) {
  return file.find("/runtime/host/") != std::string_view::npos ||
         file.find("/kernels/ptx/") != std::string_view::npos;
}

struct Line {
  std::string file;
  int number = 0;
};

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
  const std::uintptr_t call = address_of(site) - 1; // a return address is behind the call
  std::vector<Line> frames;                         // innermost first
  backtrace_pcinfo(
      state(), call,
      [](void* data, std::uintptr_t, const char* file, int line, const char*) {
        if (file) static_cast<std::vector<Line>*>(data)->push_back({file, line});
        return 0;
      },
      [](void*, const char*, int) {}, &frames);
  for (const Line& frame : frames)
    if (!is_runtime(frame.file)) return fmt::format("{}:{}", frame.file, frame.number);
  if (!frames.empty()) return fmt::format("{}:{}", frames.back().file, frames.back().number);
  return fmt::format("instruction 0x{:x} (compile with -g for its line)", call);
}

std::string data_symbol(std::uintptr_t address) {
  std::string name;
  backtrace_syminfo(
      state(), address,
      [](void* data, std::uintptr_t, const char* symbol, std::uintptr_t, std::uintptr_t) {
        if (!symbol) return;
        int status = 0;
        const std::unique_ptr<char, decltype(&std::free)> readable(
            abi::__cxa_demangle(symbol, nullptr, nullptr, &status), &std::free);
        *static_cast<std::string*>(data) = readable ? readable.get() : symbol;
      },
      [](void*, const char*, int) {}, &name);
  return name;
}

} // namespace kg::check
