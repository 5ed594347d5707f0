// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The gate: measured rows against committed ones. Pure: everything it looks at is passed in,
// everything it concludes comes back. It fails closed: a row that cannot be judged is never a pass,
// and a run that judged nothing is a failure.
//
// judge() screens: what it finds slow it calls suspicious, and only what no machine can hide
// regressed. suspects.h takes it from there.
#pragma once

#include "perf/judge/bands.h"
#include "perf/judge/baseline.h"
#include "perf/judge/result.h"
#include "perf/judge/row.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kg::judge {

enum class Verdict {
  pass,         // as fast as blessed, within tolerance
  improved,     // faster: consider blessing it
  regressed,    // slower
  inconclusive, // looks slower or is too noisy; one run cannot tell
  invalid,      // wrong output, no samples, malformed file, not measured: nothing to judge
  unblessed,    // there is no baseline row
  env,          // the machine is not the one that was blessed, today
  skipped       // not measured, for a stated reason
};
inline constexpr Verdict kVerdicts[] = {
    Verdict::pass,    Verdict::improved,  Verdict::regressed, Verdict::inconclusive,
    Verdict::invalid, Verdict::unblessed, Verdict::env,       Verdict::skipped};
std::string_view name(Verdict verdict);

inline constexpr int kExitPass = 0;
inline constexpr int kExitFail = 1;
inline constexpr int kExitSkip = 77; // CTest's SKIP_RETURN_CODE

// Of a row with that verdict: 0, 1 or 77.
int usual_exit(Verdict verdict);

// A row that the program knows, measured or not.
struct Registered {
  std::string op;
  std::string dtype;
  RowKey key;
  std::string category;
  Kind kind = Kind::ours;
  bool selected = true; // by the run's filters: it must have been measured
};

struct GateOptions {
  Device device = Device::host;
  bool strict = false;      // KERNELGRADE_STRICT: what would be skipped fails
  bool require_gpu = false; // KERNELGRADE_REQUIRE_GPU: having no device fails
  bool filtered = false;    // the run is a part of its ops: orphan rows are not looked for
  // How this machine differs from the one that device.json describes ("cpu: ..."); empty where it
  // does not. On another host only coarse lines are drawn.
  std::string other_machine;
  std::map<std::string, double> ceilings; // device.json's: no row may be faster (roof.h)
  // Why nothing can be measured here ("no CUDA driver"); empty where a device is at hand.
  std::string no_device;
};

// Why a row has its verdict; wording.cpp holds the sentence of each.
enum class Cause {
  malformed,
  not_measured,
  not_registered,
  skipped,
  no_device,
  other_canary,
  unblessed,
  // Defects: these make the measured row itself unfit to be judged or blessed.
  crashed, // it never got as far as an output
  wrong_output,
  no_samples,
  no_times, // samples that are not times
  median_outside,
  no_canary, // where one is needed
  no_canary_time,
  beyond_roof, // roof.h
  // The screen's.
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
  // A confirmation's.
  confirmed,
  machine_slower,
  machine_differs,
  other_machine,
  irreproducible
};

// What the screen calls slow: below a line for all rows, or beyond (half of) the row's tolerance.
enum class Border { line, tolerance, half_tolerance };

// Vendor time / our time, today and when the row was blessed. The vendor's kernel is a canary of
// the very same work: a row that loses ground on it has become slower whatever the machine does.
struct Standing {
  std::string vendor;
  double now = 0;
  double then = 0;
  // Empty where the library is the same. Beside another a drop may be the library's gain, and is
  // for information.
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
  bool warning = false; // a pass that deserves a look
  // The screen finds it slower, and only a confirmation can tell whether the code is: until then it
  // is inconclusive. Or a host's screen cannot tell beside a sick canary: until then env. Or it
  // finds nothing, but the code has changed on the blessed host: until then a pass. Rows that
  // cannot fail are never suspicious.
  bool suspicious = false;
  double suspicion = 0; // how sure the screen is, in standard errors; ranks the rows
  double tol_pct = 0;   // the baseline's, in percent
  bool healthy = false; // its canary can be believed
  // Only where the row could be compared with a baseline: baseline / measured (host: in canary
  // units), the interval that both medians' intervals leave for it, and the band.
  std::optional<double> ratio;
  double shown_ratio = 0; // the same, also where it is no grade of the kernel
  Interval ratio_interval;
  std::optional<Grade> grade; // of the ratio, and none where the verdict is undecided
  double measured_ns = 0;     // 0: not measured
  double baseline_ns = 0;     // 0: no baseline
  int exit_code = kExitFail;
  bool informs = false; // as of RowExit
  Cause cause = Cause::not_measured;
  Border border = Border::line;
  std::optional<Standing> standing; // of ours on a GPU, beside a library's row
  // By wording.h, behind the judging.
  std::string figures; // times, samples, machine; empty where nothing was compared
  std::string reason;  // the cause, the ratio with its grade, and the figures
  std::string message; // the row, its verdict, the reason, and the command that measures it again
};

struct GateResult {
  // The selected rows, in the order registered, then measured ones that are not registered.
  std::vector<RowResult> rows;
  std::vector<std::string> faults; // of files and of the run, each a failure by itself
  std::vector<std::string> notes;  // reasons to skip that concern the run as a whole
  int exit_code = kExitFail;
};

// `registered` holds every row of the ops in question, so that an orphan can be told from a row
// that was not selected; `baselines` holds each op's file under the op's name, existing or not.
GateResult judge(const std::vector<Measured>& measured,
                 const std::map<std::string, TimingFile>& baselines,
                 const std::vector<Registered>& registered, const GateOptions& options);

// One row's part in the exit code of its test.
struct RowExit {
  int code = kExitFail;
  bool informs = false; // a vendor's row, or one with status info: counts only where it fails
};

// The one rule by which rows pass a test, whatever was measured or counted. 1 if a row fails. Else,
// of the rows that are gated: 77 if more than half are undecided (exit code 77) or there are none;
// else 0. `strict`: 0 only if at least one was judged and at most one in twenty is undecided;
// otherwise 1.
int exit_of_rows(const std::vector<RowExit>& rows, bool strict);

// Of several tests or kinds of tests, each with the exit code of its rows: what is not passed is
// never hidden by what is. The gravest of them, 1 before 77 before 0; none at all: 1. `strict`
// turns 77 into 1.
int combined_exit(const std::vector<int>& exits, bool strict);

// What is known of a row before it is judged.
RowResult result_for(const Registered& row);
RowResult result_for(const Measured& row);

// Gives the row its verdict, its usual exit code and its grade. An undecided row shows its ratio,
// but has no grade: that would decide what the verdict does not.
void conclude(RowResult& row, Verdict verdict, Cause cause);

// Gives the result the exit code of its rows and faults, and a note where only strictness fails it.
void set_exit(GateResult& result, bool strict);

// "good", or "good..excellent" where the interval straddles a border.
std::string grade_text(Grade grade, Interval ratio_interval);

// kernelgrade <command> --op ... --dtype ... --case ... --variant ... --mode ...
std::string row_command(std::string_view command, std::string_view op, std::string_view dtype,
                        const RowKey& key);

} // namespace kg::judge
