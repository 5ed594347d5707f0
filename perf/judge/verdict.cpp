// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/verdict.h"

#include "perf/judge/screen.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kg::judge {
namespace {

// The screen's opinion, and the rules that override it.
Opinion final_opinion(const Evidence& evidence, const GateOptions& options) {
  const Examined& seen = evidence.seen;
  const Measured& row = *evidence.row;
  const bool host = options.device == Device::host;
  Opinion opinion = evidence.screened;
  const auto overrule = [&](Verdict verdict, Cause cause, bool suspicious) {
    opinion.verdict = verdict;
    opinion.cause = cause;
    opinion.suspicious = suspicious;
    if (!suspicious) opinion.suspicion = 0;
  };
  if (seen.disturbed) {
    overrule(Verdict::env, Cause::disturbed, false);
    return opinion;
  }
  if (seen.vendor_speedup && seen.vendor_speedup->dropped(evidence.baseline->tol_pct) &&
      !opinion.suspicious && opinion.verdict != Verdict::regressed)
    overrule(Verdict::inconclusive, Cause::lost_ground, true);
  // The identity covers only what runs on the device: a `real` time on a GPU includes the host's
  // code, and a library's version does not say how the library is called.
  const bool all_in_identity = row.kind == Kind::ours && (host || row.key.mode != Mode::real);
  // If the screen could not compare the row, it did not find it slower either.
  if ((opinion.suspicious || opinion.verdict == Verdict::regressed) && all_in_identity &&
      seen.compared->code == Same::yes)
    overrule(Verdict::env,
             opinion.verdict == Verdict::env ? Cause::sick_canary_same_code
                                             : Cause::slower_same_code,
             false);
  // A host's screen often misses a slow-down of 10 %. A confirmation finds most slow-downs of 5 %
  // and calls the others inconclusive. Its minutes are worth it if the code has changed.
  if (host && all_in_identity && opinion.verdict == Verdict::pass &&
      options.other_machine.empty() && seen.compared->code == Same::no)
    overrule(Verdict::pass, Cause::within_other_code, true);
  return opinion;
}

void adopt(RowResult& result, const Evidence& evidence, const Opinion& opinion) {
  const Comparison& compared = *evidence.seen.compared;
  result.suspicious = opinion.suspicious && evidence.baseline->status == Status::gate;
  result.suspicion = opinion.suspicion;
  result.healthy = compared.healthy;
  result.border = opinion.border;
  result.vendor_speedup = evidence.seen.vendor_speedup;
  result.shown_ratio = compared.ratio;
  result.ratio_interval = compared.interval;
  // On a doubtful machine the ratio is shown, but it does not grade the kernel.
  if (opinion.verdict != Verdict::env &&
      !(compared.canary && !compared.healthy && opinion.suspicious))
    result.ratio = compared.ratio;
}

struct Decision {
  Verdict verdict;
  Cause cause;
};

// Fills in the figures of `result`.
Decision decision(RowResult& result, const Evidence& evidence, const GateOptions& options) {
  const auto& [file, row, baseline, seen, screened, informs] = evidence;
  if (!file) return {Verdict::invalid, Cause::not_registered};
  if (!options.no_device.empty()) return {Verdict::skipped, Cause::no_device};
  if (baseline) result.baseline_ns = baseline->median_ns;
  if (!file->problems.empty()) return {Verdict::invalid, Cause::malformed};
  if (!row) return {Verdict::invalid, Cause::not_measured};
  if (!row->skipped.empty()) return {Verdict::skipped, Cause::skipped};
  if (seen.defect) return {Verdict::invalid, *seen.defect};
  result.measured_ns = row->median_ns;
  if (!baseline) return {Verdict::unblessed, Cause::unblessed};
  result.tol_pct = baseline->tol_pct;
  if (seen.other_canary) return {Verdict::invalid, Cause::other_canary};
  const Opinion opinion = final_opinion(evidence, options);
  adopt(result, evidence, opinion);
  return {opinion.verdict, opinion.cause};
}

} // namespace

std::string_view name(Verdict verdict) {
  switch (verdict) {
  case Verdict::pass: return "pass";
  case Verdict::improved: return "improved";
  case Verdict::regressed: return "regressed";
  case Verdict::inconclusive: return "inconclusive";
  case Verdict::invalid: return "invalid";
  case Verdict::unblessed: return "unblessed";
  case Verdict::env: return "env";
  case Verdict::skipped: return "skipped";
  }
  return "";
}

int usual_exit(Verdict verdict) {
  switch (verdict) {
  case Verdict::pass:
  case Verdict::improved: return kExitPass;
  case Verdict::regressed:
  case Verdict::invalid: return kExitFail;
  case Verdict::inconclusive:
  case Verdict::unblessed:
  case Verdict::env:
  case Verdict::skipped: return kExitSkip;
  }
  return kExitFail;
}

