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

// A candidate that is judged, or a compiler that reads one, may do anything: how long it may take,
// and what it may hold at once. Compilers start a few processes, candidates none.
inline constexpr int kMostSeconds = 600, kCompileSeconds = 300;
inline constexpr int kMostProcesses = 64, kMostFileMegabytes = 2048;

// With what it writes to standard error among its output, below kernelgrade-guard (guard.cpp): no
// process of it is left. Exit code 124 beyond the time, 125 beyond another limit; then the output
// ends with "FAILED: " and why. In the sandbox, where it is on, it writes to `folder` alone, which
// its temporary files go to in any case.
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
