// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/wording.h"

#include "perf/format/units.h"
#include "perf/judge/command.h"
#include "perf/judge/limits.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>
#include <map>
#include <ostream>
#include <string_view>
#include <utility>
#include <vector>

namespace kg::judge {

// Enumerators print as their names.
template <typename Enum>
requires requires(Enum value) { name(value); }
std::ostream& operator<<(std::ostream& out, Enum value) { return out << name(value); }

} // namespace kg::judge

template <typename Enum>
requires requires(Enum value) { kg::judge::name(value); }
struct fmt::formatter<Enum> : fmt::ostream_formatter {};

namespace kg::judge {
namespace {

std::string canary_text(const Comparison& comparison, const Measured& measured) {
  if (!comparison.canary) return "No canary beside it";
  return fmt::format("The {} canary takes {:.2f}x its blessed time, known to +-{:.1f} %",
                     measured.canary->kind, comparison.drift, 100 * measured.canary->half_width);
}

std::string identity_text(const Measured& measured, const TimingRow& baseline, Same same) {
  if (measured.kind == Kind::vendor) {
    if (same == Same::unknown) return "Whether the library changed is unknown";
    if (same == Same::yes) return "Library unchanged: " + measured.identity;
    return fmt::format("Another library: {} blessed, {} here", baseline.identity,
                       measured.identity);
  }
  switch (same) {
  case Same::yes: return "Machine code and launches unchanged";
  case Same::no: return "Machine code or launches changed";
  case Same::unknown: break;
  }
  return "Whether machine code or launches changed is unknown";
}

// "sm_mhz 1980, power_w 350": the tags that describe the machine.
std::string machine_text(const std::map<std::string, std::string>& tags) {
  std::vector<std::string> parts;
  for (const char* tag : {"sm_mhz", "mem_mhz", "power_w", "temp_c", "throttle", kForeignTag})
    if (const auto at = tags.find(tag); at != tags.end())
      parts.push_back(fmt::format("{} {}", tag, at->second));
  return fmt::format("{}", fmt::join(parts, ", "));
}

// "0.47 of cublas's speed (0.50 when blessed)", and whether it is judged.
std::string vendor_speedup_text(const VendorSpeedup& vendor_speedup) {
  std::string line = fmt::format("{:.2f} of {}'s speed ({:.2f} when blessed)", vendor_speedup.now,
                                 vendor_speedup.vendor, vendor_speedup.then);
  if (!vendor_speedup.library_now.empty())
    line += fmt::format(", which is not judged: {} blessed, {} here", vendor_speedup.library_then,
                        vendor_speedup.library_now);
  return line;
}

std::string roof_text(const RoofExcess& excess) {
  return fmt::format("{:.4g} {} per second are {:.0f} % of the device's measured roof of {:.4g}: "
                     "the work was not done, or it is counted wrongly",
                     excess.rate, excess.unit, 100 * (excess.rate / excess.ceiling),
                     excess.ceiling);
}

// Figures that every compared row shows after its ratio, whatever its verdict.
std::string figures(const RowResult& row, const Evidence& evidence, const GateOptions& options) {
  const Measured& measured = *evidence.row;
  const Comparison& found = *evidence.seen.compared;
  const std::size_t processes = measured.process_medians_ns.size();
  std::vector<std::string> parts = {
      fmt::format("{} now, {} blessed", time_text(row.measured_ns), time_text(row.baseline_ns)),
      fmt::format("{} samples in {} process{} would find {:.1f} %", measured.samples_ns.size(),
                  processes, processes == 1 ? "" : "es", evidence.screened.detectable_pct)};
  if (const Modes& two = evidence.screened.modes; two.count == 2)
    parts.push_back(fmt::format("Two modes: {} and {}", time_text(two.low), time_text(two.high)));
  parts.push_back(canary_text(found, measured));
  if (!options.other_machine.empty())
    parts.push_back("Not the blessed machine: " + options.other_machine);
  parts.push_back(identity_text(measured, *evidence.baseline, found.code));
  if (const auto roof = evidence.seen.roof)
    parts.push_back(fmt::format("{:.0f} % of the roof", 100 * *roof));
  if (std::string machine = machine_text(measured.tags); !machine.empty())
    parts.push_back(std::move(machine));
  if (!measured.note.empty()) parts.push_back(measured.note);
  if (row.vendor_speedup) parts.push_back(vendor_speedup_text(*row.vendor_speedup));
  return fmt::format("{}", fmt::join(parts, ". "));
}

std::string no_baseline(const TimingFile& file, const std::string& op) {
  if (file.exists) return file.path + " has no such row";
  if (file.missing)
    return fmt::format("{} is missing: restore it, or name {} under not_blessed in the device.json "
                       "beside it",
                       file.path, op);
  return fmt::format("{} does not exist: this device has no baseline of {}", file.path, op);
}

// `evidence` may be empty for the screen's causes, except `disturbed`.
std::string sentence(const RowResult& row, const Evidence& evidence, const GateOptions& options) {
  const Limits& limit = limits(options.device);
  const std::string border =
      row.border == Border::line
          ? fmt::format("{:.2f} of the baseline", kSuspicious)
          : fmt::format("{}its tolerance of {:g} %",
                        row.border == Border::half_tolerance ? "half of " : "", row.tol_pct);
  const std::string sick =
      fmt::format("this machine cannot be compared with the blessed one: beyond a canary's limits "
                  "of {:g}x and +-{:g} %",
                  limit.canary_factor, 100 * limit.canary_half_width);
  switch (row.cause) {
  case Cause::malformed: return evidence.file->path + " is malformed";
  case Cause::not_measured: return "it was selected but not measured";
  case Cause::not_registered: return "it was measured but is not registered";
  case Cause::skipped: return evidence.row->skipped;
  case Cause::no_device: return options.no_device;
  case Cause::other_canary:
    return fmt::format("it was blessed beside a {} canary and is measured beside a {} one",
                       evidence.baseline->canary->kind, evidence.row->canary->kind);
  case Cause::unblessed: return no_baseline(*evidence.file, row.op);
  case Cause::crashed: return evidence.row->verified;
  case Cause::wrong_output:
    return fmt::format("its output is wrong ({}); a time for a wrong result means nothing",
                       evidence.row->verified);
  case Cause::no_samples: return "it has no samples";
  case Cause::no_times: return "it has samples that are not times";
  case Cause::median_outside:
    return fmt::format("its median {:g} ns lies outside [{:g}, {:g}]", evidence.row->median_ns,
                       evidence.row->ci_ns.low, evidence.row->ci_ns.high);
  case Cause::no_canary:
    return "no canary ran beside it, but host rows are compared in canary units";
  case Cause::no_canary_time:
    return fmt::format("its canary took {:g} ns", evidence.row->canary->median_ns);
  case Cause::beyond_roof: return roof_text(*evidence.seen.excess);
  case Cause::few_samples:
    return fmt::format("fewer than {} samples have no 99 % interval; measure longer",
                       kFewestSamples);
  case Cause::disturbed:
    return *disturbance(*evidence.row) + "; quieten the device and measure again";
  case Cause::sick_canary: return sick;
  case Cause::sick_canary_same_code:
    return sick + "; its machine code and launches are those that were blessed";
  case Cause::slow_beside_sick_canary:
    return fmt::format("looks slower than {} with and without its canary, which is unstable; a "
                       "comparison of both builds is needed",
                       border);
  case Cause::far_slower:
    return fmt::format("slower than {:.2f} of the baseline beside a healthy canary", limit.fails);
  case Cause::slower: return fmt::format("looks slower than {}, but is not confirmed", border);
  case Cause::slower_same_code:
    return "looks slower, but its machine code and launches are those that were blessed: the "
           "machine is slower, not the kernel";
  case Cause::lost_ground:
    return fmt::format("has lost ground on {}, but is not confirmed", row.vendor_speedup->vendor);
  case Cause::faster: return "faster than the baseline; consider a bless";
  case Cause::within: return "not slower than " + border;
  case Cause::within_other_code:
    return fmt::format("not slower than {}; its code has changed", border);
  case Cause::confirmed: return "";
  case Cause::machine_slower: return "the machine is slower, not the kernel: ";
  case Cause::machine_differs: return "this machine is not the blessed one today; side by side, ";
  case Cause::other_machine: return "the baseline is another machine's; side by side, ";
  case Cause::irreproducible:
    return "an irreproducible baseline, or a regression that both builds share: ";
  case Cause::other_kind: // pair_sentence() has the wording of these
  case Cause::other_device:
  case Cause::canaries_differ:
  case Cause::few_processes:
  case Cause::undecided:
  case Cause::only_in_a:
  case Cause::only_in_b: break;
  }
  return "";
}

// `command` measures the row again; it is "bless" if blessing is the fix.
void compose(RowResult& row, const std::string& words, const std::string& command) {
  row.reason = words;
  if (!row.figures.empty())
    row.reason += fmt::format(
        ". Ratio {:.3f} [{:.3f}, {:.3f}]{}: {}", row.shown_ratio, row.ratio_interval.low,
        row.ratio_interval.high,
        row.grade ? " (" + grade_text(*row.grade, row.ratio_interval) + ")" : "", row.figures);
  row.message = fmt::format("{}: {}: {}; {}: {}", text(row.key), row.verdict, row.reason,
                            command == "bless" ? "bless" : "again",
                            row_command(command, row.op, row.dtype, row.key));
}

// A comparison of two stored results.
std::string pair_sentence(const RowResult& row, const PairEvidence& evidence) {
  const auto& [a, b, obstacle, drift, tol_pct] = evidence;
  if (obstacle)
    return fmt::format("{}: {}", obstacle,
                       sentence(row, {.row = obstacle == 'A' ? a : b}, GateOptions{}));
  switch (row.cause) {
  case Cause::other_kind:
    return fmt::format("it is {} in A and {} in B; measure both with one program", a->kind,
                       b->kind);
  case Cause::other_canary:
    return fmt::format("a {} canary ran beside A and a {} canary beside B; measure both with one "
                       "program",
                       a->canary->kind, b->canary->kind);
  case Cause::other_device: return "measured on different devices: for information";
  case Cause::canaries_differ:
    return fmt::format("the machines cannot be compared: the {} canary takes {:.2f}x as long for B "
                       "as for A, known to +-{:.1f} % and +-{:.1f} %",
                       b->canary->kind, drift, 100 * a->canary->half_width,
                       100 * b->canary->half_width);
  case Cause::few_processes: {
    const std::size_t processes = a->process_medians_ns.size();
    return fmt::format("{} process{} of A and {} of B: different samples, but no telling builds "
                       "from processes; measure both with --processes 5, or side by side by "
                       "`kernelgrade ab`",
                       processes, processes == 1 ? "" : "es", b->process_medians_ns.size());
  }
  case Cause::slower: return fmt::format("slower than its tolerance of {:g} %", tol_pct);
  case Cause::faster: return fmt::format("faster by more than {:g} %", tol_pct);
  case Cause::within: return fmt::format("within its tolerance of {:g} %", tol_pct);
  case Cause::undecided:
    return fmt::format("neither slower than its tolerance of {:g} % nor surely within it; measure "
                       "more processes, or side by side by `kernelgrade ab`",
                       tol_pct);
  case Cause::only_in_a: return "the baseline has it, but it was not measured";
  case Cause::only_in_b: return "the baseline has no such row";
  default: return "";
  }
}

std::string confirmation_sentence(Verdict verdict, double tol_pct, double control_pct) {
  switch (verdict) {
  case Verdict::env:
    return fmt::format("two copies of the same build differ by {:.1f} %: this machine cannot be "
                       "judged now",
                       control_pct);
  case Verdict::regressed:
    return fmt::format("slower than its tolerance of {:g} %, beside the reference", tol_pct);
  case Verdict::improved: return "faster than the reference; consider a bless";
  case Verdict::pass:
    return fmt::format("within its tolerance of {:g} % of the reference", tol_pct);
  default:
    return fmt::format("neither slower than its tolerance of {:g} % nor surely within it", tol_pct);
  }
}

} // namespace

void word(RowResult& row, const Evidence& evidence, const GateOptions& options) {
  const std::string words = sentence(row, evidence, options);
  if (row.shown_ratio > 0) row.figures = figures(row, evidence, options);
  const bool bless = row.cause == Cause::other_canary || row.cause == Cause::unblessed;
  compose(row, words, bless ? "bless" : "gate");
  if (evidence.informs) row.message = "(info) " + row.message;
  if (!evidence.baseline || evidence.baseline->status != Status::xfail) return;
  if (row.verdict == Verdict::regressed)
    row.message = fmt::format("(xfail, as expected: {}) {}", evidence.baseline->why, row.message);
  else if (row.verdict == Verdict::pass || row.verdict == Verdict::improved)
    row.message = "(xfail, but it passes: bless it with status gate) " + row.message;
}

void reword(RowResult& row, const RowConfirmation* confirmation, const GateOptions& options) {
  std::string words = sentence(row, {}, options);
  if (!confirmation)
    return compose(row,
                   fmt::format("{}: beyond the {} most suspicious rows, which alone are confirmed; "
                               "judge this one by itself",
                               words, kMostConfirmed),
                   "gate");
  if (!confirmation->found) return compose(row, words + ": " + confirmation->unavailable, "gate");
  words += confirmation->found->reason;
  // The commit of A, and the machine during both arms.
  if (!confirmation->reference.empty()) words += "; A is commit " + confirmation->reference;
  if (const auto a = machine_text(confirmation->tags_a); !a.empty()) words += "; A: " + a;
  if (const auto b = machine_text(confirmation->tags_b); !b.empty()) words += "; B: " + b;
  compose(row, words, "ab --base " + confirmation->reference);
}

std::optional<std::string> defect(const Measured& row, Device device) {
  const std::optional<Cause> found = find_defect(row, device);
  if (!found) return std::nullopt;
  RowResult result;
  result.cause = *found;
  return sentence(result, {.row = &row}, {});
}

std::optional<std::string> disturbance(const Measured& row) {
  if (const auto at = row.tags.find(kThrottledTag); at != row.tags.end())
    return fmt::format("the device was throttled ({})", at->second);
  if (const auto at = row.tags.find(kForeignTag); at != row.tags.end())
    return fmt::format("other processes used the device ({})", at->second);
  return std::nullopt;
}

std::optional<std::string> beyond_roof(const Measured& row, const Ceilings& ceilings) {
  const std::optional<RoofExcess> found = roof_excess(row, ceilings);
  return found ? std::optional(roof_text(*found)) : std::nullopt;
}

std::string confirmation_text(const Confirmation& found, double tol_pct, double control_pct) {
  return fmt::format("{}: ratio {:.3f} [{:.3f}, {:.3f}] in {} pairs. They would find {:.1f} % 9 in "
                     "10 times",
                     confirmation_sentence(found.verdict, tol_pct, control_pct), found.ratio,
                     found.ratio_interval.low, found.ratio_interval.high, found.pairs,
                     found.detectable_pct);
}

void word_pair(RowResult& row, const PairEvidence& evidence) {
  row.reason = pair_sentence(row, evidence);
  row.message = fmt::format("{}: {}: {}", text(row.key), row.verdict, row.reason);
}

void word_run(GateResult& result, const RunFaults& faults, const GateOptions& options) {
  for (const RowKey& key : faults.repeated)
    result.faults.push_back(
        fmt::format("{}: measured twice; merge runs before judging them", text(key)));
  for (const Problem& problem : faults.problems) result.faults.push_back(text(problem));
  for (const auto& [file, row] : faults.orphans)
    result.faults.push_back(text(Problem{
        file->path, row->line,
        fmt::format("the row '{}' is an orphan: no such case is registered", text(row->key)),
        fmt::format("remove it: kernelgrade bless --op {} --remove-orphans",
                    op_of(row->key.case_id))}));
  if (faults.no_rows)
    result.faults.push_back("no rows: the filters select nothing, and a gate that judges nothing "
                            "must not pass; kernelgrade list shows what there is");
  if (options.no_device.empty()) return;
  result.notes.push_back(options.no_device);
  if (options.require_gpu)
    result.faults.push_back(options.no_device +
                            "; a GPU was promised (KERNELGRADE_REQUIRE_GPU): give one to this job");
}

} // namespace kg::judge
