// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Everything that the command touches outside itself. main() fills it with the real ones, tests
// with their own.
#pragma once

#include "perf/code/cost/sources.h"
#include "perf/measure/measure.h"
#include "perf/measure/suite.h"
#include "runtime/host/count/counts.h"

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace kg::cli {

struct Options;
struct World;

// Returns the exit code; throws UsageError (2) or another Error (1).
using Command = int (*)(const Options&, World&);

struct World {
  std::vector<perf::Operation> operations;
  std::vector<judge::Mode> modes;         // that can be timed here
  std::filesystem::path baselines;        // where --baselines is not given
  std::filesystem::path source;           // the work tree whose commit a measurement names
  std::filesystem::path build = {};       // the build tree that made this command; empty: none
  std::filesystem::path executable;       // this command, for fresh processes
  std::function<std::string()> no_device; // why nothing can be measured here; empty where it can
  std::function<bool()> emulated = [] {
    return false;
  };                                   // the device runs kernels, and has no times
  std::function<std::string()> device; // its name in paths; asked only where there is one
  std::function<std::unique_ptr<perf::Apparatus>(perf::Pace)> apparatus;
  // Of the machine code that an op launched (perf/code/identity); where it is empty, rows have
  // none.
  std::function<std::string(const std::string& op, const std::vector<LaunchRecord>&)> identity =
      nullptr;
  // Of a vendor's variant; empty where the library is not known.
  std::function<std::string(const std::string& variant)> library_identity = nullptr;
  // Where launches are counted (kernelgrade-cost): those since the last call, and under what
  // compiler and flags. Empty elsewhere.
  std::function<std::vector<count::Launch>()> take_launches = {};
  std::string counter_id = {};
  // How this build compiles what is counted; there and where counts are taken as blessed.
  cost::CountedBy counted_by = {};
  bool untimed = false; // rows that take too long to be timed here are rows all the same
  // There, too: kernels run as nvcc compiled them, from a folder of fat binaries; empty: as g++
  // did.
  std::function<void(const std::string& folder)> use_compiled = {};
  // lab_commands(), where this program has them; others become kernelgrade-lab for these.
  std::map<std::string, Command> lab = {};
  bool terminal = false; // `err` is one: progress is shown
  std::ostream& out;
  std::ostream& err;
};

// What a shell would run: arguments without the program's name. Never throws; returns the exit
// code.
int kernelgrade(const std::vector<std::string>& arguments, World& world);

} // namespace kg::cli
