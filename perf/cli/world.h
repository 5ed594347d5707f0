// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Everything outside the command that it uses. main() provides the real environment, tests their
// own.
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
  std::filesystem::path baselines;        // the default of --baselines
  std::filesystem::path source;           // the work tree whose commit a measurement records
  std::filesystem::path build = {};       // the build tree of this command; empty: none
  std::filesystem::path executable;       // this command, to start new processes
  std::function<std::string()> no_device; // why nothing can be measured here; empty if it can
  std::function<bool()> emulated = [] {
    return false;
  };                                   // the device runs kernels, but cannot be timed
  std::function<std::string()> device; // its name in paths; called only if there is a device
  std::function<std::unique_ptr<perf::Apparatus>(perf::Pace)> apparatus;
  // The identity of an op's launched machine code (perf/code/identity); if empty, rows have none.
  std::function<std::string(const std::string& op, const std::vector<LaunchRecord>&)> identity =
      nullptr;
  // The identity of a vendor's variant; empty if the library is not known.
  std::function<std::string(const std::string& variant)> library_identity = nullptr;
  // If launches are counted (kernelgrade-cost): the launches since the last call, and their
  // compiler and flags. Empty elsewhere.
  std::function<std::vector<count::Launch>()> take_launches = {};
  std::string counter_id = {};
  // How this build compiles counted code; set if it counts or takes counts as blessed.
  cost::CountedBy counted_by = {};
  bool untimed = false; // include rows that take too long to be timed here
  // Also for counting: runs kernels as nvcc compiled them, from a folder of fat binaries; empty: as
  // compiled by g++.
  std::function<void(const std::string& folder)> use_compiled = {};
  // lab_commands(), if this program has them; other programs become kernelgrade-lab for them.
  std::map<std::string, Command> lab = {};
  bool terminal = false; // whether `err` is a terminal: progress is shown
  std::ostream& out;
  std::ostream& err;
};

// Runs a command as a shell would: arguments without the program's name. Never throws; returns the
// exit code.
int kernelgrade(const std::vector<std::string>& arguments, World& world);

} // namespace kg::cli
