// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compiles a program for the emulator, and runs it there.
#pragma once

#include "perf/cli/check/findings.h"
#include "perf/cli/check/options.h"
#include "perf/code/coverage/notes.h"
#include "perf/measure/child_process.h"
#include "runtime/host/count/counts.h"

#include <filesystem>
#include <string>
#include <vector>

namespace kg::program {

enum class Kind { plain, checked, counted };

struct Compiled {
  std::filesystem::path program;
  std::string errors;   // of the compiler or the linker; empty where there is a program
  std::string warnings; // of the compiler, of counted ones
  bool lacks_main = false;
};
// Builds, in a build tree, what the programs of this kind are linked with. Throws Error where
// something is missing in the end.
void need_parts(Kind kind, const std::filesystem::path& tools);

// By the script compile-cuda in the folder `tools`.
Compiled compile(const Options& options, Kind kind, const std::filesystem::path& tools,
                 const std::filesystem::path& folder);

// How a run ended, and what was found in it.
struct Run {
  std::string order;
  perf::Finished finished;
  bool timed_out = false;
  double seconds = 0; // of the clock
  Events events;
  coverage::Notes notes{};
  bool huge = false; // its exit code does not count: results are there in part

  // Why it did not pass, findings apart; empty where it did.
  std::string failure() const;
};
// With the caller's input and outputs. `tools`: the folder of kernelgrade-guard. `folder` takes
// what the program leaves.
Run run(const Options& options, const std::filesystem::path& tools,
        const std::filesystem::path& program, const std::string& order, bool quiet,
        const std::filesystem::path& folder);

// The launches of a run whose output nobody sees; `program` is counted. Throws Error where it
// fails.
std::vector<count::Launch> count_launches(const Options& options,
                                          const std::filesystem::path& tools,
                                          const std::filesystem::path& program,
                                          const std::filesystem::path& folder);

} // namespace kg::program
