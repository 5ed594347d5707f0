// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compiles a program for the emulator and runs it.
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
  std::string errors;   // from the compiler or the linker; empty if there is a program
  std::string warnings; // from the compiler, for counted programs
  bool lacks_main = false;
};
// Builds, in a build tree, the parts that programs of this kind link with. Throws Error if
// something is still missing.
void need_parts(Kind kind, const std::filesystem::path& tools);

// Uses the script compile-cuda in the folder `tools`.
Compiled compile(const Options& options, Kind kind, const std::filesystem::path& tools,
                 const std::filesystem::path& folder);

// How a run ended, and its findings.
struct Run {
  std::string order;
  perf::Finished finished;
  bool timed_out = false;
  double seconds = 0; // elapsed time
  Events events;
  coverage::Notes notes{};
  bool huge = false; // the exit code is ignored, since results are partial

  // Why it did not pass, other than by findings; empty if it passed.
  std::string failure() const;
};
struct RunMode {
  std::string order;
  bool quiet = false; // its output goes to Run::finished alone
  // Not empty: undefined values are this, and their loads are events instead of findings
  // (kernels/runtime/host/check/undefined_fill.h).
  std::string fill{};
};
// Uses the caller's input and output streams. `tools`: the folder of kernelgrade-guard; `folder`
// receives the files that the program leaves.
Run run(const Options& options, const std::filesystem::path& tools,
        const std::filesystem::path& program, const RunMode& mode,
        const std::filesystem::path& folder);

// The launches of a run with discarded output; `program` is a counted build. Throws Error if it
// fails.
std::vector<count::Launch> count_launches(const Options& options,
                                          const std::filesystem::path& tools,
                                          const std::filesystem::path& program,
                                          const std::filesystem::path& folder);

} // namespace kg::program
