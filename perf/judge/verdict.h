// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Verdicts of a row, and the exit codes of rows and tests.
#pragma once

#include <string_view>
#include <vector>

namespace kg::judge {

enum class Verdict {
  pass,         // as fast as the baseline, within tolerance
  improved,     // faster: consider blessing it
  regressed,    // slower
  inconclusive, // looks slower or is too noisy; one run cannot decide
  invalid,      // cannot be judged: wrong output, no samples, malformed file, not measured
  unblessed,    // has no baseline row
  env,          // the machine does not match the baseline's machine today
  skipped       // not measured, for a stated reason
};
inline constexpr Verdict kVerdicts[] = {
    Verdict::pass,    Verdict::improved,  Verdict::regressed, Verdict::inconclusive,
    Verdict::invalid, Verdict::unblessed, Verdict::env,       Verdict::skipped};
std::string_view name(Verdict verdict);

inline constexpr int kExitPass = 0;
inline constexpr int kExitFail = 1;
inline constexpr int kExitSkip = 77; // CTest's SKIP_RETURN_CODE

// The exit code of a row with this verdict: 0, 1 or 77.
int usual_exit(Verdict verdict);

// What one row contributes to the exit code of its test.
struct RowExit {
  int code = kExitFail;
  bool informs = false; // a library's row or one with status info: counts only if it fails
};

// The exit code of a test, from its rows; the same rule for timings, costs and resources. 1 if any
// row fails. Otherwise only gated rows count: 77 if there are none or more than half are undecided
// (code 77), else 0. With `strict`, 0 requires at least one decided row and at most one undecided
// row in twenty; otherwise 1.
int exit_of_rows(const std::vector<RowExit>& rows, bool strict);

// The exit code of several tests: the most severe one, in the order 1, 77, 0, so that a pass never
// hides a failure. 1 if `exits` is empty. `strict` turns 77 into 1.
int combined_exit(const std::vector<int>& exits, bool strict);

} // namespace kg::judge
