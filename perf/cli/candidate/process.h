// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "perf/cli/candidate/sandbox.h"
#include "perf/measure/child_process.h"

#include <filesystem>
#include <string>
#include <unistd.h>
#include <vector>

namespace kg::candidate {

// Limits on time and resources of a candidate, or of a compiler that reads one: either may do
// anything. Compilers start a few processes, candidates none.
inline constexpr int kMostSeconds = 600, kCompileSeconds = 300;
inline constexpr int kMostProcesses = 64, kMostFileMegabytes = 2048;

// Runs the command below kernelgrade-guard (guard.cpp), which leaves none of its processes behind;
// standard error is part of the output. Exit code 124 for the time limit, 125 for any other; then
// the output ends with "FAILED: " and the reason. In an active sandbox it may write only to
// `folder`, which always holds its temporary files.
inline perf::Finished run_guarded(const std::filesystem::path& guard,
                                  const std::vector<std::string>& command, int seconds,
                                  const std::filesystem::path& folder) {
  const long memory = sysconf(_SC_PHYS_PAGES) / 4 * 3 / ((1 << 20) / sysconf(_SC_PAGESIZE));
  std::vector<std::string> whole = {"/bin/sh",
                                    "-c",
                                    "exec \"$@\" 2>&1",
                                    "sh",
                                    guard.string(),
                                    "--with-parent",
                                    "1",
                                    "--seconds",
                                    std::to_string(seconds),
                                    "--processes",
                                    std::to_string(kMostProcesses),
                                    "--megabytes",
                                    std::to_string(memory),
                                    "--file-megabytes",
                                    std::to_string(kMostFileMegabytes)};
  if (sandbox().on) whole.insert(whole.end(), {"--write", folder.string()});
  whole.insert(whole.end(), {"--", "env", "TMPDIR=" + folder.string()});
  whole.insert(whole.end(), command.begin(), command.end());
  return perf::run_process(whole, perf::Output::capture);
}

} // namespace kg::candidate
