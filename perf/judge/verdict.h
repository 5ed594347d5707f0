// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The result of judging one row: verdict, cause and figures; and the exit codes of rows and tests.
#pragma once

#include "perf/judge/bands.h"
#include "perf/judge/result.h"
#include "perf/judge/row.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
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

// The rows of a run by verdict; informational ones apart.
struct VerdictCounts {
  std::map<Verdict, std::size_t> gated;
  std::size_t informing = 0;
  std::size_t worse = 0;    // of the informational rows
  std::size_t expected = 0; // rows of status xfail that regressed

  // An informational row that fails (wrong output of our kernel) counts as gated.
  void add(Verdict verdict, RowExit row);
};

// "1 regressed, 37 pass, 2 fail as expected; 4 informational (1 worse)", or "no rows".
std::string text(const VerdictCounts& counts);

// A row that the build offers, whether or not this run measured it.
struct Registered {
  std::string op;
  std::string dtype;
  RowKey key;
  std::string category;
  Kind kind = Kind::ours;
  bool selected = true; // by the run's filters; a selected row must have been measured
};

// Why a row has its verdict. wording.cpp holds the sentences.
enum class Cause {
  malformed,
  not_measured,
  not_registered,
  skipped,
  no_device,
  other_canary,
  unblessed,
  // Defects of the measured row, which can be neither judged nor blessed.
  crashed, // before it wrote any output
  wrong_output,
  no_samples,
  no_times, // samples that are not positive, finite times
  median_outside,
  no_canary, // required on the host
  no_canary_time,
  beyond_roof, // faster than the device allows (roof.h)
  // Verdicts of the screen (screen.h).
  few_samples,
  disturbed,
  sick_canary,
  sick_canary_same_code,
  slow_beside_sick_canary,
  far_slower,
  slower,
  slower_same_code,
  lost_ground,
  faster,
  within,
  within_other_code,
  // Verdicts of a confirmation (confirm.h).
  confirmed,
  machine_slower,
  machine_differs,
  other_machine,
  irreproducible,
  // Verdicts of a comparison of two results (compare_results.h).
  other_kind,
  other_device,
  canaries_differ,
  few_processes,
  undecided,
  only_in_a,
  only_in_b
};

// The threshold at which the screen calls a row slow: a fixed ratio for all rows, the row's own
// tolerance, or half of it.
enum class Border { line, tolerance, half_tolerance };

// Library time / our time, now and when the row was blessed. The library does the same work on the
// same machine, so it serves as a control: a row that falls behind it has become slower.
struct VendorSpeedup {
  std::string vendor;
  double now = 0;
  double then = 0;
  // Versions of the library; empty if the version has not changed. A drop against a new version may
  // be the library's gain, so it is only reported.
  std::string library_then = "", library_now = "";

  bool dropped(double tol_pct) const {
    return library_now.empty() && now * (1 + tol_pct / 100) < then;
  }
};

struct RowResult {
  std::string op;
  std::string dtype;
  RowKey key;
  std::string category;
  Kind kind = Kind::ours;
  Verdict verdict = Verdict::invalid;
  bool warning = false; // a pass that someone should look at
  // Needs a confirmation run: the screen saw a slow-down (inconclusive until then), the host's
  // canary was unhealthy (env until then), or the code changed on the blessed host and the screen
  // saw nothing (pass until then). Rows that cannot fail are never suspicious.
  bool suspicious = false;
  double suspicion = 0; // in standard errors of the screen's test; ranks the rows
  double tol_pct = 0;   // tolerance of the baseline row, in percent
  bool healthy = false; // the canary is within its limits
  // baseline / measured time, on the host in canary units; empty if there was nothing to compare.
  std::optional<double> ratio;
  double shown_ratio = 0;     // the same for display, also where it does not grade the kernel
  Interval ratio_interval;    // from the confidence intervals of both medians
  std::optional<Grade> grade; // of the ratio; empty while the verdict is undecided
  double measured_ns = 0;     // 0: not measured
  double baseline_ns = 0;     // 0: no baseline
  int exit_code = kExitFail;
  bool informs = false; // as in RowExit
  Cause cause = Cause::not_measured;
  Border border = Border::line;
  std::optional<VendorSpeedup> vendor_speedup; // our kernels on a GPU only, if a library row exists
  // Filled in by wording.h after judging.
  std::string figures; // times, samples, machine; empty if nothing was compared
  std::string reason;  // the cause, the ratio with its grade, and the figures
  std::string message; // row, verdict, reason, and the command that repeats the measurement
};

// A result that identifies the row and is not judged yet.
RowResult result_for(const Registered& row);
RowResult result_for(const Measured& row);

// Sets the verdict, its usual exit code and the grade. An undecided row keeps its ratio but has no
// grade, since a grade would anticipate the verdict.
void conclude(RowResult& row, Verdict verdict, Cause cause);

// "good", or "good..excellent" if the interval spans several grades.
std::string grade_text(Grade grade, Interval ratio_interval);

// Decides a row of the gate from its statistics. Sets evidence.informs.
struct Evidence;    // screen.h
struct GateOptions; // gate.h
RowResult decide(const Registered& wanted, Evidence& evidence, const GateOptions& options);

} // namespace kg::judge