int exit_of_rows(const std::vector<RowExit>& rows, bool strict) {
  constexpr std::size_t kStrictShare = 20; // one undecided row in this many
  std::size_t gated = 0, undecided = 0;
  for (const RowExit& row : rows) {
    if (row.code == kExitFail) return kExitFail;
    if (row.informs) continue;
    ++gated;
    if (row.code == kExitSkip) ++undecided;
  }
  if (strict) return gated > undecided && kStrictShare * undecided <= gated ? kExitPass : kExitFail;
  return gated == 0 || 2 * undecided > gated ? kExitSkip : kExitPass;
}

int combined_exit(const std::vector<int>& exits, bool strict) {
  const auto any = [&](int code) {
    return std::find(exits.begin(), exits.end(), code) != exits.end();
  };
  if (exits.empty() || any(kExitFail)) return kExitFail;
  if (any(kExitSkip)) return strict ? kExitFail : kExitSkip;
  return kExitPass;
}

void VerdictCounts::add(Verdict verdict, RowExit row) {
  if (!row.informs && verdict == Verdict::regressed && row.code == kExitPass) { // xfail
    ++expected;
    return;
  }
  if (!row.informs || row.code == kExitFail) {
    ++gated[verdict];
    return;
  }
  ++informing;
  if (verdict == Verdict::regressed) ++worse;
}

std::string text(const VerdictCounts& counts) {
  std::vector<std::string> parts;
  for (const Verdict verdict : kVerdicts)
    if (const auto at = counts.gated.find(verdict); at != counts.gated.end())
      parts.push_back(fmt::format("{} {}", at->second, name(verdict)));
  if (counts.expected > 0)
    parts.push_back(
        fmt::format("{} fail{} as expected", counts.expected, counts.expected == 1 ? "s" : ""));
  std::string line = fmt::format("{}", fmt::join(parts, ", "));
  if (counts.informing > 0) {
    if (!line.empty()) line += "; ";
    line += fmt::format("{} informational", counts.informing);
    if (counts.worse > 0) line += fmt::format(" ({} worse)", counts.worse);
  }
  return line.empty() ? "no rows" : line;
}

RowResult result_for(const Registered& row) {
  RowResult result;
  result.op = row.op;
  result.dtype = row.dtype;
  result.key = row.key;
  result.category = row.category;
  result.kind = row.kind;
  result.informs = row.kind == Kind::vendor;
  return result;
}

RowResult result_for(const Measured& row) {
  return result_for(Registered{row.op, row.dtype, row.key, row.category, row.kind, true});
}

void conclude(RowResult& row, Verdict verdict, Cause cause) {
  row.verdict = verdict;
  row.cause = cause;
  row.exit_code = usual_exit(verdict);
  row.grade.reset();
  if (row.ratio && row.exit_code != kExitSkip) row.grade = grade(*row.ratio);
}

std::string grade_text(Grade shown, Interval ratio_interval) {
  const Grade worst = grade(ratio_interval.low), best = grade(ratio_interval.high);
  if (worst == best) return std::string(name(shown));
  return fmt::format("{}..{}", name(worst), name(best));
}

RowResult decide(const Registered& wanted, Evidence& evidence, const GateOptions& options) {
  RowResult result = result_for(wanted);
  const auto [verdict, cause] = decision(result, evidence, options);
  conclude(result, verdict, cause);
  const TimingFile* const file = evidence.file;
  const TimingRow* const baseline = evidence.baseline;
  // An operation without a baseline file on this device is skipped. A row that its file lacks, or
  // whose file was deleted, fails: no later run would judge it either.
  if (cause == Cause::unblessed && (file->exists || file->missing) && !result.informs)
    result.exit_code = kExitFail;
  // Wrong output of our kernel fails for any baseline; a library's only warns. A library's row that
  // was not measured fails like any other row.
  const bool wrong_vendor =
      evidence.row && result.kind == Kind::vendor && verdict == Verdict::invalid;
  evidence.informs = wrong_vendor || (baseline && baseline->status == Status::info);
  if (evidence.informs) {
    result.informs = true;
    result.warning = verdict == Verdict::invalid;
    if (result.kind == Kind::vendor || verdict != Verdict::invalid) result.exit_code = kExitPass;
  }
  // An xfail row may be slower, but not wrong or undecided.
  if (baseline && baseline->status == Status::xfail) {
    if (verdict == Verdict::regressed) result.exit_code = kExitPass;
    result.warning = result.warning || verdict == Verdict::pass || verdict == Verdict::improved;
  }
  return result;
}

} // namespace kg::judge
